package aws

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// TestACallThatCannotEndIsNotBegun holds that a call begins only where it can still end: a later one costs the account's rate and
// answers nobody.
func TestACallThatCannotEndIsNotBegun(t *testing.T) {
	cases := map[string]struct {
		reason string
		// left of the batch's time, and for how long the only slot is another's.
		left, taken time.Duration
		want        bool
	}{
		"InTime":      {reason: "There is time enough.", left: time.Second, want: true},
		"TooLate":     {reason: "Most calls take longer than what is left.", left: minCallTime / 2},
		"WaitsInTime": {reason: "A slot comes in time.", left: time.Second, taken: time.Second - 2*minCallTime, want: true},
		"WaitsTooLong": {
			reason: "The slot comes when too little is left.", left: time.Second, taken: time.Second - minCallTime/2,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &caller{metrics: newMetrics(prometheus.NewRegistry()), log: logging.NewNopLogger(), slots: newSlots(1, 1, 0), tenant: "modest"}
				if tc.taken > 0 {
					if err := c.slots.take(t.Context(), "greedy"); err != nil {
						t.Fatal(err)
					}
					time.AfterFunc(tc.taken, func() { c.slots.give("greedy") })
				}
				ctx, cancel := context.WithTimeout(t.Context(), tc.left)
				defer cancel()
				called := false
				_, f := call(ctx, c, opImages, 1, func(context.Context) (bool, error) {
					called = true
					return true, nil
				})
				if called != tc.want {
					t.Errorf("\n%s\ncall(...): want a call %t, got %t", tc.reason, tc.want, called)
				}
				if !tc.want && (f == nil || f.Reason != pool.ReadTimedOut) {
					t.Errorf("\n%s\ncall(...): want a read that timed out, got %v", tc.reason, f)
				}
			})
		})
	}
}
