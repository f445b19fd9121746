package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var (
	// errNotWhole says that a response ended before its last tag, or is none of the operation's.
	errNotWhole = errors.New("the response is not whole")

	// errTooLarge says that a response has more than is read of one. The same request would get it again.
	errTooLarge = errors.New("the response is larger than any that is expected")
)

// notWholeError wraps errNotWhole and is worth another attempt: what cut the response short is seldom there twice.
type notWholeError struct{ err error }

func (e *notWholeError) Error() string        { return e.err.Error() }
func (e *notWholeError) Unwrap() error        { return e.err }
func (e *notWholeError) RetryableError() bool { return true }

// A bound is how much is read of an answer.
type bound struct {
	bytes int
	// cut says that an answer ends at its bound, since what comes first says it all. Any other is too large then.
	cut bool
	// end is what a whole answer ends with. It is not looked for when empty.
	end string
	// largeTo is how deep elements are, at most, that are large once they are decoded. 0 looks at no element.
	largeTo int
}

// boundOf an answer to the operation, which is empty for what is no call to AWS.
func boundOf(op string, status int) bound {
	_, name, _ := strings.Cut(op, ":")
	b := bound{bytes: maxAnswerBytes, end: "</" + name + "Response>"}
	switch {
	case status < http.StatusOK || status >= http.StatusMultipleChoices:
		return bound{bytes: maxErrorBytes, cut: true}
	case op == opImages:
		b.largeTo = 3
	case op == opGroups, op == opRefreshes:
		b.largeTo = 4
	case op == opInstances:
		// Each instance is in a reservation.
		b.largeTo = 5
	case op != "":
		b.bytes = maxSigningInBytes
	default:
		return bound{bytes: maxSigningInBytes}
	}
	return b
}

// boundAnswers makes a client read no more of an answer than its kind needs, and believe a successful one of AWS only when
// it is whole. It is for every client, those that the SDK itself makes to sign in among them.
//
// The SDK takes an empty body, and for EC2 also a proxy's HTML page or bare JSON, for an answer without any items: no
// group, no instance, no image. Believed, that deletes Nodes. So the body must end with the end tag of the operation's
// response, which the XML of all three services is wrapped in
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/making-api-requests.html).
func (s *sdk) boundAnswers(stack *middleware.Stack) error {
	// A stack carries out one operation, and its attempts one after another.
	var a *answerBody
	read := func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		if req, ok := in.Request.(*smithyhttp.Request); ok {
			sent, err := sendable(req)
			if err != nil {
				return middleware.DeserializeOutput{}, middleware.Metadata{}, err
			}
			in.Request = sent
		}
		out, metadata, err := next.HandleDeserialize(ctx, in)
		resp, ok := out.RawResponse.(*smithyhttp.Response)
		if err != nil || !ok {
			return out, metadata, err
		}
		a = &answerBody{
			body:      resp.Body,
			bound:     boundOf(operation(ctx, stack), resp.StatusCode),
			allowance: allowanceOf(ctx),
			wait:      func() error { return s.large.take(ctx, "") },
		}
		resp.Body = a
		return out, metadata, err
	}
	believe := func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		a = nil
		out, metadata, err := next.HandleDeserialize(ctx, in)
		if a == nil {
			return out, metadata, err
		}
		if a.isLarge {
			s.large.give("")
		}
		if bad := a.bad(); bad != nil {
			out.Result, err = nil, bad
		}
		return out, metadata, err
	}
	// Before is around what decodes the answer, and After is next to the transport.
	if err := stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("MachinePoolBelieveAnswer", believe), middleware.Before); err != nil {
		return err
	}
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("MachinePoolBoundAnswer", read), middleware.After)
}

// sendable is the request as it is sent, after it was signed.
func sendable(req *smithyhttp.Request) (*smithyhttp.Request, error) {
	req.Header.Set("Accept-Encoding", "identity")
	body, ok := req.GetStream().(io.ReadSeeker)
	if !ok {
		return req, nil
	}
	// The SDK closes a request's body as soon as the response begins. When the transport still looks whether there is more of
	// it, the SDK's WriteTo of a closed body fails with EOF, and the transport closes the connection while the response is
	// read. Its Read does not: so hide WriteTo.
	sent, err := req.SetStream(struct{ io.ReadSeeker }{body})
	if err != nil {
		return nil, fmt.Errorf("cannot send the request: %w", err)
	}
	return sent, nil
}

