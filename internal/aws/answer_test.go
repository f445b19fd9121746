package aws

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// An endless server answers without end, up to what no bound comes near, so that a test which fails still ends.
type endless struct {
	*httptest.Server

	asked, written atomic.Int64
}

func newEndless(t *testing.T, status int, begin string) *endless {
	t.Helper()
	e := &endless{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e.asked.Add(1)
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		w.WriteHeader(status)
		_, err := io.WriteString(w, begin)
		for chunk, n := bytes.Repeat([]byte("canary "), 1024), 0; err == nil && n < 64<<20; n += len(chunk) {
			if _, err = w.Write(chunk); err == nil {
				e.written.Add(int64(len(chunk)))
			}
		}
	}))
	// What the kernel takes from the server was not read yet.
	e.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if tcp, ok := c.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetWriteBuffer(16 << 10)
		}
	}
	e.Start()
	t.Cleanup(e.Close)
	return e
}

// sent is how many answers were begun and how much of them was taken, once the last of them ended.
func (e *endless) sent() (answers, written int64) {
	e.Close()
	return e.asked.Load(), e.written.Load()
}

// onTheWay is what the buffers of the kernel can hold of an answer that nobody reads any more.
const onTheWay = 1 << 20

// newPatientReader gives its requests all the time that they want: what ends them is a bound.
func newPatientReader() *Reader {
	return NewReader(func(o *options) {
		o.tune = func(s *sdk) { s.maxBackoff, s.http = time.Millisecond, s.http.WithTimeout(time.Minute) }
	})
}

// patientView reads without the deadline of a batch, so that a slow machine comes to the same.
func patientView(t *testing.T) *view {
	t.Helper()
	v, f := newPatientReader().views.get(context.Background(), secretIdentity(canaryKeyID), "us-east-1", "")
	if f != nil {
		t.Fatal(f)
	}
	return v
}

func oneEach(string) int { return 1 }

// allocated is how much memory was asked for while fn ran, whether it was given back or not.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAnErrorAnswerThatDoesNotEndIsCut(t *testing.T) {
	const head = `<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>`
	cases := map[string]struct {
		reason   string
		action   string
		status   int
		attempts int64
		want     pool.ReadReason
	}{
		"Groups":      {reason: "Auto Scaling's decoder reads all of an error.", action: "DescribeAutoScalingGroups", status: 400, attempts: 1, want: pool.ReadFailed},
		"Instances":   {reason: "EC2's is another one.", action: "DescribeInstances", status: 400, attempts: 1, want: pool.ReadFailed},
		"ServerError": {reason: "What is tried again is bounded each time.", action: "DescribeInstances", status: 503, attempts: maxAttempts, want: pool.ReadFailed},
		"Redirect":    {reason: "A redirect that is not followed has a body, too.", action: "DescribeInstances", status: 307, attempts: 1, want: pool.ReadFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, e := newWire(t, okAnswers()), newEndless(t, tc.status, head)
			wireEnv(t, w.URL)
			if t.Setenv("AWS_ENDPOINT_URL_EC2", e.URL); tc.action == "DescribeAutoScalingGroups" {
				t.Setenv("AWS_ENDPOINT_URL_AUTO_SCALING", e.URL)
			}
			got := newPatientReader().Read(context.Background(), pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
			if got.Instances.Err == nil || got.Instances.Err.Reason != tc.want {
				t.Errorf("\n%s\nwant %s, got %+v", tc.reason, tc.want, got.Instances.Err)
			}
			if answers, n := e.sent(); answers != tc.attempts || n > answers*(64<<10+onTheWay) {
				t.Errorf("\n%s\nwant 64 kB of each of %d answers read, got %d kB of %d", tc.reason, tc.attempts, n>>10, answers)
			}
			noCanary(t, got, &recorder{})
		})
	}
}

