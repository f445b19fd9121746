package main

import (
	"context"
	"sync"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// How many bytes of requests may be decoded at a time. A request takes up to ten times as much once it is decoded, until its run is over,
// and who writes a Secret or publishes an object chooses what is in it. A hundred runs at a time of one such object, which is as many
// workers as Crossplane has, would take 8 GB.
const (
	maxDecoding = 32 << 20
	// smallRequest is decoded at once: a pool of 10 members sends 40 kB, and shall not wait for those that are large.
	smallRequest = 256 << 10
)

// A decoder is gRPC's codec for protocol buffers. It decodes large requests in turn, so that all that are decoded or in a run have
// maxDecoding bytes at most.
type decoder struct {
	encoding.CodecV2

	bytes *semaphore.Weighted
	// weights of the requests that are decoded and whose runs are not over.
	weights sync.Map
}

func newDecoder() *decoder {
	return &decoder{CodecV2: encoding.GetCodecV2(proto.Name), bytes: semaphore.NewWeighted(maxDecoding)}
}

// Unmarshal a message, which waits while others are as large as may be. It must be told when the run of a request is over: see serving.
func (d *decoder) Unmarshal(data mem.BufferSlice, v any) error {
	weight := min(int64(data.Len()), maxDecoding)
	if weight <= smallRequest {
		return d.CodecV2.Unmarshal(data, v)
	}
	// It cannot fail: nothing cancels it, and no weight is more than all.
	_ = d.bytes.Acquire(context.Background(), weight)
	err := d.CodecV2.Unmarshal(data, v)
	if _, isRun := v.(*fnv1.RunFunctionRequest); isRun && err == nil {
		d.weights.Store(v, weight)
		return nil
	}
	d.bytes.Release(weight)
	return err
}

// over is called when the run of a request is.
func (d *decoder) over(req *fnv1.RunFunctionRequest) {
	if weight, ok := d.weights.LoadAndDelete(req); ok {
		d.bytes.Release(weight.(int64)) //nolint:forcetypeassert // Nothing else is stored.
	}
}

// serving is a Function whose requests a decoder decodes.
func (d *decoder) serving(f fnv1.FunctionRunnerServiceServer) fnv1.FunctionRunnerServiceServer {
	return &decodedServer{FunctionRunnerServiceServer: f, decoder: d}
}

type decodedServer struct {
	fnv1.FunctionRunnerServiceServer

	decoder *decoder
}

// RunFunction unless nobody waits for it any more.
func (s *decodedServer) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	defer s.decoder.over(req)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.FunctionRunnerServiceServer.RunFunction(ctx, req)
}
