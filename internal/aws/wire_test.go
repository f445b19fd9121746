package aws

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// Canaries: what must never be shown. Each is in a request, in a credential or in what AWS says of a failure.
const (
	canaryKeyID   = "AKIACANARYCANARY0001"
	canarySecret  = "canary/secret+0123456789012345678901234"
	canaryToken   = "canary-session-token=="
	canaryExtID   = "canary-external-id"
	canaryAccount = "210987654321"
	canaryRequest = "0b5a1e3c-77f1-4c2b-9a43-canaryrequest"
)

func canaries() []string {
	return []string{canaryKeyID, canarySecret, canaryToken, canaryExtID, canaryAccount, canaryRequest, "canary"}
}

// A wireAnswer is what the server at the wire says: recorded shapes of AWS's answers, with ids replaced.
type wireAnswer struct {
	status int
	body   string
	// short leaves out the end of what Content-Length promises.
	short bool
	// hang answers nothing.
	hang bool
	// stall answers half of the body, and nothing more.
	stall bool
}

func ec2Error(status int, code, message string) wireAnswer {
	return wireAnswer{status: status, body: `<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>` + code + `</Code><Message>` + message + `</Message></Error></Errors><RequestID>` + canaryRequest + `</RequestID></Response>`}
}

func queryError(status int, code, message string) wireAnswer {
	return wireAnswer{status: status, body: `<ErrorResponse xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/">
  <Error>
    <Type>Sender</Type>
    <Code>` + code + `</Code>
    <Message>` + message + `</Message>
  </Error>
  <RequestId>` + canaryRequest + `</RequestId>
</ErrorResponse>
`}
}

func wireGroups(groups ...string) wireAnswer {
	return wireAnswer{body: `<DescribeAutoScalingGroupsResponse xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/">
  <DescribeAutoScalingGroupsResult>
    <AutoScalingGroups>` + strings.Join(groups, "") + `</AutoScalingGroups>
  </DescribeAutoScalingGroupsResult>
  <ResponseMetadata>
    <RequestId>` + canaryRequest + `</RequestId>
  </ResponseMetadata>
</DescribeAutoScalingGroupsResponse>
`}
}

const wireDemoGroup = `<member>
  <AutoScalingGroupARN>arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/demo</AutoScalingGroupARN>
  <AutoScalingGroupName>demo</AutoScalingGroupName>
  <MinSize>1</MinSize><MaxSize>3</MaxSize><DesiredCapacity>2</DesiredCapacity>
  <LaunchTemplate><LaunchTemplateId>lt-2</LaunchTemplateId><Version>$Latest</Version></LaunchTemplate>
  <Status>Delete in progress</Status>
  <Instances>
    <member><InstanceId>i-2</InstanceId><AvailabilityZone>us-east-1b</AvailabilityZone><LifecycleState>Terminating:Wait</LifecycleState><HealthStatus>Unhealthy</HealthStatus><ProtectedFromScaleIn>true</ProtectedFromScaleIn><LaunchTemplate><LaunchTemplateId>lt-1</LaunchTemplateId><Version>7</Version></LaunchTemplate></member>
    <member><InstanceId>i-1</InstanceId><AvailabilityZone>us-east-1a</AvailabilityZone><LifecycleState>InService</LifecycleState><HealthStatus>Healthy</HealthStatus><ProtectedFromScaleIn>false</ProtectedFromScaleIn></member>
  </Instances>
</member>`

func wantWireGroup() *pool.Group {
	return &pool.Group{
		ARN:              "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/demo",
		Name:             "demo",
		DesiredCapacity:  2,
		LaunchTemplateID: "lt-2",
		Members: []pool.GroupMember{
			{InstanceID: "i-1", Zone: "us-east-1a", LifecycleState: "InService"},
			{InstanceID: "i-2", Zone: "us-east-1b", LifecycleState: "Terminating:Wait", LaunchTemplateID: "lt-1", ProtectedFromScaleIn: true},
		},
	}
}

