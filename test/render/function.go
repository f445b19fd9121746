package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	startTimeout = 20 * time.Second
	stopTimeout  = 5 * time.Second
	startTries   = 5
)

// errStopped says that the function ended before it listened.
var errStopped = errors.New("stopped before it listened")

// A function is the function as a process of its own, as render wants it.
type function struct {
	address string
	logs    *log
	stop    func()
}

// startFunction runs the binary on a free port and returns when it listens.
func startFunction(ctx context.Context, binary string, env []string) (*function, error) {
	for try := 1; ; try++ {
		fn, err := startOnFreePort(ctx, binary, env)
		// Someone else may take a free port first, so a process that stops at once
		// gets another.
		if errors.Is(err, errStopped) && try < startTries {
			continue
		}

		return fn, err
	}
}

func startOnFreePort(ctx context.Context, binary string, env []string) (*function, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithCancel(ctx)
	logs := &log{}
	cmd := exec.CommandContext(ctx, binary, "--insecure", "--address="+address, "--metrics-address=")
	cmd.Stdout, cmd.Stderr = logs, logs
	cmd.Env = env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTimeout

	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("cannot start the function: %w", err)
	}

	done := make(chan struct{})

	go func() {
		defer close(done)

		// How it ends says nothing: it ends by the interrupt that stop sends.
		_ = cmd.Wait()
	}()

	stop := func() {
		cancel()
		<-done
	}

	if err := waitFor(ctx, address, done); err != nil {
		stop()
		return nil, fmt.Errorf("cannot start the function: %w\n%s", err, logs)
	}

	return &function{address: address, logs: logs, stop: stop}, nil
}

// waitFor returns when something listens at the address.
func waitFor(ctx context.Context, address string, done <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	dialer := net.Dialer{}

	for {
		if conn, err := dialer.DialContext(ctx, "tcp", address); err == nil {
			return conn.Close()
		}

		select {
		case <-done:
			return errStopped
		case <-ctx.Done():
			return fmt.Errorf("it does not listen at %s: %w", address, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freeAddress is an address on this machine that nobody listened at just now.
func freeAddress(ctx context.Context) (string, error) {
	listener := net.ListenConfig{}

	l, err := listener.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}

	return l.Addr().String(), l.Close()
}

// A log keeps what a process says.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buf.Write(p)
}

// String is all that was said so far.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buf.String()
}
