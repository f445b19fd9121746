package bootstrap

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// MaxUserDataBytes is EC2's limit on user data, in bytes before base64.
//
// Source: "Run commands when you launch an EC2 instance with user data input", Amazon EC2 User Guide.
const MaxUserDataBytes = 16384

// A Stub is what an instance must know to fetch its bootstrap data.
type Stub struct {
	// Format of the bootstrap data.
	Format Format
	// Region of the bucket, for example us-east-1.
	Region string
	// Bucket that holds the bootstrap data.
	Bucket string
	// Key of the bootstrap data in the bucket, for example pool/demo-pool-0.
	Key string
	// NodeLabels that the kubelet registers its Node with, as FilterNodeLabels kept them. Cloud-config only.
	NodeLabels map[string]string
}

// UserData is the stub as raw text, before base64. The payload is no part of it, so it changes with the Stub only.
//
// It errors on a Stub that lacks a field or holds a value that is none of its kind, on node labels with Ignition, and
// on a text over MaxUserDataBytes. The errors say what to change.
func UserData(s Stub) (string, error) {
	if err := s.validate(); err != nil {
		return "", err
	}
	var text string
	switch s.Format {
	case v1alpha1.BootstrapFormatCloudConfig:
		text = boothook(s)
	case v1alpha1.BootstrapFormatIgnition:
		text = ignition(s)
	default:
		return "", fmt.Errorf("unknown bootstrap format %q: use %s or %s", s.Format,
			v1alpha1.BootstrapFormatCloudConfig, v1alpha1.BootstrapFormatIgnition)
	}
	if len(text) > MaxUserDataBytes {
		return "", fmt.Errorf("the user data takes %d bytes, EC2's limit is %d: remove or shorten node labels, which take %d",
			len(text), MaxUserDataBytes, len(joinLabels(s.NodeLabels)))
	}
	return text, nil
}

// FormatOf user data that UserData made is the format of the bootstrap data that it fetches. The beginning of the user data is
// enough. Empty for any other text.
func FormatOf(userData string) Format {
	switch {
	case strings.HasPrefix(userData, boothookHeader):
		return v1alpha1.BootstrapFormatCloudConfig
	case strings.HasPrefix(userData, ignitionHeader):
		return v1alpha1.BootstrapFormatIgnition
	}
	return ""
}

// Beginnings of the user data.
const (
	// boothookHeader is cut off by cloud-init, which executes the rest.
	boothookHeader = "#cloud-boothook\n"
	ignitionHeader = `{"ignition":`
)

// validate refuses what no cluster has, so that neither format needs to think of it.
func (s Stub) validate() error {
	if !isLowerHyphen(s.Region) {
		return fmt.Errorf("region %q is none: use one such as us-east-1", s.Region)
	}
	if err := checkS3Name("bucket", s.Bucket); err != nil {
		return err
	}
	if strings.Contains(s.Bucket, "/") {
		return fmt.Errorf("bucket %q holds a slash: use the bucket's name alone", s.Bucket)
	}
	if err := checkS3Name("key", s.Key); err != nil {
		return err
	}
	if err := CheckNodeLabels(s.Format, s.NodeLabels); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(s.NodeLabels)) {
		if !kubeletMaySet(key) {
			return fmt.Errorf("node label %q is not one a kubelet may set: filter the labels first", key)
		}
		if msgs := validation.IsQualifiedName(key); len(msgs) > 0 {
			return fmt.Errorf("node label key %q: %s", key, strings.Join(msgs, "; "))
		}
		if msgs := validation.IsValidLabelValue(s.NodeLabels[key]); len(msgs) > 0 {
			return fmt.Errorf("value %q of node label %q: %s", s.NodeLabels[key], key, strings.Join(msgs, "; "))
		}
	}
	return nil
}

// CheckNodeLabels refuses labels, of those that FilterNodeLabels kept, where nothing could set them.
func CheckNodeLabels(format Format, kept map[string]string) error {
	if format == v1alpha1.BootstrapFormatIgnition && len(kept) > 0 {
		return errors.New("node labels cannot be set with Ignition: " +
			"set them in the bootstrap data (for kubeadm, nodeRegistration.kubeletExtraArgs) and remove spec.nodeLabels")
	}
	return nil
}

// checkS3Name refuses names that would garble a log line or a signature.
func checkS3Name(what, name string) error {
	if name == "" {
		return fmt.Errorf("the bootstrap %s has no name", what)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("bootstrap %s %q holds control characters: use printable ones", what, name)
	}
	return nil
}

//go:embed stub.sh
var stubSource string

// stubScript is the stub without the lines that only say something to its readers: they would take a fifth of the room
// that is there for node labels.
var stubScript = sync.OnceValue(func() string { //nolint:gochecknoglobals // The same in every run.
	var b strings.Builder
	for line := range strings.Lines(stubSource) {
		text := strings.TrimLeft(line, "\t")
		if !strings.HasPrefix(text, "#") || strings.HasPrefix(text, "# shellcheck ") {
			b.WriteString(line)
		}
	}
	return b.String()
})

// boothook is the stub for cloud-init. A boothook runs on every boot, before cloud-init reads cloud.cfg.d for its
// modules: what it installs there runs in the same boot.
func boothook(s Stub) string {
	o := newObject(s.Region, s.Bucket, s.Key)
	var b strings.Builder
	b.WriteString(boothookHeader + "#!/bin/sh\n# Made by function-aws-machinepool: see its docs/bootstrap.md, and internal/bootstrap/stub.sh for comments.\n")
	for _, v := range []struct{ name, value string }{
		{"region", s.Region},
		{"bucket", s.Bucket},
		{"key", s.Key},
		{"host", o.host},
		{"dualstack", o.dualStackHost},
		{"path", o.path},
		{"labels", joinLabels(s.NodeLabels)},
	} {
		b.WriteString(v.name + "=" + quote(v.value) + "\n")
	}
	b.WriteString("\n" + stubScript())
	return b.String()
}

// joinLabels writes labels as the kubelet's --node-labels takes them, sorted.
func joinLabels(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

// ignition is the stub for Ignition: a config that replaces itself with the object.
//
// Version 3.0.0 is read by every Ignition 2. Its s3:// source is fetched with the instance's role from the instance's
// own partition, in the bucket's region (Ignition's operator notes, "AWS S3 access"). The sources arn: of 3.4.0 name
// the partition too, but Ignition before 2.15 does not read them.
func ignition(s Stub) string {
	type source struct {
		Source string `json:"source"`
	}
	type config struct {
		Replace source `json:"replace"`
	}
	type header struct {
		Version string `json:"version"`
		Config  config `json:"config"`
	}
	text, err := json.Marshal(struct {
		Ignition header `json:"ignition"`
	}{header{
		Version: "3.0.0",
		Config:  config{Replace: source{Source: "s3://" + s.Bucket + "/" + percentEncode(s.Key)}},
	}})
	if err != nil {
		panic(err) // Strings always marshal.
	}
	return string(text)
}
