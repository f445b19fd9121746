package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithylogging "github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// userAgent and the session name of assumed roles, by which CloudTrail shows who called.
const userAgent = "function-aws-machinepool"

// An sdk makes clients of the AWS SDK. All of them share one pool of connections, unless AWS_CA_BUNDLE is set, which the SDK
// makes a pool for each time.
type sdk struct {
	sharing sync.Once
	shared  awssdk.HTTPClient

	http       *awshttp.BuildableClient
	maxBackoff time.Duration
	// large bounds the large answers that are read and decoded at a time, by all clients.
	large   *slots
	metrics *metrics
	log     logging.Logger
}

func newSDK(log logging.Logger, m *metrics) *sdk {
	return &sdk{
		http: awshttp.NewBuildableClient().
			WithTimeout(requestTimeout).
			WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
			WithTransportOptions(func(t *http.Transport) {
				t.TLSHandshakeTimeout = 2 * dialTimeout
				t.ResponseHeaderTimeout = headerTimeout
				t.MaxIdleConnsPerHost = maxCalls + maxRefreshCalls + maxImageCalls
				t.MaxResponseHeaderBytes = maxHeaderBytes
				// What the transport decompresses by itself would be larger than what is bounded.
				t.DisableCompression = true
			}),
		maxBackoff: maxBackoff,
		large:      newSlots(maxLargeAnswers, maxLargeAnswers, 0),
		metrics:    m,
		log:        log,
	}
}

// clients signs in as the identity. It makes no call: credentials are fetched with the first one.
func (s *sdk) clients(ctx context.Context, id pool.Identity, region string) (Clients, error) {
	opts := []func(*config.LoadOptions) error{
		config.WithRegion(region),
		config.WithHTTPClient(s.http),
		// EKS Pod Identity's agent is asked with another client, which has no timeout, unless it is told.
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = s.http }),
		// AWS_DEFAULTS_MODE=auto asks the metadata service while clients are made.
		config.WithDefaultsMode(awssdk.DefaultsModeStandard),
		config.WithRetryer(s.retryer),
		// Here and not with the clients below, so that the ones that the SDK makes to sign in have them too.
		config.WithAPIOptions([]func(*middleware.Stack) error{
			awsmiddleware.AddUserAgentKey(userAgent), s.metrics.countRequests, s.countSigningIn, s.boundAnswers,
		}),
		// The SDK's warnings can quote what it read.
		config.WithLogger(smithylogging.Nop{}),
	}
	switch id.Source {
	case v1beta1.IdentityPod:
	case v1beta1.IdentitySecret:
		c, err := parseCredentials(id.SharedCredentials)
		if err != nil {
			return Clients{}, &credentialsError{err: err, shown: err.Error()}
		}
		opts = append(opts, config.WithCredentialsProvider(credentials.StaticCredentialsProvider{Value: c}))
	case v1beta1.IdentityNone:
		return Clients{}, errors.New("the identity None has no clients")
	default:
		return Clients{}, &credentialsError{err: errors.New("unknown identity"), shown: "the identity is none of None, Pod and Secret"}
	}

	cfg, err := config.LoadDefaultConfig(ctx, opts...)
	if err != nil {
		return Clients{}, &credentialsError{err: fmt.Errorf("cannot load the AWS configuration: %w", err), shown: "the AWS configuration of the function's pod cannot be loaded: check its AWS_ variables"}
	}
	cfg.HTTPClient = s.sharedClient(cfg.HTTPClient)
	cfg.Credentials = explained{next: cfg.Credentials}
	for _, role := range id.AssumeRoleChain {
		cfg = s.assume(cfg, role)
	}

	return Clients{AutoScaling: autoscaling.NewFromConfig(cfg), EC2: ec2.NewFromConfig(cfg)}, nil
}

// sharedClient is the first that the SDK made, for all identities and regions. Where AWS_CA_BUNDLE is set, the SDK makes another for
// each configuration, with the bundle's certificates and connections of its own, which stay for a minute and a half. A tenant can
// make regions without end.
func (s *sdk) sharedClient(made awssdk.HTTPClient) awssdk.HTTPClient {
	s.sharing.Do(func() { s.shared = sharedClient{made} })
	return s.shared
}

