//go:build moto

package aws_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// functionEnv names the function's binary. run.sh sets it.
const functionEnv = "MACHINEPOOL_FUNCTION"

// canary is in every secret that the function gets, and must be in nothing that it says.
const canary = "canary"

// A function is the function as it ships: its binary, in a process of its own.
type function struct {
	fnv1.FunctionRunnerServiceClient

	metrics string
	log     *lines
}

// startFunction starts the binary with debug logs. It ends with the test, or with the test's process when that ends first.
// The environment is env, and nothing of the test's own that the AWS SDK would read.
func startFunction(t *testing.T, env map[string]string) *function {
	t.Helper()
	binary := os.Getenv(functionEnv)
	if binary == "" {
		t.Fatalf("%s is not set: run test/aws/run.sh, which builds the function", functionEnv)
	}
	dir, err := os.MkdirTemp("", "fn") //nolint:usetesting // A socket's path has at most 107 characters, and t.TempDir's names the test.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "sock")
	f := &function{metrics: freeAddress(t), log: &lines{}}

	// The shell ends the function when its own input ends, also when that is because the test was killed. No context kills
	// the shell itself, which would leave the function behind.
	cmd := exec.Command("/bin/sh", "-c", `"$0" "$@" & read -r _; kill $!`,
		binary, "--insecure", "--debug", "--network=unix", "--address="+socket, "--metrics-address="+f.metrics)
	environ := map[string]string{
		"PATH":                        os.Getenv("PATH"),
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	}
	maps.Copy(environ, env)
	for k, v := range environ {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdout, cmd.Stderr = f.log, f.log
	cmd.WaitDelay = 5 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot start the function: %v", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		// How it ends says nothing: it is killed.
		_ = cmd.Wait()
		if said := f.log.String(); strings.Contains(strings.ToLower(said), canary) {
			t.Errorf("the function's log shows what is secret:\n%s", said)
		} else if t.Failed() {
			t.Logf("the end of the function's log:\n%s", said[max(0, len(said)-3000):])
		}
	})

	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	f.FunctionRunnerServiceClient = fnv1.NewFunctionRunnerServiceClient(conn)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	// An Input that is none is refused before anything else: the answer says that it is there.
	if _, err := f.RunFunction(ctx, &fnv1.RunFunctionRequest{}, grpc.WaitForReady(true)); err != nil {
		t.Fatalf("the function does not answer: %v", err)
	}
	return f
}

// freeAddress is one that nobody listened at just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// scrape is what Prometheus would get.
func (f *function) scrape(t *testing.T) string {
	t.Helper()
	resp, err := http.Get("http://" + f.metrics + "/metrics")
	if err != nil {
		t.Fatalf("cannot get the metrics: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("cannot get the metrics: %s, %v", resp.Status, err)
	}
	return string(body)
}

// lines keep what a process says.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
