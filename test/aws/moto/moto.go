// Package moto starts a real moto server (https://docs.getmoto.org) for tests and sets up in it what they read. It does so
// with plain HTTP: the AWS SDK is internal/aws's alone.
package moto

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// pythonEnv names the Python that has moto. test/aws/run.sh sets it.
const pythonEnv = "MACHINEPOOL_MOTO_PYTHON"

// startTime is how long moto may take to be there. It imports for two or three seconds on an idle machine.
const startTime = time.Minute

//go:embed server.py
var serverPy string

// A Server is a moto server of a test's own.
type Server struct {
	// URL to send requests to, for example in AWS_ENDPOINT_URL.
	URL string
}

// Start starts a server that ends with the test, or with the test's process when that ends first.
func Start(tb testing.TB) *Server {
	tb.Helper()
	python := os.Getenv(pythonEnv)
	if python == "" {
		tb.Fatalf("%s is not set: run test/aws/run.sh, which installs moto", pythonEnv)
	}
	cmd := exec.CommandContext(tb.Context(), python, "-c", serverPy) //nolint:gosec // Whoever runs the tests chooses the Python.
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatalf("cannot hold moto's input: %v", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatalf("cannot read moto's output: %v", err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatalf("cannot start moto: %v", err)
	}
	tb.Cleanup(func() {
		_ = stdin.Close()
		// Killed at the end of the test at the latest, by the command's context.
		_ = cmd.Wait()
	})

	port := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		port <- strings.TrimSpace(line)
	}()
	select {
	case p := <-port:
		if p == "" {
			_ = stdin.Close()
			_ = cmd.Wait()
			tb.Fatalf("moto did not start: %s", stderr.String())
		}
		return &Server{URL: "http://127.0.0.1:" + p}
	case <-time.After(startTime):
		tb.Fatalf("moto did not start within %s", startTime)
		return nil
	}
}

// Setenv points the AWS SDK at the server, with credentials, for the rest of the test.
func (s *Server) Setenv(tb testing.TB) {
	tb.Helper()
	for k, v := range map[string]string{
		"AWS_ENDPOINT_URL":            s.URL,
		"AWS_ACCESS_KEY_ID":           "AKIAMOTO",
		"AWS_SECRET_ACCESS_KEY":       "moto",
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		tb.Setenv(k, v)
	}
}

// Params of a request to one of AWS's query APIs, for example {"InstanceId.1": "i-1"}.
type Params map[string]string

// Call makes one call, as Call(tb, "ec2", "us-east-1", "StopInstances", Params{"InstanceId.1": id}), and returns the response.
// It fails the test when the call fails.
func (s *Server) Call(tb testing.TB, service, region, action string, params Params) *Node {
	tb.Helper()
	n, err := s.TryCall(tb.Context(), service, region, action, params)
	if err != nil {
		tb.Fatalf("cannot call %s:%s: %v", service, action, err)
	}
	return n
}

// TryCall is Call for a call that may fail.
func (s *Server) TryCall(ctx context.Context, service, region, action string, params Params) (*Node, error) {
	form := url.Values{"Action": {action}}
	for k, v := range params {
		form.Set(k, v)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("cannot make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	// Moto goes by the scope and checks no signature.
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIAMOTO/20200101/"+region+"/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("cannot reach moto: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // There is nothing to lose of what was read.
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("cannot read moto's response: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status + ": " + string(body))
	}
	n := &Node{}
	if len(bytes.TrimSpace(body)) == 0 {
		return n, nil
	}
	if err := xml.Unmarshal(body, n); err != nil { //nolint:musttag // XMLName takes any name only without a tag.
		return nil, fmt.Errorf("cannot parse moto's response: %w", err)
	}
	return n, nil
}

// A Node is an element of a response.
type Node struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Nodes   []Node `xml:",any"`
}

// All texts of the elements of that name, wherever they stand.
func (n *Node) All(name string) []string {
	var out []string
	for i := range n.Nodes {
		if n.Nodes[i].XMLName.Local == name {
			out = append(out, strings.TrimSpace(n.Nodes[i].Text))
		}
		out = append(out, n.Nodes[i].All(name)...)
	}
	return out
}

// First text of the elements of that name. It fails the test when there is none.
func (n *Node) First(tb testing.TB, name string) string {
	tb.Helper()
	all := n.All(name)
	if len(all) == 0 {
		tb.Fatalf("moto's response has no %s", name)
	}
	return all[0]
}
