package awsproxy

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Call to AWS as it is recorded: what was asked of which service, and never user data, nor what an object holds.
type Call struct {
	Time    time.Time
	Caller  string
	Service string
	Action  string
	// Params are those that say what is called upon.
	Params map[string]string
	// Code of the error; empty when it succeeded.
	Code string
	// Refused says that a test failed the call: it never reached AWS.
	Refused bool
}

// told are the parameters that are recorded. All others may hold anything.
//
//nolint:gochecknoglobals // A constant, but for the language.
var told = []string{
	"AutoScalingGroupName", "InstanceId", "InstanceRefreshId", "LifecycleHookName", "PolicyName",
	"LaunchTemplateId", "LaunchTemplateName", "LaunchTemplate.LaunchTemplateId", "LaunchTemplate.Version",
	"MinSize", "MaxSize", "DesiredCapacity", "SetDefaultVersion", "DefaultVersion", "LaunchTemplateData.InstanceType",
	"Preferences.MinHealthyPercentage", "Preferences.MaxHealthyPercentage",
	"Preferences.ScaleInProtectedInstances", "Preferences.StandbyInstances", "ScalingProcesses.member.1",
}

// reads are the actions that change nothing.
var reads = regexp.MustCompile(`^(Describe|Get|Head|List)`)

// Writes reports whether the call is to change something.
func (c *Call) Writes() bool { return !reads.MatchString(c.Action) }

// Param of the call; empty when it has none of that name.
func (c *Call) Param(name string) string { return c.Params[name] }

// String is the call in one line, without its time.
func (c *Call) String() string {
	out := []string{c.Service + ":" + c.Action}
	for _, k := range slices.Sorted(maps.Keys(c.Params)) {
		out = append(out, k[strings.LastIndexByte(k, '.')+1:]+"="+c.Params[k])
	}
	switch {
	case c.Refused:
		out = append(out, "-> refused by the test:", c.Code)
	case c.Code != "":
		out = append(out, "->", c.Code)
	}
	return strings.Join(out, " ")
}

// scope of the signature: who signed, and for which service.
var scope = regexp.MustCompile(`Credential=([^/]+)/[0-9]+/[^/]+/([^/]+)/aws4_request`)

func signer(r *http.Request) (key, service string) {
	if m := scope.FindStringSubmatch(r.Header.Get("Authorization")); len(m) == 3 {
		return m[1], m[2]
	}
	return "", ""
}

// newCall tells what a request asks for. Names are names of callers by their access key.
func newCall(r *http.Request, body []byte, names map[string]string) *Call {
	c := &Call{Time: time.Now(), Params: map[string]string{}}
	c.Caller, c.Service = signer(r)
	if name, known := names[c.Caller]; known {
		c.Caller = name
	}
	if c.Service == "s3" {
		c.ofS3(r)
		return c
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("Action") == "" {
		c.Action = fmt.Sprintf("%s %s", r.Method, r.URL.Path)
		return c
	}
	c.Action = form.Get("Action")
	for _, p := range told {
		if form.Get(p) != "" {
			c.Params[p] = form.Get(p)
		}
	}
	return c
}

// ofS3 names a call of S3's REST API, whose bucket is in the path.
func (c *Call) ofS3(r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	c.Params["Bucket"] = bucket
	thing := "Bucket"
	if key != "" {
		thing, c.Params["Key"] = "Object", key
	}
	verb := map[string]string{
		http.MethodGet: "Get", http.MethodHead: "Head", http.MethodPut: "Put", http.MethodDelete: "Delete", http.MethodPost: "Post",
	}[r.Method]
	for sub, name := range map[string]string{"acl": "Acl", "tagging": "Tagging", "versions": "Versions", "location": "Location", "delete": "Delete"} {
		if r.URL.Query().Has(sub) {
			thing += name
		}
	}
	c.Action = verb + thing
}