// A few kB on the wire are many MB once they are decompressed.
func TestAGzippedErrorAnswerIsBoundedAfterDecompression(t *testing.T) {
	const size = 64 << 20
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, size))
	_ = z.Close()

	for name, status := range map[string]int{"Error": http.StatusBadRequest, "ServerError": http.StatusServiceUnavailable, "Success": http.StatusOK} {
		t.Run(name, func(t *testing.T) {
			var accepted atomic.Value
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				accepted.Store(r.Header.Get("Accept-Encoding"))
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(status)
				_, _ = w.Write(bomb.Bytes())
			}))
			defer s.Close()
			wireEnv(t, s.URL)
			r := newPatientReader()
			var got pool.Reading
			n := allocated(func() {
				got = r.Read(context.Background(), pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
			})
			if !got.Group.Failed() || !got.Instances.Failed() {
				t.Errorf("want a failed read, got %+v", got)
			}
			if accepted.Load() != "identity" {
				t.Errorf("want no compression asked for, got Accept-Encoding %q", accepted.Load())
			}
			if n > size/4 {
				t.Errorf("want much less memory asked for than the %d MB that the answer decompresses to, got %d MB", size>>20, n>>20)
			}
		})
	}
}

func TestASigningInAnswerThatDoesNotEndIsCut(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(canaryToken), 0o600); err != nil {
		t.Fatal(err)
	}
	role := v1beta1.AssumeRole{RoleARN: "arn:aws:iam::" + canaryAccount + ":role/one"}
	cases := map[string]struct {
		reason string
		id     pool.Identity
		env    func(url string) map[string]string
		begin  string
	}{
		"AssumeRole": {
			reason: "A role of the chain.",
			id:     secretIdentity(canaryKeyID, role),
			env:    func(url string) map[string]string { return map[string]string{"AWS_ENDPOINT_URL_STS": url} },
			begin:  "<AssumeRoleResponse><AssumeRoleResult>",
		},
		"WebIdentity": {
			reason: "IRSA: the SDK makes this client itself.",
			id:     podIdentity,
			env: func(url string) map[string]string {
				return map[string]string{"AWS_ENDPOINT_URL_STS": url, "AWS_ROLE_ARN": role.RoleARN, "AWS_WEB_IDENTITY_TOKEN_FILE": token}
			},
			begin: "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>",
		},
		"Container": {
			reason: "EKS Pod Identity's agent.",
			id:     podIdentity,
			env: func(url string) map[string]string {
				return map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": url}
			},
			begin: `{"AccessKeyId": "`,
		},
		"MetadataService": {
			reason: "The node's own role.",
			id:     podIdentity,
			env: func(url string) map[string]string {
				return map[string]string{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": url}
			},
			begin: `{"AccessKeyId": "`,
		},
	}
	for name, tc := range cases {
		for status, answers := range map[int]string{http.StatusOK: "Success", http.StatusBadRequest: "Error", http.StatusInternalServerError: "ServerError"} {
			t.Run(name+answers, func(t *testing.T) {
				w, e := newWire(t, okAnswers()), newEndless(t, status, tc.begin)
				wireEnv(t, w.URL)
				for k, v := range tc.env(e.URL) {
					t.Setenv(k, v)
				}
				got := newPatientReader().Read(context.Background(), pool.Query{Identity: tc.id, Region: "us-east-1", GroupName: "demo"})
				if !got.Group.Failed() || !got.Instances.Failed() {
					t.Errorf("\n%s\nwant a failed read, got %+v", tc.reason, got)
				}
				// A server error is tried again by what signs in, and by what needs that.
				if answers, n := e.sent(); answers == 0 || answers > maxAttempts*maxAttempts || n > answers*(64<<10+onTheWay) {
					t.Errorf("\n%s\nwant 64 kB of each of at most %d answers read, got %d kB of %d", tc.reason, maxAttempts*maxAttempts, n>>10, answers)
				}
				noCanary(t, got, &recorder{})
			})
		}
	}
}

