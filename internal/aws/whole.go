package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// errNotWhole says that a response ended before its last tag, or is none of the operation's.
var errNotWhole = errors.New("the response is not whole")

// notWholeError wraps errNotWhole and is worth another attempt: what cut the response short is seldom there twice.
type notWholeError struct{ err error }

func (e *notWholeError) Error() string        { return e.err.Error() }
func (e *notWholeError) Unwrap() error        { return e.err }
func (e *notWholeError) RetryableError() bool { return true }

// onlyWhole makes a client refuse a successful response that is not whole. The SDK takes an empty body, and for EC2 also
// a proxy's HTML page or bare JSON, for an answer without any items: no group, no instance, no image. Believed, that
// deletes Nodes. So the body must end with the end tag of the operation's response, which the XML of all three services
// is wrapped in (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/making-api-requests.html).
func onlyWhole(stack *middleware.Stack) error {
	// After: next to the transport, so that the body is seen before the SDK decodes it.
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("MachinePoolOnlyWhole",
		func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleDeserialize(ctx, in)
			if err != nil {
				return out, metadata, err
			}
			resp, ok := out.RawResponse.(*smithyhttp.Response)
			if !ok || resp.StatusCode >= http.StatusMultipleChoices {
				return out, metadata, nil
			}
			body, err := readWhole(resp.Body, "</"+awsmiddleware.GetOperationName(ctx)+"Response>")
			if err != nil {
				return out, metadata, err
			}
			resp.Body = io.NopCloser(bytes.NewReader(body))
			return out, metadata, nil
		}), middleware.After)
}

func readWhole(body io.ReadCloser, end string) ([]byte, error) {
	defer body.Close() //nolint:errcheck // There is nothing to lose of what was read.
	b, err := io.ReadAll(io.LimitReader(body, maxResponseBytes))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &notWholeError{err: fmt.Errorf("%w: %w", errNotWhole, err)}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the response: %w", err)
	}
	if !bytes.HasSuffix(bytes.TrimSpace(b), []byte(end)) {
		return nil, &notWholeError{err: errNotWhole}
	}
	return b, nil
}
