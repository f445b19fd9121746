package aws

import (
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func image(id, created string) types.Image {
	return types.Image{ImageId: awssdk.String(id), Name: awssdk.String("n"), CreationDate: awssdk.String(created)}
}

func TestNewest(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []types.Image
		want   string
	}{
		"None":      {reason: "No image is none.", want: ""},
		"ByDate":    {reason: "The newest, wherever it stands.", args: []types.Image{image("ami-3", "2026-01-01T00:00:00.000Z"), image("ami-1", "2026-03-01T00:00:00.000Z"), image("ami-2", "2026-02-01T00:00:00.000Z")}, want: "ami-1"},
		"ByMoment":  {reason: "Dates are times and not texts: one may have fractions and another none.", args: []types.Image{image("ami-1", "2026-01-01T00:00:00.500Z"), image("ami-2", "2026-01-01T00:00:00Z")}, want: "ami-1"},
		"SameDate":  {reason: "Among those of a moment the highest id, so that it is always the same.", args: []types.Image{image("ami-2", "2026-01-01T00:00:00.000Z"), image("ami-1", "2026-01-01T00:00:00.000Z")}, want: "ami-2"},
		"NoDate":    {reason: "An image whose date is unknown is older than any other.", args: []types.Image{image("ami-9", ""), image("ami-1", "2020-01-01T00:00:00.000Z")}, want: "ami-1"},
		"OnlyWeird": {reason: "It still is an image.", args: []types.Image{image("ami-9", "yesterday")}, want: "ami-9"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var want *pool.Image
			if tc.want != "" {
				want = &pool.Image{ID: tc.want, Name: "n"}
			}
			if diff := cmp.Diff(want, newest(tc.args)); diff != "" {
				t.Errorf("\n%s\nnewest(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNewestDoesNotDependOnOrder(t *testing.T) {
	images := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) types.Image {
		return image(rapid.SampledFrom([]string{"ami-1", "ami-2", "ami-3"}).Draw(t, "id"), rapid.SampledFrom([]string{"", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00.000Z"}).Draw(t, "date"))
	}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		in := images.Draw(t, "images")
		if diff := cmp.Diff(newest(in), newest(rapid.Permutation(in).Draw(t, "permuted"))); diff != "" {
			t.Errorf("-one order, +another:\n%s", diff)
		}
	})
}
