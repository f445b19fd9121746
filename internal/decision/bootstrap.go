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
	spec := o.Composite.Spec
	labels, dropped := bootstrap.FilterNodeLabels(spec.NodeLabels)
	in := bootstrapInput{dropped: dropped, condition: bootstrapCondition(o)}

	format := spec.Bootstrap.Format
	if format == "" && o.Bootstrap.Source == pool.SourceFound {
		format = cmp.Or(v1alpha1.BootstrapFormat(o.Bootstrap.Format), v1alpha1.BootstrapFormatCloudConfig)
		if !slices.Contains(formats, format) {
			// The value may be anything that was put into a Secret, so it is not repeated.
			return in.unusable(o, "the Secret's key \"format\" names no supported format: set it, or spec.bootstrap.format, to cloud-config or ignition")
		}
	}
	if o.Bootstrap.Source == pool.SourceFound {
		in.payload = o.Bootstrap.Payload
		if err := bootstrap.CheckPayload(format, in.payload); err != nil {
			return in.unusable(o, err.Error())
		}
	}
	if e == nil {
		return in
	}
	in.bucket, in.key = staged(o, e)
	if format == "" {
		return in
	}
	userData, err := bootstrap.UserData(bootstrap.Stub{Format: format, Region: e.Region, Bucket: in.bucket, Key: in.key, NodeLabels: labels})
	if err != nil {
		in.refused = field.ErrorList{field.Forbidden(field.NewPath("spec", "nodeLabels"), err.Error())}
	}
	in.userData = userData
	return in
}

// unusable data refuses a new pool. One that exists goes on with what it has staged: the Secret is not its author's.
func (in bootstrapInput) unusable(o *pool.Observation, detail string) bootstrapInput {
	in.payload = nil
	in.condition = condition.New(condition.TypeBootstrapConfigReady, condition.False, reasonMalformed, detail+kept(o))
	if o.Managed.Object == nil {
		in.refused = field.ErrorList{field.Forbidden(field.NewPath("spec", "bootstrap", "dataSecretRef"), detail)}
	}
	return in
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
		return condition.New(condition.TypeBootstrapConfigReady, s, reason, message)
	}
	switch o.Bootstrap.Source {
	case pool.SourceNotFetched:
		return state(condition.Unknown, reasonNotFetched, "waiting for Crossplane to fetch "+secret)
	case pool.SourceNotFound:
		return state(condition.False, reasonNotFound, secret+" does not exist: wait for the bootstrap provider to create it, or change spec.bootstrap.dataSecretRef"+kept(o))
	case pool.SourceEmpty:
		return state(condition.False, reasonEmpty, fmt.Sprintf("%s has no data at key %q: wait for the bootstrap provider to fill it, or change spec.bootstrap.dataSecretRef.key%s", secret, ref.Key, kept(o)))
	case pool.SourceRefused, pool.SourceOutOfScope:
		return state(condition.False, reasonRefused, "the Secret that spec.bootstrap.dataSecretRef names is not read: the pool may not name it"+kept(o))
	case pool.SourceTooLarge:
		return state(condition.False, reasonTooLarge, fmt.Sprintf("the data of %s at key %q is larger than %d bytes: compress it, or have it fetch the rest%s", secret, ref.Key, bootstrap.MaxPayloadBytes, kept(o)))
	case pool.SourceMalformed:
		return state(condition.False, reasonMalformed, fmt.Sprintf("the data of %s at key %q is not base64%s", secret, ref.Key, kept(o)))
	case pool.SourceFound:
	}
	status, reason, message := stagedState(o.Managed.Object, o.Exports.Value)
	return state(status, reason, message)
}

// stagedState says how far bootstrap data that was found has come on its way to S3.
func stagedState(obj *pool.ObservedObject, e *v1alpha1.Exports) (s condition.Status, reason, message string) {
	switch {
	case obj == nil && e == nil:
		return condition.False, reasonStaging, "the bootstrap data waits for the cluster's exports, which say where to stage it"
	case obj == nil:
		return condition.False, reasonStaging, "the bootstrap data is being staged in S3"
	case !obj.Healthy() && e != nil && obj.Bucket != "" && e.BootstrapBucket != obj.Bucket:
		return condition.False, reasonStaging, fmt.Sprintf("the bootstrap data is being staged in S3 bucket %s, where the pool's object is: the cluster now exports another bucket; if bucket %s is gone, make it again, or create another pool", obj.Bucket, obj.Bucket)
	case !obj.Healthy():
		return condition.False, reasonStaging, "the bootstrap data is being staged in S3 bucket " + obj.Bucket + ": where that lasts, the managed resource of the object says why"
	case e != nil && obj.Bucket != "" && e.BootstrapBucket != obj.Bucket:
		return condition.True, reasonStaged, fmt.Sprintf("the bootstrap data is staged in S3 bucket %s, where it stays: the cluster now exports another bucket", obj.Bucket)
	}
	return condition.True, reasonStaged, "the bootstrap data is staged in S3"
}

func kept(o *pool.Observation) string {
	if o.Managed.Object == nil {
		return ""
	}
	return "; the data that is staged stays"
}
