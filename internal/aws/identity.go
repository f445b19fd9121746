package aws

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"gopkg.in/ini.v1"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A viewKey tells apart whose answers are whose: the identity, credentials included, and the region.
type viewKey struct {
	identity [sha256.Size]byte
	region   string
}

// keyOf is a digest, so that no map and no dump of one holds a credential, and a rotated credential makes another key.
func keyOf(id pool.Identity, region string) viewKey {
	h := sha256.New()
	field(h, []byte(id.Source))
	field(h, id.SharedCredentials)
	for _, role := range id.AssumeRoleChain {
		field(h, []byte(role.RoleARN))
		field(h, []byte(role.ExternalID))
	}
	return viewKey{identity: [sha256.Size]byte(h.Sum(nil)), region: region}
}

// field hashes b after its length, so that no two lists of fields hash alike.
func field(h hash.Hash, b []byte) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
	h.Write(b)
}

// profile is the one that provider-aws reads.
const profile = "default"

// parseCredentials reads a shared-credentials INI as provider-aws does. It does so with the same library and the same
// options, from the profile default (internal/clients/provider_config.go of provider-aws v2.5.0, whose version of the
// library reads the same in half a million made-up texts). Its errors never quote the text, which the library's own do.
func parseCredentials(text []byte) (awssdk.Credentials, error) {
	if len(text) == 0 {
		return awssdk.Credentials{}, errors.New("the pipeline step's credentials are empty")
	}
	f, err := ini.InsensitiveLoad(text)
	if err != nil {
		return awssdk.Credentials{}, errors.New("the pipeline step's credentials are not a shared-credentials INI")
	}
	s, err := f.GetSection(profile)
	if err != nil {
		return awssdk.Credentials{}, errors.New("the pipeline step's credentials have no profile named default")
	}
	c := awssdk.Credentials{
		AccessKeyID:     s.Key("aws_access_key_id").Value(),
		SecretAccessKey: s.Key("aws_secret_access_key").Value(),
		SessionToken:    s.Key("aws_session_token").Value(),
		Source:          "MachinePoolSharedCredentials",
	}
	if c.AccessKeyID == "" || c.SecretAccessKey == "" {
		return awssdk.Credentials{}, errors.New("the pipeline step's credentials lack aws_access_key_id or aws_secret_access_key in their profile default")
	}
	return c, nil
}
