package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// settleRounds is how many runs of the function a pool may take to settle.
const settleRounds = 10

// A manifest is a Kubernetes object as it is written.
type manifest map[string]any

// observe writes what the case's managed resources look like in the control plane:
// it runs the function until nothing changes, and plays provider-aws in between.
func (c renderCase) observe(ctx context.Context, cfg config, address string) error {
	if !c.settled && c.after == "" {
		return nil
	}

	dir := filepath.Join(cfg.examples, c.name)
	before := dir

	if c.after != "" {
		before = filepath.Join(cfg.examples, c.after)
	}

	observed, err := settle(ctx, cfg, address, before)
	if err != nil {
		return err
	}

	if c.after != "" {
		if observed, err = step(ctx, cfg, address, dir, observed); err != nil {
			return err
		}
	}

	if c.desired > 0 {
		for _, m := range observed {
			if m["kind"] == "AutoscalingGroup" {
				m.child("status", "atProvider")["desiredCapacity"] = c.desired
			}
		}
	}

	comment := "# What Crossplane observes of the managed resources, as provider-aws leaves them.\n" +
		"# Written by `make render UPDATE=1`, which plays the provider.\n"

	content, err := stream(observed)
	if err != nil {
		return err
	}

	// The CLI takes a comment with a separator after it for an object.
	content = append([]byte(comment), bytes.TrimPrefix(content, []byte("---\n"))...)

	return os.WriteFile(filepath.Join(dir, "observed.yaml"), content, 0o644)
}

// settle runs the function until what it wants is what there is.
func settle(ctx context.Context, cfg config, address, dir string) ([]manifest, error) {
	var observed []manifest

	for range settleRounds {
		next, err := step(ctx, cfg, address, dir, observed)
		if err != nil {
			return nil, err
		}

		was, err := stream(observed)
		if err != nil {
			return nil, err
		}

		is, err := stream(next)
		if err != nil {
			return nil, err
		}

		if bytes.Equal(was, is) {
			return observed, nil
		}

		observed = next
	}

	return nil, fmt.Errorf("%s does not settle in %d runs", dir, settleRounds)
}

// step runs the function once and gives what it wants to the provider.
func step(ctx context.Context, cfg config, address, dir string, observed []manifest) ([]manifest, error) {
	file, err := os.CreateTemp("", "observed-*.yaml")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }()

	content, err := stream(observed)
	if err != nil {
		return nil, err
	}

	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}

	i := inputs{xr: filepath.Join(dir, "xr.yaml"), required: filepath.Join(dir, "required.yaml"), observed: file.Name()}

	rendered, err := i.render(ctx, cfg, address)
	if err != nil {
		return nil, err
	}

	var next []manifest

	for doc := range documents([]byte(rendered)) {
		m := manifest{}
		if err := yaml.Unmarshal(doc, &m); err != nil {
			return nil, err
		}

		if _, managed := m.child("metadata", "annotations")[resourceNameAnnotation]; managed {
			next = append(next, m.provisioned())
		}
	}

	return next, nil
}

// provisioned is the managed resource once the provider is done with it.
func (m manifest) provisioned() manifest {
	metadata := m.child("metadata")
	parameters := m.child("spec", "forProvider")
	region, _ := parameters["region"].(string)
	name, _ := m.child("metadata", "annotations")["crossplane.io/external-name"].(string)
	atProvider := maps.Clone(parameters)
	atProvider["id"] = name

	switch m["kind"] {
	case "LaunchTemplate":
		// AWS names a template, and the provider keeps that name in the status only.
		id := "lt-0" + digest(fmt.Sprint(parameters["name"]), 16)
		atProvider = map[string]any{
			"id":             id,
			"arn":            "arn:aws:ec2:" + region + ":123456789012:launch-template/" + id,
			"latestVersion":  1,
			"defaultVersion": 1,
		}
	case "AutoscalingGroup":
		d := digest(name, 32)
		atProvider["arn"] = fmt.Sprintf("arn:aws:autoscaling:%s:123456789012:autoScalingGroup:%s-%s-%s-%s-%s:autoScalingGroupName/%s",
			region, d[:8], d[8:12], d[12:16], d[16:20], d[20:], name)
		atProvider["desiredCapacity"] = m.child("spec", "initProvider")["desiredCapacity"]
	case "Object":
		atProvider["id"] = parameters["key"]
		// The payload is in the status as well, but the function has no use for it.
		delete(atProvider, "contentBase64")
	}

	return manifest{
		"apiVersion": m["apiVersion"],
		"kind":       m["kind"],
		"metadata": map[string]any{
			"name":        metadata["name"],
			"namespace":   metadata["namespace"],
			"annotations": metadata["annotations"],
		},
		"spec": m["spec"],
		"status": map[string]any{
			"atProvider": atProvider,
			"conditions": []any{
				map[string]any{"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "2026-01-01T00:00:00Z"},
				map[string]any{"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "lastTransitionTime": "2026-01-01T00:00:00Z"},
			},
		},
	}
}

// child is the map at a path, empty if there is none.
func (m manifest) child(path ...string) map[string]any {
	at := map[string]any(m)

	for _, key := range path {
		next, ok := at[key].(map[string]any)
		if !ok {
			return map[string]any{}
		}

		at = next
	}

	return at
}

// stream writes manifests as one YAML stream.
func stream(manifests []manifest) ([]byte, error) {
	var out bytes.Buffer

	for _, m := range manifests {
		content, err := yaml.Marshal(m)
		if err != nil {
			return nil, err
		}

		out.WriteString("---\n")
		out.Write(content)
	}

	return out.Bytes(), nil
}

// digest is a made-up id that is the same every time.
func digest(of string, length int) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:])[:length]
}
