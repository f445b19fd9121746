package managed

import (
	"encoding/base64"

	s3 "github.com/upbound/provider-aws/v2/apis/namespaced/s3/v1beta1"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
)

// object renders the staged bootstrap data, byte for byte: what is compressed stays so.
func (r *renderer) object(obj *decision.Object) fresh {
	return fresh{
		kind: kindObject,
		spec: &s3.ObjectSpec{
			ManagedResourceSpec: r.spec(),
			ForProvider: s3.ObjectParameters{
				Region:               &r.common.Region,
				Bucket:               &obj.Bucket,
				Key:                  &obj.Key,
				ContentBase64:        new(base64.StdEncoding.EncodeToString(obj.Payload)),
				ContentType:          new("application/octet-stream"),
				ServerSideEncryption: new("AES256"),
				// The provider would send private, which a bucket with ACLs disabled can refuse.
				ACL:  new("bucket-owner-full-control"),
				Tags: pointerMap(r.common.ObjectTags),
			},
		},
	}
}
