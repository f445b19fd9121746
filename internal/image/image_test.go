package image

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// spec of a version, a pinned image and a name format, each left out when empty.
func spec(version, id, format string) *v1alpha1.MachinePoolSpec {
	p := &v1alpha1.MachinePool{Spec: v1alpha1.MachinePoolSpec{MachineImage: v1alpha1.MachineImage{NameFormat: format}}}
	if version != "" {
		p.Spec.KubernetesVersion = &version
	}
	if id != "" {
		p.Spec.MachineImage.ID = &id
	}
	p.Default()
	return &p.Spec
}

func TestName(t *testing.T) {
	type want struct {
		name string
		ok   bool
	}
	empty := spec("", "", "")
	empty.KubernetesVersion = new("")
	cases := map[string]struct {
		reason string
		args   *v1alpha1.MachinePoolSpec
		want   want
	}{
		"Default":        {reason: "The default names Cluster API's images.", args: spec("v1.34.1", "", ""), want: want{name: "capa-ami-ubuntu-24.04-?1.34.1-*", ok: true}},
		"Semver":         {reason: "{semver} has no v.", args: spec("v1.34.1", "", "a-{semver}-b"), want: want{name: "a-1.34.1-b", ok: true}},
		"Version":        {reason: "{version} has the v that was given.", args: spec("v1.34.1", "", "a-{version}-b"), want: want{name: "a-v1.34.1-b", ok: true}},
		"NoV":            {reason: "A version without a v is as good.", args: spec("1.34.1", "", "{version}/{semver}"), want: want{name: "1.34.1/1.34.1", ok: true}},
		"Suffix":         {reason: "A + suffix, which no AMI's name can hold, is left out of both.", args: spec("v1.34.1+rke2r1", "", "{version}/{semver}"), want: want{name: "v1.34.1/1.34.1", ok: true}},
		"PreRelease":     {reason: "A pre-release is part of the version.", args: spec("v1.35.0-rc.1+rke2r1", "", "{version}/{semver}"), want: want{name: "v1.35.0-rc.1/1.35.0-rc.1", ok: true}},
		"Twice":          {reason: "Every place is filled in.", args: spec("v1.34.1", "", "{semver}{semver}"), want: want{name: "1.34.11.34.1", ok: true}},
		"NoVersion":      {reason: "A format that asks for a version needs one.", args: spec("", "", "a-{version}"), want: want{name: "a-{version}"}},
		"NoSemver":       {reason: "A format that asks for a version needs one.", args: spec("", "", "a-{semver}"), want: want{name: "a-{semver}"}},
		"EmptyVersion":   {reason: "An empty version is none.", args: empty, want: want{name: "capa-ami-ubuntu-24.04-?{semver}-*"}},
		"NoneIsAskedFor": {reason: "A format that asks for no version needs none.", args: spec("", "", "golden-*"), want: want{name: "golden-*", ok: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, ok := Name(tc.args)
			if diff := cmp.Diff(tc.want, want{name: n, ok: ok}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nName(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestQueryFor(t *testing.T) {
	arm := spec("v1.34.1+rke2r1", "", "golden-{version}")
	arm.MachineImage.Owner, arm.MachineImage.Architecture = "self", v1alpha1.ArchitectureARM64
	emptyID := spec("v1.34.1", "", "")
	emptyID.MachineImage.ID = new("")
	cases := map[string]struct {
		reason string
		args   *v1alpha1.MachinePoolSpec
		want   *pool.ImageQuery
	}{
		"Default":   {reason: "By default Cluster API's images are looked among.", args: spec("v1.34.1", "", ""), want: &pool.ImageQuery{Owner: "819546954734", Name: "capa-ami-ubuntu-24.04-?1.34.1-*", Architecture: "x86_64"}},
		"Own":       {reason: "Owner, name and architecture are the spec's.", args: arm, want: &pool.ImageQuery{Owner: "self", Name: "golden-v1.34.1", Architecture: "arm64"}},
		"Pinned":    {reason: "A pinned image is not looked up.", args: spec("v1.34.1", "ami-00000001", "")},
		"EmptyID":   {reason: "An empty id pins nothing.", args: emptyID, want: &pool.ImageQuery{Owner: "819546954734", Name: "capa-ami-ubuntu-24.04-?1.34.1-*", Architecture: "x86_64"}},
		"NoVersion": {reason: "Without the version that the name needs there is nothing to look for.", args: spec("", "", "")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, QueryFor(tc.args)); diff != "" {
				t.Errorf("\n%s\nQueryFor(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	const wanted = `an available x86_64 image of owner 819546954734 in us-east-1 named "capa-ami-ubuntu-24.04-?1.34.1-*"`
	type args struct {
		spec      *v1alpha1.MachinePoolSpec
		read      pool.Read[*pool.Image]
		lastKnown string
	}
	var (
		found    = pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: "ami-new", Name: "capa-ami-ubuntu-24.04-v1.34.1-9"}}
		notFound = pool.Read[*pool.Image]{Asked: true}
		failed   = pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: "ami-half"}, Err: &pool.ReadError{Reason: pool.ReadAccessDenied, Message: "ec2:DescribeImages: access denied"}}
	)
	cases := map[string]struct {
		reason string
		args   args
		want   Resolution
	}{
		"Pinned": {
			reason: "A pinned image needs no reading.",
			args:   args{spec: spec("v1.34.1", "ami-00000001", "")},
			want:   Resolution{ID: "ami-00000001", Resolved: true, Reason: "Pinned", Message: "the spec pins image ami-00000001"},
		},
		"PinnedWins": {
			reason: "A pinned image wins over what was read and what was known.",
			args:   args{spec: spec("v1.34.1", "ami-00000001", ""), read: found, lastKnown: "ami-old"},
			want:   Resolution{ID: "ami-00000001", Resolved: true, Reason: "Pinned", Message: "the spec pins image ami-00000001"},
		},
		"Found": {
			reason: "The newest image is the one that was read.",
			args:   args{spec: spec("v1.34.1", "", ""), read: found, lastKnown: "ami-old"},
			want:   Resolution{ID: "ami-new", Resolved: true, Reason: "Found", Message: "the newest image is ami-new (capa-ami-ubuntu-24.04-v1.34.1-9)"},
		},
		"NotFound": {
			reason: "An image that AWS does not have is told with everything that was looked for.",
			args:   args{spec: spec("v1.34.1", "", ""), read: notFound},
			want:   Resolution{Reason: "NotFound", Message: "AWS does not have " + wanted + ": check spec.machineImage and spec.kubernetesVersion"},
		},
		"Deregistered": {
			reason: "An image that is no longer found stays.",
			args:   args{spec: spec("v1.34.1", "", ""), read: notFound, lastKnown: "ami-old"},
			want:   Resolution{ID: "ami-old", Reason: "NotFound", Message: "AWS does not have " + wanted + ": check spec.machineImage and spec.kubernetesVersion; the pool keeps ami-old"},
		},
		"ReadFailed": {
			reason: "A read that failed changes no image, whatever it brought.",
			args:   args{spec: spec("v1.34.1", "", ""), read: failed, lastKnown: "ami-old"},
			want:   Resolution{ID: "ami-old", Reason: "ReadFailed", Message: "cannot look for " + wanted + ": ec2:DescribeImages: access denied; the pool keeps ami-old"},
		},
		"FirstReadFailed": {
			reason: "A first read that failed brings no image.",
			args:   args{spec: spec("v1.34.1", "", ""), read: failed},
			want:   Resolution{Reason: "ReadFailed", Message: "cannot look for " + wanted + ": ec2:DescribeImages: access denied"},
		},
		"NotRead": {
			reason: "Without reading AWS an image must be pinned.",
			args:   args{spec: spec("v1.34.1", "", "")},
			want:   Resolution{Reason: "ImageNotRead", Message: "the function does not read AWS to look for " + wanted + ": set spec.machineImage.id, or aws.identity in the function's Input"},
		},
		"NoLongerRead": {
			reason: "An image that was once looked up stays when AWS is read no more.",
			args:   args{spec: spec("v1.34.1", "", ""), lastKnown: "ami-old"},
			want:   Resolution{ID: "ami-old", Reason: "ImageNotRead", Message: "the function does not read AWS to look for " + wanted + ": set spec.machineImage.id, or aws.identity in the function's Input; the pool keeps ami-old"},
		},
		"NoVersion": {
			reason: "A missing version is told, and how to do without.",
			args:   args{spec: spec("", "", ""), lastKnown: "ami-old"},
			want:   Resolution{ID: "ami-old", Reason: "NoKubernetesVersion", Message: `machineImage.nameFormat "capa-ami-ubuntu-24.04-?{semver}-*" needs a version: set spec.kubernetesVersion, or spec.machineImage.id; the pool keeps ami-old`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Resolve(tc.args.spec, "us-east-1", tc.args.read, tc.args.lastKnown)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWaitsForExports(t *testing.T) {
	got := WaitsForExports("ami-last")
	want := Resolution{ID: "ami-last", Reason: ReasonNoExports, Message: "the image is looked up once the cluster's exports say in which region; the pool keeps ami-last"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("WaitsForExports(...): -want, +got:\n%s", diff)
	}
}
