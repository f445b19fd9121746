package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// What the SDK sends over a wire is tested there. These are errors that are hard to get out of it.
func TestClassify(t *testing.T) {
	status := func(code int) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: code}}, Err: errors.New("canary")}
	}

	cases := map[string]struct {
		reason string
		args   error
		want   *pool.ReadError
	}{
		"Deadline": {
			reason: "The batch's deadline ended the call.",
			args:   &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeInstances", Err: &awssdk.RequestCanceledError{Err: context.DeadlineExceeded}},
			want:   &pool.ReadError{Reason: pool.ReadTimedOut, Message: "ec2:DescribeInstances did not answer in time"},
		},
		"Dial": {
			reason: "No connection in time.",
			args:   &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}},
			want:   &pool.ReadError{Reason: pool.ReadTimedOut, Message: "ec2:DescribeInstances did not answer in time"},
		},
		"NoSuchHost": {
			reason: "A region without this service.",
			args:   &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true, Name: "ec2.xx-canary-1.amazonaws.com"}},
			want:   &pool.ReadError{Reason: pool.ReadFailed, Message: "ec2:DescribeInstances could not be reached: check the region, the endpoint settings and the network (docs/aws-access.md)"},
		},
		"ThrottledThenLate": {
			reason: "That AWS throttles says more than that time was over.",
			args:   errors.Join(apiError("RequestLimitExceeded", "x"), context.DeadlineExceeded),
			want:   &pool.ReadError{Reason: pool.ReadThrottled, Message: "ec2:DescribeInstances was throttled: the account makes too many calls in this region"},
		},
		"Skewed": {
			reason: "The SDK saw from the response's date that the clocks differ, and could not make up for it.",
			args:   &retryable{err: apiError("AuthFailure", "AWS was not able to validate the provided access credentials")},
			want:   &pool.ReadError{Reason: pool.ReadClockSkewed, Message: "ec2:DescribeInstances refused the time of the request: correct the clock of the function's node"},
		},
		"WebIdentityDenied": {
			reason: "IRSA whose role does not trust the service account: what failed is named, not what it was for.",
			args: &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeInstances", Err: &credentialsError{
				err: &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRoleWithWebIdentity", Err: apiError("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity")},
			}},
			want: &pool.ReadError{Reason: pool.ReadAccessDenied, Message: "sts:AssumeRoleWithWebIdentity was denied: the role must exist, trust who assumes it and expect the external id (docs/aws-access.md)"},
		},
		"WebIdentityExpired": {
			reason: "IRSA whose token is too old.",
			args:   &credentialsError{err: &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRoleWithWebIdentity", Err: apiError("ExpiredTokenException", "Token expired: current date/time 1 must be before 2")}},
			want:   &pool.ReadError{Reason: pool.ReadCredentialsInvalid, Message: "sts:AssumeRoleWithWebIdentity refused the credentials with ExpiredTokenException: renew them (docs/aws-access.md)"},
		},
		"Status": {
			reason: "No code, but a status.",
			args:   status(http.StatusServiceUnavailable),
			want:   &pool.ReadError{Reason: pool.ReadFailed, Message: "ec2:DescribeInstances failed with a server error, of AWS or of a proxy on the way"},
		},
		"StatusAndCode": {
			reason: "The same, whatever AWS calls it.",
			args:   errors.Join(status(http.StatusServiceUnavailable), apiError("Server.Overloaded", "canary")),
			want:   &pool.ReadError{Reason: pool.ReadFailed, Message: "ec2:DescribeInstances failed with a server error, of AWS or of a proxy on the way"},
		},
		"Code": {
			reason: "And without a status.",
			args:   apiError("Unavailable", "canary"),
			want:   &pool.ReadError{Reason: pool.ReadFailed, Message: "ec2:DescribeInstances failed with a server error, of AWS or of a proxy on the way"},
		},
		"OtherStatus": {
			reason: "What is nobody's trouble is named.",
			args:   status(http.StatusNotFound),
			want:   &pool.ReadError{Reason: pool.ReadFailed, Message: "ec2:DescribeInstances failed with HTTP status 404"},
		},
		"SigningInLate": {
			reason: "The batch ended while credentials were fetched: it is not EC2 that is slow.",
			args:   &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeInstances", Err: &credentialsError{err: &awssdk.RequestCanceledError{Err: context.DeadlineExceeded}}},
			want:   &pool.ReadError{Reason: pool.ReadTimedOut, Message: "signing in to AWS did not finish in time: check the ServiceAccount's role and token, and that the function's pod reaches what it signs in at (docs/aws-access.md)"},
		},
		"STSLate": {
			reason: "The same words where STS itself ran out of time, and not the batch.",
			args: &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeInstances", Err: &credentialsError{
				err: &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRole", Err: &net.OpError{Op: "read", Err: &net.DNSError{IsTimeout: true}}},
			}},
			want: &pool.ReadError{Reason: pool.ReadTimedOut, Message: "signing in to AWS did not finish in time: check the ServiceAccount's role and token, and that the function's pod reaches what it signs in at (docs/aws-access.md)"},
		},
		"NoCredentials": {
			reason: "There are none, and that was said in time.",
			args:   &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeInstances", Err: &credentialsError{err: errors.New("no EC2 IMDS role found")}},
			want:   &pool.ReadError{Reason: pool.ReadCredentialsInvalid, Message: "no credentials could be had for ec2:DescribeInstances: check the identity of the function (docs/aws-access.md)"},
		},
		"Undecodable": {
			reason: "A response that is not what it should be.",
			args:   &smithy.DeserializationError{Err: errors.New("canary")},
			want:   &pool.ReadError{Reason: pool.ReadPartial, Message: "ec2:DescribeInstances answered only in part"},
		},
		"OddCode": {
			reason: "A code that is not a name is not shown.",
			args:   &smithy.GenericAPIError{Code: "<canary id=\"1\">"},
			want:   &pool.ReadError{Reason: pool.ReadFailed, Message: "ec2:DescribeInstances could not be reached: check the region, the endpoint settings and the network (docs/aws-access.md)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, classify(opInstances, tc.args).read()); diff != "" {
				t.Errorf("\n%s\nclassify(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

type retryable struct{ err error }

func (r *retryable) Error() string        { return r.err.Error() }
func (r *retryable) Unwrap() error        { return r.err }
func (r *retryable) RetryableError() bool { return true }

// Nothing that AWS, the network or the SDK says ends up in a message, but for the code.
func TestClassifyNeverQuotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := "canary" + rapid.StringMatching(`[a-z ]{0,5}(Signature expired)?`).Draw(t, "said")
		code := rapid.SampledFrom([]string{"Throttling", "AccessDenied", "AuthFailure", "RequestExpired", "ValidationError", "Other.Code", ""}).Draw(t, "code")
		err := error(&smithy.GenericAPIError{Code: code, Message: said})
		for range rapid.IntRange(0, 4).Draw(t, "depth") {
			switch rapid.IntRange(0, 4).Draw(t, "wrap") {
			case 0:
				err = fmt.Errorf("%s: %w", said, err)
			case 1:
				err = &credentialsError{err: err}
			case 2:
				err = &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRole", Err: err}
			case 3:
				err = &smithy.OperationError{ServiceID: said, OperationName: said, Err: err}
			default:
				err = errors.Join(errors.New(said), err)
			}
		}
		if f := classify(opGroups, err); strings.Contains(f.Message, "canary") || f.Reason == "" {
			t.Errorf("want a reason and nothing quoted, got %q, %q", f.Reason, f.Message)
		}
	})
}
