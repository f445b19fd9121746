package aws

import (
	"context"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A caller makes calls for one view: not too many at a time, counted and logged.
type caller struct {
	region  string
	metrics *metrics
	log     logging.Logger
	// slots bounds the calls at a time, of which the tenant waits for one. Nil does not.
	slots  *slots
	tenant string
	// answered is called after each call that succeeded. A nil answered is not called.
	answered func()
	// refusals answer calls for a moment after AWS refused one. Nil does not.
	refusals *refusals
}

// of returns a caller for calls of another kind, with slots of their own, for the tenant.
func (c *caller) of(s *slots, tenant string) *caller {
	out := *c
	out.slots, out.tenant = s, tenant
	return &out
}

// call makes one call that is about so many keys. What it logs is the operation and its result, never the request or
// the error itself, either of which can hold what is secret.
func call[Out any](ctx context.Context, c *caller, op string, keys int, do func(context.Context) (Out, error)) (Out, *failure) {
	var none Out
	if ctx.Err() != nil {
		return none, timedOut(op)
	}
	if c.slots != nil {
		if err := c.slots.take(ctx, c.tenant); err != nil {
			return none, timedOut(op)
		}
		defer c.slots.give(c.tenant)
	}

	if c.refusals != nil {
		if f := c.refusals.holds(op); f != nil {
			c.metrics.spared(op, string(f.Reason))
			return none, f
		}
	}

	begin := time.Now()
	out, err := do(ctx)
	took := time.Since(begin)

	var f *failure
	result := resultOK
	if err != nil {
		f = classify(op, err)
		result = string(f.Reason)
	}
	if c.refusals != nil {
		c.refusals.note(op, f)
	}
	c.metrics.called(op, result, took)
	c.log.Debug("Called AWS", "operation", op, "region", c.region, "keys", keys, "result", result, "milliseconds", took.Milliseconds())
	if f != nil {
		return none, f
	}
	if c.answered != nil {
		c.answered()
	}
	return out, nil
}

// pages reads every page of an answer, or fails: half an answer is none. What fetch returns is handed to take, which
// returns the token of the next page.
func pages[Out any](ctx context.Context, c *caller, op string, keys int, fetch func(context.Context, *string) (Out, error), take func(Out) *string) *failure {
	ctx = withAllowance(ctx)
	var token *string
	for n := range maxPages {
		out, f := call(ctx, c, op, keys, func(ctx context.Context) (Out, error) { return fetch(ctx, token) })
		switch {
		case f != nil && n > 0 && f.Reason == pool.ReadFailed:
			// There is no better reason than that some pages came and this one did not.
			return partial(op)
		case f != nil:
			return f
		}
		next := take(out)
		if awssdk.ToString(next) == "" {
			return nil
		}
		if awssdk.ToString(next) == awssdk.ToString(token) {
			return partial(op)
		}
		token = next
	}
	return partial(op)
}
