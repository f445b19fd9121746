package aws

import (
	"context"
	"testing"
	"testing/synctest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A stubbornEC2 answers each look-up with all images that it has.
type stubbornEC2 struct{ *fakeAWS }

func (s stubbornEC2) DescribeImages(context.Context, *ec2.DescribeImagesInput, ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	return &ec2.DescribeImagesOutput{Images: s.images}, nil
}

// Of what comes back for pinned images, only those are taken that were asked for.
func TestAPinTakesOnlyTheImageThatItAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := stubbornEC2{&fakeAWS{images: []ec2types.Image{
			{ImageId: awssdk.String("ami-00000002"), State: ec2types.ImageStateAvailable, Architecture: ec2types.ArchitectureValuesX8664},
			{State: ec2types.ImageStateAvailable},
		}}}
		r := NewReader(WithNewClients(func(context.Context, pool.Identity, string) (Clients, error) {
			return Clients{AutoScaling: f, EC2: f}, nil
		}))
		for id, want := range map[string]bool{"ami-00000001": false, "ami-00000002": true} {
			q := query("")
			q.Image = &pool.ImageQuery{ID: id}
			if got := r.Read(context.Background(), q).Image; !got.Known() || (got.Value != nil) != want || want && got.Value.ID != id {
				t.Errorf("%s: want it %t, got %+v", id, want, got)
			}
		}
	})
}