func wireInstances(token string, instances ...string) wireAnswer {
	if token != "" {
		token = "<nextToken>" + token + "</nextToken>"
	}
	return wireAnswer{body: `<?xml version="1.0" encoding="UTF-8"?>
<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
    <requestId>` + canaryRequest + `</requestId>
    <reservationSet>` + strings.Join(instances, "") + `</reservationSet>` + token + `
</DescribeInstancesResponse>`}
}

func wireInstance(id, state, network string) string {
	return `<item><reservationId>r-` + id + `</reservationId><ownerId>` + canaryAccount + `</ownerId><instancesSet><item>
  <instanceId>` + id + `</instanceId>
  <instanceState><code>16</code><name>` + state + `</name></instanceState>
  <placement><availabilityZone>us-east-1a</availabilityZone></placement>
  <tagSet><item><key>aws:autoscaling:groupName</key><value>demo</value></item></tagSet>` + network + `
</item></instancesSet></item>`
}

const wireNetwork = `<privateIpAddress>10.0.0.1</privateIpAddress><networkInterfaceSet>
  <item><networkInterfaceId>eni-2</networkInterfaceId><attachment><deviceIndex>1</deviceIndex><networkCardIndex>0</networkCardIndex></attachment><ipv6AddressesSet><item><ipv6Address>2600::9</ipv6Address></item></ipv6AddressesSet></item>
  <item><networkInterfaceId>eni-1</networkInterfaceId><attachment><deviceIndex>0</deviceIndex><networkCardIndex>0</networkCardIndex></attachment>
    <privateIpAddressesSet><item><privateIpAddress>10.0.0.1</privateIpAddress><primary>true</primary></item><item><privateIpAddress>10.0.0.77</privateIpAddress><primary>false</primary></item></privateIpAddressesSet>
    <ipv6AddressesSet><item><ipv6Address>2600::2</ipv6Address></item><item><ipv6Address>2600::1</ipv6Address></item></ipv6AddressesSet></item>
</networkInterfaceSet>`

func wireCredentials(keyID string) wireAnswer {
	return wireAnswer{body: `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
  <Credentials><AccessKeyId>` + keyID + `</AccessKeyId><SecretAccessKey>` + canarySecret + `</SecretAccessKey><SessionToken>` + canaryToken + `</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>
  <AssumedRoleUser><AssumedRoleId>X:y</AssumedRoleId><Arn>arn:aws:sts::` + canaryAccount + `:assumed-role/x/y</Arn></AssumedRoleUser>
</AssumeRoleResult><ResponseMetadata><RequestId>` + canaryRequest + `</RequestId></ResponseMetadata></AssumeRoleResponse>`}
}

// A wire is AWS at the wire. Each action has its answers in order; the last one is repeated.
type wire struct {
	*httptest.Server

	mu       sync.Mutex
	answers  map[string][]wireAnswer
	requests []wireRequest
}

type wireRequest struct {
	action string
	form   url.Values
	keyID  string
	region string
	token  string
}

func newWire(t *testing.T, answers map[string][]wireAnswer) *wire {
	t.Helper()
	w := &wire{answers: map[string][]wireAnswer{}}
	for action, a := range answers {
		w.answers[action] = slices.Clone(a)
	}
	w.Server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(func() { w.CloseClientConnections(); w.Close() })
	return w
}

