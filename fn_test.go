package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
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
		request = append(request, "  "...)
		request = append(request, line...)
	}
	if err := os.WriteFile(file, request, 0o600); err != nil {
		t.Fatal(err)
	}
}
