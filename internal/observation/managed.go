package observation

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
)

// ownAnnotations is the prefix of the annotations that the function writes.
const ownAnnotations = "machinepool.fn.crossplane.io/"

// managedOf sorts the composed resources that exist by their kind. Resources of other steps of the pipeline are left alone:
// those that an earlier step desires, and those that are called like ours and are of another kind.
func managedOf(observed, desired map[string]*fnv1.Resource) pool.Managed {
	m := pool.Managed{Templates: map[string]pool.ObservedTemplate{}, Hooks: map[string]pool.Resource{}}
	for name, r := range observed {
		s, kind := r.GetResource(), kindCalled(name)
		if _, others := desired[name]; others || isAnothers(s, kind) {
			continue
		}
		switch kind {
		case kindGroup:
			m.Group = new(groupOf(s))
		case kindObject:
			m.Object = new(objectOf(s))
		case kindPolicy:
			m.Policy = new(resourceOf(s, conditionsOf(s)))
		case kindTemplate:
			m.Templates[name] = templateOf(s)
		case kindHook:
			m.Hooks[name] = resourceOf(s, conditionsOf(s))
		}
	}
	return m
}

// takenBy an earlier step are the names of the pool's composed resources under which that step desires resources of its own,
// sorted. Crossplane composes one resource under a name: the pool's would be deleted for the other.
func takenBy(desired, observed map[string]*fnv1.Resource) []string {
	var out []string
	for name, r := range desired {
		switch kind := kindCalled(name); kind {
		case kindGroup, kindObject, kindPolicy:
			out = append(out, name)
		case kindTemplate, kindHook:
			if isReplaced(observed[name], r, kind) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// isReplaced reports whether an earlier step desires a resource of another kind in place of one of ours. Of the same kind
// it is that step's own: other steps may compose templates and hooks, and call them alike.
func isReplaced(observed, desired *fnv1.Resource, kind string) bool {
	return observed != nil && !isAnothers(observed.GetResource(), kind) && isAnothers(desired.GetResource(), kind)
}

// Kinds of provider-aws.
const (
	kindGroup    = "AutoscalingGroup"
	kindObject   = "Object"
	kindPolicy   = "Policy"
	kindTemplate = "LaunchTemplate"
	kindHook     = "LifecycleHook"
)

// kindCalled is the provider's kind of what the pool composes under a name. It is empty for a name that is none of the pool's.
func kindCalled(name string) string {
	switch {
	case name == naming.ResourceGroup:
		return kindGroup
	case name == naming.ResourceObject:
		return kindObject
	case name == naming.ResourcePolicy:
		return kindPolicy
	case naming.IsTemplate(name):
		return kindTemplate
	case naming.IsHook(name):
		return kindHook
	}
	return ""
}

// isAnothers reports whether a resource is of another kind, or of another's API, than the pool's own under its name. Whoever may write
// a pool's spec.crossplane can have Crossplane show any object of the pool's namespace as one of its resources, a ConfigMap for
// example, that says whatever it likes of its name in AWS. What cannot be read must not cost a pool its group: that is no other.
func isAnothers(s *structpb.Struct, kind string) bool {
	apiVersion, got := text(s, "apiVersion"), text(s, "kind")
	group, _, _ := strings.Cut(apiVersion, "/")
	return got != "" && got != kind || apiVersion != "" && !strings.HasSuffix(group, providerGroup)
}

// providerGroup is how the API groups of provider-aws end.
const providerGroup = ".upbound.io"

// resourceOf a managed resource, whose conditions are made once as they cost.
func resourceOf(s *structpb.Struct, conditions map[string]condition.Condition) pool.Resource {
	r := pool.Resource{
		APIVersion:   text(s, "apiVersion"),
		Kind:         text(s, "kind"),
		Region:       text(s, "spec", "forProvider", "region"),
		ExternalName: text(s, "metadata", "annotations", meta.AnnotationKeyExternalName),
		Annotations:  map[string]string{},
		Spec:         at(s, "spec").GetStructValue().AsMap(),
		Ready:        conditions["Ready"].Status == condition.True,
		Synced:       conditions["Synced"].Status == condition.True,
	}
	for k, v := range at(s, "metadata", "annotations").GetStructValue().GetFields() {
		if strings.HasPrefix(k, ownAnnotations) {
			r.Annotations[k] = v.GetStringValue()
		}
	}
	return r
}

func groupOf(s *structpb.Struct) pool.ObservedGroup {
	conditions := conditionsOf(s)
	g := pool.ObservedGroup{
		Resource:        resourceOf(s, conditions),
		ARN:             text(s, "status", "atProvider", "arn"),
		SentTemplateID:  text(s, "spec", "forProvider", "launchTemplate", "id"),
		Generation:      int64(at(s, "metadata", "generation").GetNumberValue()),
		TemplateID:      text(s, "status", "atProvider", "launchTemplate", "id"),
		Subnets:         texts(s, "spec", "forProvider", "vpcZoneIdentifier"),
		DesiredCapacity: count(s, "status", "atProvider", "desiredCapacity"),
	}
	g.AvailableSince = availableSince(s)
	g.ClusterID = tagOf(s, tagging.KeyCluster)
	g.Terminating = text(s, "metadata", "deletionTimestamp") != ""
	// Upjet's own condition, which provider-aws v2.5.0 never sets. There the group's observed template says as much: it is not
	// refreshed while an operation is under way.
	g.Busy = conditions["AsyncOperation"].Reason == "Ongoing"
	// The provider's id of a group is its name. A group whose annotations were lost, as in a restore, is named after its
	// managed resource by a provider that sees it before we do: that is no name of ours, and not the group's.
	for _, name := range []string{g.ExternalName, text(s, "status", "atProvider", "id")} {
		if g.Name == "" && name != text(s, "metadata", "name") {
			g.Name = name
		}
	}
	return g
}

// tagOf a group, by its key, as it was last asked for.
func tagOf(s *structpb.Struct, key string) string {
	for _, v := range at(s, "spec", "forProvider", "tag").GetListValue().GetValues() {
		if tag := v.GetStructValue(); text(tag, "key") == key {
			return text(tag, "value")
		}
	}
	return ""
}

// availableSince is when a resource became Ready, which a provider says when it first observes what it is of.
func availableSince(s *structpb.Struct) time.Time {
	for _, v := range at(s, "status", "conditions").GetListValue().GetValues() {
		c := v.GetStructValue()
		if text(c, "type") != "Ready" || text(c, "status") != string(condition.True) {
			continue
		}
		if since, err := time.Parse(time.RFC3339, text(c, "lastTransitionTime")); err == nil {
			return since
		}
	}
	return time.Time{}
}

func templateOf(s *structpb.Struct) pool.ObservedTemplate {
	conditions := conditionsOf(s)
	t := pool.ObservedTemplate{
		Resource: resourceOf(s, conditions),
		Name:     text(s, "spec", "forProvider", "name"),
		ImageID:  text(s, "spec", "forProvider", "imageId"),
		Format:   formatOf(text(s, "spec", "forProvider", "userData")),
	}
	for _, device := range at(s, "spec", "forProvider", "blockDeviceMappings").GetListValue().GetValues() {
		// There is one, the root's.
		t.RootDevice = text(device.GetStructValue(), "deviceName")
	}
	t.ID = text(s, "status", "atProvider", "id")
	if t.ID == "" && strings.HasPrefix(t.ExternalName, "lt-") {
		// After a restore from a backup without status, the persisted external name is the only trace of the id.
		t.ID = t.ExternalName
	}
	if created, err := time.Parse(time.RFC3339, text(s, "metadata", "creationTimestamp")); err == nil {
		t.Created = created
	}
	t.Terminating = text(s, "metadata", "deletionTimestamp") != ""
	if t.ID == "" {
		t.Creation = creationProblem(conditions)
	}
	return t
}

// formatOf user data in base64, of which its beginning says enough.
func formatOf(userData string) v1alpha1.BootstrapFormat {
	beginning, err := base64.StdEncoding.DecodeString(userData[:min(len(userData), 32)])
	if err != nil {
		return ""
	}
	return bootstrap.FormatOf(string(beginning))
}

// creationProblem reads, from what the managed resource says of itself, why it cannot be created: what EC2 answers when
// the name is taken, and what crossplane-runtime reports after an interrupted creation. A name that is taken explains
// more, so it is the problem where both are reported. Any other failure is tried again.
func creationProblem(conditions map[string]condition.Condition) pool.CreationProblem {
	problem := pool.CreationProblem("")
	for t, c := range conditions {
		switch {
		case c.Status != condition.False:
		case strings.Contains(c.Message, "InvalidLaunchTemplateName.AlreadyExistsException"):
			return pool.CreationNameTaken
		case strings.Contains(c.Message, "cannot determine creation result"):
			problem = pool.CreationUndetermined
		case problem == "" && (t == "Synced" || t == "LastAsyncOperation"):
			problem = pool.CreationFailing
		}
	}
	return problem
}

func objectOf(s *structpb.Struct) pool.ObservedObject {
	return pool.ObservedObject{
		Resource: resourceOf(s, conditionsOf(s)),
		Bucket:   text(s, "spec", "forProvider", "bucket"),
		Key:      text(s, "spec", "forProvider", "key"),
		InAWS:    text(s, "status", "atProvider", "etag") != "" || text(s, "status", "atProvider", "arn") != "",
	}
}
