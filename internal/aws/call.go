package aws

import (
	"context"
	"errors"
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
	if f := c.enter(ctx, op); f != nil {
		return none, f
	}
	defer c.leave()

	if c.refusals != nil {
		if f := c.refusals.holds(op, c.tenant); f != nil {
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
		c.refusals.note(op, c.tenant, f)
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

// enter waits for a slot as long as a call that is begun can still end in time. A later one would only cost the account's rate.
func (c *caller) enter(ctx context.Context, op string) *failure {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-minCallTime))
		defer cancel()
	}
	if ctx.Err() != nil {
		return timedOut(op)
	}
	if c.slots == nil {
		return nil
	}
	switch err := c.slots.take(ctx, c.tenant); {
	case errors.Is(err, errQueueFull):
		c.metrics.spared(op, string(pool.ReadThrottled))
		return queueFull(op, c.slots.waiting)
	case err != nil:
		return timedOut(op)
	}
	return nil
}

// leave gives back what enter waited for.
func (c *caller) leave() {
	if c.slots != nil {
		c.slots.give(c.tenant)
	}
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
