package awsproxy

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const secret = "c2VjcmV0"

// account plays moto. It tells of each action that arrives.
func account(t *testing.T, arrived *[]string) *Proxy {
	t.Helper()
	moto := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		*arrived = append(*arrived, r.Method+" "+r.URL.Path+" "+r.Form.Get("Action"))
		_, _ = w.Write([]byte("<Done/>"))
	}))
	t.Cleanup(moto.Close)
	p, err := Start(t.Context(), moto.URL, map[string]string{"AKIAPROVIDER": "provider"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func TestRecord(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var arrived []string
	p := account(t, &arrived)
	c := NewClient(p.URL, "AKIAPROVIDER")
	params := Params{"LaunchTemplateId": "lt-1", "LaunchTemplateData.UserData": secret, "LaunchTemplateData.InstanceType": "m6i.large"}
	if _, err := c.Call(ctx, "ec2", "CreateLaunchTemplateVersion", params); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.do(ctx, "s3", http.MethodPut, "/bucket/pool/workers?x-id=PutObject", secret); err != nil {
		t.Fatal(err)
	}
	if _, _, err := NewClient(p.URL, "AKIAOTHER").do(ctx, "s3", http.MethodGet, "/bucket/pool/workers?tagging", ""); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Since(0) {
		got = append(got, c.Caller+" "+c.String())
	}
	want := []string{
		"provider ec2:CreateLaunchTemplateVersion InstanceType=m6i.large LaunchTemplateId=lt-1",
		"provider s3:PutObject Bucket=bucket Key=pool/workers",
		"AKIAOTHER s3:GetObjectTagging Bucket=bucket Key=pool/workers",
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if p.Since(2)[0].Writes() || !p.Since(0)[0].Writes() {
		t.Error("reads and writes are not told apart")
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var arrived []string
	p := account(t, &arrived)
	before, after := 0, 0
	rule := &Rule{Caller: "provider", Action: "DeletePolicy", Code: "AccessDenied"}
	p.On(rule)
	p.On(&Rule{Caller: "provider", Action: "DeleteTags", Before: func() { before = len(arrived) }, After: func() { after = len(arrived) }})
	call := func(key, action string) error {
		_, err := NewClient(p.URL, key).Call(ctx, "autoscaling", action, nil)
		return err
	}

	if err := call("AKIAOTHER", "DeletePolicy"); err != nil {
		t.Errorf("a call by another caller: %v", err)
	}
	if err := call("AKIAPROVIDER", "DeletePolicy"); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("the refused call: want AccessDenied, got %v", err)
	}
	if err := call("AKIAPROVIDER", "DeletePolicy"); err != nil {
		t.Errorf("the call after it: %v", err)
	}
	if len(arrived) != 2 || p.Acted(rule) != 1 {
		t.Errorf("%d calls arrived, and the rule acted %d times; want 2 and 1", len(arrived), p.Acted(rule))
	}
	if c := p.Since(1)[0]; !c.Refused || c.Code != "AccessDenied" {
		t.Errorf("recorded: %s", c)
	}
	if err := call("AKIAPROVIDER", "DeleteTags"); err != nil {
		t.Fatal(err)
	}
	if before != 2 || after != 3 {
		t.Errorf("before it %d calls had arrived and after it %d, want 2 and 3", before, after)
	}
}
