package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/go-logr/logr/funcr"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// Canaries, one a line or a key, so that the leak of a part of a secret is seen as well as that of the whole.
const (
	canaryLine1  = "canary-of-the-first-line-5e1f"
	canaryLine2  = "canary-of-the-second-line-77ab"
	canaryOther  = "canary-of-another-key-c0de"
	canaryFormat = "canary-of-the-format-key-90ff"
	canaryINI    = "canary-of-the-credentials-4b1d"
)

var canaries = []string{canaryLine1, canaryLine2, canaryOther, canaryFormat, canaryINI}

const payload = "#cloud-config\nwrite_files: [{content: " + canaryLine1 + "}]\nruncmd: [" + canaryLine2 + "]\n"

const ignitionPayload = `{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"` + canaryLine1 + `"},{"name":"` + canaryLine2 + `"}]}}`

type unusablePayload struct {
	format  string
	payload []byte
}

// unusablePayloads begin with a secret, end with one, or hold one where a parser stops.
func unusablePayloads(t *testing.T) map[string]unusablePayload {
	t.Helper()
	return map[string]unusablePayload{
		"FirstLine": {payload: []byte(canaryLine1 + "\n" + payload)},
		"MIME":      {payload: []byte("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + canaryLine1 + "\"\n\n" + payload)},
		"Script":    {payload: []byte("#!/bin/sh -c " + canaryLine1 + "\n")},
		"Include":   {payload: []byte("#include\nhttps://" + canaryLine2 + "\n")},
		"BOM":       {payload: []byte("\xef\xbb\xbf" + payload)},
		"Gzip":      {payload: gzipped(t, "#!/bin/sh "+canaryLine1+"\n")},
		"GzipName":  {payload: append([]byte{0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0}, canaryLine1...)},
		"NotJSON":   {format: "ignition", payload: []byte(`{"ignition": ` + canaryLine1)},
		"JSONCut":   {format: "ignition", payload: []byte(ignitionPayload[:len(ignitionPayload)-4])},
		"NoVersion": {format: "ignition", payload: []byte(`{"ignition": {"` + canaryLine1 + `": 1}, "version": "` + canaryLine2 + `"}`)},
		"Version":   {format: "ignition", payload: []byte(`{"ignition": {"version": {"` + canaryLine1 + `": 1}}}`)},
	}
}

// leaks are the canaries that a text holds: as they are, in base64 from whatever offset and in either alphabet, in hex, as
// the numbers that a log prints bytes as.
func leaks(text string) []string {
	var found []string
	for _, canary := range canaries {
		if slices.ContainsFunc(forms(canary), func(form string) bool { return strings.Contains(text, form) }) {
			found = append(found, canary)
		}
	}
	return found
}

func forms(canary string) []string {
	numbers := strings.Trim(fmt.Sprintf("%d", []byte(canary)), "[]")
	forms := []string{canary, strings.ToUpper(canary), hex.EncodeToString([]byte(canary)), numbers, strings.ReplaceAll(numbers, " ", ",")}
	for offset := range 3 {
		// What stands before the canary decides how its bytes fall into groups of three; the groups at either end are
		// shared with what stands around it.
		aligned := canary[offset : len(canary)-(len(canary)-offset)%3]
		forms = append(forms, base64.StdEncoding.EncodeToString([]byte(aligned)), base64.URLEncoding.EncodeToString([]byte(aligned)))
	}
	return forms
}