// An answerBody is the body of a response: bounded as it is read, and watched for whether it is whole. The SDK reads it to
// its end, also where decoding it failed.
type answerBody struct {
	body      io.ReadCloser
	bound     bound
	allowance *allowance
	// wait until one more large answer may be read. isLarge says that it may, and has not been decoded yet.
	wait    func() error
	isLarge bool

	read int
	// tail is what was read last.
	tail  []byte
	shape shape
	// err ended the reading: io.EOF when all that there is or all that is wanted was read.
	err error
}

// Read the body up to its bound.
func (a *answerBody) Read(p []byte) (int, error) {
	if !a.isLarge && a.err == nil && !a.isSmall() {
		a.err = a.wait()
		a.isLarge = a.err == nil
	}
	if a.err != nil || len(p) == 0 {
		return 0, a.err
	}
	room := a.bound.bytes - a.read
	switch {
	case room == 0 && a.bound.cut:
		a.err = io.EOF
		return 0, a.err
	case room == 0:
		// One byte more than there may be.
		p = p[:1]
	case room < len(p):
		p = p[:room]
	}
	n, err := a.body.Read(p)
	if a.err = a.note(p[:n]); a.err == nil {
		a.err = err
	}
	return n, a.err
}

// isSmall reports whether what was read so far takes little memory.
func (a *answerBody) isSmall() bool {
	return a.read <= smallBytes && a.shape.elements <= smallElements && a.shape.large <= smallLargeElements
}

// Close the body.
func (a *answerBody) Close() error { return a.body.Close() }

// note what was read, and fail when that is more than may be.
func (a *answerBody) note(b []byte) error {
	a.read += len(b)
	if a.tail = append(a.tail, b[max(0, len(b)-tailBytes):]...); len(a.tail) > tailBytes {
		a.tail = append(a.tail[:0], a.tail[len(a.tail)-tailBytes:]...)
	}
	if a.read > a.bound.bytes {
		return errTooLarge
	}
	if a.bound.largeTo == 0 {
		return nil
	}
	elements := a.shape.elements
	if err := a.shape.add(b, a.bound.largeTo); err != nil {
		return err
	}
	return a.allowance.spend(len(b), a.shape.elements-elements)
}

// bad is why the answer cannot be believed, nil when it can or when that is for the SDK to say.
func (a *answerBody) bad() error {
	switch {
	case errors.Is(a.err, errTooLarge), errors.Is(a.err, errNotWhole):
		return a.err
	case a.bound.end == "":
		return nil
	case a.err == nil:
		return &notWholeError{err: errNotWhole}
	case errors.Is(a.err, io.ErrUnexpectedEOF):
		return &notWholeError{err: fmt.Errorf("%w: %w", errNotWhole, a.err)}
	case !errors.Is(a.err, io.EOF):
		return fmt.Errorf("cannot read the response: %w", a.err)
	case !bytes.HasSuffix(bytes.TrimSpace(a.tail), []byte(a.bound.end)):
		return &notWholeError{err: errNotWhole}
	default:
		return nil
	}
}

// An allowance is what the answers to one read may have between them: all pages, and all attempts. Nil is no bound.
type allowance struct{ bytes, elements int }

func (a *allowance) spend(bytes, elements int) error {
	if a == nil {
		return nil
	}
	a.bytes -= bytes
	a.elements -= elements
	if a.bytes < 0 || a.elements < 0 {
		return errTooLarge
	}
	return nil
}

type allowanceKey struct{}

// withAllowance is the context of one read, whose calls come one after another.
func withAllowance(ctx context.Context) context.Context {
	return context.WithValue(ctx, allowanceKey{}, &allowance{bytes: maxReadBytes, elements: maxReadElements})
}

func allowanceOf(ctx context.Context) *allowance {
	a, _ := ctx.Value(allowanceKey{}).(*allowance)
	return a
}
