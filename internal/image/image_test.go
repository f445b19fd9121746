package image

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
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
		"OwnSuffix":      {reason: "{suffix} is what stands behind the +.", args: spec("v1.34.1+rke2r1", "", "rke2-{semver}-{suffix}-*"), want: want{name: "rke2-1.34.1-rke2r1-*", ok: true}},
		"NoSuffix":       {reason: "A format that asks for a suffix needs one.", args: spec("v1.34.1", "", "rke2-{semver}-{suffix}-*"), want: want{name: "rke2-{semver}-{suffix}-*"}},
		"OnlyV":          {reason: "A v alone is no version.", args: spec("v", "", "a-{semver}"), want: want{name: "a-{semver}"}},
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
		"Default":   {reason: "By default Cluster API's images are looked among.", args: spec("v1.34.1", "", ""), want: &pool.ImageQuery{Owner: "819546954734", Name: "capa-ami-ubuntu-24.04-?{semver}-*", Version: "v1.34.1", Architecture: "x86_64"}},
		"Own":       {reason: "Owner, name and architecture are the spec's. The version is whole: answers are shared among equal queries, and its suffix tells images apart.", args: arm, want: &pool.ImageQuery{Owner: "self", Name: "golden-{version}", Version: "v1.34.1+rke2r1", Architecture: "arm64"}},
		"Pinned":    {reason: "A pinned image is not looked up, and is looked at.", args: spec("v1.34.1", "ami-00000001", ""), want: &pool.ImageQuery{ID: "ami-00000001"}},
		"EmptyID":   {reason: "An empty id pins nothing.", args: emptyID, want: &pool.ImageQuery{Owner: "819546954734", Name: "capa-ami-ubuntu-24.04-?{semver}-*", Version: "v1.34.1", Architecture: "x86_64"}},
		"NoSuffix":  {reason: "Without the suffix that the name needs there is nothing to look for.", args: spec("v1.34.1", "", "{semver}-{suffix}")},
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

// ubuntu and amazon are images whose root devices have another name.
const (
	ubuntu = "/dev/sda1"
	amazon = "/dev/xvda"
)

