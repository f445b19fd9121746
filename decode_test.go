package main

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// messageOf a request of some size.
func messageOf(t *testing.T, size int) mem.BufferSlice {
	t.Helper()
	b, err := proto.Marshal(&fnv1.RunFunctionRequest{Meta: &fnv1.RequestMeta{Tag: strings.Repeat("x", size)}})
	if err != nil {
		t.Fatal(err)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}
}

// TestLargeRequestsAreDecodedInTurn holds that requests which are decoded have maxDecoding bytes in all, until their runs are over, and
// that small ones wait for none of them.
func TestLargeRequestsAreDecodedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, large := newDecoder(), messageOf(t, maxDecoding/4+1)
		decoded := make(chan *fnv1.RunFunctionRequest, 10)
		for range 10 {
			go func() {
				req := &fnv1.RunFunctionRequest{}
				if err := d.Unmarshal(large, req); err != nil {
					t.Error(err)
				}
				decoded <- req
			}()
		}
		for over := range 8 {
			synctest.Wait()
			if got := len(decoded); got != 3 {
				t.Fatalf("after %d runs: %d requests are decoded, want 3", over, got)
			}
			if err := d.Unmarshal(messageOf(t, smallRequest/2), &fnv1.RunFunctionRequest{}); err != nil {
				t.Error(err)
			}
			d.over(<-decoded)
		}
		synctest.Wait()
		for range len(decoded) {
			d.over(<-decoded)
		}
		if !d.bytes.TryAcquire(maxDecoding) {
			t.Error("after all runs are over something still counts as decoded")
		}
	})
}

// TestWhatCannotBeDecodedHoldsNothing holds that a message that is none does not count as decoded, nor does one of another kind.
func TestWhatCannotBeDecodedHoldsNothing(t *testing.T) {
	d := newDecoder()
	if err := d.Unmarshal(mem.BufferSlice{mem.SliceBuffer(strings.Repeat("\xff", smallRequest+1))}, &fnv1.RunFunctionRequest{}); err == nil {
		t.Error("what is no message was decoded")
	}
	if err := d.Unmarshal(messageOf(t, smallRequest), &fnv1.RunFunctionResponse{}); err != nil {
		t.Error(err)
	}
	if !d.bytes.TryAcquire(maxDecoding) {
		t.Error("something still counts as decoded")
	}
}

// TestServedRequestsAreDecodedInTurn holds that a server with this codec runs few large requests at a time, whoever sends them, and
// ends all of them.
func TestServedRequestsAreDecodedInTurn(t *testing.T) {
	var running, most atomic.Int64
	d := newDecoder()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(d), grpc.MaxRecvMsgSize(maxDecoding))
	fnv1.RegisterFunctionRunnerServiceServer(server, d.serving(&runner{run: func() {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
	}}))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	req := &fnv1.RunFunctionRequest{Meta: &fnv1.RequestMeta{Tag: strings.Repeat("x", maxDecoding/2)}}
	var calls sync.WaitGroup
	for range 6 {
		calls.Go(func() {
			if _, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(context.Background(), req); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if most.Load() != 1 {
		t.Errorf("%d requests of more than half of all bytes ran at a time, want 1", most.Load())
	}
	if !d.bytes.TryAcquire(maxDecoding) {
		t.Error("after all runs are over something still counts as decoded")
	}
}

// A runner is a Function that does something and answers nothing.
type runner struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	run func()
}

func (r *runner) RunFunction(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	r.run()
	return &fnv1.RunFunctionResponse{}, nil
}
