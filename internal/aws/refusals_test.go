package aws

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// TestARefusalAnswersWhomItConcerns holds that what AWS denies one tenant, for what the tenant asked for, is not denied to another.
func TestARefusalAnswersWhomItConcerns(t *testing.T) {
	const after = refusalTime + time.Second
	denied := &failure{ReadError: pool.ReadError{Reason: pool.ReadAccessDenied}}
	throttled := &failure{ReadError: pool.ReadError{Reason: pool.ReadThrottled}, ofIdentity: true}
	cases := map[string]struct {
		reason string
		note   *failure
		asks   string
		later  time.Duration
		want   bool
	}{
		"Same":         {reason: "The same tenant would be denied again.", note: denied, asks: "greedy", want: true},
		"Other":        {reason: "Another tenant asks for something else.", note: denied, asks: "modest"},
		"Shared":       {reason: "So does a call that is for many.", note: denied, asks: ""},
		"Throttled":    {reason: "An account is throttled whoever asks.", note: throttled, asks: "modest", want: true},
		"Later":        {reason: "A single call finds out whether the refusal still holds.", note: denied, asks: "greedy", later: after},
		"TimedOut":     {reason: "What failed for another reason says nothing of the next call.", note: &failure{ReadError: pool.ReadError{Reason: pool.ReadTimedOut}}, asks: "greedy"},
		"AnsweredThen": {reason: "A call that succeeded is no refusal.", asks: "greedy"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &refusals{}
				r.note(opImages, "greedy", tc.note)
				time.Sleep(tc.later)
				if got := r.holds(opImages, tc.asks) != nil; got != tc.want {
					t.Errorf("\n%s\nholds(...): want %t, got %t", tc.reason, tc.want, got)
				}
			})
		})
	}
}