func (w *wire) serve(rw http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	// Authorization: AWS4-HMAC-SHA256 Credential=<key id>/<date>/<region>/<service>/aws4_request, ...
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	parts := append(strings.Split(scope, "/"), "", "", "")
	req := wireRequest{action: r.PostForm.Get("Action"), form: r.PostForm, keyID: parts[0], region: parts[2], token: r.Header.Get("X-Amz-Security-Token")}

	w.mu.Lock()
	w.requests = append(w.requests, req)
	a := wireAnswer{status: http.StatusNotFound}
	if as := w.answers[req.action]; len(as) > 0 {
		a = as[0]
		if len(as) > 1 {
			w.answers[req.action] = as[1:]
		}
	}
	w.mu.Unlock()

	if a.hang {
		<-r.Context().Done()
		return
	}
	rw.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	if a.short {
		rw.Header().Set("Content-Length", fmt.Sprint(len(a.body)+100))
	}
	if a.status != 0 {
		rw.WriteHeader(a.status)
	}
	if a.stall {
		rw.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
		_, _ = io.WriteString(rw, a.body[:len(a.body)/2])
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		return
	}
	_, _ = io.WriteString(rw, a.body)
}

func (w *wire) seen() []wireRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests)
}

func (w *wire) actions() map[string]int {
	out := map[string]int{}
	for _, r := range w.seen() {
		out[r.action]++
	}
	return out
}

// wireEnv makes the SDK read nothing of this machine.
func wireEnv(t *testing.T, endpoint string) {
	t.Helper()
	for k, v := range map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_ENDPOINT_URL_EC2": "", "AWS_ENDPOINT_URL_AUTO_SCALING": "", "AWS_ENDPOINT_URL_STS": "",
	} {
		t.Setenv(k, v)
	}
}

func sharedCredentials(keyID string) []byte {
	return []byte("[default]\naws_access_key_id = " + keyID + "\naws_secret_access_key = " + canarySecret + "\naws_session_token = " + canaryToken + "\n")
}

func secretIdentity(keyID string, chain ...v1beta1.AssumeRole) pool.Identity {
	return pool.Identity{Source: v1beta1.IdentitySecret, SharedCredentials: sharedCredentials(keyID), AssumeRoleChain: chain}
}

// A recorder is a Logger that keeps everything it is told.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) Info(msg string, kv ...any)       { r.note("info", msg, kv) }
func (r *recorder) Debug(msg string, kv ...any)      { r.note("debug", msg, kv) }
func (r *recorder) WithValues(...any) logging.Logger { return r }
func (r *recorder) note(level, msg string, keyValue []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf("%s %s %+v", level, msg, keyValue))
}

func (r *recorder) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

func newWireReader(l logging.Logger) *Reader {
	return NewReader(WithLogger(l), func(o *options) {
		o.tune = func(s *sdk) { s.maxBackoff = time.Millisecond }
	})
}

// noCanary fails the test when what can be seen of a read holds what must not be seen.
func noCanary(t *testing.T, r pool.Reading, log *recorder) {
	t.Helper()
	// Unlike the verbs of fmt, a diff shows what pointers point to.
	shown := cmp.Diff(pool.Reading{}, r, anyTime())
	for _, c := range canaries() {
		if strings.Contains(shown, c) {
			t.Errorf("the reading shows %q:\n%s", c, shown)
		}
		if strings.Contains(log.all(), c) {
			t.Errorf("the log shows %q:\n%s", c, log.all())
		}
	}
}

