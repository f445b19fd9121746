//go:build moto

package aws_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/test/aws/moto"
)

// A wire lies between the function and moto. It sees every call, and can answer one in AWS's place: with a fault, or with
// what moto does not have.
type wire struct {
	URL string

	handler http.Handler
	address string
	server  *httptest.Server

	mu      sync.Mutex
	calls   []call
	answers map[string]http.HandlerFunc
}

// A call as it went over the wire.
type call struct {
	Action string
	// KeyID of the credentials that signed it.
	KeyID string
}

func startWire(t *testing.T, m *moto.Server) *wire {
	t.Helper()
	target, err := url.Parse(m.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{answers: map[string]http.HandlerFunc{}}
	// It leaves the Host header alone, which is signed.
	proxy := httputil.NewSingleHostReverseProxy(target)
	w.handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		form, _ := url.ParseQuery(string(body))
		_, keyID, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		keyID, _, _ = strings.Cut(keyID, "/")
		c := call{Action: form.Get("Action"), KeyID: keyID}

		w.mu.Lock()
		w.calls = append(w.calls, c)
		answer := w.answers[c.Action]
		w.mu.Unlock()
		if answer == nil {
			answer = proxy.ServeHTTP
		}
		answer(rw, r)
	})
	w.open(t, "127.0.0.1:0")
	t.Cleanup(func() { w.close() })
	return w
}

// open the endpoint, at its old address unless it is the first time.
func (w *wire) open(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	w.address = l.Addr().String()
	w.URL = "http://" + w.address
	w.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: w.handler, ReadHeaderTimeout: time.Minute}}
	w.server.Start()
}

// close the endpoint: connections are refused.
func (w *wire) close() {
	w.server.CloseClientConnections()
	w.server.Close()
}

// answer an action in AWS's place; nil lets it through again.
func (w *wire) answer(action string, h http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[action] = h
}

// since returns the calls after the first n, and how many there are in all.
func (w *wire) since(n int) ([]call, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]call(nil), w.calls[n:]...), len(w.calls)
}

// says answers with a status and a body.
func says(status int, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/xml")
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	}
}

// refuses is an error as EC2 words it.
func refuses(status int, code string) http.HandlerFunc {
	return says(status, `<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>`+code+`</Code><Message>User arn:aws:iam::210987654321:user/`+canary+` is told so</Message></Error></Errors><RequestID>0b5a1e3c-`+canary+`</RequestID></Response>`)
}

// hangs answers nothing until the caller gives up.
func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// breaksOff sends the first half of moto's answer and promises all of it.
func (w *wire) breaksOff(m *moto.Server) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		target, err := url.Parse(m.URL)
		if err != nil {
			panic(err)
		}
		whole := httptest.NewRecorder()
		httputil.NewSingleHostReverseProxy(target).ServeHTTP(whole, r)
		says(http.StatusOK, whole.Body.String()[:whole.Body.Len()/2])(rw, r)
	}
}

// refreshes is DescribeInstanceRefreshes' answer, which moto does not have.
func refreshes(list ...string) http.HandlerFunc {
	return says(http.StatusOK, `<DescribeInstanceRefreshesResponse xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/">
  <DescribeInstanceRefreshesResult><InstanceRefreshes>`+strings.Join(list, "")+`</InstanceRefreshes></DescribeInstanceRefreshesResult>
  <ResponseMetadata><RequestId>00000000-0000-0000-0000-000000000000</RequestId></ResponseMetadata>
</DescribeInstanceRefreshesResponse>`)
}

const noInstances = `<?xml version="1.0" encoding="UTF-8"?>
<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>0</requestId><reservationSet/></DescribeInstancesResponse>`
