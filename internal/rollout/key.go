// Package rollout decides when a pool's instances are replaced, and which launch template its group uses meanwhile.
package rollout

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// keyLength of a roll key, in hex digits.
const keyLength = 8

// content is all that rolls a pool. Its fields stand where the composite has them and in the order of their names, so
// that encoding it gives canonical JSON.
type content struct {
	KubernetesVersion *string      `json:"kubernetesVersion"`
	MachineImage      imageContent `json:"machineImage"`
	Rollout           rollContent  `json:"rollout"`
}

type imageContent struct {
	ID *string `json:"id"`
}

type rollContent struct {
	Trigger string `json:"trigger"`
}

// Key returns a pool's roll key. It is the first 8 hex digits of SHA-256 over the canonical JSON of what rolls it.
// That is the Kubernetes version to the letter, a pinned image and the manual trigger. Unset and empty are the same.
func Key(s *v1alpha1.MachinePoolSpec) string {
	c := content{
		KubernetesVersion: unsetIfEmpty(s.KubernetesVersion),
		MachineImage:      imageContent{ID: unsetIfEmpty(s.MachineImage.ID)},
		Rollout:           rollContent{Trigger: s.Rollout.Trigger},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(c) //nolint:errchkjson // Strings and structs of strings always encode.
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])[:keyLength]
}

func unsetIfEmpty(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	return s
}
