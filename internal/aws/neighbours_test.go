package aws

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// A group of thousands takes many pages, one after the other, and an answer about it is late, too large or cut. Whoever is read
// with it waits for that once, until the group is known to be large, and a pool that was read before not even once.
func TestALargeGroupDoesNotHoldUpItsNeighbours(t *testing.T) {
	const neighbours, large = 50, 3000
	late := func(f *fakeAWS, name string) {
		f.fail = func(_ string, names []string, _ int) error {
			if slices.Contains(names, name) {
				time.Sleep(batchDeadline)
				return context.DeadlineExceeded
			}
			return nil
		}
	}
	cases := map[string]struct {
		reason string
		args   func(f *fakeAWS, name string)
		// first says that the large group is read in the first round, with all others.
		first bool
	}{
		"ManyPages":    {reason: "Its pages take longer than all others' answers.", args: func(*fakeAWS, string) {}, first: true},
		"NewAndSlow":   {reason: "A group that is new, and of which AWS says nothing in time.", args: late},
		"NewAndCut":    {reason: "Nor anything whole.", args: func(f *fakeAWS, name string) { f.fail = failingFor(name, &notWholeError{err: errNotWhole}) }},
		"NewTooLarge":  {reason: "Nor anything that is not too large.", args: func(f *fakeAWS, name string) { f.fail = failingFor(name, errTooLarge) }},
		"NewAndBroken": {reason: "Nor anything but an error.", args: func(f *fakeAWS, name string) { f.fail = failingFor(name, apiError("InternalError", "no")) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeFleet(neighbours, 10)
				f.takes = 200 * time.Millisecond
				greedy := "mp-greedy"
				ids := make([]string, 0, large)
				for m := range large {
					ids = append(ids, fmt.Sprintf("i-f%016x", m))
					f.instances = append(f.instances, fakeInstance(greedy, ids[m], ec2types.InstanceStateNameRunning))
				}
				f.groups = append(f.groups, fakeGroup(greedy, ids...))
				r := newFakeReader(t, f)
				round := func(all bool) (slowest time.Duration) {
					var mu sync.Mutex
					var wg sync.WaitGroup
					if all {
						wg.Go(func() { r.Read(context.Background(), query(greedy)) })
					}
					for p := range neighbours {
						wg.Go(func() {
							begin := time.Now()
							q := query(fleetPool(p))
							q.MaxAge = 5 * time.Second
							if got := r.Read(context.Background(), q); !got.Group.Known() || len(got.Instances.Value) != 10 {
								t.Errorf("\n%s\n%s: got %+v, %+v", tc.reason, q.GroupName, got.Group.Err, got.Instances.Err)
							}
							mu.Lock()
							defer mu.Unlock()
							slowest = max(slowest, time.Since(begin))
						})
					}
					wg.Wait()
					return slowest
				}
				round(tc.first)
				tc.args(f, greedy)
				for n := range 3 {
					time.Sleep(10 * time.Second)
					// A call for the groups and two for the instances, of which those run side by side.
					if slowest := round(true); slowest > time.Second {
						t.Errorf("\n%s\nround %d: want the neighbours read within a second, got %s", tc.reason, n, slowest)
					}
				}
			})
		})
	}
}

// failingFor fails each call that asks for the name.
func failingFor(name string, err error) func(string, []string, int) error {
	return func(_ string, names []string, _ int) error {
		if slices.Contains(names, name) {
			return err
		}
		return nil
	}
}
