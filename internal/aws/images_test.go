package aws

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
		"ByDate":    {reason: "The newest, wherever it stands.", args: []types.Image{image("ami-00000003", "2026-01-01T00:00:00.000Z"), image("ami-00000001", "2026-03-01T00:00:00.000Z"), image("ami-00000002", "2026-02-01T00:00:00.000Z")}, want: "ami-00000001"},
		"ByMoment":  {reason: "Dates are times and not texts: one may have fractions and another none.", args: []types.Image{image("ami-00000001", "2026-01-01T00:00:00.500Z"), image("ami-00000002", "2026-01-01T00:00:00Z")}, want: "ami-00000001"},
		"SameDate":  {reason: "Among those of a moment the highest id, so that it is always the same.", args: []types.Image{image("ami-00000002", "2026-01-01T00:00:00.000Z"), image("ami-00000001", "2026-01-01T00:00:00.000Z")}, want: "ami-00000002"},
		"NoDate":    {reason: "An image whose date is unknown is older than any other.", args: []types.Image{image("ami-00000009", ""), image("ami-00000001", "2020-01-01T00:00:00.000Z")}, want: "ami-00000001"},
		"OnlyWeird": {reason: "It still is an image.", args: []types.Image{image("ami-00000009", "yesterday")}, want: "ami-00000009"},
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

// TestALookUpTakesItsOwnVersion holds that the newest is the newest of the pool's version. It also holds that queries which
// differ by the suffix of the version alone, for which AWS is asked the same, do not share their answer.
func TestALookUpTakesItsOwnVersion(t *testing.T) {
	named := func(id, name, created string) types.Image {
		return types.Image{ImageId: &id, Name: &name, OwnerId: awssdk.String("1"), Architecture: "x86_64", State: "available", CreationDate: &created}
	}
	f := &fakeAWS{images: []types.Image{
		named("ami-00000001", "rke2-1.34.1-rke2r1-17", "2026-01-01T00:00:00.000Z"),
		named("ami-00000002", "rke2-1.34.1-rke2r2-18", "2026-01-02T00:00:00.000Z"),
		named("ami-00000003", "rke2-1.34.1-rc.1-19", "2026-01-03T00:00:00.000Z"),
		named("ami-00000004", "rke2-1.34.10-rke2r1-20", "2026-01-04T00:00:00.000Z"),
	}}
	r := newFakeReader(t, f)
	for version, want := range map[string]string{"v1.34.1+rke2r1": "ami-00000001", "v1.34.1+rke2r2": "ami-00000002", "v1.34.1": "ami-00000002", "v1.34.10": "ami-00000004", "v1.34.1+rke2r3": ""} {
		q := pool.Query{
			Identity: podIdentity, Region: "us-east-1", MaxAge: time.Minute,
			Image: &pool.ImageQuery{Owner: "1", Name: "rke2-{semver}*", Version: version, Architecture: "x86_64"},
		}
		got := r.Read(context.Background(), q).Image
		if !got.Known() || (got.Value == nil) != (want == "") || got.Value != nil && got.Value.ID != want {
			t.Errorf("%s: want image %q, got %+v", version, want, got)
		}
	}
}

