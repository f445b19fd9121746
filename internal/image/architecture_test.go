package image

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestArchitectureOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   v1alpha1.Architecture
	}{
		"Graviton": {
			reason: "A g behind the generation is Graviton.",
			args:   []string{"m7g.large", "c6gd.xlarge", "t4g.small", "x2gd.medium", "c7gn.large", "im4gn.large", "is4gen.large", "hpc7g.4xlarge", "g5g.xlarge", "i8ge.large", "r8gb.large", "m8g.metal-24xl"},
			want:   "arm64",
		},
		"FirstGraviton": {reason: "The first family of Graviton does not name it.", args: []string{"a1.large", "a1.metal"}, want: "arm64"},
		"IntelAndAMD": {
			reason: "An i or an a there is x86_64.",
			args:   []string{"m6i.large", "m7i-flex.large", "c8i-flex.large", "m6a.large", "t3a.small", "g4ad.xlarge", "x2iedn.xlarge", "i4i.large", "i7ie.large", "hpc6id.32xlarge", "m5ad.large"},
			want:   "x86_64",
		},
		"Unknown": {
			reason: "A family from before, or of other hardware, does not tell. A g before the generation is graphics, and a Mac is what it is.",
			args:   []string{"m5.large", "t3.medium", "c5n.large", "r5b.large", "g5.xlarge", "g4dn.xlarge", "g6e.xlarge", "gr6.4xlarge", "p4d.24xlarge", "p6e-gb200.36xlarge", "mac2.metal", "mac-m4.metal", "u-6tb1.metal", "u7in-16tb.224xlarge", "trn1.2xlarge", "inf2.xlarge", "vt1.3xlarge", "dl2q.24xlarge", "f2.6xlarge", "i3en.large", "d3en.xlarge", "x1e.xlarge", "", "large"},
		},
	}
	for name, tc := range cases {
		for _, instanceType := range tc.args {
			t.Run(name+"/"+instanceType, func(t *testing.T) {
				if diff := cmp.Diff(tc.want, ArchitectureOf(instanceType)); diff != "" {
					t.Errorf("\n%s\nArchitectureOf(%q): -want, +got:\n%s", tc.reason, instanceType, diff)
				}
			})
		}
	}
}
