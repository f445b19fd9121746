package bootstrap

import (
	"bytes"
	"errors"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// MaxPayloadBytes is how large bootstrap data can be. The managed resource of the staged object holds the data twice, in base64,
// in its spec and in its status, and an object in etcd has 1.5 MiB at most.
// https://etcd.io/docs/v3.5/dev-guide/limit/
const MaxPayloadBytes = 512 * 1024

// gzipMagic starts every gzip member (RFC 1952, 2.3.1).
var gzipMagic = []byte{0x1f, 0x8b} //nolint:gochecknoglobals // A constant.

// CheckPayload says why instances could not use the bootstrap data. The error never quotes the payload.
//
// Ignition does not decompress what it fetches from S3 ("Compression cannot be used with S3", Ignition's configuration
// specification 3.0 to 3.4). The cloud-config stub does, so a gzip cloud-config is fine. Whether a cloud-config payload
// is one is for the instance to say: it may be compressed, a template, or both.
func CheckPayload(format Format, payload []byte) error {
	if format == v1alpha1.BootstrapFormatIgnition && bytes.HasPrefix(payload, gzipMagic) {
		return errors.New("the bootstrap data is gzip, which Ignition cannot fetch from S3: " +
			"make the bootstrap provider write plain JSON")
	}
	return nil
}
