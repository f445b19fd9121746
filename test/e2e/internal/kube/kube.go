// Package kube reads and writes objects of an API server as plain JSON values.
package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// fieldManager of what the tests apply.
const fieldManager = "e2e"

// An Object of an API server.
type Object = map[string]any

// A Client of an API server. Its methods take a resource, and an empty namespace for what has none.
type Client struct {
	Dynamic dynamic.Interface
}

// NewClient returns a client.
func NewClient(cfg *rest.Config) (*Client, error) {
	d, err := dynamic.NewForConfig(cfg)
	return &Client{Dynamic: d}, err
}

// A Resource as in a REST path. Namespaced says whether its objects are in namespaces.
type Resource struct {
	schema.GroupVersionResource

	Kind       string
	Namespaced bool
}

// NewResource returns a resource by its names.
func NewResource(group, version, plural, kind string, namespaced bool) Resource {
	return Resource{GroupVersionResource: schema.GroupVersionResource{Group: group, Version: version, Resource: plural}, Kind: kind, Namespaced: namespaced}
}

// In a namespace, which is ignored for resources that have none.
func (c *Client) In(r Resource, namespace string) dynamic.ResourceInterface {
	if r.Namespaced && namespace != "" {
		return c.Dynamic.Resource(r.GroupVersionResource).Namespace(namespace)
	}
	return c.Dynamic.Resource(r.GroupVersionResource)
}

// Get an object; nil when there is none.
func (c *Client) Get(ctx context.Context, r Resource, namespace, name string) (Object, error) {
	o, err := c.In(r, namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return o.Object, nil
}

// List objects of a namespace, or of all.
func (c *Client) List(ctx context.Context, r Resource, namespace, selector string) ([]Object, error) {
	l, err := c.In(r, namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	out := make([]Object, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, l.Items[i].Object)
	}
	return out, nil
}

// Apply an object on the server's side.
func (c *Client) Apply(ctx context.Context, r Resource, o Object) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	u := unstructured.Unstructured{Object: o}
	_, err = c.In(r, u.GetNamespace()).Patch(ctx, u.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: fieldManager, Force: new(true)})
	if err != nil {
		return fmt.Errorf("cannot apply %s %s/%s: %w", r.Kind, u.GetNamespace(), u.GetName(), err)
	}
	return nil
}

// Create an object. DryRun only asks whether it would be.
func (c *Client) Create(ctx context.Context, r Resource, o Object, dryRun bool) (Object, error) {
	opts := metav1.CreateOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	u := &unstructured.Unstructured{Object: o}
	made, err := c.In(r, u.GetNamespace()).Create(ctx, u, opts)
	if err != nil {
		return nil, err
	}
	return made.Object, nil
}

// Patch an object with a merge patch, or one of its subresources.
func (c *Client) Patch(ctx context.Context, r Resource, namespace, name string, patch Object, subresource ...string) (Object, error) {
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	o, err := c.In(r, namespace).Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: fieldManager}, subresource...)
	if err != nil {
		return nil, fmt.Errorf("cannot patch %s %s/%s: %w", r.Kind, namespace, name, err)
	}
	return o.Object, nil
}

// Update an object wholly, or its status.
func (c *Client) Update(ctx context.Context, r Resource, o Object, subresource ...string) (Object, error) {
	u := &unstructured.Unstructured{Object: o}
	made, err := c.In(r, u.GetNamespace()).Update(ctx, u, metav1.UpdateOptions{}, subresource...)
	if err != nil {
		return nil, err
	}
	return made.Object, nil
}

// Delete an object; it is no error when there is none.
func (c *Client) Delete(ctx context.Context, r Resource, namespace, name string) error {
	err := c.In(r, namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// ReadYAML returns the objects of a file.
func ReadYAML(path string) ([]Object, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseYAML(data)
}

// ParseYAML returns the objects of a stream.
func ParseYAML(data []byte) ([]Object, error) {
	var out []Object
	docs := utilyaml.NewYAMLReader(newReader(data))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		o := Object{}
		if err := yaml.Unmarshal(doc, &o); err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(doc)) > 0 && len(o) > 0 {
			out = append(out, o)
		}
	}
}

// Poll until what is asked is so, or the context ends. It returns what was said last.
func Poll(ctx context.Context, every time.Duration, ask func() (done bool, said string)) error {
	for {
		done, said := ask()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", ctx.Err(), said)
		case <-time.After(every):
		}
	}
}
