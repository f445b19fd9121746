package aws

import (
	"context"
	"errors"
	"regexp"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws/batch"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// imageID of an AMI, as AWS writes it.
var imageID = regexp.MustCompile(`^ami-[0-9a-f]+$`)

// A Reader reads AWS for every run of the function. It is safe for many concurrent callers and is meant to live as long
// as the process: clients, cache and batches are its own.
type Reader struct {
	views *views
	// held is what all views may hold.
	held budgets
}

// NewClientsFn makes the clients that an identity reads a region with. It must not call AWS.
type NewClientsFn func(ctx context.Context, id pool.Identity, region string) (Clients, error)

type options struct {
	log        logging.Logger
	registerer prometheus.Registerer
	newClients NewClientsFn
	tune       func(*sdk)
	held       budgets
}

// An Option of a Reader.
type Option func(*options)

// WithLogger logs each call to AWS at debug level: its operation, region, number of keys and result. Default: nothing is
// logged.
func WithLogger(l logging.Logger) Option {
	return func(o *options) { o.log = l }
}

// WithRegisterer registers the Reader's metrics, named machinepool_aws_*. NewReader panics when they are registered
// already. Default: they are not registered.
func WithRegisterer(r prometheus.Registerer) Option {
	return func(o *options) { o.registerer = r }
}

// WithNewClients replaces the AWS SDK, for tests.
func WithNewClients(fn NewClientsFn) Option {
	return func(o *options) { o.newClients = fn }
}

// NewReader returns a Reader that uses the AWS SDK, with its environment: AWS_ENDPOINT_URL and its per-service forms,
// AWS_CA_BUNDLE, proxies, and for the identity Pod its default chain of credentials.
func NewReader(opts ...Option) *Reader {
	o := options{
		log:  logging.NewNopLogger(),
		held: budgets{members: batch.NewBudget(maxHeld), images: batch.NewBudget(maxHeldImages)},
	}
	for _, fn := range opts {
		fn(&o)
	}
	m := newMetrics(o.registerer)
	if o.newClients == nil {
		s := newSDK(o.log, m)
		if o.tune != nil {
			o.tune(s)
		}
		o.newClients = s.clients
	}

	return &Reader{held: o.held, views: &views{
		byKey:   make(map[viewKey]*viewEntry),
		metrics: m,
		build: func(id pool.Identity, region string) (*view, *failure) {
			// Not the run's context: what is made here serves later runs too.
			c, err := o.newClients(context.Background(), id, region)
			if err != nil {
				return nil, notSignedIn(err)
			}
			return newView(c, region, o.log, m, o.held), nil
		},
	}}
}

// Read what AWS says. It returns after five seconds at the latest, or when the context ends: what is not known by then
// has failed with the reason TimedOut. With the identity None nothing is asked and no call is made. The Reading is the
// caller's own.
//
// No Err holds a credential, a request id or a time: the same failure reads the same in every run.
func (r *Reader) Read(ctx context.Context, q pool.Query) pool.Reading {
	begin := time.Now()
	asked := pool.Reading{}
	if q.Identity.Source == "" || q.Identity.Source == v1beta1.IdentityNone {
		return asked
	}
	asked.Group.Asked = q.GroupName != ""
	asked.Instances.Asked = q.GroupName != ""
	asked.Refresh.Asked = q.GroupName != "" && q.Refresh
	asked.Image.Asked = q.Image != nil
	for _, name := range q.Claims {
		if asked.Claims == nil {
			asked.Claims = map[string]pool.Read[*pool.Claim]{}
		}
		asked.Claims[name] = pool.Read[*pool.Claim]{Asked: true}
	}
	if !asked.Group.Asked && !asked.Image.Asked && len(asked.Claims) == 0 {
		return asked
	}

	if !regionName.MatchString(q.Region) {
		return allFailed(asked, failed(pool.ReadFailed, "the region is not one that AWS can have: check the region that the cluster exports"))
	}
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	v, f := r.views.get(ctx, q.Identity, q.Region, q.Tenant)
	if f != nil {
		return allFailed(asked, f)
	}
	return anewSince(begin, v.read(ctx, q, asked))
}

// anewSince marks what AWS was asked for no earlier than the caller did.
func anewSince(begin time.Time, r pool.Reading) pool.Reading {
	r.Group.Anew = r.Group.Known() && !r.Group.At.Before(begin)
	r.Instances.Anew = r.Instances.Known() && !r.Instances.At.Before(begin)
	r.Image.Anew = r.Image.Known() && !r.Image.At.Before(begin)
	r.Refresh.Anew = r.Refresh.Known() && !r.Refresh.At.Before(begin)
	return r
}

// ageOf the oldest answer that will do.
func ageOf(q pool.Query, anew bool) time.Duration {
	if anew {
		return 0
	}
	return q.MaxAge
}

// read asks for all parts before it waits for the first, so that they are read side by side.
func (v *view) read(ctx context.Context, q pool.Query, out pool.Reading) pool.Reading {
	image := v.askImage(q)
	members, refresh := v.askGroup(q)
	claims := v.askClaims(q)

	if out.Group.Asked {
		m, at := members(ctx)
		out.Group, out.Instances = asRead(m.group, at), asRead(m.instances, at)
		if !out.Group.Known() || !out.Instances.Known() {
			if kept, at, ok := v.memberships.Kept(q.GroupName, earlierAge); ok {
				out.Earlier = asRead(kept.instances, at)
			}
		}
	}
	if out.Refresh.Asked {
		o, at := refresh(ctx)
		if o.failure != nil && o.failure.badInput && out.Group.Known() && out.Group.Value == nil {
			// AWS refuses the name of a group that it does not have, with a code that says nothing more.
			o = outcome[*pool.Refresh]{}
		}
		out.Refresh = asRead(o, at)
	}
	if out.Image.Asked {
		o, at := image(ctx)
		out.Image = asRead(o, at)
	}
	for name, claim := range claims {
		out.Claims[name] = asRead(claim(ctx))
	}
	return out
}

// An await waits for what was asked for, and says when AWS was asked.
type await[T any] func(context.Context) (T, time.Time)

func (v *view) askGroup(q pool.Query) (await[membership], await[outcome[*pool.Refresh]]) {
	if q.GroupName == "" {
		return nil, nil
	}
	if bad := badGroupName(q.GroupName); bad != nil {
		return refused(membership{group: outcome[*pool.Group]{failure: bad}, instances: outcome[[]pool.Instance]{failure: bad}}),
			refused(outcome[*pool.Refresh]{failure: bad})
	}
	members := v.memberships.Want(q.GroupName, ageOf(q, q.Anew.Members), q.Tenant)
	awaitMembers := func(ctx context.Context) (membership, time.Time) {
		m, err := members.Wait(ctx)
		if err != nil {
			return membership{group: unanswered[*pool.Group](opGroups, err), instances: unanswered[[]pool.Instance](opInstances, err)}, time.Time{}
		}
		return m, members.At()
	}
	if !q.Refresh {
		return awaitMembers, nil
	}
	return awaitMembers, answer(v.refreshes.Want(q.GroupName, ageOf(q, q.Anew.Refresh), q.Tenant), opRefreshes)
}

func (v *view) askClaims(q pool.Query) map[string]await[outcome[*pool.Claim]] {
	asked := make(map[string]await[outcome[*pool.Claim]], len(q.Claims))
	for _, name := range q.Claims {
		if bad := badGroupName(name); bad != nil {
			asked[name] = refused(outcome[*pool.Claim]{failure: bad})
			continue
		}
		asked[name] = answer(v.claims.Want(name, q.MaxAge, q.Tenant), opGroups)
	}
	return asked
}

func (v *view) askImage(q pool.Query) await[outcome[*pool.Image]] {
	if q.Image == nil {
		return nil
	}
	if bad := badImageQuery(q.Image); bad != nil {
		return refused(outcome[*pool.Image]{failure: bad})
	}
	if q.Image.ID != "" {
		return answer(v.pins.Want(q.Image.ID, ageOf(q, q.Anew.Image), q.Tenant), opImages)
	}
	return answer(v.images.Want(*q.Image, ageOf(q, q.Anew.Image), q.Tenant), opImages)
}

func answer[T any](p *batch.Pending[outcome[T]], op string) await[outcome[T]] {
	return func(ctx context.Context) (outcome[T], time.Time) {
		o, err := p.Wait(ctx)
		if err != nil {
			return unanswered[T](op, err), time.Time{}
		}
		return o, p.At()
	}
}

// refused is what there is to say of a question that is not asked.
func refused[T any](o T) await[T] {
	return func(context.Context) (T, time.Time) { return o, time.Time{} }
}

// asRead gives an answer the time when it was asked for, since what changed after that may be missing in it.
func asRead[T any](o outcome[T], at time.Time) pool.Read[T] {
	if o.failure != nil {
		return pool.Read[T]{Asked: true, Err: o.failure.read()}
	}
	return pool.Read[T]{Asked: true, Value: o.value, At: at}
}

// unanswered is what there is to say when the run's time is over, or when a batch left a key out.
func unanswered[T any](op string, err error) outcome[T] {
	if errors.Is(err, batch.ErrNotAnswered) {
		return outcome[T]{failure: partial(op)}
	}
	return outcome[T]{failure: timedOut(op)}
}

// allFailed fails each part that was asked for.
func allFailed(r pool.Reading, f *failure) pool.Reading {
	if r.Group.Asked {
		r.Group.Err = f.read()
	}
	if r.Instances.Asked {
		r.Instances.Err = f.read()
	}
	if r.Refresh.Asked {
		r.Refresh.Err = f.read()
	}
	if r.Image.Asked {
		r.Image.Err = f.read()
	}
	for name := range r.Claims {
		r.Claims[name] = pool.Read[*pool.Claim]{Asked: true, Err: f.read()}
	}
	return r
}

// notSignedIn says why there are no clients.
func notSignedIn(err error) *failure {
	var c *credentialsError
	if errors.As(err, &c) && c.shown != "" {
		return failed(pool.ReadCredentialsInvalid, "%s (%s)", c.shown, guide)
	}
	return failed(pool.ReadFailed, "the clients for AWS could not be made (%s)", guide)
}

// badGroupName refuses what AWS would, before it costs others a call.
func badGroupName(name string) *failure {
	ok := utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxNameLength
	for _, r := range name {
		ok = ok && !unicode.IsControl(r)
	}
	if !ok {
		return failed(pool.ReadFailed, "the name of the Auto Scaling group is not one that AWS can have")
	}
	return nil
}

// badImageQuery refuses a query that would match what it must not: without an owner anybody's public image does, and an id
// with a wildcard any image.
func badImageQuery(q *pool.ImageQuery) *failure {
	if q.ID != "" {
		if !imageID.MatchString(q.ID) {
			return failed(pool.ReadFailed, "the image's id is not one that AWS can have")
		}
		return nil
	}
	if q.Owner == "" || q.Name == "" || q.Architecture == "" {
		return failed(pool.ReadFailed, "an image is looked up by owner, name format and architecture: one of them is empty")
	}
	return nil
}