// A test that finds nothing must be able to find something.
func TestLeaks(t *testing.T) {
	whole := []byte("x" + payload)
	cases := map[string]struct {
		reason string
		args   string
		want   bool
	}{
		"Nothing":       {reason: "Harmless text is no leak.", args: "the data of Secret team-a/demo-pool-0 at key \"value\" is not base64"},
		"Raw":           {reason: "As it is.", args: "bad: " + canaryLine1 + "!", want: true},
		"OneLine":       {reason: "One line of many.", args: "runcmd: [" + canaryLine2 + "]", want: true},
		"Base64":        {reason: "As a Secret holds it.", args: base64.StdEncoding.EncodeToString(whole[1:]), want: true},
		"Base64Shifted": {reason: "From any offset.", args: base64.StdEncoding.EncodeToString(whole), want: true},
		"Base64Of2":     {reason: "From any offset.", args: base64.StdEncoding.EncodeToString(append([]byte("y"), whole...)), want: true},
		"Base64URL":     {reason: "In the other alphabet.", args: base64.URLEncoding.EncodeToString(whole), want: true},
		"Bytes":         {reason: "As bytes are printed.", args: fmt.Sprintf("%d", whole), want: true},
		"BytesAsJSON":   {reason: "As bytes are logged.", args: strings.ReplaceAll(fmt.Sprintf("%d", whole), " ", ","), want: true},
		"Hex":           {reason: "In hex.", args: fmt.Sprintf("%x", whole), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := len(leaks(tc.args)) > 0; got != tc.want {
				t.Errorf("\n%s\nleaks(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// secretRequest is a pool whose every input holds a canary, in the steady state unless told otherwise.
func secretRequest(t *testing.T) *fnv1.RunFunctionRequest {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Input: structOf(t, `
apiVersion: machinepool.fn.crossplane.io/v1beta1
kind: Input
aws: {identity: Secret, credentials: aws-creds}
`),
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: structOf(t, steadyComposite)}},
		Credentials: map[string]*fnv1.Credentials{"aws-creds": {Source: &fnv1.Credentials_CredentialData{CredentialData: &fnv1.CredentialData{
			Data: map[string][]byte{"credentials": []byte("[default]\naws_secret_access_key = " + canaryINI + "\n")},
		}}}},
		RequiredResources: map[string]*fnv1.Resources{"bootstrap-data": {Items: []*fnv1.Resource{{Resource: structOf(t, `
apiVersion: v1
kind: Secret
metadata: {name: demo-pool-0, namespace: team-a}
data: {}
`)}}}},
	}
	setData(req, "value", []byte(payload))
	setData(req, "token", []byte(canaryOther))
	req = settled(t, NewFunction(WithAWSReader(membersOf(3))), req)
	// The provider shows the content in the object's status too.
	object := req.GetObserved().GetResources()["bootstrap-object"].GetResource()
	object.Fields["status"].GetStructValue().Fields["atProvider"] = structpb.NewStructValue(object.GetFields()["spec"].GetStructValue())
	return req
}

func secretData(req *fnv1.RunFunctionRequest) map[string]*structpb.Value {
	return req.GetRequiredResources()["bootstrap-data"].GetItems()[0].GetResource().GetFields()["data"].GetStructValue().GetFields()
}

func setData(req *fnv1.RunFunctionRequest, key string, value []byte) {
	data := req.GetRequiredResources()["bootstrap-data"].GetItems()[0].GetResource().GetFields()["data"].GetStructValue()
	if data.Fields == nil {
		data.Fields = map[string]*structpb.Value{}
	}
	data.Fields[key] = structpb.NewStringValue(base64.StdEncoding.EncodeToString(value))
}

func setSpec(tb testing.TB, req *fnv1.RunFunctionRequest, spec string) {
	tb.Helper()
	maps.Copy(req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue().GetFields(), structOf(tb, spec).GetFields())
}

func gzipped(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSecretsStaySecret(t *testing.T) {
	failing := AWSReaderFn(func(context.Context, pool.Query) pool.Reading {
		err := &pool.ReadError{Reason: pool.ReadCredentialsInvalid, Message: "the credentials are refused"}
		return pool.Reading{Group: pool.Read[*pool.Group]{Asked: true, Err: err}, Image: pool.Read[*pool.Image]{Asked: true, Err: err}}
	})
	cases := map[string]struct {
		reason string
		change func(t *testing.T, req *fnv1.RunFunctionRequest)
		reader AWSReader
		fatal  bool
		// staged says that the object holds the payload.
		staged bool
	}{
		"Steady": {reason: "A pool that has nothing to change.", staged: true},
		"First": {
			reason: "A pool that does not exist yet.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) { req.Observed.Resources = nil },
		},
		"ReadFails": {reason: "AWS refuses the credentials.", staged: true, reader: failing},
		"NotBase64": {
			reason: "The Secret's data is not base64; what is staged stays.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				secretData(req)["value"] = structpb.NewStringValue("!" + payload)
			},
		},
		"AlmostBase64": {
			reason: "A decoder that stops in the middle has decoded the beginning.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				secretData(req)["value"] = structpb.NewStringValue(base64.StdEncoding.EncodeToString([]byte(payload)) + "=!")
			},
		},
		"NotText": {
			reason: "The Secret's data is no text.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				secretData(req)["value"] = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewStringValue(payload)}})
			},
		},
		"OtherKey": {
			reason: "The Secret holds other keys than the one that is named.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) { delete(secretData(req), "value") },
		},
		"Gone": {
			reason: "The Secret is gone; what is staged stays.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) { req.RequiredResources["bootstrap-data"].Items = nil },
		},
		"NotFetched": {
			reason: "The Secret is not fetched yet.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) { req.RequiredResources = nil },
		},
		"ExportsGone": {
			reason: "The exports are gone; everything is held.", staged: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				setSpec(t, req, "cluster: {exportsFrom: {apiVersion: example.org/v1, kind: Cluster, name: demo}}")
				req.RequiredResources["cluster-exports"] = &fnv1.Resources{}
			},
		},
		"ExportsFromASecret": {
			reason: "Someone takes a Secret for the cluster.", fatal: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				setSpec(t, req, "cluster: {exportsFrom: {apiVersion: v1, kind: Secret, name: demo-pool-0, fieldPath: data.token}}")
				req.RequiredResources["cluster-exports"] = req.GetRequiredResources()["bootstrap-data"]
			},
		},
		"ExportsFromASecretsData": {
			reason: "Someone takes all of a Secret for the cluster's exports.", fatal: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				setSpec(t, req, "cluster: {exportsFrom: {apiVersion: v1, kind: Secret, name: demo-pool-0, fieldPath: data}}")
				req.RequiredResources["cluster-exports"] = req.GetRequiredResources()["bootstrap-data"]
			},
		},
		"Format": {
			reason: "The Secret's format is a secret that was put under the wrong key.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) { setData(req, "format", []byte(canaryFormat)) },
		},
		"FormatNotBase64": {
			reason: "Or not even base64.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				secretData(req)["format"] = structpb.NewStringValue("!" + canaryFormat)
			},
		},
		"IgnitionGzip": {
			reason: "Ignition cannot fetch gzip.", staged: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				setSpec(t, req, "{bootstrap: {dataSecretRef: {name: demo-pool-0}, format: ignition}, nodeLabels: {}}")
				setData(req, "value", gzipped(t, ignitionPayload))
			},
		},
		"NewFormat": {
			reason: "The Secret's format turns to ignition; its data, which is new, is still staged.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				object := req.GetObserved().GetResources()["bootstrap-object"].GetResource()
				object.GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().Fields["contentBase64"] = structpb.NewStringValue("b2xk")
				setData(req, "format", []byte("ignition"))
			},
		},
		"NewFormatWithLabels": {
			reason: "So does its data, which the labels do not fit.", staged: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				setSpec(t, req, "nodeLabels: {tier: web}")
				setData(req, "format", []byte("ignition"))
				setData(req, "value", []byte(ignitionPayload))
			},
		},
		"FormatWithoutFormat": {
			reason: "Ignition comes without its format.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) { setData(req, "value", []byte(ignitionPayload)) },
		},
		"NewPoolFormat": {
			reason: "A new pool is refused for it.", fatal: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				setData(req, "format", []byte(canaryFormat))
				req.Observed.Resources = nil
			},
		},
		"NewPoolIgnitionGzip": {
			reason: "And for what Ignition cannot fetch.", fatal: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				setSpec(t, req, "{bootstrap: {dataSecretRef: {name: demo-pool-0}, format: ignition}, nodeLabels: {}}")
				setData(req, "value", gzipped(t, payload))
				req.Observed.Resources = nil
			},
		},
		"AnotherNamespace": {
			reason: "Someone names a Secret that is not theirs.", fatal: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				setSpec(t, req, "bootstrap: {dataSecretRef: {name: demo-pool-0, namespace: kube-system}}")
			},
		},
		"Oversize": {
			reason: "The user data does not fit.", fatal: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				labels := "nodeLabels:\n"
				for i := range 120 {
					labels += fmt.Sprintf("  example.com/a-label-with-a-rather-long-name-%03d: %s\n", i, strings.Repeat("x", 63))
				}
				setSpec(t, req, labels)
			},
		},
		"Refused": {
			reason: "The spec can never work.", fatal: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) {
				setSpec(t, req, "{replicas: -1, instanceType: huge}")
			},
		},
		"NotDecodable": {
			reason: "The spec cannot be decoded.", fatal: true,
			change: func(t *testing.T, req *fnv1.RunFunctionRequest) { setSpec(t, req, "replicas: three") },
		},
		"InputNotDecodable": {
			reason: "The Input cannot be decoded.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				req.Input.Fields["aws"] = structpb.NewStringValue("Secret")
			},
		},
		"InputWithoutCredentials": {
			reason: "The Input names no credentials.", staged: true,
			change: func(_ *testing.T, req *fnv1.RunFunctionRequest) {
				delete(req.GetInput().GetFields()["aws"].GetStructValue().GetFields(), "credentials")
			},
		},
	}
	for name, unusable := range unusablePayloads(t) {
		// A new pool is refused for what no instance could use; one that exists keeps what it has staged.
		for _, isNew := range []bool{false, true} {
			tc := cases["Steady"]
			tc.reason, tc.fatal, tc.staged = "No instance could use this: "+name, isNew, !isNew
			tc.change = func(t *testing.T, req *fnv1.RunFunctionRequest) {
				if unusable.format != "" {
					setSpec(t, req, "{bootstrap: {dataSecretRef: {name: demo-pool-0}, format: "+unusable.format+"}, nodeLabels: {}}")
				}
				setData(req, "value", unusable.payload)
				if isNew {
					req.Observed.Resources = nil
				}
			}
			cases[fmt.Sprintf("Unusable%sNew%t", name, isNew)] = tc
		}
	}
	steady := secretRequest(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := proto.CloneOf(steady)
			if tc.change != nil {
				tc.change(t, req)
			}
			var log bytes.Buffer
			logger := logging.NewLogrLogger(funcr.New(func(prefix, args string) { fmt.Fprintln(&log, prefix, args) }, funcr.Options{Verbosity: 9}))
			reader := tc.reader
			if reader == nil {
				reader = membersOf(3)
			}
			rsp, err := NewFunction(WithLogger(logger), WithAWSReader(reader)).RunFunction(context.Background(), req)
			if err != nil {
				t.Fatalf("\n%s\nRunFunction(...): unexpected error: %v", tc.reason, err)
			}
			// The situation must be the one that it is meant to be.
			fatal := slices.ContainsFunc(rsp.GetResults(), func(r *fnv1.Result) bool { return r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL })
			if fatal != tc.fatal {
				t.Fatalf("\n%s\nRunFunction(...): want fatal %t, got %v", tc.reason, tc.fatal, rsp.GetResults())
			}
			if staged := takeContent(rsp); staged != tc.staged {
				t.Errorf("\n%s\nRunFunction(...): want the payload staged %t, got %t", tc.reason, tc.staged, staged)
			}
			for what, text := range map[string]string{"the response": prototext.Format(rsp), "the log": log.String()} {
				if found := leaks(text); len(found) > 0 {
					t.Errorf("\n%s\nRunFunction(...): %s holds %v:\n%s", tc.reason, what, found, text)
				}
			}
		})
	}
}

