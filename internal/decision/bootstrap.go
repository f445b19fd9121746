package decision

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
)

// bootstrapInput is the pool's bootstrap data and the user data that fetches it, judged.
type bootstrapInput struct {
	// payload to stage; empty while it is missing. A secret.
	payload []byte
	// userData of the launch template; empty while the format or the exports are missing.
	userData string
	// bucket and key that the payload is staged at.
	bucket, key string
	// dropped node labels, which the kubelet would refuse. Sorted.
	dropped   []string
	condition condition.Condition
	refused   field.ErrorList
}

var formats = []v1alpha1.BootstrapFormat{v1alpha1.BootstrapFormatCloudConfig, v1alpha1.BootstrapFormatIgnition} //nolint:gochecknoglobals // A constant table.

func bootstrapOf(o *pool.Observation, e *v1alpha1.Exports) bootstrapInput {
	labels, dropped := bootstrap.FilterNodeLabels(o.Composite.Spec.NodeLabels)
	in := bootstrapInput{dropped: dropped, condition: bootstrapCondition(o)}
	if e != nil {
		in.bucket, in.key = staged(o, e)
	}
	format, problem := formatOf(o, labels, e)
	if problem != nil {
		return in.unusable(o, problem)
	}
	in.payload = o.Bootstrap.Payload
	if e == nil || !slices.Contains(formats, format) {
		return in
	}
	stub := bootstrap.Stub{Format: format, Region: e.Region, Bucket: in.bucket, Key: in.key}
	if _, err := bootstrap.UserData(stub); err != nil {
		// Not the author's: the bucket and the key are those of the object that is observed.
		return in.unusable(o, field.Forbidden(field.NewPath("spec", "bootstrap"), err.Error()))
	}
	stub.NodeLabels = labels
	userData, err := bootstrap.UserData(stub)
	if err != nil {
		in.refused = field.ErrorList{field.Forbidden(field.NewPath("spec", "nodeLabels"), err.Error())}
	}
	in.userData = userData
	return in
}

// formatOf the bootstrap data, and why the pool cannot be run with what is found. The format is empty while only a Secret that
// is missing knows it, and where no roll may begin: with data that cannot be staged, new nodes may not join.
func formatOf(o *pool.Observation, labels map[string]string, e *v1alpha1.Exports) (v1alpha1.BootstrapFormat, *field.Error) {
	chosen := o.Composite.Spec.Bootstrap.Format
	switch {
	case o.Bootstrap.Source == pool.SourceTooLarge, o.Bootstrap.Source == pool.SourceMalformed:
		return "", nil
	case o.Bootstrap.Source != pool.SourceFound:
		return chosen, nil
	case chosen != "" && !slices.Contains(formats, chosen):
		return chosen, nil // It is told with the spec's other errors.
	}
	format := cmp.Or(chosen, v1alpha1.BootstrapFormat(o.Bootstrap.Format), v1alpha1.BootstrapFormatCloudConfig)
	if problem := checkFormat(o, format, labels, e); problem != nil {
		return "", problem
	}
	return format, nil
}

// checkFormat of bootstrap data that was found.
func checkFormat(o *pool.Observation, format v1alpha1.BootstrapFormat, labels map[string]string, e *v1alpha1.Exports) *field.Error {
	ref := field.NewPath("spec", "bootstrap", "dataSecretRef")
	if !slices.Contains(formats, format) {
		// The value may be anything that was put into a Secret, so it is not repeated.
		return field.Forbidden(ref, `the Secret's key "format" names no supported format: set it, or spec.bootstrap.format, to cloud-config or ignition`)
	}
	if err := bootstrap.CheckPayload(format, o.Bootstrap.Payload); err != nil {
		return field.Forbidden(ref, err.Error())
	}
	if err := bootstrap.CheckNodeLabels(format, labels); err != nil && o.Composite.Spec.Bootstrap.Format == "" {
		return field.Forbidden(field.NewPath("spec", "nodeLabels"), `the Secret's key "format" says ignition: `+err.Error())
	}
	if boots := bootsWith(o); e == nil && !isNew(o) && boots != "" && boots != format {
		return field.Forbidden(ref, fmt.Sprintf("the bootstrap data is %s, the launch template boots %s, and cannot change while the cluster's exports are missing", format, boots))
	}
	return nil
}

// unusable bootstrap data, or a format that the pool cannot have, refuses a new pool. One that exists goes on: the Secret is not
// its author's. Its launch template stays as it is, and is sent data that its instances can boot with.
func (in bootstrapInput) unusable(o *pool.Observation, problem *field.Error) bootstrapInput {
	note := kept(o)
	boots := bootsWith(o)
	switch {
	case isNew(o):
		in.refused = field.ErrorList{problem}
	case boots != "" && bootstrap.CheckPayload(boots, o.Bootstrap.Payload) == nil:
		in.payload = o.Bootstrap.Payload
		note = fmt.Sprintf("; the launch template stays as it is, with %s data, which is still staged", boots)
	}
	in.condition = condition.New(v1alpha1.ConditionBootstrapConfigReady, condition.False, v1alpha1.ReasonMalformed, problem.Detail+note)
	return in
}

// isNew reports whether nothing of the pool exists that its bootstrap data could harm.
func isNew(o *pool.Observation) bool { return o.Managed.Group == nil && o.Managed.Object == nil }