// A sharedClient hides what it is: the SDK copies a client that it can build anew, with a pool of connections and with
// timeouts of its own.
type sharedClient struct{ awssdk.HTTPClient }

// assume returns the configuration signed in as the role.
func (s *sdk) assume(cfg awssdk.Config, role v1beta1.AssumeRole) awssdk.Config {
	provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), role.RoleARN, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = userAgent
		if role.ExternalID != "" {
			o.ExternalID = awssdk.String(role.ExternalID)
		}
	})
	out := cfg.Copy()
	out.Credentials = explained{next: awssdk.NewCredentialsCache(provider, func(o *awssdk.CredentialsCacheOptions) {
		// A minute early, so that no request is signed with what expires on its way.
		o.ExpiryWindow = time.Minute
	})}
	return out
}

// retryer is the SDK's standard one. The adaptive one holds calls back by a rate that it guesses from throttling, for
// longer than a run waits, and its guess is per client while the bucket is the account's. Few calls are what batching
// is for; a run that fails keeps what it last knew, and the next one asks again.
func (s *sdk) retryer() awssdk.Retryer {
	return briefRetryer{maxPause: s.maxBackoff, Standard: retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.MaxBackoff = s.maxBackoff
	})}
}

// A briefRetryer pauses no longer than maxPause, and only where there is time for a call after that. A call keeps its slot
// while the SDK pauses, and a response can ask the SDK for 5 seconds with the header X-Amz-Retry-After.
type briefRetryer struct {
	*retry.Standard

	maxPause time.Duration
}

var errNoRetry = errors.New("another attempt would come too late")

// GetRetryToken says whether there is another attempt, after the attempt that failed.
func (r briefRetryer) GetRetryToken(ctx context.Context, failed error) (func(error) error, error) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < r.maxPause+minCallTime {
		return nil, errNoRetry
	}
	var response *smithyhttp.ResponseError
	if errors.As(failed, &response) && response.Response != nil && response.Response.Response != nil {
		// In milliseconds. What is no number is no pause to the SDK.
		asked, err := strconv.ParseInt(response.Response.Header.Get("X-Amz-Retry-After"), 10, 64)
		if err == nil && asked > r.maxPause.Milliseconds() {
			return nil, errNoRetry
		}
	}
	return r.Standard.GetRetryToken(ctx, failed)
}

// A credentialsError says that there are no credentials to call AWS with.
type credentialsError struct {
	err error
	// shown is what may be shown of it. Empty when that depends on the operation that needed the credentials.
	shown string
}

func (e *credentialsError) Error() string { return "cannot get credentials: " + e.err.Error() }
func (e *credentialsError) Unwrap() error { return e.err }

// explained marks the errors of a credentials provider, which the SDK itself does not tell from those of the call.
type explained struct{ next awssdk.CredentialsProvider }

// Retrieve credentials.
func (e explained) Retrieve(ctx context.Context) (awssdk.Credentials, error) {
	c, err := e.next.Retrieve(ctx)
	if err != nil {
		return awssdk.Credentials{}, &credentialsError{err: err}
	}
	return c, nil
}

// countSigningIn counts and logs calls to STS, which are made deep inside of others, by the SDK itself where it signs in with
// the token of a ServiceAccount.
func (s *sdk) countSigningIn(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("MachinePoolCountSigningIn",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
			op := operation(ctx, stack)
			if !strings.HasPrefix(op, "sts:") {
				return next.HandleInitialize(ctx, in)
			}
			c := &caller{region: awsmiddleware.GetRegion(ctx), metrics: s.metrics, log: s.log}
			_, f := call(ctx, c, op, 1, func(ctx context.Context) (struct{}, error) {
				out, metadata, err = next.HandleInitialize(ctx, in)
				return struct{}{}, err
			})
			if f != nil && err == nil {
				// It was too late to make the call. The context may not have ended yet.
				err = cmp.Or(context.Cause(ctx), context.DeadlineExceeded)
			}
			return out, metadata, err
		}), middleware.After)
}
