package aws

import (
	"slices"
	"strconv"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestInternalIPs(t *testing.T) {
	v6 := func(device, card int32, addresses ...types.InstanceIpv6Address) types.InstanceNetworkInterface {
		return types.InstanceNetworkInterface{
			Attachment:    &types.InstanceNetworkInterfaceAttachment{DeviceIndex: awssdk.Int32(device), NetworkCardIndex: awssdk.Int32(card)},
			Ipv6Addresses: addresses,
		}
	}
	ip := func(s string) types.InstanceIpv6Address {
		return types.InstanceIpv6Address{Ipv6Address: awssdk.String(s)}
	}

	cases := map[string]struct {
		reason string
		args   types.Instance
		want   []string
	}{
		"None":      {reason: "A pending instance may have no address yet: it is left out."},
		"Empty":     {reason: "A stopped instance's addresses can be empty texts.", args: types.Instance{PrivateIpAddress: awssdk.String("")}},
		"IPv4":      {reason: "The primary private address.", args: types.Instance{PrivateIpAddress: awssdk.String("10.0.0.1")}, want: []string{"10.0.0.1"}},
		"IPv6":      {reason: "An IPv6-only instance; the lowest address whatever the order.", args: types.Instance{NetworkInterfaces: []types.InstanceNetworkInterface{v6(0, 0, ip("2600::2"), ip("2600::1"))}}, want: []string{"2600::1"}},
		"Primary":   {reason: "The primary one before the lowest.", args: types.Instance{NetworkInterfaces: []types.InstanceNetworkInterface{v6(0, 0, ip("2600::1"), types.InstanceIpv6Address{Ipv6Address: awssdk.String("2600::2"), IsPrimaryIpv6: awssdk.Bool(true)})}}, want: []string{"2600::2"}},
		"Both":      {reason: "IPv4 before IPv6.", args: types.Instance{PrivateIpAddress: awssdk.String("10.0.0.1"), NetworkInterfaces: []types.InstanceNetworkInterface{v6(0, 0, ip("2600::1"))}}, want: []string{"10.0.0.1", "2600::1"}},
		"Secondary": {reason: "Other interfaces and other network cards are not the primary one.", args: types.Instance{PrivateIpAddress: awssdk.String("10.0.0.1"), NetworkInterfaces: []types.InstanceNetworkInterface{v6(1, 0, ip("2600::1")), v6(0, 1, ip("2600::2"))}}, want: []string{"10.0.0.1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, internalIPs(&tc.args)); diff != "" {
				t.Errorf("\n%s\ninternalIPs(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Every name is in one part, in order, and no part asks for more than a filter and, unless one group alone is larger, a
// page hold.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{1, 1, 10, 150, 399, 400, 401, 5000}), 1, 450).Draw(t, "sizes")
		names := make([]string, len(sizes))
		size := map[string]int{}
		for i, s := range sizes {
			names[i] = strconv.Itoa(i)
			size[names[i]] = s
		}
		got := parts(names, func(n string) int { return size[n] }, packedInstances)
		if diff := cmp.Diff(names, slices.Concat(got...)); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
		for _, part := range got {
			sum := 0
			for _, n := range part {
				sum += size[n]
			}
			if len(part) == 0 || len(part) > valuesPerFilter || (sum > packedInstances && len(part) > 1) {
				t.Errorf("want 1 to %d names of at most %d items, got %d of %d", valuesPerFilter, packedInstances, len(part), sum)
			}
		}
	})
}