// TestALookUpTakesOnlyWhatItAskedFor holds that an image is taken only where it is what the filters let through, as an endpoint that
// is not AWS may ignore them.
func TestALookUpTakesOnlyWhatItAskedFor(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*types.Image)
		owner  string
		want   bool
	}{
		"Asked":          {reason: "All is as it was asked for.", change: func(*types.Image) {}, want: true},
		"Alias":          {reason: "The owner's alias does not tell its account.", change: func(i *types.Image) { i.OwnerId = awssdk.String("2") }, owner: "amazon", want: true},
		"OtherOwner":     {reason: "Anyone can publish an image of the same name.", change: func(i *types.Image) { i.OwnerId = awssdk.String("2") }},
		"NoOwner":        {reason: "EC2 always says who owns an image.", change: func(i *types.Image) { i.OwnerId = nil }},
		"Architecture":   {reason: "An instance would not boot.", change: func(i *types.Image) { i.Architecture = "arm64" }},
		"State":          {reason: "An image that is pending may fail.", change: func(i *types.Image) { i.State = "pending" }},
		"NoImageID":      {reason: "What is no id would go into a launch template.", change: func(i *types.Image) { i.ImageId = awssdk.String("resolve:ssm:x") }},
		"NothingAtAll":   {reason: "An empty answer is none.", change: func(i *types.Image) { *i = types.Image{} }},
		"Device":         {reason: "A device goes into a launch template.", change: func(i *types.Image) { i.RootDeviceName = awssdk.String("/dev/`id`") }},
		"IDWithNewlines": {reason: "An id has no other characters.", change: func(i *types.Image) { i.ImageId = awssdk.String("ami-00000001\n") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			image := types.Image{ImageId: awssdk.String("ami-00000001"), Name: awssdk.String("ubuntu-1"), OwnerId: awssdk.String("1"), Architecture: "x86_64", State: "available"}
			tc.change(&image)
			owner := "1"
			if tc.owner != "" {
				owner = tc.owner
			}
			r := newFakeReader(t, &fakeAWS{images: []types.Image{image}, unfiltered: true})
			got := r.Read(context.Background(), pool.Query{
				Identity: podIdentity, Region: "us-east-1", MaxAge: time.Minute,
				Image: &pool.ImageQuery{Owner: owner, Name: "ubuntu-*", Architecture: "x86_64"},
			}).Image
			if !got.Known() || (got.Value != nil) != tc.want {
				t.Errorf("\n%s\nRead(...).Image: want an image %t, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}

// TestALookUpOfTooManyImagesIsNotRepeated holds that a name which thousands of images have is answered with what to do about it, and
// that the same question is not asked again as long as its answer would be taken. A tenant chooses the name.
func TestALookUpOfTooManyImagesIsNotRepeated(t *testing.T) {
	f := &fakeAWS{}
	for i := range maxImages + 1 {
		f.images = append(f.images, types.Image{
			ImageId: awssdk.String(fmt.Sprintf("ami-%08x", i)), Name: awssdk.String("ubuntu-1"), OwnerId: awssdk.String("1"), Architecture: "x86_64", State: "available",
		})
	}
	r := newFakeReader(t, f)
	for range 3 {
		got := r.Read(context.Background(), pool.Query{
			Identity: podIdentity, Region: "us-east-1", MaxAge: time.Minute,
			Image: &pool.ImageQuery{Owner: "1", Name: "ubuntu-*", Architecture: "x86_64"},
		}).Image
		want := &pool.ReadError{Reason: pool.ReadFailed, Message: "ec2:DescribeImages has more than 3000 images of this name: write more of the name into spec.machineImage.nameFormat"}
		if diff := cmp.Diff(want, got.Err); diff != "" {
			t.Errorf("Read(...).Image.Err: -want, +got:\n%s", diff)
		}
	}
	if got := f.ops()[opImages]; got != 1 {
		t.Errorf("DescribeImages was called %d times, want once", got)
	}
}

// TestPinnedImagesAreReadTogether holds that pinned images cost a call for two hundred, and that one which does not exist, or
// is disabled, costs the others nothing.
func TestPinnedImagesAreReadTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeAWS{takes: 100 * time.Millisecond}
		id := func(n int) string { return fmt.Sprintf("ami-%017x", n) }
		for n := range 400 {
			i := types.Image{ImageId: awssdk.String(id(n)), State: types.ImageStateAvailable, DeprecationTime: awssdk.String("2026-01-01T00:00:00.000Z")}
			if n == 7 {
				i.State = types.ImageStateDisabled
			}
			if n != 8 {
				f.images = append(f.images, i)
			}
		}
		r := newFakeReader(t, f)
		q := pool.Query{Identity: podIdentity, Region: "us-east-1", MaxAge: time.Minute}
		read := func() {
			var wg sync.WaitGroup
			for n := range 400 {
				wg.Go(func() {
					q := q
					q.Image = &pool.ImageQuery{ID: id(n)}
					got := r.Read(context.Background(), q).Image
					state := "available"
					if n == 7 {
						state = "disabled"
					}
					if !got.Known() || (got.Value == nil) != (n == 8) || got.Value != nil && (got.Value.ID != id(n) || got.Value.State != state) {
						t.Errorf("%s: got %+v", id(n), got)
					}
				})
			}
			wg.Wait()
		}
		read()
		read()
		if diff := cmp.Diff(map[string]int{opImages: 2}, f.ops()); diff != "" {
			t.Errorf("calls: -want, +got:\n%s", diff)
		}
	})
}

func TestNewestDoesNotDependOnOrder(t *testing.T) {
	images := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) types.Image {
		return image(rapid.SampledFrom([]string{"ami-00000001", "ami-00000002", "ami-00000003"}).Draw(t, "id"), rapid.SampledFrom([]string{"", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00.000Z"}).Draw(t, "date"))
	}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		in := images.Draw(t, "images")
		if diff := cmp.Diff(newest(in), newest(rapid.Permutation(in).Draw(t, "permuted"))); diff != "" {
			t.Errorf("-one order, +another:\n%s", diff)
		}
	})
}