func TestAnAnswerThatDoesNotEndIsCut(t *testing.T) {
	for action, begin := range map[string]string{
		"DescribeAutoScalingGroups": "<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups><member><AutoScalingGroupName>",
		"DescribeInstances":         "<DescribeInstancesResponse><reservationSet><item><reservationId>",
	} {
		t.Run(action, func(t *testing.T) {
			w, e := newWire(t, okAnswers()), newEndless(t, http.StatusOK, begin)
			wireEnv(t, w.URL)
			if t.Setenv("AWS_ENDPOINT_URL_EC2", e.URL); action == "DescribeAutoScalingGroups" {
				t.Setenv("AWS_ENDPOINT_URL_AUTO_SCALING", e.URL)
			}
			v, want := patientView(t), int64(1)
			var f *failure
			if action == "DescribeAutoScalingGroups" {
				f = readGroups(context.Background(), v, v.caller, []string{"demo"}, group)["demo"].failure
			} else {
				// Smaller pages might have been answered.
				f, want = v.readInstances(context.Background(), []string{"demo"}, oneEach)["demo"].failure, 3
			}
			if f == nil || f.Reason != pool.ReadPartial || strings.Contains(f.Message, "canary") {
				t.Errorf("want PartialRead, got %+v", f)
			}
			if answers, n := e.sent(); answers != want || n > answers*(16<<20) {
				t.Errorf("want 8 MB of each of %d answers read, got %d kB of %d", want, n>>10, answers)
			}
		})
	}
}

// An item of seven bytes is an instance of seven hundred once it is decoded.
func TestAnAnswerOfManyEmptyItemsIsCut(t *testing.T) {
	const items = 300_000
	for action, body := range map[string]string{
		"DescribeAutoScalingGroups": "<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups>" + strings.Repeat("<member/>", items) + "</AutoScalingGroups></DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>",
		"DescribeInstances":         "<DescribeInstancesResponse><reservationSet><item><instancesSet>" + strings.Repeat("<item/>", items) + "</instancesSet></item></reservationSet></DescribeInstancesResponse>",
	} {
		t.Run(action, func(t *testing.T) {
			answers := okAnswers()
			answers[action] = []wireAnswer{{body: body}}
			w := newWire(t, answers)
			wireEnv(t, w.URL)
			r := newWireReader(&recorder{})
			var got pool.Reading
			n := allocated(func() {
				got = r.Read(context.Background(), pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
			})
			if got.Instances.Err == nil || got.Instances.Err.Reason != pool.ReadPartial {
				t.Errorf("want PartialRead, got %+v", got.Instances.Err)
			}
			if n > 128<<20 {
				t.Errorf("want at most 128 MB of memory asked for, got %d MB", n>>20)
			}
		})
	}
}

func TestHeadersThatDoNotEndAreCut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var asked, written atomic.Int64
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				asked.Add(1)
				_ = c.(*net.TCPConn).SetWriteBuffer(16 << 10)
				_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
				for i := 0; err == nil && i < 64<<10; i++ {
					var n int
					n, err = fmt.Fprintf(c, "X-Canary-%d: %s\r\n", i, strings.Repeat("canary ", 100))
					written.Add(int64(n))
				}
			})
		}
	})
	wireEnv(t, "http://"+l.Addr().String())
	got := newPatientReader().Read(context.Background(), pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
	if !got.Group.Failed() || !got.Instances.Failed() {
		t.Errorf("want a failed read, got %+v", got)
	}
	_ = l.Close()
	serving.Wait()
	if n := written.Load(); asked.Load() > maxAttempts || n > asked.Load()*(64<<10+onTheWay) {
		t.Errorf("want 64 kB of each answer read, got %d kB of %d", n>>10, asked.Load())
	}
	noCanary(t, got, &recorder{})
}

