package aws

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws/batch"
	imagerule "github.com/crossplane-contrib/function-aws-machinepool/internal/image"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// readImage returns the newest image that a query wants, nil when there is none.
func (v *view) readImage(ctx context.Context, q pool.ImageQuery, tenant string) outcome[*pool.Image] {
	var images []types.Image
	read := 0
	isWanted := imagerule.IsWanted(q)
	isAnswer := func(i types.Image) bool {
		return isWanted(awssdk.ToString(i.Name)) && syntax.AMIID.Matches(awssdk.ToString(i.ImageId)) && isAsked(i, q)
	}
	f := pages(ctx, v.caller.of(v.imageSlots, tenant), opImages, 1,
		func(ctx context.Context, token *string) (*ec2.DescribeImagesOutput, error) {
			return v.clients.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{
				Owners: []string{q.Owner},
				Filters: []types.Filter{
					{Name: awssdk.String("name"), Values: []string{imagerule.Filter(q)}},
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
			if read += len(out.Images); read > maxImages {
				return nil
			}
			images = append(images, slices.DeleteFunc(out.Images, func(i types.Image) bool { return !isAnswer(i) })...)
			// Of all pages only the newest stays in memory.
			if len(images) > 1 {
				images = []types.Image{slices.MaxFunc(images, byCreation)}
			}
			return out.NextToken
		})
	if f == nil && read > maxImages {
		f = tooManyImages()
	}
	if f != nil {
		return outcome[*pool.Image]{failure: f}
	}
	return outcome[*pool.Image]{value: newest(images)}
}

// isAsked reports whether an image is one that the filters of its look-up let through. An endpoint that is not AWS could answer
// with any. The owner that a query names can be an alias, which says nothing of the account.
func isAsked(i types.Image, q pool.ImageQuery) bool {
	owned := !isAccount(q.Owner) || awssdk.ToString(i.OwnerId) == q.Owner
	return owned && isDevice(i.RootDeviceName) && string(i.Architecture) == q.Architecture && i.State == types.ImageStateAvailable
}

// isDevice reports whether a text is the name of a device, or none at all, as of an image that AWS does not describe so far.
func isDevice(name *string) bool {
	return awssdk.ToString(name) == "" || syntax.DeviceName.Matches(*name)
}

func isAccount(owner string) bool { return strings.Trim(owner, "0123456789") == "" }

// readPins reads pinned images by id, as many a call as AWS lets. An image that AWS does not have is a nil one. The filter
// takes ids that do not exist, where the parameter ImageIds fails for all because of one.
func (v *view) readPins(ctx context.Context, ids []string) map[string]batch.Result[outcome[*pool.Image]] {
	found := make(map[string]*pool.Image, len(ids))
	f := pages(ctx, v.caller.of(v.imageSlots, ""), opImages, len(ids),
		func(ctx context.Context, token *string) (*ec2.DescribeImagesOutput, error) {
			return v.clients.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{
				Filters: []types.Filter{{Name: awssdk.String("image-id"), Values: ids}},
				// A deprecated image still boots, and of one that is disabled the state says why it does not.
				IncludeDeprecated: awssdk.Bool(true),
				IncludeDisabled:   awssdk.Bool(true),
				MaxResults:        awssdk.Int32(itemsPerPage),
				NextToken:         token,
			})
		},
		func(out *ec2.DescribeImagesOutput) *string {
			for i := range out.Images {
				if isDevice(out.Images[i].RootDeviceName) {
					found[awssdk.ToString(out.Images[i].ImageId)] = imageOf(&out.Images[i])
				}
			}
			return out.NextToken
		})
	out := make(map[string]batch.Result[outcome[*pool.Image]], len(ids))
	for _, id := range ids {
		o := outcome[*pool.Image]{value: found[id]}
		if f != nil {
			o = outcome[*pool.Image]{failure: f}
		}
		out[id] = batch.Result[outcome[*pool.Image]]{Value: o, Keep: f == nil}
	}
	return out
}

// newest by creation date, and by id among those of the same moment. AWS returns images in no order.
func newest(images []types.Image) *pool.Image {
	if len(images) == 0 {
		return nil
	}
	i := slices.MaxFunc(images, byCreation)
	return imageOf(&i)
}

func imageOf(i *types.Image) *pool.Image {
	return &pool.Image{
		ID: awssdk.ToString(i.ImageId), Name: awssdk.ToString(i.Name), RootDevice: awssdk.ToString(i.RootDeviceName),
		Architecture: string(i.Architecture), State: string(i.State),
	}
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
