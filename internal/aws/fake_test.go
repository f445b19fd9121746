package aws

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A fakeAWS is one account in one region at the SDK's interface: what it holds, how long it takes, and what was asked.
type fakeAWS struct {
	takes     time.Duration
	groups    []astypes.AutoScalingGroup
	instances []ec2types.Instance
	images    []ec2types.Image
	refreshes map[string][]astypes.InstanceRefresh
	// pageSize of DescribeInstances, when smaller than what was asked for.
	pageSize int
	// unfiltered says that DescribeImages answers with every image, whatever it was asked for.
	unfiltered bool
	// fail is called before each answer, with the names or filter values and the page, which begins with 0.
	fail func(op string, names []string, page int) error

	mu    sync.Mutex
	calls []fakeCall
}

type fakeCall struct {
	Op    string
	Names []string
}

func (f *fakeAWS) clients() Clients { return Clients{AutoScaling: f, EC2: f} }

func (f *fakeAWS) newClients(context.Context, pool.Identity, string) (Clients, error) {
	return f.clients(), nil
}

func (f *fakeAWS) ops() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]int{}
	for _, c := range f.calls {
		out[c.Op]++
	}
	return out
}

func (f *fakeAWS) enter(ctx context.Context, op string, names []string, token *string) (int, error) {
	f.mu.Lock()
	f.calls = append(f.calls, fakeCall{Op: op, Names: slices.Clone(names)})
	f.mu.Unlock()
	if f.takes > 0 {
		select {
		case <-time.After(f.takes):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	page, _ := strconv.Atoi(awssdk.ToString(token))
	if f.fail != nil {
		if err := f.fail(op, names, page); err != nil {
			return 0, err
		}
	}
	return page, nil
}

func (f *fakeAWS) DescribeAutoScalingGroups(ctx context.Context, in *autoscaling.DescribeAutoScalingGroupsInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	if _, err := f.enter(ctx, opGroups, in.AutoScalingGroupNames, in.NextToken); err != nil {
		return nil, err
	}
	if n := len(in.AutoScalingGroupNames); n == 0 || n > int(awssdk.ToInt32(in.MaxRecords)) || n > 100 {
		return nil, apiError("ValidationError", "too many or no names")
	}
	out := &autoscaling.DescribeAutoScalingGroupsOutput{}
	for _, g := range f.groups {
		if slices.Contains(in.AutoScalingGroupNames, awssdk.ToString(g.AutoScalingGroupName)) {
			out.AutoScalingGroups = append(out.AutoScalingGroups, g)
		}
	}
	return out, nil
}

func (f *fakeAWS) DescribeInstanceRefreshes(ctx context.Context, in *autoscaling.DescribeInstanceRefreshesInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeInstanceRefreshesOutput, error) {
	if _, err := f.enter(ctx, opRefreshes, []string{awssdk.ToString(in.AutoScalingGroupName)}, in.NextToken); err != nil {
		return nil, err
	}
	all, ok := f.refreshes[awssdk.ToString(in.AutoScalingGroupName)]
	if !ok {
		return nil, apiError("ValidationError", "AutoScalingGroup name not found - null")
	}
	out := &autoscaling.DescribeInstanceRefreshesOutput{InstanceRefreshes: all}
	if size := int(awssdk.ToInt32(in.MaxRecords)); len(all) > size {
		out.InstanceRefreshes, out.NextToken = all[:size], awssdk.String("more")
	}
	return out, nil
}

func (f *fakeAWS) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	names := filter(in.Filters, "tag:aws:autoscaling:groupName")
	page, err := f.enter(ctx, opInstances, names, in.NextToken)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 || len(names) > 200 || len(in.Filters) != 1 {
		return nil, apiError("FilterLimitExceeded", "too many or no filter values")
	}
	var found []ec2types.Instance
	for i := range f.instances {
		group := groupOf(&f.instances[i])
		matches := slices.ContainsFunc(names, func(n string) bool { return matchesName(n, group) })
		if matches {
			found = append(found, f.instances[i])
		}
	}
	size := int(awssdk.ToInt32(in.MaxResults))
	if f.pageSize > 0 {
		size = min(size, f.pageSize)
	}
	out := &ec2.DescribeInstancesOutput{}
	rest := found[min(page*size, len(found)):]
	// One reservation each: the grouping means nothing.
	for _, i := range rest[:min(size, len(rest))] {
		out.Reservations = append(out.Reservations, ec2types.Reservation{Instances: []ec2types.Instance{i}})
	}
	if len(rest) > size {
		out.NextToken = awssdk.String(strconv.Itoa(page + 1))
	}
	return out, nil
}

func (f *fakeAWS) DescribeImages(ctx context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	names, ids := filter(in.Filters, "name"), filter(in.Filters, "image-id")
	if _, err := f.enter(ctx, opImages, append(slices.Clone(names), ids...), in.NextToken); err != nil {
		return nil, err
	}
	if len(in.ImageIds) > 0 || len(ids) > 200 {
		return nil, apiError("InvalidAMIID.NotFound", "one of the ids does not exist, or there are too many")
	}
	out := &ec2.DescribeImagesOutput{}
	for _, i := range f.images {
		deprecated := awssdk.ToString(i.DeprecationTime) != ""
		if deprecated && !awssdk.ToBool(in.IncludeDeprecated) || i.State == ec2types.ImageStateDisabled && !awssdk.ToBool(in.IncludeDisabled) {
			continue
		}
		if f.unfiltered || slices.Contains(ids, awssdk.ToString(i.ImageId)) || len(names) > 0 && matchesFilters(in, i) {
			out.Images = append(out.Images, i)
		}
	}
	return out, nil
}

// matchesName as a filter does. Most names have no wildcard, and a fleet has very many.
func matchesName(filter, name string) bool {
	if !strings.ContainsAny(filter, `*?[\`) {
		return filter == name
	}
	ok, err := path.Match(filter, name)
	return ok && err == nil
}

func matchesFilters(in *ec2.DescribeImagesInput, i ec2types.Image) bool {
	return matchesName(filter(in.Filters, "name")[0], awssdk.ToString(i.Name)) && slices.Contains(in.Owners, awssdk.ToString(i.OwnerId)) &&
		slices.Contains(filter(in.Filters, "architecture"), string(i.Architecture)) && slices.Contains(filter(in.Filters, "state"), string(i.State))
}

func filter(filters []ec2types.Filter, name string) []string {
	for _, f := range filters {
		if awssdk.ToString(f.Name) == name {
			return f.Values
		}
	}
	return nil
}

// apiError is what the SDK makes of AWS's error, with the request id and the account that its text holds.
func apiError(code, message string) error {
	return &smithy.GenericAPIError{Code: code, Message: message + " for arn:aws:iam::123456789012:user/canary, request 0b5a1e3c-canary"}
}

func fakeGroup(name string, members ...string) astypes.AutoScalingGroup {
	g := astypes.AutoScalingGroup{
		AutoScalingGroupName: awssdk.String(name),
		AutoScalingGroupARN:  awssdk.String("arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:x:autoScalingGroupName/" + name),
		DesiredCapacity:      awssdk.Int32(int32(len(members))),
		MinSize:              awssdk.Int32(0),
		MaxSize:              awssdk.Int32(10),
	}
	for _, id := range members {
		g.Instances = append(g.Instances, astypes.Instance{InstanceId: awssdk.String(id), LifecycleState: astypes.LifecycleStateInService})
	}
	return g
}

func fakeInstance(group, id string, state ec2types.InstanceStateName) ec2types.Instance {
	return ec2types.Instance{
		InstanceId: awssdk.String(id),
		Placement:  &ec2types.Placement{AvailabilityZone: awssdk.String("us-east-1a")},
		State:      &ec2types.InstanceState{Name: state},
		Tags: []ec2types.Tag{
			{Key: awssdk.String("Name"), Value: awssdk.String("demo")},
			{Key: awssdk.String("aws:autoscaling:groupName"), Value: awssdk.String(group)},
		},
	}
}

// fakeFleet is an account with so many pools of so many running members.
func fakeFleet(pools, members int) *fakeAWS {
	f := &fakeAWS{}
	for p := range pools {
		name := fleetPool(p)
		ids := make([]string, 0, members)
		for m := range members {
			ids = append(ids, fmt.Sprintf("i-%05d%05d", p, m))
			f.instances = append(f.instances, fakeInstance(name, ids[m], ec2types.InstanceStateNameRunning))
		}
		f.groups = append(f.groups, fakeGroup(name, ids...))
	}
	return f
}

func fleetPool(p int) string { return fmt.Sprintf("mp-team-a-pool-%05d", p) }

// anyTime compares readings but for when they were made.
func anyTime() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool { return slices.Contains([]string{".At", ".Anew"}, p.Last().String()) }, cmp.Ignore())
}

var podIdentity = pool.Identity{Source: v1beta1.IdentityPod}

func query(group string) pool.Query {
	return pool.Query{Identity: podIdentity, Region: "us-east-1", GroupName: group}
}

func newFakeReader(tb testing.TB, f *fakeAWS, opts ...Option) *Reader {
	tb.Helper()
	return NewReader(append([]Option{WithNewClients(f.newClients)}, opts...)...)
}