// pagesOf answers DescribeInstances page by page, with instances of so many bytes, and everything else as w does.
func pagesOf(t *testing.T, w *wire, instances, size int) (pages func() []int) {
	t.Helper()
	network := "<networkInterfaceSet><item><description>" + strings.Repeat("x", size) + "</description></item></networkInterfaceSet>"
	var mu sync.Mutex
	var sizes []int
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		size, _ := strconv.Atoi(r.PostForm.Get("MaxResults"))
		first, _ := strconv.Atoi(r.PostForm.Get("NextToken"))
		mu.Lock()
		sizes = append(sizes, size)
		mu.Unlock()
		var items []string
		for i := first; i < min(first+size, instances); i++ {
			items = append(items, wireInstance(fmt.Sprintf("i-%04d", i), "running", network))
		}
		token := ""
		if first+size < instances {
			token = strconv.Itoa(first + size)
		}
		_, _ = io.WriteString(rw, wireInstances(token, items...).body)
	}))
	t.Cleanup(s.Close)
	wireEnv(t, w.URL)
	t.Setenv("AWS_ENDPOINT_URL_EC2", s.URL)
	return func() []int {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(sizes)
	}
}

// Nodes whose Pods have addresses of the VPC are up to twenty times as large as others.
func TestAPageOfLargeInstancesIsReadInSmallerPages(t *testing.T) {
	w := newWire(t, okAnswers())
	sizes := pagesOf(t, w, 250, 48<<10)
	v := patientView(t)
	for range 2 {
		got := v.readInstances(context.Background(), []string{"demo"}, oneEach)["demo"]
		if len(got.value) != 250 {
			t.Fatalf("want 250 instances, got %d, %+v", len(got.value), got.failure)
		}
	}
	if diff := cmp.Diff([]int{400, 100, 100, 100, 100, 100, 100}, sizes()); diff != "" {
		t.Errorf("want pages that fit from then on: -want, +got:\n%s", diff)
	}
}

// A hundred groups of a hundred members are more than is read of an answer. Half of them are not.
func TestGroupsOfManyMembersAreReadApart(t *testing.T) {
	member := "<member><LaunchTemplate><LaunchTemplateId>lt-0123456789abcdef0</LaunchTemplateId><LaunchTemplateName>" + strings.Repeat("x", 600) + "</LaunchTemplateName></LaunchTemplate><InstanceId>i-1</InstanceId><AvailabilityZone>us-east-1a</AvailabilityZone><LifecycleState>InService</LifecycleState></member>"
	var mu sync.Mutex
	var asked []int
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		var groups []string
		for k, v := range r.PostForm {
			if strings.HasPrefix(k, "AutoScalingGroupNames.member.") {
				groups = append(groups, "<member><AutoScalingGroupName>"+v[0]+"</AutoScalingGroupName><Instances>"+strings.Repeat(member, 100)+"</Instances></member>")
			}
		}
		mu.Lock()
		asked = append(asked, len(groups))
		mu.Unlock()
		_, _ = io.WriteString(rw, wireGroups(groups...).body)
	}))
	defer s.Close()
	w := newWire(t, map[string][]wireAnswer{"DescribeInstances": {wireInstances("")}})
	wireEnv(t, w.URL)
	t.Setenv("AWS_ENDPOINT_URL_AUTO_SCALING", s.URL)
	names := make([]string, 100)
	for p := range names {
		names[p] = fleetPool(p)
	}
	patient := patientView(t)
	got := readGroups(context.Background(), patient, patient.caller, names, group)
	for _, n := range names {
		if g := got[n].value; g == nil || g.Name != n || len(g.Members) != 100 {
			t.Errorf("%s: got %+v", n, got[n].failure)
		}
	}
	slices.Sort(asked)
	if diff := cmp.Diff([]int{50, 50, 100}, asked); diff != "" {
		t.Errorf("names asked for together: -want, +got:\n%s", diff)
	}
}

