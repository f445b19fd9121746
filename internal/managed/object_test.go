package managed

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
)

const object = `
apiVersion: s3.aws.m.upbound.io/v1beta1
kind: Object
spec:
  managementPolicies: [Observe, Create, Update, Delete]
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
  forProvider:
    region: us-east-1
    bucket: demo-bootstrap
    key: pool/demo-pool-0
    contentBase64: I2Nsb3VkLWNvbmZpZwo=
    contentType: application/octet-stream
    serverSideEncryption: AES256
    acl: bucket-owner-full-control
    tags: {kubernetes.io/cluster/demo-1960e37c: owned}
`

func TestObject(t *testing.T) {
	cluster := inClusterScope("s3.aws.upbound.io/v1beta2")
	staged := func(s *situation) { s.d.Object.Bucket, s.d.Object.Key = "where-it-is", "pool/as-it-is" }
	stays := []edit{set("spec.forProvider.bucket", "where-it-is"), set("spec.forProvider.key", "pool/as-it-is")}

	testRender(t, "bootstrap-object", object, map[string]renderCase{
		"Plain": {
			reason: "The content is sent as base64 alone, with the ACL that a bucket without ACLs takes.",
			args:   aPool("team-a"),
		},
		"PlainInClusterScope": {
			reason: "In cluster scope only the version and the reference differ.",
			args:   aPool(""),
			want:   cluster,
		},
		"Staged": {
			reason: "Bucket and key are the decision's: they cannot change once the object exists.",
			args:   aPool("team-a", staged),
			want:   stays,
		},
		"StagedInClusterScope": {
			reason: "Bucket and key are the decision's in cluster scope too.",
			args:   aPool("", staged),
			want:   slices.Concat(stays, cluster),
		},
		"FewTags": {
			reason: "An object takes fewer tags than the rest, so that it has tags of its own.",
			args: aPool("team-a", common(func(c *decision.Common) {
				c.Tags = map[string]string{"many": "more"}
				c.ObjectTags = map[string]string{"a": "1", "b": ""}
			})),
			want: []edit{set("spec.forProvider.tags", map[string]any{"a": "1", "b": ""})},
		},
	})
}

func TestObjectPayload(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte("#cloud-config\n{}\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	everyByte := make([]byte, 256)
	for i := range everyByte {
		everyByte[i] = byte(i)
	}
	cases := map[string]struct {
		reason string
		args   []byte
	}{
		"Gzip":            {reason: "What is compressed stays so: the instance unpacks it.", args: zipped.Bytes()},
		"EveryByte":       {reason: "A payload is bytes, not text.", args: everyByte},
		"TrailingNewline": {reason: "Nothing is trimmed.", args: []byte("\n#cloud-config\n\n")},
		"Base64":          {reason: "What is base64 already is not taken for encoded.", args: []byte("I2Nsb3VkLWNvbmZpZwo=")},
		"Large":           {reason: "However long, it is one line of canonical base64.", args: bytes.Repeat([]byte("0123456789\n"), 20_000)},
	}
	for name, tc := range cases {
		for _, namespace := range []string{"team-a", ""} {
			t.Run(name+"/"+scopeName(namespace), func(t *testing.T) {
				s := aPool(namespace, func(s *situation) { s.d.Object.Payload = tc.args })
				content, _ := rendered(t, s, "bootstrap-object").Object["spec"].(map[string]any)["forProvider"].(map[string]any)["contentBase64"].(string)
				// A strict decoder still skips line breaks.
				if strings.ContainsAny(content, "\r\n") {
					t.Errorf("\n%s\ncontentBase64: want one line", tc.reason)
				}
				got, err := base64.StdEncoding.Strict().DecodeString(content)
				if err != nil {
					t.Fatalf("\n%s\ncontentBase64: %v", tc.reason, err)
				}
				if !bytes.Equal(tc.args, got) {
					t.Errorf("\n%s\ncontentBase64: want %q, got %q", tc.reason, tc.args, got)
				}
			})
		}
	}
}