// bootsWith is the format that the pool's instances boot with: that of the launch template that the group was last sent, and
// before there is one that of its templates. Empty where that is not known, or where they differ.
func bootsWith(o *pool.Observation) v1alpha1.BootstrapFormat {
	seen := map[v1alpha1.BootstrapFormat]bool{}
	for _, t := range o.Managed.Templates {
		if g := o.Managed.Group; g != nil && t.ID != "" && t.ID == g.SentTemplateID {
			return t.Format
		}
		seen[t.Format] = true
	}
	if len(seen) != 1 {
		return ""
	}
	for format := range seen {
		return format
	}
	return ""
}

// staged is where the payload is: where the observed object has it, as neither its bucket nor its key can change. An object that
// was never seen in S3, of a pool without a group, can still go to where the exports say by now.
func staged(o *pool.Observation, e *v1alpha1.Exports) (bucket, key string) {
	bucket, key = e.BootstrapBucket, naming.BootstrapObjectKey(identityOf(o, e))
	if obj := o.Managed.Object; obj != nil && (obj.InAWS || o.Managed.Group != nil) {
		bucket, key = cmp.Or(obj.Bucket, bucket), cmp.Or(obj.Key, key)
	}
	return bucket, key
}

func bootstrapCondition(o *pool.Observation) condition.Condition {
	ref := o.Composite.Spec.Bootstrap.DataSecretRef
	secret := "Secret " + qualified(ref.Namespace, ref.Name)
	state := func(s condition.Status, reason, message string) condition.Condition {
		return condition.New(v1alpha1.ConditionBootstrapConfigReady, s, reason, message)
	}
	switch o.Bootstrap.Source {
	case pool.SourceNotFetched:
		return state(condition.Unknown, v1alpha1.ReasonNotFetched, "waiting for Crossplane to fetch "+secret)
	case pool.SourceNotFound:
		return state(condition.False, v1alpha1.ReasonNotFound, secret+" does not exist: wait for the bootstrap provider to create it, or change spec.bootstrap.dataSecretRef"+kept(o))
	case pool.SourceEmpty:
		return state(condition.False, v1alpha1.ReasonEmpty, fmt.Sprintf("%s has no data at key %q: wait for the bootstrap provider to fill it, or change spec.bootstrap.dataSecretRef.key%s", secret, ref.Key, kept(o)))
	case pool.SourceRefused:
		return state(condition.False, v1alpha1.ReasonRefused, "the Secret that spec.bootstrap.dataSecretRef names is not read: the pool may not name it"+kept(o))
	case pool.SourceTooLarge:
		return state(condition.False, v1alpha1.ReasonTooLarge, fmt.Sprintf("the data of %s at key %q is larger than %d bytes (%d KiB): compress it if it is cloud-config, or have it fetch the rest%s", secret, ref.Key, bootstrap.MaxPayloadBytes, bootstrap.MaxPayloadBytes/1024, kept(o)))
	case pool.SourceMalformed:
		return state(condition.False, v1alpha1.ReasonMalformed, fmt.Sprintf("the data of %s at key %q is not base64%s", secret, ref.Key, kept(o)))
	case pool.SourceFound:
	}
	status, reason, message := stagedState(o.Managed.Object, o.Exports.Value)
	return state(status, reason, message)
}

// stagedState says how far bootstrap data that was found has come on its way to S3.
func stagedState(obj *pool.ObservedObject, e *v1alpha1.Exports) (s condition.Status, reason, message string) {
	switch {
	case obj == nil && e == nil:
		return condition.False, v1alpha1.ReasonStaging, "the bootstrap data waits for the cluster's exports, which say where to stage it"
	case obj == nil:
		return condition.False, v1alpha1.ReasonStaging, "the bootstrap data is being staged in S3"
	case !obj.Healthy() && e != nil && obj.Bucket != "" && e.BootstrapBucket != obj.Bucket:
		return condition.False, v1alpha1.ReasonStaging, fmt.Sprintf("the bootstrap data is being staged in S3 bucket %s, where the pool's object is: the cluster now exports another bucket; if bucket %s is gone, make it again, or create another pool", obj.Bucket, obj.Bucket)
	case !obj.Healthy():
		return condition.False, v1alpha1.ReasonStaging, "the bootstrap data is being staged in S3 bucket " + obj.Bucket + ": where that lasts, the managed resource of the object says why"
	case e != nil && obj.Bucket != "" && e.BootstrapBucket != obj.Bucket:
		return condition.True, v1alpha1.ReasonStaged, fmt.Sprintf("the bootstrap data is staged in S3 bucket %s, where it stays: the cluster now exports another bucket", obj.Bucket)
	}
	return condition.True, v1alpha1.ReasonStaged, "the bootstrap data is staged in S3"
}

// withLeftOutTags says which tags the staged object goes without. IAM's policies and bills may go by these.
func withLeftOutTags(c condition.Condition, d Decision) condition.Condition {
	if d.Common == nil || d.Object == nil || d.Object.Held != nil || len(d.Common.LeftOutTags) == 0 {
		return c
	}
	return condition.New(c.Type, c.Status, c.Reason, fmt.Sprintf("%s; the object takes %d tags, and has no room for: %s", c.Message, tagging.MaxOnObject, condition.Names(d.Common.LeftOutTags)))
}

func kept(o *pool.Observation) string {
	if o.Managed.Object == nil {
		return ""
	}
	return "; the data that is staged stays"
}
