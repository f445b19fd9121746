package aws

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A throttling is EC2 at the wire when it throttles each request, and says for how long the SDK is to wait.
type throttling struct {
	retryAfter string
	requests   int
}

func (h *throttling) Do(*http.Request) (*http.Response, error) {
	h.requests++
	header := http.Header{}
	if h.retryAfter != "" {
		header.Set("X-Amz-Retry-After", h.retryAfter)
	}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: header, Body: io.NopCloser(strings.NewReader(
		`<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>Request limit exceeded.</Message></Error></Errors></Response>`))}, nil
}

// A call keeps its slot while the SDK pauses between attempts. So the pauses are short, whatever the response asks for, and none
// is made where no call can follow it.
func TestAThrottledCallKeepsItsSlotBriefly(t *testing.T) {
	cases := map[string]struct {
		reason     string
		retryAfter string
		// left of the batch's time.
		left     time.Duration
		atMost   time.Duration
		requests int
	}{
		"Pauses":       {reason: "Two pauses, each of half a second at most.", left: batchDeadline, atMost: (maxAttempts - 1) * maxBackoff, requests: maxAttempts},
		"AsksForLong":  {reason: "A response that asks for a longer pause is not tried again: earlier would be too early.", retryAfter: "5000", left: batchDeadline, requests: 1},
		"AsksForShort": {reason: "A pause that is asked for and is short enough is made.", retryAfter: "500", left: batchDeadline, atMost: (maxAttempts - 1) * maxBackoff, requests: maxAttempts},
		"AsksForWhat":  {reason: "What is no number is not a pause.", retryAfter: "soon", left: batchDeadline, atMost: (maxAttempts - 1) * maxBackoff, requests: maxAttempts},
		"LittleLeft":   {reason: "No pause where the next attempt could not end.", left: maxBackoff + minCallTime - time.Millisecond, requests: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &throttling{retryAfter: tc.retryAfter}
				s := newSDK(logging.NewNopLogger(), newMetrics(nil))
				client := ec2.New(ec2.Options{Region: "us-east-1", Credentials: awssdk.AnonymousCredentials{}, HTTPClient: h, Retryer: s.retryer()})
				c := &caller{metrics: s.metrics, log: s.log, slots: newSlots(1, 1, 0)}
				ctx, cancel := context.WithTimeout(context.Background(), tc.left)
				defer cancel()

				begin := time.Now()
				_, f := call(ctx, c, opImages, 1, func(ctx context.Context) (*ec2.DescribeImagesOutput, error) {
					return client.DescribeImages(ctx, &ec2.DescribeImagesInput{})
				})
				if took := time.Since(begin); took > tc.atMost || h.requests != tc.requests {
					t.Errorf("\n%s\nwant the slot back after %s and %d requests, got it after %s and %d", tc.reason, tc.atMost, tc.requests, took, h.requests)
				}
				if f == nil || f.Reason != pool.ReadThrottled || !f.ofIdentity {
					t.Errorf("\n%s\nwant the account throttled, got %+v", tc.reason, f)
				}
			})
		})
	}
}
