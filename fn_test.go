package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

var update = flag.Bool("update", false, "write the responses of testdata/cases anew")

// A goldenCase is a request and the response to it, side by side in one file.
type goldenCase struct {
	Request map[string]any `json:"request"`
	// AWS is what AWS says when it is asked. Whether it is asked follows from the request, so asked is not written. A part
	// that is asked for and not written says that there is nothing.
	AWS      *pool.Reading  `json:"aws,omitempty"`
	Response map[string]any `json:"response"`
}

func TestGoldenCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(raw, []byte("# ")) {
				t.Errorf("%s does not say at its top what it shows", file)
			}
			var c goldenCase
			if err := yaml.UnmarshalStrict(raw, &c); err != nil {
				t.Fatalf("cannot parse %s: %v", file, err)
			}
			req, want := &fnv1.RunFunctionRequest{}, &fnv1.RunFunctionResponse{}
			fromPlain(t, c.Request, req)
			fromPlain(t, c.Response, want)
			before := proto.Clone(req)

			aws := &goldenReader{t: t, answer: c.AWS}
			got, err := NewFunction(WithAWSReader(aws)).RunFunction(context.Background(), req)
			if err != nil {
				t.Fatalf("RunFunction(...): unexpected error: %v", err)
			}
			if c.AWS != nil && !aws.asked {
				t.Error("the case says what AWS answers, and it is not asked")
			}
			if diff := cmp.Diff(before, proto.Message(req), protocmp.Transform()); diff != "" {
				t.Errorf("RunFunction(...) changed its request: -before, +after:\n%s", diff)
			}
			got = readable(t, got)
			if *update {
				writeResponse(t, file, raw, got)
				return
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("RunFunction(...): -want, +got (go test -run TestGoldenCases -update writes it anew):\n%s", diff)
			}
		})
	}
}

// A goldenReader answers as its case has it. It fails the test when the case has an answer to what was not asked, or none
// at all when AWS is asked.
type goldenReader struct {
	t      *testing.T
	answer *pool.Reading
	asked  bool
}

func (g *goldenReader) Read(_ context.Context, q pool.Query) pool.Reading {
	g.asked = true
	if g.answer == nil {
		g.t.Errorf("AWS is asked for group %q and image %+v, and the case does not say what it answers", q.GroupName, q.Image)
		return pool.Reading{}
	}
	r := *g.answer
	ask(g.t, "group", &r.Group, q.GroupName != "", r.Group.Value != nil)
	ask(g.t, "instances", &r.Instances, q.GroupName != "", r.Instances.Value != nil)
	ask(g.t, "image", &r.Image, q.Image != nil, r.Image.Value != nil)
	ask(g.t, "refresh", &r.Refresh, q.Refresh, r.Refresh.Value != nil)
	claims := free(q)
	maps.Copy(claims, r.Claims)
	r.Claims = claims
	return r
}

func ask[T any](t *testing.T, part string, r *pool.Read[T], asked, answered bool) {
	t.Helper()
	if !asked && (answered || r.Err != nil) {
		t.Errorf("the case says what AWS answers for the %s, which is not asked for", part)
	}
	r.Asked = asked
}

func fromPlain(t *testing.T, plain map[string]any, into proto.Message) {
	t.Helper()
	if plain == nil {
		return
	}
	b, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(b, into); err != nil {
		t.Fatalf("cannot parse %T: %v", into, err)
	}
}

// head of a cloud-config pool's user data: what differs from pool to pool. The rest is the stub, which package bootstrap
// holds to its file.
var head = regexp.MustCompile(`(?s)^#cloud-boothook\n.*?\nlabels='[^\n]*'\n`)

// readable is a response with its cloud-config user data as text, in which the stub's file is named instead of shown, so
// that the cases do not change with it.
func readable(t *testing.T, rsp *fnv1.RunFunctionResponse) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp = proto.CloneOf(rsp)
	for _, r := range rsp.GetDesired().GetResources() {
		forProvider := r.GetResource().GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().GetFields()
		userData, err := base64.StdEncoding.Strict().DecodeString(forProvider["userData"].GetStringValue())
		if err != nil {
			t.Errorf("user data is not one line of canonical base64: %v", err)
		}
		if text := head.Find(userData); text != nil {
			forProvider["userData"] = structpb.NewStringValue(string(text) + "<internal/bootstrap/stub.sh>\n")
		}
	}
	return rsp
}

