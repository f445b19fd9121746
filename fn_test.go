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
)

var update = flag.Bool("update", false, "write the responses of testdata/cases anew")

// A goldenCase is a request and the response to it, side by side in one file.
type goldenCase struct {
	Request  map[string]any `json:"request"`
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
			var c goldenCase
			if err := yaml.UnmarshalStrict(raw, &c); err != nil {
				t.Fatalf("cannot parse %s: %v", file, err)
			}
			req, want := &fnv1.RunFunctionRequest{}, &fnv1.RunFunctionResponse{}
			fromPlain(t, c.Request, req)
			fromPlain(t, c.Response, want)

			got, err := NewFunction().RunFunction(context.Background(), req)
			if err != nil {
				t.Fatalf("RunFunction(...): unexpected error: %v", err)
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
