package aws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A failure is a failed call, fit to be shown. Its message is built from fixed text, the operation and AWS's error
// code alone. AWS's own messages name request ids, accounts, principals and times, which change from run to run or
// are nobody else's business.
type failure struct {
	pool.ReadError

	// badInput says that AWS refused what was asked for, and not who asked or how often.
	badInput bool
}

// read is the failure as the core takes it, nil for none.
func (f *failure) read() *pool.ReadError {
	if f == nil {
		return nil
	}
	return &pool.ReadError{Reason: f.Reason, Message: f.Message}
}

func failed(reason pool.ReadReason, format string, args ...any) *failure {
	return &failure{ReadError: pool.ReadError{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// guide is where a person finds what to do about it.
const guide = "docs/aws-access.md"

// Error codes by what they mean. EC2 and Auto Scaling spell the same thing differently.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/CommonErrors.html
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
var (
	deniedCodes = set("UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "UnauthorizedAccess", "NotAuthorized", "Blocked")

	notEnabledCodes = set("OptInRequired", "RegionDisabledException", "SubscriptionRequired", "PendingVerification")

	credentialCodes = set("AuthFailure", "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException",
		"UnrecognizedClient", "InvalidAccessKeyId", "InvalidSecurityToken", "InvalidToken", "SignatureDoesNotMatch", "InvalidSignatureException",
		"IncompleteSignature", "MissingAuthenticationToken", "MissingAuthenticationTokenException", "InvalidIdentityToken",
		"InvalidIdentityTokenException", "IDPRejectedClaim", "IDPRejectedClaimException", "TokenRefreshRequired")

	// skewCodes always mean that the clocks differ. Others, above, only do when the message or the SDK says so.
	skewCodes = set("RequestExpired", "RequestTimeTooSkewed", "RequestInTheFuture")

	badInputCodes = set("ValidationError", "ValidationException", "InvalidParameterValue", "InvalidParameter", "InvalidParameterCombination",
		"InvalidFilter", "FilterLimitExceeded")
)

func set(codes ...string) map[string]bool {
	out := make(map[string]bool, len(codes))
	for _, c := range codes {
		out[c] = true
	}
	return out
}

// classify says in the core's words why a call failed. The operation is the one that was asked for; where signing in
// to STS failed on the way to it, that is what is named.
func classify(op string, err error) *failure {
	op = innermost(op, err)

	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() != "" {
		if f := classifyCode(op, err, api); f != nil {
			return f
		}
	}

	var timeout net.Error
	var credentials *credentialsError
	var response *smithyhttp.ResponseError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &timeout) && timeout.Timeout():
		return timedOut(op)
	case errors.Is(err, errNotWhole), errors.Is(err, io.ErrUnexpectedEOF):
		return partial(op)
	case errors.As(err, &response) && response.HTTPStatusCode() == http.StatusTooManyRequests:
		return throttled(op)
	case errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusMultipleChoices:
		return failed(pool.ReadFailed, "%s failed with HTTP status %d", op, response.HTTPStatusCode())
	case errors.As(err, new(*smithy.DeserializationError)):
		return partial(op)
	case errors.As(err, &credentials):
		return failed(pool.ReadCredentialsInvalid, "no credentials could be had for %s: check the identity of the function (%s)", op, guide)
	default:
		return failed(pool.ReadFailed, "%s could not be reached: check the region, the endpoint settings and the network (%s)", op, guide)
	}
}

// classifyCode goes by AWS's error code. It returns nil for one that is no code, as what is made of a proxy's page.
func classifyCode(op string, err error, api smithy.APIError) *failure {
	code := api.ErrorCode()
	_, throttle := retry.DefaultThrottleErrorCodes[code]
	switch {
	case throttle:
		return throttled(op)
	case skewCodes[code], credentialCodes[code] && skewed(err, api):
		return failed(pool.ReadClockSkewed, "%s refused the time of the request: correct the clock of the function's node", op)
	case deniedCodes[code] && strings.HasPrefix(op, "sts:"):
		return failed(pool.ReadAccessDenied, "%s was denied: the role must exist, trust who assumes it and expect the external id (%s)", op, guide)
	case deniedCodes[code]:
		return failed(pool.ReadAccessDenied, "%s was denied: allow it to the role (%s)", op, guide)
	case notEnabledCodes[code]:
		return failed(pool.ReadAccessDenied, "%s was refused with %s: enable the region for the account (%s)", op, code, guide)
	case credentialCodes[code]:
		return failed(pool.ReadCredentialsInvalid, "%s refused the credentials with %s: renew them (%s)", op, code, guide)
	case code == "UnknownError" || !plain(code):
		return nil
	}
	f := failed(pool.ReadFailed, "%s failed with %s", op, code)
	f.badInput = badInputCodes[code]
	return f
}

// skewed says that a refused signature is a matter of time: the message says so, or the SDK saw from the response's
// date that the clocks differ.
func skewed(err error, api smithy.APIError) bool {
	m := api.ErrorMessage()
	if strings.Contains(m, "Signature expired") || strings.Contains(m, "Signature not yet current") {
		return true
	}
	var seen interface{ RetryableError() bool }
	return errors.As(err, &seen) && seen.RetryableError()
}

// innermost is the operation that really failed: an error of ec2:DescribeInstances wraps that of sts:AssumeRole when no
// credentials could be had.
func innermost(op string, err error) string {
	for err != nil {
		var oe *smithy.OperationError
		if !errors.As(err, &oe) {
			break
		}
		if oe.Service() == "STS" && plain(oe.Operation()) {
			op = "sts:" + oe.Operation()
		}
		err = oe.Err
	}
	return op
}

// plain says that s is a name, and fit to be shown.
func plain(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, r := range s {
		if r != '.' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return false
		}
	}
	return true
}

func timedOut(op string) *failure {
	return failed(pool.ReadTimedOut, "%s did not answer in time", op)
}

func throttled(op string) *failure {
	return failed(pool.ReadThrottled, "%s was throttled: the account makes too many calls in this region", op)
}

func partial(op string) *failure {
	return failed(pool.ReadPartial, "%s answered only in part", op)
}
