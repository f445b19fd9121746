package bootstrap

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// MaxPayloadBytes is how large bootstrap data can be. The managed resource of the staged object holds the data twice, in base64,
// in its spec and in its status, and an object in etcd has 1.5 MiB at most.
// https://etcd.io/docs/v3.5/dev-guide/limit/
const MaxPayloadBytes = 512 * 1024

// headBytes is how much of the data, decompressed, says what it is: as much as the stub looks at.
const headBytes = 4096

// What the stub says, too, of data that it does not take: see the end of stub.sh.
var (
	errDamagedGzip    = errors.New("the bootstrap data is damaged gzip")
	errNotCloudConfig = errors.New("the bootstrap data is not cloud-config: its first line must be #cloud-config, or ## template: jinja before that")
)

// CheckPayload says why instances could not use the bootstrap data. The error never quotes the payload.
//
// Cloud-config is what the stub takes, by the same rule: the two are held against each other by TestStubAndFunctionAgree. Only
// the beginning is looked at, so gzip that is damaged further on, a template that cannot be rendered and YAML that is no mapping
// are left for the stub to refuse.
//
// Ignition takes JSON that says of which version it is, and does not decompress what it fetches from S3 ("Compression cannot be
// used with S3", Ignition's configuration specification 3.0 to 3.4).
func CheckPayload(format Format, payload []byte) error {
	if format == v1alpha1.BootstrapFormatIgnition {
		return checkIgnition(payload)
	}
	err := checkCloudConfig(payload)
	if errors.Is(err, errNotCloudConfig) && isIgnition(payload) {
		return fmt.Errorf(`%w; it is an Ignition config: set spec.bootstrap.format, or the Secret's key "format", to ignition`, err)
	}
	return err
}

func checkIgnition(payload []byte) error {
	switch {
	case bytes.HasPrefix(payload, gzipMagic):
		return errors.New("the bootstrap data is gzip, which Ignition cannot fetch from S3: " +
			"make the bootstrap provider write plain JSON")
	case isIgnition(payload):
		return nil
	case checkCloudConfig(payload) == nil:
		return fmt.Errorf(`%w; it is cloud-config: set spec.bootstrap.format, or the Secret's key "format", to cloud-config`, errNotIgnition)
	}
	return errNotIgnition
}

var errNotIgnition = errors.New("the bootstrap data is not an Ignition config: it must be JSON, from its first line on, with ignition.version")

// isIgnition reports whether the data is a whole JSON object that Ignition finds a version in.
func isIgnition(payload []byte) bool {
	var config struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	return json.Unmarshal(payload, &config) == nil && config.Ignition.Version != ""
}

func checkCloudConfig(payload []byte) error {
	head, err := headOf(payload)
	if err != nil {
		return err
	}
	if !isCloudConfig(head) {
		return errNotCloudConfig
	}
	return nil
}

// The first lines as kind in stub.sh matches them. Neither has a k or an s, which case folding would find outside ASCII.
var (
	jinjaLine       = regexp.MustCompile(`(?i)^##[ \t]*template:[ \t]*jinja$`)
	cloudConfigLine = regexp.MustCompile(`(?i)^#cloud-config([ \t]|$)`)
)

// isCloudConfig is kind of stub.sh: the first line that is not blank says what the data is, and the very first one may say that
// it is a template. Case does not matter.
func isCloudConfig(head []byte) bool {
	first := true
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(bytes.TrimSuffix(line, []byte("\n")), " \t\r")
		if isTemplate := first && jinjaLine.Match(line); len(line) > 0 && !isTemplate {
			return cloudConfigLine.Match(line)
		}
		first = false
	}
	return false
}

// gzipMagic starts every gzip member (RFC 1952, 2.3.1).
var gzipMagic = []byte{0x1f, 0x8b} //nolint:gochecknoglobals // A constant.

// gzipReserved are the bits of a member's flags that must be zero (RFC 1952, 2.3.1.2).
const gzipReserved = 0xe0

// maxGzipBytes is how much gzip is read for the head: members and blocks may hold nothing, and half a MiB of them costs.
const maxGzipBytes = 64 * 1024

// headOf the data, decompressed if it is gzip. No more is decompressed, as a few bytes of gzip can make gigabytes.
func headOf(payload []byte) ([]byte, error) {
	if !bytes.HasPrefix(payload, gzipMagic) {
		return payload[:min(len(payload), headBytes)], nil
	}
	read := payload[:min(len(payload), maxGzipBytes)]
	var (
		head   []byte
		member gzip.Reader
	)
	// gzip takes zeros after the last member for padding.
	for rest := bytes.NewReader(read); len(head) < headBytes && hasMore(read[len(read)-rest.Len():]); {
		more, err := readMember(&member, rest, headBytes-len(head))
		head = append(head, more...)
		switch {
		case err != nil && rest.Len() == 0 && len(read) < len(payload):
			return head, nil // It goes on where it is not read.
		case err != nil:
			return nil, errDamagedGzip
		}
	}
	return head, nil
}

// hasMore reports whether more than padding follows a member of gzip.
func hasMore(after []byte) bool { return len(bytes.TrimLeft(after, "\x00")) > 0 }

// readMember of gzip from its beginning, so many bytes at most. It reads no further than the member.
func readMember(member *gzip.Reader, from *bytes.Reader, limit int) ([]byte, error) {
	var header [4]byte
	if n, err := from.ReadAt(header[:], from.Size()-int64(from.Len())); err == nil && n == len(header) && header[3]&gzipReserved != 0 {
		return nil, errDamagedGzip
	}
	if err := member.Reset(from); err != nil {
		return nil, err
	}
	member.Multistream(false)
	return io.ReadAll(io.LimitReader(member, int64(limit)))
}