// writeResponse keeps the request as a person wrote it, comments and all.
func writeResponse(t *testing.T, file string, raw []byte, rsp *fnv1.RunFunctionResponse) {
	t.Helper()
	j, err := protojson.Marshal(rsp)
	if err != nil {
		t.Fatal(err)
	}
	y, err := yaml.JSONToYAML(j)
	if err != nil {
		t.Fatal(err)
	}
	request, _, _ := bytes.Cut(raw, []byte("\nresponse:\n"))
	request = append(bytes.TrimRight(request, "\n"), "\nresponse:\n"...)
	for line := range bytes.Lines(y) {
		if len(bytes.TrimSpace(line)) > 0 {
			request = append(request, "  "...)
		}
		request = append(request, line...)
	}
	if err := os.WriteFile(file, request, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestUndecodable holds that a field of the wrong type is refused by name, and that nothing else of the request matters
// to decoding: what others wrote is read leniently.
func TestUndecodable(t *testing.T) {
	request := func(input, spec string) string {
		return `{"input": ` + input + `, "observed": {"composite": {"resource": {"metadata": {"name": "a", "namespace": "b"}, "spec": ` + spec + `}}}}`
	}
	cases := map[string]struct {
		reason string
		args   string
		want   string // In the fatal result; empty when there is none.
	}{
		"Composite": {
			reason: "A field of the composite is named.",
			args:   request(`{}`, `{"replicas": "three"}`),
			want:   "spec.replicas",
		},
		"Input": {
			reason: "A field of the Input is named.",
			args:   request(`{"refresh": {"stableSeconds": "soon"}}`, `{}`),
			want:   "input.refresh.stableSeconds",
		},
		"InputTypo": {
			reason: "A field of the Input that does not exist is refused: nothing else would ever tell that it is ignored.",
			args:   request(`{"aws": {"identiy": "Pod"}}`, `{}`),
			want:   `unknown field "aws.identiy"`,
		},
		"Others": {
			reason: "Observed resources and required ones of any shape are no error of the pool's.",
			args: `{
				"observed": {
					"composite": {"resource": {"metadata": {"name": "a", "namespace": "b"}, "spec": {"bootstrap": {"dataSecretRef": {"name": "s"}}, "cluster": {"exportsFrom": {"apiVersion": "v1", "kind": "A", "name": "a"}}}, "status": {"replicas": "x"}}},
					"resources": {"autoscaling-group": {"resource": {"spec": 1, "status": []}}, "launch-template-x": {"resource": {}}, "bootstrap-object": {}}
				},
				"requiredResources": {"cluster-exports": {"items": [{"resource": {"status": {"exports": "x"}}}]}, "bootstrap-data": {"items": [{"resource": {"data": []}}]}}
			}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &fnv1.RunFunctionRequest{}
			if err := protojson.Unmarshal([]byte(tc.args), req); err != nil {
				t.Fatal(err)
			}
			rsp, err := NewFunction().RunFunction(context.Background(), req)
			if err != nil {
				t.Fatalf("\n%s\nRunFunction(...): unexpected error: %v", tc.reason, err)
			}
			fatal := ""
			for _, r := range rsp.GetResults() {
				if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
					fatal = r.GetMessage()
				}
			}
			if (fatal == "") != (tc.want == "") || !strings.Contains(fatal, tc.want) {
				t.Errorf("\n%s\nRunFunction(...): want a fatal result with %q, got %q", tc.reason, tc.want, fatal)
			}
			if rsp.GetMeta().GetTtl().GetSeconds() <= 0 {
				t.Errorf("\n%s\nRunFunction(...): without a time to live Crossplane never asks again", tc.reason)
			}
		})
	}
}

// What is read once more, because a kept answer would change the status, is read in the time of the first read.
func TestAllReadsOfARunHaveOneDeadline(t *testing.T) {
	req, reader := steadyRequest(t, 3)
	var deadlines []time.Time
	slow := AWSReaderFn(func(ctx context.Context, q pool.Query) pool.Reading {
		deadline, ok := ctx.Deadline()
		if !ok {
			t.Error("AWS is read without a deadline")
		}
		deadlines = append(deadlines, deadline)
		r := reader.Read(ctx, q)
		r.Group.Value.DesiredCapacity = 7
		return r
	})
	if _, err := NewFunction(WithAWSReader(slow)).RunFunction(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	if len(deadlines) != 2 || !deadlines[0].Equal(deadlines[1]) {
		t.Errorf("AWS is read with the deadlines %v, want one for two reads", deadlines)
	}
}
