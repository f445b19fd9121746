package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// FuzzRunFunction gives the function requests that no Crossplane would send: a field of any type anywhere. It must never
// panic or fail or cost more than any request may, and whatever it does not refuse must hold on to what exists.
//
// A request is fuzzed both as text and, since most texts are no JSON, by putting any value at any of its fields.
func FuzzRunFunction(f *testing.F) {
	values := []string{"null", "{}", "[]", "-1", "1e300", "true", `"x"`, `[null,{"a":[]}]`}
	for i, request := range fuzzSeeds(f) {
		// Few, as all of them are run before anything is fuzzed.
		f.Add(request, uint(0), "")
		f.Add(request, uint(i*7), values[i%len(values)])
	}
	f.Fuzz(func(t *testing.T, request []byte, at uint, value string) {
		req, ok := mutated(request, at, value)
		if !ok {
			t.Skip("no request")
		}
		asked := proto.CloneOf(req)
		// An account with nothing in it contradicts everything that is observed.
		reader := simulator.NewReader(simulator.NewAWS(nil))
		rsp := affordable(t, NewFunction(WithAWSReader(reader)), req)
		if rsp.GetMeta().GetTtl().AsDuration() <= 0 {
			t.Errorf("a response without a time to live is never asked for again")
		}
		if simulator.IsFatal(rsp) {
			return
		}
		for name := range neededInRequest(asked) {
			if _, kept := rsp.GetDesired().GetResources()[name]; !kept {
				t.Errorf("%s is observed and not desired", name)
			}
		}
	})
}

// neededInRequest are the composed resource names of what may never leave desired: the group, the object and the
// templates that the group was told to use or uses.
func neededInRequest(req *fnv1.RunFunctionRequest) map[string]bool {
	observed, needed := req.GetObserved().GetResources(), map[string]bool{}
	used := []string{}
	if g, ok := observed[resourceGroup]; ok {
		needed[resourceGroup] = true
		group := g.GetResource().AsMap()
		used = append(used, simulator.Text(group, "spec", "forProvider", "launchTemplate", "id"), simulator.Text(group, "status", "atProvider", "launchTemplate", "id"))
	}
	if _, ok := observed[resourceObject]; ok {
		needed[resourceObject] = true
	}
	for name, r := range observed {
		id := simulator.Text(r.GetResource().AsMap(), "status", "atProvider", "id")
		if strings.HasPrefix(name, "launch-template-") && id != "" && slices.Contains(used, id) {
			needed[name] = true
		}
	}
	return needed
}

// mutated puts a value at one of the fields of a request. It returns false when the outcome is no request.
func mutated(request []byte, at uint, value string) (*fnv1.RunFunctionRequest, bool) {
	req := &fnv1.RunFunctionRequest{}
	lenient := protojson.UnmarshalOptions{DiscardUnknown: true}
	if value == "" {
		return req, lenient.Unmarshal(request, req) == nil
	}
	var plain any
	if json.Unmarshal(request, &plain) != nil {
		return nil, false
	}
	var v any = value
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		v = value
	}
	fields := fieldsOf(plain, nil)
	if len(fields) == 0 {
		return nil, false
	}
	fields[at%uint(len(fields))](v)
	b, err := json.Marshal(plain)
	return req, err == nil && lenient.Unmarshal(b, req) == nil
}

// fieldsOf a JSON value at any depth, in a fixed order, each as what sets it.
func fieldsOf(v any, fields []func(any)) []func(any) {
	switch v := v.(type) {
	case object:
		keys := []string{}
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			fields = append(fields, func(value any) { v[k] = value })
			fields = fieldsOf(v[k], fields)
		}
	case []any:
		for i := range v {
			fields = append(fields, func(value any) { v[i] = value })
			fields = fieldsOf(v[i], fields)
		}
	}
	return fields
}

// fuzzSeeds are the requests of the golden cases, and those of a pool at each step of a roll.
func fuzzSeeds(f *testing.F) [][]byte {
	f.Helper()
	var seeds [][]byte
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		c := struct {
			Request json.RawMessage `json:"request"`
		}{}
		if err := yaml.Unmarshal(raw, &c); err != nil {
			f.Fatalf("cannot parse %s: %v", file, err)
		}
		seeds = append(seeds, c.Request)
	}
	for _, s := range settings {
		l := newLife(f, s).settled()
		l.set(object{"minReplicas": 2.0, "maxReplicas": 5.0}, "autoscaling")
		l.set([]any{object{"name": "drain", "transition": "Terminating"}}, "lifecycleHooks")
		l.set("b", "rollout", "trigger")
		for range 4 {
			l.round()
			b, err := protojson.Marshal(l.last.Request)
			if err != nil {
				f.Fatal(err)
			}
			seeds = append(seeds, b)
		}
	}
	return seeds
}
