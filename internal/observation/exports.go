package observation

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// decodeExports reads the fields that a pool reads of what another object publishes, and no other field, however many there
// are. It returns what is wrong with fields of another type. What it says names fields of this API only: neither values nor
// keys of an object whose author is someone else.
func decodeExports(s *structpb.Struct) (*v1alpha1.Exports, []string) {
	d := exportsDecoder{}
	e := &v1alpha1.Exports{
		Schema:              d.text(s, "schema", "schema"),
		Region:              d.text(s, "region", "region"),
		KubernetesClusterID: d.text(s, "kubernetes_cluster_id", "kubernetes_cluster_id"),
		BootstrapBucket:     d.text(s, "bootstrap_bucket", "bootstrap_bucket"),
	}
	if zones := d.object(s, "failure_domains", "failure_domains").GetFields(); d.atMost(len(zones), v1alpha1.MaxZones, "failure_domains") && len(zones) > 0 {
		e.FailureDomains = make(map[string]v1alpha1.FailureDomain, len(zones))
		for name, zone := range zones {
			fields := d.structOf(zone, "failure_domains[*]")
			e.FailureDomains[name] = v1alpha1.FailureDomain{SubnetID: d.text(fields, "subnet_id", "failure_domains[*].subnet_id")}
		}
	}
	groups := d.object(s, "security_group_ids", "security_group_ids")
	e.SecurityGroupIDs.Worker = d.texts(groups, "worker", "security_group_ids.worker")
	profiles := d.object(s, "instance_profiles", "instance_profiles")
	e.InstanceProfiles.Worker = d.text(profiles, "worker", "instance_profiles.worker")
	return e, d.wrong
}

// An exportsDecoder notes each field of another type than expected, once. Null is like absent.
type exportsDecoder struct{ wrong []string }

func (d *exportsDecoder) note(path, must string) { d.say(path + " must be " + must) }

// atMost notes a list or a map of more items, none of which is then decoded.
func (d *exportsDecoder) atMost(n, most int, path string) bool {
	if n > most {
		d.say(fmt.Sprintf("%s must have at most %d items", path, most))
	}
	return n <= most
}

func (d *exportsDecoder) say(message string) {
	if !slices.Contains(d.wrong, message) {
		d.wrong = append(d.wrong, message)
	}
}

func (d *exportsDecoder) text(s *structpb.Struct, name, path string) string {
	v := at(s, name)
	if _, ok := v.GetKind().(*structpb.Value_StringValue); !ok && isPresent(v) {
		d.note(path, "a string")
	}
	return v.GetStringValue()
}

func (d *exportsDecoder) object(s *structpb.Struct, name, path string) *structpb.Struct {
	return d.structOf(at(s, name), path)
}

func (d *exportsDecoder) structOf(v *structpb.Value, path string) *structpb.Struct {
	if v.GetStructValue() == nil && isPresent(v) {
		d.note(path, "an object")
	}
	return v.GetStructValue()
}

func (d *exportsDecoder) texts(s *structpb.Struct, name, path string) []string {
	v := at(s, name)
	if v.GetListValue() == nil && isPresent(v) {
		d.note(path, "a list")
	}
	items := v.GetListValue().GetValues()
	if len(items) == 0 || !d.atMost(len(items), v1alpha1.MaxWorkerSecurityGroups, path) {
		return nil
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		if _, ok := item.GetKind().(*structpb.Value_StringValue); !ok {
			d.note(path+"[*]", "a string")
		}
		out = append(out, item.GetStringValue())
	}
	return out
}

// isPresent reports whether a field is there and not null.
func isPresent(v *structpb.Value) bool {
	_, null := v.GetKind().(*structpb.Value_NullValue)
	return v != nil && v.GetKind() != nil && !null
}