func TestWire(t *testing.T) {
	okGroups := []wireAnswer{wireGroups(wireDemoGroup)}
	okInstances := []wireAnswer{wireInstances("", wireInstance("i-1", "running", wireNetwork), wireInstance("i-2", "stopping", ""))}
	wantInstances := known([]pool.Instance{
		{ID: "i-1", Zone: "us-east-1a", State: "running", InternalIPs: []string{"10.0.0.1", "2600::1"}},
		{ID: "i-2", Zone: "us-east-1a", State: "stopping"},
	})
	page1, page2 := wireInstances("t2", wireInstance("i-1", "running", wireNetwork)), wireInstances("", wireInstance("i-2", "stopping", ""))
	cut := func(a wireAnswer, part float64) wireAnswer {
		a.body = a.body[:int(float64(len(a.body))*part)]
		return a
	}
	principal := "arn:aws:sts::" + canaryAccount + ":assumed-role/canary/1"
	instancesFail := func(reason pool.ReadReason, message string) pool.Reading {
		return pool.Reading{Group: known(wantWireGroup()), Instances: unknown[[]pool.Instance](reason, message)}
	}
	groupFails := func(reason pool.ReadReason, message string) pool.Reading {
		return pool.Reading{Group: unknown[*pool.Group](reason, message), Instances: unknown[[]pool.Instance](reason, message)}
	}
	const partly = "ec2:DescribeInstances answered only in part"

	cases := map[string]struct {
		reason    string
		groups    []wireAnswer
		instances []wireAnswer
		want      pool.Reading
		// attempts of the call that is of interest.
		attempts map[string]int
	}{
		"Whole": {
			reason:   "A group being deleted, a member on an old template, a primary address among a Pod's, a second interface.",
			want:     pool.Reading{Group: known(wantWireGroup()), Instances: wantInstances},
			attempts: map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 1},
		},
		"Pages": {
			reason:    "All pages make the answer, and an instance that is on two of them is one.",
			instances: []wireAnswer{page1, wireInstances("t3", wireInstance("i-1", "running", wireNetwork)), page2},
			want:      pool.Reading{Group: known(wantWireGroup()), Instances: wantInstances},
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 3},
		},
		"ThrottledOnce": {
			reason:    "The SDK tries again.",
			instances: []wireAnswer{ec2Error(503, "RequestLimitExceeded", "Request limit exceeded."), okInstances[0]},
			want:      pool.Reading{Group: known(wantWireGroup()), Instances: wantInstances},
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 2},
		},
		"EC2Throttled": {
			reason:    "It does so a bounded number of times.",
			instances: []wireAnswer{ec2Error(503, "RequestLimitExceeded", "Request limit exceeded. Account "+canaryAccount)},
			want:      instancesFail(pool.ReadThrottled, "ec2:DescribeInstances was throttled: the account makes too many calls in this region"),
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 3},
		},
		"GroupsThrottled": {
			reason:   "Auto Scaling says it in other words.",
			groups:   []wireAnswer{queryError(400, "Throttling", "Rate exceeded")},
			want:     groupFails(pool.ReadThrottled, "autoscaling:DescribeAutoScalingGroups was throttled: the account makes too many calls in this region"),
			attempts: map[string]int{"DescribeAutoScalingGroups": 3},
		},
		"TooManyRequests": {
			reason:    "So does a proxy.",
			instances: []wireAnswer{{status: 429, body: "slow down"}},
			want:      instancesFail(pool.ReadThrottled, "ec2:DescribeInstances was throttled: the account makes too many calls in this region"),
		},
		"SecondPageThrottled": {
			reason:    "A page that is missing for good fails the read with its reason.",
			instances: []wireAnswer{page1, ec2Error(503, "RequestLimitExceeded", "Request limit exceeded.")},
			want:      instancesFail(pool.ReadThrottled, "ec2:DescribeInstances was throttled: the account makes too many calls in this region"),
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 4},
		},
		"EC2Denied": {
			reason:    "A denied action is named; the encoded message, the principal and its account are not.",
			instances: []wireAnswer{ec2Error(403, "UnauthorizedOperation", "You are not authorized to perform this operation. User: "+principal+" is not authorized to perform: ec2:DescribeInstances. Encoded authorization failure message: canary")},
			want:      instancesFail(pool.ReadAccessDenied, "ec2:DescribeInstances was denied: allow it to the role (docs/aws-access.md)"),
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 1},
		},
		"GroupsDenied": {
			reason: "Auto Scaling says it in other words.",
			groups: []wireAnswer{queryError(403, "AccessDenied", "User: "+principal+" is not authorized to perform: autoscaling:DescribeAutoScalingGroups because no identity-based policy allows it")},
			want:   groupFails(pool.ReadAccessDenied, "autoscaling:DescribeAutoScalingGroups was denied: allow it to the role (docs/aws-access.md)"),
		},
		"RegionNotEnabled": {
			reason:    "A region that the account has not enabled.",
			instances: []wireAnswer{ec2Error(401, "OptInRequired", "You are not subscribed to this service.")},
			want:      instancesFail(pool.ReadAccessDenied, "ec2:DescribeInstances was refused with OptInRequired: enable the region for the account (docs/aws-access.md)"),
		},
		"ClockBehind": {
			reason:    "EC2 refuses an old request.",
			instances: []wireAnswer{ec2Error(400, "RequestExpired", "Request has expired.")},
			want:      instancesFail(pool.ReadClockSkewed, "ec2:DescribeInstances refused the time of the request: correct the clock of the function's node"),
		},
		"ClockBehindForGroups": {
			reason: "Auto Scaling calls that a wrong signature.",
			groups: []wireAnswer{queryError(403, "SignatureDoesNotMatch", "Signature expired: 20261129T180000Z is now earlier than 20261129T184500Z (20261129T190000Z - 15 min.)")},
			want:   groupFails(pool.ReadClockSkewed, "autoscaling:DescribeAutoScalingGroups refused the time of the request: correct the clock of the function's node"),
		},
		"WrongSignature": {
			reason: "A wrong secret key is not a clock.",
			groups: []wireAnswer{queryError(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")},
			want:   groupFails(pool.ReadCredentialsInvalid, "autoscaling:DescribeAutoScalingGroups refused the credentials with SignatureDoesNotMatch: renew them (docs/aws-access.md)"),
		},
		"ExpiredToken": {
			reason: "A session that is over.",
			groups: []wireAnswer{queryError(403, "ExpiredToken", "The security token included in the request is expired")},
			want:   groupFails(pool.ReadCredentialsInvalid, "autoscaling:DescribeAutoScalingGroups refused the credentials with ExpiredToken: renew them (docs/aws-access.md)"),
		},
		"InvalidKey": {
			reason: "A key that was deleted.",
			groups: []wireAnswer{queryError(403, "InvalidClientTokenId", "The security token included in the request is invalid.")},
			want:   groupFails(pool.ReadCredentialsInvalid, "autoscaling:DescribeAutoScalingGroups refused the credentials with InvalidClientTokenId: renew them (docs/aws-access.md)"),
		},
		"InvalidKeyForEC2": {
			reason:    "EC2 says it in other words.",
			instances: []wireAnswer{ec2Error(401, "AuthFailure", "AWS was not able to validate the provided access credentials")},
			want:      instancesFail(pool.ReadCredentialsInvalid, "ec2:DescribeInstances refused the credentials with AuthFailure: renew them (docs/aws-access.md)"),
		},
		"InternalError": {
			reason:    "AWS's own trouble is tried again.",
			instances: []wireAnswer{ec2Error(500, "InternalError", "An internal error has occurred")},
			want:      instancesFail(pool.ReadFailed, "ec2:DescribeInstances failed with a server error, of AWS or of a proxy on the way"),
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 3},
		},
		"BadGateway": {
			reason:    "A proxy's trouble has no code. One message for all of them: which one it is changes from read to read.",
			instances: []wireAnswer{{status: 502, body: "<html>canary</html>"}},
			want:      instancesFail(pool.ReadFailed, "ec2:DescribeInstances failed with a server error, of AWS or of a proxy on the way"),
		},
		"TruncatedOnce": {
			reason:    "A response that was cut is asked for again.",
			instances: []wireAnswer{cut(okInstances[0], .5), okInstances[0]},
			want:      pool.Reading{Group: known(wantWireGroup()), Instances: wantInstances},
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 2},
		},
		"Truncated": {
			reason:    "Half a response is none.",
			instances: []wireAnswer{cut(okInstances[0], .5)},
			want:      instancesFail(pool.ReadPartial, partly),
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 3},
		},
		"TruncatedSecondPage": {
			reason:    "Nor is a whole page and a half.",
			instances: []wireAnswer{page1, cut(page2, .5)},
			want:      instancesFail(pool.ReadPartial, partly),
		},
		"ShorterThanPromised": {
			reason:    "A connection that was closed early.",
			instances: []wireAnswer{{body: okInstances[0].body, short: true}},
			want:      instancesFail(pool.ReadPartial, partly),
		},
		"Empty": {
			reason:    "The SDK takes an empty body for no instances at all.",
			instances: []wireAnswer{{status: 200}},
			want:      instancesFail(pool.ReadPartial, partly),
		},
		"EmptyGroups": {
			reason: "And for no group at all: the pool would be terminated.",
			groups: []wireAnswer{{status: 200}},
			want:   groupFails(pool.ReadPartial, "autoscaling:DescribeAutoScalingGroups answered only in part"),
		},
		"OnlyTheProlog": {
			reason:    "The SDK takes that for no instances, too.",
			instances: []wireAnswer{{body: `<?xml version="1.0" encoding="UTF-8"?>`}},
			want:      instancesFail(pool.ReadPartial, partly),
		},
		"CaptivePortal": {
			reason:    "And a page of a proxy that says 200.",
			instances: []wireAnswer{{body: "<html><body>Please sign in</body></html>"}},
			want:      instancesFail(pool.ReadPartial, partly),
		},
		"SameTokenTwice": {
			reason:    "Pages that lead nowhere end.",
			instances: []wireAnswer{page1},
			want:      instancesFail(pool.ReadPartial, partly),
			attempts:  map[string]int{"DescribeAutoScalingGroups": 1, "DescribeInstances": 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.groups == nil {
				tc.groups = okGroups
			}
			if tc.instances == nil {
				tc.instances = okInstances
			}
			w := newWire(t, map[string][]wireAnswer{"DescribeAutoScalingGroups": tc.groups, "DescribeInstances": tc.instances})
			wireEnv(t, w.URL)
			log := &recorder{}
			r := newWireReader(log)
			q := pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"}

			got := r.Read(context.Background(), q)
			if diff := cmp.Diff(tc.want, got, anyTime()); diff != "" {
				t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.attempts, w.actions()); tc.attempts != nil && diff != "" {
				t.Errorf("\n%s\nattempts: -want, +got:\n%s", tc.reason, diff)
			}
			noCanary(t, got, log)
		})
	}
}