func TestResolve(t *testing.T) {
	const wanted = `an available x86_64 image of owner 819546954734 in the cluster's region named "capa-ami-ubuntu-24.04-?1.34.1-*"`
	type args struct {
		spec *v1alpha1.MachinePoolSpec
		read pool.Read[*pool.Image]
		last Last
	}
	var (
		found    = pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: "ami-new", Name: "capa-ami-ubuntu-24.04-v1.34.1-9", RootDevice: ubuntu, Architecture: "x86_64", State: "available"}}
		notFound = pool.Read[*pool.Image]{Asked: true}
		failed   = pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: "ami-half", RootDevice: amazon}, Err: &pool.ReadError{Reason: pool.ReadAccessDenied, Message: "ec2:DescribeImages: access denied"}}
		old      = Last{ID: "ami-old", RootDevice: ubuntu}
		pinned   = Resolution{ID: "ami-00000001", RootDevice: ubuntu, Resolved: true, Reason: "Pinned", Message: "the spec pins image ami-00000001"}
	)
	cases := map[string]struct {
		reason string
		args   args
		want   Resolution
	}{
		"Pinned": {
			reason: "A pinned image needs no reading.",
			args:   args{spec: spec("v1.34.1", "ami-00000001", "")},
			want:   pinned,
		},
		"PinnedReadFailed": {
			reason: "A pinned image that cannot be looked at is taken.",
			args:   args{spec: spec("v1.34.1", "ami-00000001", ""), read: failed},
			want:   pinned,
		},
		"Found": {
			reason: "The newest image is the one that was read.",
			args:   args{spec: spec("v1.34.1", "", ""), read: found, last: old},
			want:   Resolution{ID: "ami-new", RootDevice: ubuntu, Resolved: true, Reason: "Found", Message: "the newest image is ami-new (capa-ami-ubuntu-24.04-v1.34.1-9)"},
		},
		"NotFound": {
			reason: "An image that AWS does not have is told with everything that was looked for.",
			args:   args{spec: spec("v1.34.1", "", ""), read: notFound},
			want:   Resolution{RootDevice: ubuntu, Reason: "NotFound", Message: "AWS does not have " + wanted + ": check spec.machineImage and spec.kubernetesVersion"},
		},
		"Deregistered": {
			reason: "An image that is no longer found stays.",
			args:   args{spec: spec("v1.34.1", "", ""), read: notFound, last: old},
			want:   Resolution{ID: "ami-old", RootDevice: ubuntu, Reason: "NotFound", Message: "AWS does not have " + wanted + ": check spec.machineImage and spec.kubernetesVersion; the pool keeps ami-old"},
		},
		"ReadFailed": {
			reason: "A read that failed changes no image and no device, whatever it brought.",
			args:   args{spec: spec("v1.34.1", "", ""), read: failed, last: Last{ID: "ami-old", RootDevice: "/dev/xvdb"}},
			want:   Resolution{ID: "ami-old", RootDevice: "/dev/xvdb", Reason: "ReadFailed", Message: "cannot look for " + wanted + ": ec2:DescribeImages: access denied; the pool keeps ami-old"},
		},
		"FirstReadFailed": {
			reason: "A first read that failed brings no image.",
			args:   args{spec: spec("v1.34.1", "", ""), read: failed},
			want:   Resolution{RootDevice: ubuntu, Reason: "ReadFailed", Message: "cannot look for " + wanted + ": ec2:DescribeImages: access denied"},
		},
		"NotRead": {
			reason: "Without reading AWS an image must be pinned.",
			args:   args{spec: spec("v1.34.1", "", "")},
			want:   Resolution{RootDevice: ubuntu, Reason: "ImageNotRead", Message: "the function does not read AWS to look for " + wanted + ": set spec.machineImage.id, or aws.identity in the function's Input"},
		},
		"NoLongerRead": {
			reason: "An image that was once looked up stays when AWS is read no more. Its device is the spec's: nothing else is known of it.",
			args:   args{spec: spec("v1.34.1", "", ""), last: Last{ID: "ami-old", RootDevice: amazon}},
			want:   Resolution{ID: "ami-old", RootDevice: ubuntu, Reason: "ImageNotRead", Message: "the function does not read AWS to look for " + wanted + ": set spec.machineImage.id, or aws.identity in the function's Input; the pool keeps ami-old"},
		},
		"NoVersion": {
			reason: "A missing version is told, and how to do without.",
			args:   args{spec: spec("", "", ""), last: old},
			want:   Resolution{ID: "ami-old", RootDevice: ubuntu, Reason: "NoKubernetesVersion", Message: `machineImage.nameFormat "capa-ami-ubuntu-24.04-?{semver}-*" needs a version: set spec.kubernetesVersion, or spec.machineImage.id; the pool keeps ami-old`},
		},
		"NoSuffix": {
			reason: "So is a missing suffix.",
			args:   args{spec: spec("v1.34.1", "", "{semver}-{suffix}"), last: old},
			want:   Resolution{ID: "ami-old", RootDevice: ubuntu, Reason: "NoKubernetesVersion", Message: `machineImage.nameFormat "{semver}-{suffix}" needs a version with a + suffix: change spec.machineImage.nameFormat or spec.kubernetesVersion, or set spec.machineImage.id; the pool keeps ami-old`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Resolve(tc.args.spec, tc.args.read, tc.args.last)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A root volume of another name than the image's root device is a second volume, and the root is as the image has it.
func TestARootDeviceOfAnotherNameIsNotLeftUnencrypted(t *testing.T) {
	read := func(device string) pool.Read[*pool.Image] {
		return pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: "ami-00000001", Name: "n", RootDevice: device, Architecture: "x86_64", State: "available"}}
	}
	on := func(s *v1alpha1.MachinePoolSpec, device string) *v1alpha1.MachinePoolSpec {
		s.MachineImage.RootDeviceName = device
		return s
	}
	failed := read(amazon)
	failed.Err = &pool.ReadError{Reason: pool.ReadTimedOut, Message: "timed out"}
	const refused = "the root device of image ami-00000001 is /dev/xvda, and machineImage.rootDeviceName is /dev/sdb: with that name the root volume would stay as the image has it, perhaps not encrypted: remove spec.machineImage.rootDeviceName"
	type args struct {
		device string
		read   pool.Read[*pool.Image]
		last   Last
	}
	type want struct {
		id, device, reason, message string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Same":          {reason: "The default is right for Ubuntu.", args: args{device: ubuntu, read: read(ubuntu)}, want: want{id: "ami-00000001", device: ubuntu}},
		"Default":       {reason: "In place of the default, the image's own device is taken.", args: args{device: ubuntu, read: read(amazon)}, want: want{id: "ami-00000001", device: amazon}},
		"DefaultExists": {reason: "Also by a template that exists, for new instances.", args: args{device: ubuntu, read: read(amazon), last: Last{ID: "ami-00000001", RootDevice: ubuntu}}, want: want{id: "ami-00000001", device: amazon}},
		"Named":         {reason: "A name that is the image's is right.", args: args{device: amazon, read: read(amazon)}, want: want{id: "ami-00000001", device: amazon}},
		"Unknown":       {reason: "An image of which AWS does not say it takes the spec's.", args: args{device: amazon, read: read("")}, want: want{id: "ami-00000001", device: amazon}},
		"Mismatch":      {reason: "Another name is refused, with both: no template is made.", args: args{device: "/dev/sdb", read: read(amazon)}, want: want{device: "/dev/sdb", reason: "RootDeviceMismatch", message: refused}},
		"MismatchExists": {
			reason: "A template that exists keeps its image and its device.",
			args:   args{device: "/dev/sdb", read: read(amazon), last: Last{ID: "ami-00000001", RootDevice: amazon}},
			want:   want{id: "ami-00000001", device: amazon, reason: "RootDeviceMismatch", message: refused + "; the pool keeps ami-00000001"},
		},
		"NotReadNow": {
			reason: "A read that fails changes no device: the template would change, and change back.",
			args:   args{device: ubuntu, read: failed, last: Last{ID: "ami-00000001", RootDevice: amazon}},
			want:   want{id: "ami-00000001", device: amazon},
		},
	}
	for name, tc := range cases {
		for kind, s := range map[string]*v1alpha1.MachinePoolSpec{"Pinned": spec("v1.34.1", "ami-00000001", ""), "LookedUp": spec("v1.34.1", "", "")} {
			t.Run(name+kind, func(t *testing.T) {
				r := Resolve(on(s, tc.args.device), tc.args.read, tc.args.last)
				got := want{id: r.ID, device: r.RootDevice}
				if r.Reason == v1alpha1.ReasonRootDeviceMismatch {
					got.reason, got.message = r.Reason, r.Message
				}
				if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
					t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

func TestAPinnedImageThatIsGoneIsTold(t *testing.T) {
	const id = "ami-00000009"
	const gone = "AWS does not have image ami-00000009, which the spec pins, in the cluster's region for the account of the function's identity: it is deregistered, of another region, or not shared: change spec.machineImage.id"
	read := func(i *pool.Image) pool.Read[*pool.Image] { return pool.Read[*pool.Image]{Asked: true, Value: i} }
	failed := pool.Read[*pool.Image]{Asked: true, Err: &pool.ReadError{Reason: pool.ReadThrottled, Message: "throttled"}}
	told := func(s condition.Status, reason, message string) condition.Condition {
		return condition.New(v1alpha1.ConditionImageResolved, s, reason, message)
	}
	exists := Last{ID: id, RootDevice: ubuntu}
	type args struct {
		read pool.Read[*pool.Image]
		last Last
	}
	cases := map[string]struct {
		reason string
		args   args
		want   Resolution
	}{
		"Gone": {
			reason: "An image that AWS does not have makes no template.",
			args:   args{read: read(nil)},
			want:   Resolution{RootDevice: ubuntu, Reason: "NotFound", Message: gone},
		},
		"GoneExists": {
			reason: "A pool on it goes on.",
			args:   args{read: read(nil), last: exists},
			want:   Resolution{ID: id, RootDevice: ubuntu, Reason: "NotFound", Message: gone + "; the pool keeps " + id},
		},
		"Disabled": {
			reason: "One that cannot be launched is as good as gone, and its state says why.",
			args:   args{read: read(&pool.Image{ID: id, State: "disabled"})},
			want:   Resolution{RootDevice: ubuntu, Reason: "NotAvailable", Message: "image ami-00000009, which the spec pins, cannot be launched: its state is disabled: change spec.machineImage.id"},
		},
		"GoneThenUnread": {
			reason: "A read that fails does not make it be there: it would be rolled to.",
			args:   args{read: failed, last: Last{Told: told(condition.False, "NotFound", gone)}},
			want:   Resolution{RootDevice: ubuntu, Reason: "NotFound", Message: gone},
		},
		"GoneExistsThenUnread": {
			reason: "Nor does it take a pool from it.",
			args:   args{read: failed, last: Last{ID: id, RootDevice: amazon, Told: told(condition.False, "NotFound", gone+"; the pool keeps "+id)}},
			want:   Resolution{ID: id, RootDevice: amazon, Reason: "NotFound", Message: gone + "; the pool keeps " + id},
		},
		"AnotherGoneThenUnread": {
			reason: "What the last run said about another image says nothing about this image.",
			args:   args{read: failed, last: Last{Told: told(condition.False, "NotFound", "AWS does not have image ami-00000001")}},
			want:   Resolution{ID: id, RootDevice: ubuntu, Resolved: true, Reason: "Pinned", Message: "the spec pins image " + id},
		},
		"ThereThenUnread": {
			reason: "Nor does a read that fails make it be gone.",
			args:   args{read: failed, last: Last{ID: id, RootDevice: ubuntu, Told: told(condition.True, "Pinned", "the spec pins image "+id)}},
			want:   Resolution{ID: id, RootDevice: ubuntu, Resolved: true, Reason: "Pinned", Message: "the spec pins image " + id},
		},
		"There": {
			reason: "One that is there is resolved.",
			args:   args{read: read(&pool.Image{ID: id, RootDevice: ubuntu, Architecture: "x86_64", State: "available"}), last: Last{Told: told(condition.False, "NotFound", gone)}},
			want:   Resolution{ID: id, RootDevice: ubuntu, Resolved: true, Reason: "Pinned", Message: "the spec pins image " + id},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Resolve(spec("v1.34.1", id, ""), tc.args.read, tc.args.last)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAnImageOfAnotherArchitectureIsTold(t *testing.T) {
	const id = "ami-00000009"
	of := func(instanceType string, architecture v1alpha1.Architecture, pin string) *v1alpha1.MachinePoolSpec {
		s := spec("v1.34.1", pin, "")
		s.InstanceType, s.MachineImage.Architecture = instanceType, architecture
		return s
	}
	read := func(architecture string) pool.Read[*pool.Image] {
		return pool.Read[*pool.Image]{Asked: true, Value: &pool.Image{ID: id, Name: "n", Architecture: architecture, State: "available"}}
	}
	failed := pool.Read[*pool.Image]{Asked: true, Err: &pool.ReadError{Reason: pool.ReadThrottled, Message: "throttled"}}
	exists := Last{ID: id, RootDevice: ubuntu}
	const (
		other     = "image ami-00000009, which the spec pins, is arm64, and machineImage.architecture is x86_64: change spec.machineImage.architecture, which must be the instance type's, or spec.machineImage.id"
		cannot    = "instanceType m7g.large is arm64, and image ami-00000009 is x86_64: change spec.instanceType or spec.machineImage"
		cannotAny = "instanceType m7g.large is arm64, and machineImage.architecture is x86_64: change spec.instanceType or spec.machineImage"
	)
	type args struct {
		spec *v1alpha1.MachinePoolSpec
		read pool.Read[*pool.Image]
		last Last
	}
	type want struct{ id, reason, message string }
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Pinned":       {reason: "A pinned image of the spec's architecture is right.", args: args{spec: of("m7g.large", "arm64", id), read: read("arm64")}, want: want{id: id, reason: "Pinned", message: "the spec pins image " + id}},
		"PinnedOther":  {reason: "A pinned image of another one makes no template.", args: args{spec: of("m7g.large", "x86_64", id), read: read("arm64")}, want: want{reason: "ArchitectureMismatch", message: other}},
		"PinnedExists": {reason: "A pool on it goes on: it may work, where the spec's architecture was left at its default.", args: args{spec: of("m7g.large", "x86_64", id), read: read("arm64"), last: exists}, want: want{id: id, reason: "ArchitectureMismatch", message: other + "; the pool keeps " + id}},
		"PinnedCannot": {reason: "An image that the instance type cannot boot goes into no template, also into none that exists.", args: args{spec: of("m7g.large", "x86_64", id), read: read("x86_64"), last: exists}, want: want{reason: "InstanceTypeMismatch", message: cannot}},
		"PinnedCannotUnread": {
			reason: "A read that fails does not make it bootable.",
			args:   args{spec: of("m7g.large", "x86_64", id), read: failed, last: Last{ID: id, RootDevice: ubuntu, Told: condition.New(v1alpha1.ConditionImageResolved, condition.False, "InstanceTypeMismatch", cannot)}},
			want:   want{reason: "InstanceTypeMismatch", message: cannot},
		},
		"PinnedUnread":    {reason: "Without a reading nobody knows the image's.", args: args{spec: of("m7g.large", "x86_64", id)}, want: want{id: id, reason: "Pinned", message: "the spec pins image " + id}},
		"PinnedUnnamed":   {reason: "An image of which AWS does not say it is taken.", args: args{spec: of("m7g.large", "x86_64", id), read: read("")}, want: want{id: id, reason: "Pinned", message: "the spec pins image " + id}},
		"LookedUp":        {reason: "Images of the instance type's are looked among.", args: args{spec: of("m7g.large", "arm64", ""), read: read("arm64")}, want: want{id: id, reason: "Found", message: "the newest image is ami-00000009 (n)"}},
		"LookedUpCannot":  {reason: "Among others none will do, found or not.", args: args{spec: of("m7g.large", "x86_64", ""), read: read("x86_64"), last: exists}, want: want{reason: "InstanceTypeMismatch", message: cannotAny}},
		"LookedUpUnknown": {reason: "An instance type whose name does not tell may boot any.", args: args{spec: of("m5.large", "arm64", ""), read: read("arm64")}, want: want{id: id, reason: "Found", message: "the newest image is ami-00000009 (n)"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := Resolve(tc.args.spec, tc.args.read, tc.args.last)
			if diff := cmp.Diff(tc.want, want{id: r.ID, reason: r.Reason, message: r.Message}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWaitsForExports(t *testing.T) {
	got := WaitsForExports(Last{ID: "ami-last", RootDevice: amazon})
	want := Resolution{ID: "ami-last", RootDevice: amazon, Reason: v1alpha1.ReasonNoClusterExports, Message: "the image is looked up once the cluster's exports say in which region; the pool keeps ami-last"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("WaitsForExports(...): -want, +got:\n%s", diff)
	}
}
