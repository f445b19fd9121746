package aws

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// groupTag is put on every instance of a group by Auto Scaling, and taken off one that is detached.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html
const groupTag = "aws:autoscaling:groupName"

// readInstances reads the instances of groups by tag, in every state: one that is terminated stays visible for about an hour, and
// so can be told from one that an answer lacks. It reads never by id: one unknown id fails a whole call. Groups are read together
// as long as a page is likely to hold all of their members. So pages are read side by side and not one after the other, which a
// run would not have the time for.
func (v *view) readInstances(ctx context.Context, names []string, size func(string) int) map[string]outcome[[]pool.Instance] {
	out := make(map[string]outcome[[]pool.Instance], len(names))
	if len(names) == 0 {
		return out
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	pack := v.packing.now()
	for _, part := range parts(names, size, pack) {
		wg.Go(func() {
			found := isolate(part, func(names []string) (map[string]outcome[[]pool.Instance], *failure) {
				return v.describePart(ctx, names, pack)
			})
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(out, flat(found))
		})
	}
	wg.Wait()
	return out
}

// describePart reads the instances of groups that are likely to be on a page. Where that is too large, smaller ones may do.
func (v *view) describePart(ctx context.Context, names []string, pack int) (map[string]outcome[[]pool.Instance], *failure) {
	page := pack
	found, f := v.describeInstances(ctx, names, page)
	for f != nil && f.tooLarge && page > minPage {
		page = max(page/4, minPage)
		found, f = v.describeInstances(ctx, names, page)
	}
	switch {
	case f == nil && page < pack:
		v.packing.reduce(pack, page)
	case f != nil && f.Reason == pool.ReadTimedOut && len(names) > 1:
		v.packing.reduce(pack, max(pack/2, min(pack, minPacked)))
	}
	return found, f
}

// parts cuts names so that each part fits into a filter and, by its members, into a page.
func parts(names []string, size func(string) int, page int) [][]string {
	var out [][]string
	begin, items := 0, 0
	for i, n := range names {
		s := size(n)
		if i > begin && (i-begin == valuesPerFilter || items+s > page) {
			out = append(out, names[begin:i])
			begin, items = i, 0
		}
		items += s
	}
	return append(out, names[begin:])
}

// describeInstances reads the instances of groups. A group one of whose instances has no id of EC2's, or lives and has no such
// zone, failed. There is no providerID without them, and a list without that instance would be a shorter one.
func (v *view) describeInstances(ctx context.Context, names []string, page int) (map[string]outcome[[]pool.Instance], *failure) {
	values := make([]string, 0, len(names))
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		values = append(values, literal(n))
		wanted[n] = true
	}

	// By id, since an instance can move from one page to the next while pages are read.
	byID := make(map[string]pool.Instance)
	groups := make(map[string]string)
	found := make(map[string]outcome[[]pool.Instance], len(names))
	f := pages(ctx, v.caller, opInstances, len(names),
		func(ctx context.Context, token *string) (*ec2.DescribeInstancesOutput, error) {
			return v.clients.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{
				Filters:    []types.Filter{{Name: awssdk.String("tag:" + groupTag), Values: values}},
				MaxResults: awssdk.Int32(int32(page)), //nolint:gosec // At most a page of AWS.
				NextToken:  token,
			})
		},
		func(out *ec2.DescribeInstancesOutput) *string {
			for r := range out.Reservations {
				for i := range out.Reservations[r].Instances {
					in := instance(&out.Reservations[r].Instances[i])
					name := groupOf(&out.Reservations[r].Instances[i])
					if !wanted[name] {
						continue
					}
					if f := unusable(in); f != nil {
						found[name] = outcome[[]pool.Instance]{failure: f}
						continue
					}
					byID[in.ID], groups[in.ID] = in, name
				}
			}
			return out.NextToken
		})
	if f != nil {
		return nil, f
	}

	for _, id := range slices.Sorted(maps.Keys(byID)) {
		o := found[groups[id]]
		o.value = append(o.value, byID[id])
		found[groups[id]] = o
	}
	return found, nil
}

// literal is the filter value that matches s and nothing else: * and ? are wildcards, and a backslash takes that away.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
func literal(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(s)
}

func groupOf(i *types.Instance) string {
	for _, t := range i.Tags {
		if awssdk.ToString(t.Key) == groupTag {
			return awssdk.ToString(t.Value)
		}
	}
	return ""
}

// unusable says why an instance has no provider id, nil when it has one. Of one that is gone EC2 need not say where it was.
func unusable(in pool.Instance) *failure {
	switch {
	case in.ID == "" || in.Zone == "" && !in.Gone():
		return partial(opInstances)
	case !syntax.InstanceID.Matches(in.ID) || !syntax.Zone.Matches(in.Zone) && !in.Gone():
		return malformed(opInstances)
	}
	return nil
}

func instance(i *types.Instance) pool.Instance {
	out := pool.Instance{ID: awssdk.ToString(i.InstanceId), InternalIPs: internalIPs(i)}
	if i.Placement != nil {
		out.Zone = awssdk.ToString(i.Placement.AvailabilityZone)
	}
	if i.State != nil {
		out.State = string(i.State.Name)
	}
	return out
}

// internalIPs are the primary private IPv4 address, and the primary or else the first IPv6 address of the primary network
// interface. Its other addresses belong to Pods where the VPC CNI hands them out.
func internalIPs(i *types.Instance) []string {
	var out []string
	if ip := awssdk.ToString(i.PrivateIpAddress); isAddress(ip) {
		out = append(out, ip)
	}
	var v6 []types.InstanceIpv6Address
	for _, n := range i.NetworkInterfaces {
		if n.Attachment != nil && awssdk.ToInt32(n.Attachment.DeviceIndex) == 0 && awssdk.ToInt32(n.Attachment.NetworkCardIndex) == 0 {
			v6 = slices.Clone(n.Ipv6Addresses)
		}
	}
	if len(v6) > 0 {
		// AWS promises no order; the lowest stays the same as long as the addresses do.
		first := slices.MinFunc(v6, func(a, b types.InstanceIpv6Address) int {
			if p, q := awssdk.ToBool(a.IsPrimaryIpv6), awssdk.ToBool(b.IsPrimaryIpv6); p != q {
				return map[bool]int{true: -1, false: 1}[p]
			}
			return cmp.Compare(awssdk.ToString(a.Ipv6Address), awssdk.ToString(b.Ipv6Address))
		})
		if ip := awssdk.ToString(first.Ipv6Address); isAddress(ip) {
			out = append(out, ip)
		}
	}
	return out
}

// isAddress reports whether a text is an IP address: anything else would be shown as one.
func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}
