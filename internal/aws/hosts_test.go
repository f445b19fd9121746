package aws

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// TestRegionsNameNoOtherHost holds that whoever publishes a cluster's exports cannot choose the host that signed requests are
// sent to: a region is one label below AWS's own domains, or nothing is sent.
func TestRegionsNameNoOtherHost(t *testing.T) {
	cases := map[string]string{
		"us-east-1":                     "A region is called.",
		"localhost":                     "A word may be a label below AWS's domain, and nothing else.",
		"":                              "No region is no host.",
		"us-east-1.evil.example":        "A dot would end AWS's part of the name.",
		"evil.example":                  "A host is no region.",
		"evil.example/":                 "What follows would become the path.",
		"evil.example#":                 "What follows would become the fragment.",
		"evil.example?":                 "What follows would become the query.",
		"us-east-1@evil.example":        "What stands before would become the user.",
		"us-east-1:8080":                "A port is no part of a region.",
		"169.254.169.254":               "The metadata service hands out credentials.",
		"[fd00:ec2::254]":               "The metadata service hands out credentials.",
		"us-east-1\nHost: evil.example": "A line would become a header.",
		"us-east-1\x00":                 "A NUL ends strings elsewhere.",
		"us-east-1 ":                    "A blank ends the host.",
		"us-east-1%2e":                  "An escape may be decoded on the way.",
		"US-EAST-1":                     "AWS has none in capitals.",
		"us\u2024east":                  "Unicode has dots of its own.",
		"ｕs-east-1":                     "Unicode is folded in host names.",
		"-us-east-1":                    "A label does not begin with a dash.",
		"us-east-1-":                    "Nor does it end with one.",
		"..":                            "It would leave the path.",
	}
	hosts := regexp.MustCompile(`^(autoscaling|ec2|sts)\.[a-z]([a-z0-9-]*[a-z0-9])?\.amazonaws\.com:443$`)
	for region, reason := range cases {
		t.Run(region, func(t *testing.T) {
			wireEnv(t, "")
			var mu sync.Mutex
			var dialled []string
			tune := func(o *options) {
				o.tune = func(s *sdk) {
					s.maxBackoff = time.Millisecond
					s.http = s.http.WithTransportOptions(func(tr *http.Transport) {
						tr.Proxy = nil
						tr.DialContext = func(_ context.Context, _, address string) (net.Conn, error) {
							mu.Lock()
							defer mu.Unlock()
							dialled = append(dialled, address)
							return nil, errors.New("nothing is sent in a test")
						}
					})
				}
			}
			role := v1beta1.AssumeRole{RoleARN: "arn:aws:iam::123456789012:role/reads"}
			for _, identity := range []pool.Identity{secretIdentity(canaryKeyID), secretIdentity(canaryKeyID, role)} {
				got := NewReader(tune).Read(t.Context(), pool.Query{
					Identity: identity, Region: region, GroupName: "demo", Image: &pool.ImageQuery{Owner: "self", Name: "n-*", Architecture: "x86_64"},
				})
				if got.Group.Err == nil || got.Image.Err == nil {
					t.Errorf("\n%s\nwant no answer, got %+v", reason, got)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if region == "us-east-1" && len(dialled) == 0 {
				t.Errorf("\n%s\nnothing was sent", reason)
			}
			for _, address := range dialled {
				if !hosts.MatchString(address) {
					t.Errorf("\n%s\na request went to %s", reason, address)
				}
			}
		})
	}
}

// TestRedirectsAreNotFollowed holds that an endpoint cannot send signed requests on to another host, not even by the two
// statuses that keep the method and the body.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			var asked, followed atomic.Int64
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
			defer other.Close()
			endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				w.Header().Set("Location", other.URL+r.URL.Path)
				w.WriteHeader(status)
			}))
			defer endpoint.Close()
			wireEnv(t, endpoint.URL)
			log := &recorder{}
			got := newWireReader(log).Read(t.Context(), pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
			if asked.Load() == 0 || got.Group.Err == nil {
				t.Errorf("want the endpoint asked, and no answer; it was asked %d times, and the group is %+v", asked.Load(), got.Group)
			}
			if n := followed.Load(); n > 0 {
				t.Errorf("%d requests were sent on to another host", n)
			}
			noCanary(t, got, log)
		})
	}
}