// takeContent takes the one field that may hold the payload out of a response, and says whether it did.
func takeContent(rsp *fnv1.RunFunctionResponse) bool {
	object := rsp.GetDesired().GetResources()["bootstrap-object"].GetResource()
	forProvider := object.GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().GetFields()
	content, err := base64.StdEncoding.DecodeString(forProvider["contentBase64"].GetStringValue())
	delete(forProvider, "contentBase64")
	return err == nil && string(content) == payload
}

// The logger of the test above must be one that shows what is logged, and the reader must be given the credentials.
func TestSecretsAreThere(t *testing.T) {
	var (
		log   bytes.Buffer
		query pool.Query
	)
	reader := AWSReaderFn(func(ctx context.Context, q pool.Query) pool.Reading {
		query = q
		return membersOf(3).Read(ctx, q)
	})
	logger := logging.NewLogrLogger(funcr.New(func(prefix, args string) { fmt.Fprintln(&log, prefix, args) }, funcr.Options{Verbosity: 9}))
	rsp, err := NewFunction(WithLogger(logger), WithAWSReader(reader)).RunFunction(context.Background(), secretRequest(t))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "demo-pool-0") {
		t.Errorf("RunFunction(...): want a debug log that names the pool, got %q", log.String())
	}
	if !strings.Contains(string(query.Identity.SharedCredentials), canaryINI) {
		t.Error("RunFunction(...): the reader is not given the step's credentials")
	}
	if got := leaks(prototext.Format(rsp)); !slices.Equal(got, []string{canaryLine1, canaryLine2}) {
		t.Errorf("leaks(...): want the payload's canaries in a response with its content, got %v", got)
	}
}