// Each large answer has its memory to itself until it is decoded, whichever view reads it.
func TestLargeAnswersAreReadAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answers, pieces, piece = 40, 20, 64 << 10
		large := newSlots(maxLargeAnswers, maxLargeAnswers, 0)
		var open, most atomic.Int64
		var wg sync.WaitGroup
		for range answers {
			wg.Go(func() {
				// 20 pieces of 64 kB, one each 10 ms. The first four are small.
				n := 0
				a := &answerBody{bound: bound{bytes: maxAnswerBytes}, wait: func() error { return large.take(t.Context(), "") }}
				a.body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
					if n == 5 {
						most.Store(max(most.Load(), open.Add(1)))
					}
					if n++; n > pieces {
						return 0, io.EOF
					}
					time.Sleep(10 * time.Millisecond)
					return copy(p, make([]byte, piece)), nil
				}))
				if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{a}, make([]byte, piece)); err != nil || a.read != pieces*piece {
					t.Errorf("want all of it, got %d bytes, %v", a.read, err)
				}
				// As long as it takes to decode.
				time.Sleep(50 * time.Millisecond)
				open.Add(-1)
				large.give("")
			})
		}
		wg.Wait()
		if most.Load() != maxLargeAnswers {
			t.Errorf("want %d large answers at a time, got %d", maxLargeAnswers, most.Load())
		}
	})
}

// An answer is large by what it takes, and that is more than its bytes.
func TestALargeAnswerWaitsForItsTurn(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   int
	}{
		"Small":         {reason: "What a few pools need waits for nothing.", args: "<R><a><b><c>" + strings.Repeat("<d>"+strings.Repeat("<x/>", 100)+"</d>", 45), want: -1},
		"Bytes":         {reason: "A long text.", args: "<R>" + strings.Repeat("x", 1<<20), want: smallBytes},
		"Elements":      {reason: "Very many tags.", args: "<R><a><b><c><d>" + strings.Repeat("<x/>", 20_000), want: 4 * smallElements},
		"LargeElements": {reason: "Very many instances, each of which is large once it is decoded.", args: "<R><a><b><c>" + strings.Repeat("<x/>", 20_000), want: 4 * smallLargeElements},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			waited, stop := -1, errors.New("stop")
			a := &answerBody{bound: boundOf(opInstances, http.StatusOK), body: io.NopCloser(strings.NewReader(tc.args))}
			a.wait = func() error { waited = a.read; return stop }
			_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{a}, make([]byte, 512))
			if tc.want < 0 && (waited >= 0 || err != nil) || tc.want >= 0 && (waited < tc.want || waited > tc.want+1024 || !errors.Is(err, stop)) {
				t.Errorf("\n%s\nwant it to wait after %d bytes, got %d, %v", tc.reason, tc.want, waited, err)
			}
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Through the wire: the answers that are read at a time, and that one that fails gives its turn back.
func TestLargeAnswersGiveTheirTurnBack(t *testing.T) {
	for name, body := range map[string]string{
		"Whole":    "",
		"NotWhole": "<DescribeInstancesResponse><reservationSet>" + strings.Repeat("<item><reservationId>r-1</reservationId></item>", 6000),
		"TooLarge": "<DescribeInstancesResponse><reservationSet>" + strings.Repeat("<item><reservationId>r-1</reservationId></item>", 9000),
	} {
		t.Run(name, func(t *testing.T) {
			answers := okAnswers()
			if answers["DescribeInstances"] = []wireAnswer{{body: body}}; body == "" {
				items := make([]string, 1000)
				for i := range items {
					items[i] = wireInstance(fmt.Sprint("i-", i), "running", "")
				}
				answers["DescribeInstances"] = []wireAnswer{wireInstances("", items...)}
			}
			w := newWire(t, answers)
			wireEnv(t, w.URL)
			var large *slots
			r := NewReader(func(o *options) {
				o.tune = func(s *sdk) { s.maxBackoff, large = time.Millisecond, s.large }
			})
			for range 3 {
				got := r.Read(context.Background(), pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
				if got.Instances.Known() != (name == "Whole") {
					t.Errorf("got %d instances, %+v", len(got.Instances.Value), got.Instances.Err)
				}
			}
			// What is not whole is tried again, and what is too large with smaller pages.
			if want := map[string]int{"Whole": 3, "NotWhole": 3 * maxAttempts, "TooLarge": 3 * 3}[name]; w.actions()["DescribeInstances"] != want {
				t.Errorf("want %d requests, got %v", want, w.actions())
			}
			if large.free != maxLargeAnswers {
				t.Errorf("want all turns given back, got %d of %d", large.free, maxLargeAnswers)
			}
		})
	}
}

// Pages, and attempts of them, do not add up to more than one read may have.
func TestPagesThatDoNotEndAreCut(t *testing.T) {
	read, n := 0, 0
	f := pages(context.Background(), &caller{metrics: newMetrics(nil), log: logging.NewNopLogger()}, opInstances, 1,
		func(ctx context.Context, _ *string) (int, error) {
			left := 4 << 20
			a := &answerBody{bound: boundOf(opInstances, http.StatusOK), allowance: allowanceOf(ctx), isLarge: true}
			a.body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
				if left == 0 {
					return 0, io.EOF
				}
				n := min(len(p), left)
				left -= n
				read += n
				return n, nil
			}))
			_, err := io.Copy(io.Discard, a)
			return 0, err
		},
		func(int) *string { n++; return awssdk.String(fmt.Sprint(n)) })
	if f == nil || !f.tooLarge || read < maxReadBytes || read > maxReadBytes+4<<20 {
		t.Errorf("want %d MB read of all pages, got %d MB and %+v", maxReadBytes>>20, read>>20, f)
	}
}

