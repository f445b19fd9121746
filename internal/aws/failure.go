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

	// ofIdentity says that every call of the operation would fail alike, whatever it asked for: the account is throttled, or no
	// one could sign in.
	ofIdentity bool

	// tooLarge says that the answer has more than is read of one. Less of the same may fit.
	tooLarge bool

	// lasting says that the same question fails alike, as long as AWS has what it has. So it answers later callers too.
	lasting bool
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

// tooManyImages says that a look-up's name is that of more images than are read.
func tooManyImages() *failure {
	f := failed(pool.ReadFailed, "%s has more than %d images of this name: write more of the name into spec.machineImage.nameFormat", opImages, maxImages)
	f.lasting = true
	return f
}

// guide is where a person finds what to do about it.
const guide = "docs/aws-access.md"

// A meaning is what an error code of AWS stands for.
type meaning int

const (
	meansOther meaning = iota
	meansThrottled
	meansDenied
	meansNotEnabled
	meansBadCredentials
	meansSkewed
	meansBadInput
	meansServerError
)

// meaningOf an error code. EC2, Auto Scaling and STS spell the same thing differently.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/CommonErrors.html
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
func meaningOf(code string) meaning {
	if _, ok := retry.DefaultThrottleErrorCodes[code]; ok {
		return meansThrottled
	}
	switch code {
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "UnauthorizedAccess", "NotAuthorized", "Blocked":
		return meansDenied
	case "OptInRequired", "RegionDisabledException", "SubscriptionRequired", "PendingVerification":
		return meansNotEnabled
	case "AuthFailure", "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException",
		"UnrecognizedClient", "InvalidAccessKeyId", "InvalidSecurityToken", "InvalidToken", "SignatureDoesNotMatch",
		"InvalidSignatureException", "IncompleteSignature", "MissingAuthenticationToken", "MissingAuthenticationTokenException",
		"InvalidIdentityToken", "InvalidIdentityTokenException", "IDPRejectedClaim", "IDPRejectedClaimException":
		return meansBadCredentials
	case "RequestExpired", "RequestTimeTooSkewed", "RequestInTheFuture":
		return meansSkewed
	case "ValidationError", "ValidationException", "InvalidParameterValue", "InvalidParameter", "InvalidParameterCombination",
		"InvalidFilter", "FilterLimitExceeded":
		return meansBadInput
	case "InternalError", "InternalFailure", "InternalServerError", "InternalServiceError", "ServiceUnavailable", "Unavailable":
		return meansServerError
	default:
		return meansOther
	}
}

// classify says in the core's words why a call failed. The operation is the one that was asked for; where signing in
// to STS failed on the way to it, that is what is named.
func classify(op string, err error) *failure {
	op = innermost(op, err)
	api, ok := errors.AsType[smithy.APIError](err)
	var f *failure
	if ok {
		f = classifyCode(op, err, api)
	}
	if f == nil {
		f = classifyTransport(op, err)
	}
	f.ofIdentity = f.Reason == pool.ReadThrottled || errors.As(err, new(*credentialsError))
	return f
}

// classifyCode goes by AWS's error code. It returns nil for one that is no code, as what is made of a proxy's page.
func classifyCode(op string, err error, api smithy.APIError) *failure {
	code := api.ErrorCode()
	if code == "UnknownError" || !plain(code) {
		return nil
	}
	switch m := meaningOf(code); {
	case m == meansThrottled:
		return throttled(op)
	case m == meansSkewed, m == meansBadCredentials && skewed(err, api):
		return failed(pool.ReadClockSkewed, "%s refused the time of the request: correct the clock of the function's node", op)
	case m == meansBadCredentials:
		return failed(pool.ReadCredentialsInvalid, "%s refused the credentials with %s: renew them (%s)", op, code, guide)
	case m == meansNotEnabled, m == meansDenied:
		return denied(op, code, m)
	case m == meansServerError, m == meansOther && statusOf(err) >= http.StatusInternalServerError:
		return serverError(op)
	default:
		f := failed(pool.ReadFailed, "%s failed with %s", op, code)
		f.badInput = m == meansBadInput
		return f
	}
}

func denied(op, code string, m meaning) *failure {
	switch {
	case m == meansNotEnabled:
		return failed(pool.ReadAccessDenied, "%s was refused with %s: enable the region for the account (%s)", op, code, guide)
	case strings.HasPrefix(op, "sts:"):
		return failed(pool.ReadAccessDenied, "%s was denied: the role must exist, trust who assumes it and expect the external id (%s)", op, guide)
	default:
		return failed(pool.ReadAccessDenied, "%s was denied: allow it to the role (%s)", op, guide)
	}
}

// classifyTransport goes by how far the call got, where AWS gave no reason.
func classifyTransport(op string, err error) *failure {
	status := statusOf(err)
	signingIn := errors.As(err, new(*credentialsError))
	switch {
	case signingIn && late(err):
		// Before the next one: what was slow is not the operation that needed the credentials. The same words for every way of
		// signing in, since which of its requests ran out of time differs from run to run.
		return failed(pool.ReadTimedOut, "signing in to AWS did not finish in time: check the ServiceAccount's role and token, and that the function's pod reaches what it signs in at (%s)", guide)
	case late(err):
		return timedOut(op)
	case errors.Is(err, errTooLarge):
		return tooLarge(op, signingIn)
	case errors.Is(err, errNotWhole), errors.Is(err, io.ErrUnexpectedEOF):
		return partial(op)
	case status == http.StatusTooManyRequests:
		return throttled(op)
	case status >= http.StatusInternalServerError:
		return serverError(op)
	case status >= http.StatusMultipleChoices:
		return failed(pool.ReadFailed, "%s failed with HTTP status %d", op, status)
	case errors.As(err, new(*smithy.DeserializationError)):
		return partial(op)
	case signingIn:
		return failed(pool.ReadCredentialsInvalid, "no credentials could be had for %s: check the identity of the function (%s)", op, guide)
	default:
		return failed(pool.ReadFailed, "%s could not be reached: check the region, the endpoint settings and the network (%s)", op, guide)
	}
}

// statusOf is the HTTP status of the response, 0 when there was none.
func statusOf(err error) int {
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return response.HTTPStatusCode()
	}
	return 0
}

func late(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.As(err, &timeout) && timeout.Timeout()
}

// skewed reports whether a refused signature is a matter of time: the message says so, or the SDK saw from the response's
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

// plain reports whether s is a name, and fit to be shown.
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

// queueFull is for a call that was not made, so that what else is read is not late.
func queueFull(op string, waiting int) *failure {
	return failed(pool.ReadThrottled, "%s was not called: %d such calls for pools of this namespace wait already (%s)", op, waiting, guide)
}

// serverError names neither the code nor the status: AWS in trouble answers with one and then another, and each would be
// a change of the status.
func serverError(op string) *failure {
	return failed(pool.ReadFailed, "%s failed with a server error, of AWS or of a proxy on the way", op)
}

func tooLarge(op string, signingIn bool) *failure {
	if signingIn {
		return failed(pool.ReadFailed, "signing in to AWS was answered with more than is read of an answer: check what the function's pod signs in at (%s)", guide)
	}
	f := failed(pool.ReadPartial, "%s answered with more than is read of an answer (%s)", op, guide)
	f.tooLarge = true
	return f
}

// malformed is for an answer of which a part is nothing that AWS answers.
func malformed(op string) *failure {
	return failed(pool.ReadPartial, "%s answered with a number or an id that AWS does not have (%s)", op, guide)
}

func partial(op string) *failure {
	return failed(pool.ReadPartial, "%s answered only in part", op)
}
