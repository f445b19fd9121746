package aws

import (
	"cmp"
	"context"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// readImage returns the newest image that matches, nil when none does.
func (v *view) readImage(ctx context.Context, q pool.ImageQuery, tenant string) outcome[*pool.Image] {
	var images []types.Image
	f := pages(ctx, v.caller.of(v.imageSlots, tenant), opImages, 1,
		func(ctx context.Context, token *string) (*ec2.DescribeImagesOutput, error) {
			return v.clients.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{
				Owners: []string{q.Owner},
				Filters: []types.Filter{
					{Name: awssdk.String("name"), Values: []string{q.Name}},
					{Name: awssdk.String("architecture"), Values: []string{q.Architecture}},
					{Name: awssdk.String("state"), Values: []string{string(types.ImageStateAvailable)}},
				},
				// A deprecated image still boots. Passing it over would move a pool to another version's image when its
				// publisher deprecates the old ones.
				IncludeDeprecated: awssdk.Bool(true),
				MaxResults:        awssdk.Int32(itemsPerPage),
				NextToken:         token,
			})
		},
		func(out *ec2.DescribeImagesOutput) *string {
			// Of all pages only the newest stays in memory.
			if images = append(images, out.Images...); len(images) > 1 {
				images = []types.Image{slices.MaxFunc(images, byCreation)}
			}
			return out.NextToken
		})
	if f != nil {
		return outcome[*pool.Image]{failure: f}
	}
	return outcome[*pool.Image]{value: newest(images)}
}

// newest by creation date, and by id among those of the same moment. AWS returns images in no order.
func newest(images []types.Image) *pool.Image {
	if len(images) == 0 {
		return nil
	}
	i := slices.MaxFunc(images, byCreation)
	return &pool.Image{ID: awssdk.ToString(i.ImageId), Name: awssdk.ToString(i.Name)}
}

func byCreation(a, b types.Image) int {
	return cmp.Or(created(a).Compare(created(b)), cmp.Compare(awssdk.ToString(a.ImageId), awssdk.ToString(b.ImageId)))
}

// created is when the image was made: the zero time, which is older than any, when AWS does not say.
func created(i types.Image) time.Time {
	t, err := time.Parse(time.RFC3339, awssdk.ToString(i.CreationDate))
	if err != nil {
		return time.Time{}
	}
	return t
}