// A signed request, with what it asks and the session's token, goes to nobody else.
func TestARedirectIsNotFollowed(t *testing.T) {
	var followed atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer other.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, status) }))
		wireEnv(t, s.URL)
		for _, id := range []pool.Identity{secretIdentity(canaryKeyID), secretIdentity(canaryKeyID, v1beta1.AssumeRole{RoleARN: "arn:aws:iam::" + canaryAccount + ":role/one"})} {
			got := newPatientReader().Read(context.Background(), pool.Query{Identity: id, Region: "us-east-1", GroupName: "demo"})
			if !got.Group.Failed() || followed.Load() != 0 {
				t.Errorf("%d: want a failed read and nobody else asked, got %+v, asked %d times", status, got.Group.Err, followed.Load())
			}
		}
		s.Close()
	}
}

// A response is read to its end while its request's body is closed, which the SDK does as soon as the response begins.
func TestARequestsBodyMayBeClosedEarly(t *testing.T) {
	req := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	req, err := req.SetStream(bytes.NewReader([]byte("Action=DescribeInstances")))
	if err != nil {
		t.Fatal(err)
	}
	stack := middleware.NewStack("DescribeInstances", func() any { return req })
	if err := newSDK(logging.NewNopLogger(), newMetrics(nil)).boundAnswers(stack); err != nil {
		t.Fatal(err)
	}
	sent := 0
	handler := middleware.DecorateHandler(middleware.HandlerFunc(func(ctx context.Context, in any) (any, middleware.Metadata, error) {
		body := in.(*smithyhttp.Request).Build(ctx).Body
		b, _ := io.ReadAll(body)
		sent = len(b)
		_ = body.Close()
		// As the transport looks whether there is more.
		if _, err := io.Copy(struct{ io.Writer }{io.Discard}, body); err != nil {
			t.Errorf("want nothing more, got %v", err)
		}
		return &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}}, middleware.Metadata{}, nil
	}), stack)
	if _, _, err := handler.Handle(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if sent != len("Action=DescribeInstances") {
		t.Errorf("want the body sent, got %d bytes", sent)
	}
}
