package main

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/managed"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/observation"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/report"
)

// readTime is how long a run waits for AWS, in all: what it reads once more is read in the same time.
const readTime = 5 * time.Second

// An AWSReader says what AWS knows of a pool. It never fails as a whole: each part of a reading says for itself whether
// it can be trusted.
type AWSReader interface {
	Read(ctx context.Context, q pool.Query) pool.Reading
}

// An AWSReaderFn is a function that satisfies AWSReader.
type AWSReaderFn func(ctx context.Context, q pool.Query) pool.Reading

// Read what AWS knows of a pool.
func (fn AWSReaderFn) Read(ctx context.Context, q pool.Query) pool.Reading { return fn(ctx, q) }

// Function turns a MachinePool into the AWS resources of one worker pool.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	aws AWSReader
	log logging.Logger
}

// A FunctionOption configures a Function.
type FunctionOption func(*Function)

// WithLogger sets where the function logs. It logs nowhere by default.
func WithLogger(l logging.Logger) FunctionOption { return func(f *Function) { f.log = l } }

// WithAWSReader sets who reads AWS. Nothing is read by default.
func WithAWSReader(r AWSReader) FunctionOption { return func(f *Function) { f.aws = r } }

// NewFunction returns a Function.
func NewFunction(o ...FunctionOption) *Function {
	f := &Function{
		aws: AWSReaderFn(func(context.Context, pool.Query) pool.Reading { return pool.Reading{} }),
		log: logging.NewNopLogger(),
	}
	for _, fn := range o {
		fn(f)
	}
	return f
}

// RunFunction observes a pool, decides what is to be of it, renders that into managed resources and reports it.
func (f *Function) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, report.DefaultTTL)

	o, err := observation.From(req)
	if err != nil {
		report.Undecodable(rsp, observation.LastConditions(req), err)
		return rsp, nil
	}
	report.Requirements(rsp, o)
	reads, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	if q, ask := decision.QueryFor(o); ask {
		o.AWS = f.aws.Read(reads, q)
	}

	d := decision.Of(o)
	if q, again := decision.QueryAgain(o, d); again {
		o.AWS = f.aws.Read(reads, q)
		d = decision.Of(o)
	}
	// Names only: a request holds credentials and bootstrap data.
	f.log.Debug("Decided", "namespace", o.Composite.GetNamespace(), "name", o.Composite.GetName(), "ready", d.Ready, "changing", d.Changing, "refused", len(d.Refused))
	if len(d.Refused) > 0 {
		report.Refusal(rsp, d)
		return rsp, nil
	}

	manifests, err := managed.Render(o, d)
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	if err := report.Pool(rsp, o, d, manifests); err != nil {
		response.Fatal(rsp, err)
	}
	return rsp, nil
}
