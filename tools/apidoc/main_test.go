package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerate(t *testing.T) {
	const xrd = `
spec:
  group: example.org
  names: {kind: Thing}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        description: A thing.
        properties:
          kind: {type: string}
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, default: 1, description: "Size in GiB,\n1 | 2."}
              mode: {type: string, enum: [A, B]}
              parts:
                type: array
                items: {type: object, properties: {name: {type: string}}}
              labels:
                type: object
                additionalProperties: {type: string}
`
	const want = header + `## Thing

` + "`example.org/v1`" + `

A thing.

### spec

| field | type | default | description |
| --- | --- | --- | --- |
| ` + "`labels`" + ` | map of string |  |  |
| ` + "`mode`" + ` | ` + "`A`, `B`" + ` |  |  |
| ` + "`parts`" + ` | list of object |  |  |
| ` + "`size`" + ` (required) | integer | ` + "`1`" + ` | Size in GiB, 1 \| 2. |

### spec.parts[]

| field | type | default | description |
| --- | --- | --- | --- |
| ` + "`name`" + ` | string |  |  |

` + vocabularyHeader + `Kinds of things.

| value | meaning |
| --- | --- |
| ` + "`Big`" + ` | The thing is big. |
| ` + "`small`" + ` | Of a thing that is not. |
`
	const vocabulary = `package v1

// Kinds of
// things.
const (
	// ThingBig says that the thing is big.
	ThingBig = "Big"
	// ThingSmall is of a thing that is not.
	ThingSmall = "small"
)
`
	dir := t.TempDir()
	in, empty, out := filepath.Join(dir, "xrd.yaml"), filepath.Join(dir, "empty.yaml"), filepath.Join(dir, "out.md")
	words := filepath.Join(dir, "vocabulary.go")
	for file, content := range map[string]string{in: xrd, empty: "spec: {}", words: vocabulary} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := generate(in, empty, words, out); err != nil {
		t.Fatalf("generate(...): unexpected error: %v", err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("generate(...): -want, +got:\n%s", diff)
	}
}