func TestWireRequests(t *testing.T) {
	w := newWire(t, map[string][]wireAnswer{
		"DescribeAutoScalingGroups": {wireGroups(wireDemoGroup)},
		"DescribeInstances":         {wireInstances("")},
		"DescribeImages":            {{body: `<DescribeImagesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>x</requestId><imagesSet><item><imageId>ami-00000001</imageId><imageOwnerId>819546954734</imageOwnerId><name>n-1</name><creationDate>2026-01-01T00:00:00.000Z</creationDate><rootDeviceName>/dev/xvda</rootDeviceName><architecture>arm64</architecture><imageState>available</imageState></item></imagesSet></DescribeImagesResponse>`}},
		"DescribeInstanceRefreshes": {{body: `<DescribeInstanceRefreshesResponse xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/"><DescribeInstanceRefreshesResult><InstanceRefreshes><member><InstanceRefreshId>1</InstanceRefreshId><Status>Baking</Status></member></InstanceRefreshes></DescribeInstanceRefreshesResult></DescribeInstanceRefreshesResponse>`}},
	})
	wireEnv(t, w.URL)
	r := newWireReader(logging.NewNopLogger())
	got := r.Read(context.Background(), pool.Query{
		Identity:  secretIdentity(canaryKeyID),
		Region:    "eu-central-1",
		GroupName: "demo*",
		Refresh:   true,
		Image:     &pool.ImageQuery{Owner: "819546954734", Name: "n-*", Architecture: "arm64"},
	})
	if diff := cmp.Diff(known(&pool.Image{ID: "ami-00000001", Name: "n-1", RootDevice: "/dev/xvda", Architecture: "arm64", State: "available"}), got.Image, anyTime()); diff != "" {
		t.Errorf("image: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(known(&pool.Refresh{ID: "1", Status: "Baking"}), got.Refresh, anyTime()); diff != "" {
		t.Errorf("refresh: -want, +got:\n%s", diff)
	}

	asked := map[string]string{}
	for _, req := range w.seen() {
		req.form.Del("Version")
		asked[req.action], _ = url.QueryUnescape(req.form.Encode())
		if req.keyID != canaryKeyID || req.token != canaryToken || req.region != "eu-central-1" {
			t.Errorf("%s: want it signed by the Secret for the region, got key %q, region %q", req.action, req.keyID, req.region)
		}
	}
	want := map[string]string{
		"DescribeAutoScalingGroups": "Action=DescribeAutoScalingGroups&AutoScalingGroupNames.member.1=demo*&MaxRecords=100",
		"DescribeInstances":         `Action=DescribeInstances&Filter.1.Name=tag:aws:autoscaling:groupName&Filter.1.Value.1=demo\*&MaxResults=400`,
		"DescribeImages":            "Action=DescribeImages&Filter.1.Name=name&Filter.1.Value.1=n-*&Filter.2.Name=architecture&Filter.2.Value.1=arm64&Filter.3.Name=state&Filter.3.Value.1=available&IncludeDeprecated=true&MaxResults=1000&Owner.1=819546954734",
		"DescribeInstanceRefreshes": "Action=DescribeInstanceRefreshes&AutoScalingGroupName=demo*&MaxRecords=1",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}

// Not the parameter ImageIds, which fails for all ids because of one.
func TestWireRequestOfAPinnedImage(t *testing.T) {
	w := newWire(t, map[string][]wireAnswer{
		"DescribeImages": {{body: `<DescribeImagesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>x</requestId><imagesSet/></DescribeImagesResponse>`}},
	})
	wireEnv(t, w.URL)
	got := newWireReader(logging.NewNopLogger()).Read(context.Background(), pool.Query{
		Identity: secretIdentity(canaryKeyID), Region: "eu-central-1", Image: &pool.ImageQuery{ID: "ami-00000000000000001"},
	})
	if diff := cmp.Diff(known[*pool.Image](nil), got.Image, anyTime()); diff != "" {
		t.Errorf("image: -want, +got:\n%s", diff)
	}
	const want = "Action=DescribeImages&Filter.1.Name=image-id&Filter.1.Value.1=ami-00000000000000001&IncludeDeprecated=true&IncludeDisabled=true&MaxResults=1000"
	for _, req := range w.seen() {
		req.form.Del("Version")
		if asked, _ := url.QueryUnescape(req.form.Encode()); asked != want {
			t.Errorf("request: want %s, got %s", want, asked)
		}
	}
}

func TestWireDoesNotAnswer(t *testing.T) {
	w := newWire(t, map[string][]wireAnswer{"DescribeAutoScalingGroups": {{hang: true}}, "DescribeInstances": {{hang: true}}})
	wireEnv(t, w.URL)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	log := &recorder{}
	got := newWireReader(log).Read(ctx, pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
	if got.Group.Err == nil || got.Group.Err.Reason != pool.ReadTimedOut || got.Instances.Err == nil || got.Instances.Err.Reason != pool.ReadTimedOut {
		t.Errorf("want TimedOut, got %+v", got)
	}
	noCanary(t, got, log)
}

func TestWireNobodyThere(t *testing.T) {
	w := newWire(t, nil)
	w.Close()
	wireEnv(t, w.URL)
	log := &recorder{}
	got := newWireReader(log).Read(context.Background(), pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
	want := unknown[*pool.Group](pool.ReadFailed, "autoscaling:DescribeAutoScalingGroups could not be reached: check the region, the endpoint settings and the network (docs/aws-access.md)")
	if diff := cmp.Diff(want, got.Group, anyTime()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	noCanary(t, got, log)
}
