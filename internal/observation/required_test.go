package observation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func TestFromExports(t *testing.T) {
	inline := &v1alpha1.Exports{Region: "inline"}
	found := pool.Exports{Source: pool.SourceFound, Value: &v1alpha1.Exports{Region: "r"}}
	fallback := pool.Exports{Source: pool.SourceFound, Inline: true, Value: inline}
	from := func(fieldPath string) string {
		return `exportsFrom: {apiVersion: g/v1, kind: Cluster, name: c, fieldPath: "` + fieldPath + `"}`
	}
	const byDefault = `exportsFrom: {apiVersion: g/v1, kind: Cluster, name: c}`
	const both = byDefault + `, exports: {region: inline}`

	cases := map[string]struct {
		reason  string
		cluster string
		// object that Crossplane fetched; none when it is empty.
		object string
		want   pool.Exports
	}{
		"NotFetched":       {reason: "Crossplane fetches it in this same reconciliation.", cluster: byDefault, want: pool.Exports{Source: pool.SourceNotFetched}},
		"NotFetchedInline": {reason: "Until then the inline exports do not count: they could be others.", cluster: both, want: pool.Exports{Source: pool.SourceNotFetched}},
		"Absent":           {reason: "An object that does not exist is there without items.", cluster: byDefault, object: `{items: []}`, want: pool.Exports{Source: pool.SourceNotFound}},
		"AbsentInline":     {reason: "An object that is deleted is no object that publishes nothing: what it published must not be swapped for what may be years old.", cluster: both, object: `{items: []}`, want: pool.Exports{Source: pool.SourceNotFound}},
		"NoName":           {reason: "An object without a name is never asked for, so it is not being fetched.", cluster: `exportsFrom: {apiVersion: g/v1, kind: Cluster, fieldPath: status.exports}`, want: pool.Exports{Source: pool.SourceNotFound}},
		"NoField":          {reason: "The object may not publish anything yet.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {}}}]}`, want: pool.Exports{Source: pool.SourceEmpty}},
		"NullField":        {reason: "Null is like absent.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: null}}}]}`, want: pool.Exports{Source: pool.SourceEmpty}},
		"EmptyField":       {reason: "So is an empty object.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: {}}}}]}`, want: pool.Exports{Source: pool.SourceEmpty}},
		"NullInline":       {reason: "Inline exports stand in for null.", cluster: both, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: null}}}]}`, want: fallback},
		"EmptyInline":      {reason: "Inline exports stand in for an empty object.", cluster: both, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: {}}}}]}`, want: fallback},
		"PublishedWins":    {reason: "Published exports win over inline ones.", cluster: both, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: {region: r}}}}]}`, want: found},
		"Inline":           {reason: "Without a reference the inline ones are all there is.", cluster: `exports: {region: inline}`, want: fallback},
		"Neither":          {reason: "Without either there is nothing.", cluster: ``, want: pool.Exports{Source: pool.SourceEmpty}},
		"Found":            {reason: "Fields that a pool does not read are left alone.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: {region: r, more: [1]}}}}]}`, want: found},
		"FieldPath":        {reason: "A field path has indices.", cluster: from("status.outputs[1].value"), object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {outputs: [{}, {value: {region: r}}]}}}]}`, want: found},
		"FieldPathQuoted":  {reason: "And fields with dots.", cluster: from("data[a.b/c]"), object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, data: {a.b/c: {region: r}}}}]}`, want: found},
		"IndexTooLarge":    {reason: "A list may not be as long yet.", cluster: from("status.outputs[9]"), object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {outputs: [{}]}}}]}`, want: pool.Exports{Source: pool.SourceEmpty}},
		"IndexOfNoList":    {reason: "Or no list at all.", cluster: from("status[0]"), object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {}}}]}`, want: pool.Exports{Source: pool.SourceEmpty}},
		"OtherKind":        {reason: "An object that was not asked for is as good as none.", cluster: byDefault, object: `{items: [{resource: {kind: Other, metadata: {name: c, namespace: team-a}, status: {exports: {region: r}}}}]}`, want: pool.Exports{Source: pool.SourceNotFound}},
		"OtherName":        {reason: "So is one of another name.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: d, namespace: team-a}, status: {exports: {region: r}}}}]}`, want: pool.Exports{Source: pool.SourceNotFound}},
		"OtherNamespace":   {reason: "So is one of another namespace.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-b}, status: {exports: {region: r}}}}]}`, want: pool.Exports{Source: pool.SourceNotFound}},
		"ClusterScoped":    {reason: "A request that names a namespace finds a cluster-scoped object as well.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: c}, status: {exports: {region: r}}}}]}`, want: pool.Exports{Source: pool.SourceNotFound}},
		"WrongType": {
			reason: "The field is named by its whole path.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: {region: 1}}}}]}`,
			want: pool.Exports{Source: pool.SourceMalformed, Detail: "status.exports.region must be a string"},
		},
		"WrongShape": {
			reason: "The exports are no text.", cluster: byDefault, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: "{}"}}}]}`,
			want: pool.Exports{Source: pool.SourceMalformed, Detail: "status.exports must be an object"},
		},
		"WrongTypeInline": {
			reason: "Inline exports do not hide that the published ones are broken.", cluster: both, object: `{items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}, status: {exports: [1]}}}]}`,
			want: pool.Exports{Source: pool.SourceMalformed, Detail: "status.exports must be an object"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := `{observed: {composite: {resource: {metadata: {namespace: team-a}, spec: {cluster: {` + tc.cluster + `}}}}}`
			if tc.object != "" {
				req += `, requiredResources: {cluster-exports: ` + tc.object + `}`
			}
			if diff := cmp.Diff(tc.want, observe(t, parse(t, req+`}`)).Exports); diff != "" {
				t.Errorf("\n%s\nFrom(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("BrokenFieldPath", func(t *testing.T) {
		req := parse(t, `{observed: {composite: {resource: {metadata: {namespace: team-a}, spec: {cluster: {`+from("status[")+`}}}}}, requiredResources: {cluster-exports: {items: [{resource: {kind: Cluster, metadata: {name: c, namespace: team-a}}}]}}}`)
		if got := observe(t, req).Exports; got.Source != pool.SourceMalformed || got.Detail == "" {
			t.Errorf("From(...): want malformed exports that say why, got %+v", got)
		}
	})
}

func TestFromBootstrap(t *testing.T) {
	cases := map[string]struct {
		reason string
		// required resources; none when it is empty.
		args string
		want pool.BootstrapData
	}{
		"NotFetched":     {reason: "Crossplane fetches it in this same reconciliation.", want: pool.BootstrapData{Source: pool.SourceNotFetched}},
		"OtherName":      {reason: "A Secret that was not asked for is as good as none.", args: `{items: [{resource: {kind: Secret, metadata: {name: other, namespace: team-a}, data: {value: YQ==}}}]}`, want: pool.BootstrapData{Source: pool.SourceNotFound}},
		"OtherNamespace": {reason: "So is one of another namespace.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-b}, data: {value: YQ==}}}]}`, want: pool.BootstrapData{Source: pool.SourceNotFound}},
		"OtherKind":      {reason: "So is one of another kind.", args: `{items: [{resource: {kind: ConfigMap, metadata: {name: s, namespace: team-a}, data: {value: YQ==}}}]}`, want: pool.BootstrapData{Source: pool.SourceNotFound}},
		"Absent":         {reason: "A Secret that does not exist is there without items.", args: `{}`, want: pool.BootstrapData{Source: pool.SourceNotFound}},
		"NoData":         {reason: "A Secret may be without data.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}}}]}`, want: pool.BootstrapData{Source: pool.SourceEmpty}},
		"NullData":       {reason: "Or have null.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: null}}]}`, want: pool.BootstrapData{Source: pool.SourceEmpty}},
		"OtherKey":       {reason: "Or have other keys.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {other: YQ==}}}]}`, want: pool.BootstrapData{Source: pool.SourceEmpty}},
		"EmptyKey":       {reason: "Or an empty one.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: ""}}}]}`, want: pool.BootstrapData{Source: pool.SourceEmpty}},
		"NotBase64":      {reason: "A Secret's data is base64.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: "#cloud-config"}}}]}`, want: pool.BootstrapData{Source: pool.SourceMalformed}},
		"Found":          {reason: "Bytes are kept as they are.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: H4sA/w==}}}]}`, want: pool.BootstrapData{Source: pool.SourceFound, Payload: []byte{0x1f, 0x8b, 0x00, 0xff}}},
		"TooLarge": {
			reason: "What is larger than a managed resource can hold is not decoded.",
			args:   `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: "` + strings.Repeat("YWFh", bootstrap.MaxPayloadBytes/3+1) + `"}}}]}`,
			want:   pool.BootstrapData{Source: pool.SourceTooLarge},
		},
		"LongFormat": {
			reason: "A format that is longer than any is not supported.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: YQ==, format: "` + strings.Repeat("YWFh", 1000) + `"}}}]}`,
			want: pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("a"), Format: "not base64"},
		},
		"Format": {
			reason: "The Secret may name its format.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: YQ==, format: aWduaXRpb24=}}}]}`,
			want: pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("a"), Format: "ignition"},
		},
		"FormatWithNewline": {
			reason: "What a shell's echo adds is no part of a format.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: YQ==, format: aWduaXRpb24K}}}]}`,
			want: pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("a"), Format: "ignition"},
		},
		"FormatNotBase64": {
			reason: "A format that cannot be decoded is not one of those that are supported, nor is it shown.", args: `{items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: YQ==, format: "!secret"}}}]}`,
			want: pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("a"), Format: "not base64"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := `{observed: {composite: {resource: {metadata: {namespace: team-a}, spec: {bootstrap: {dataSecretRef: {name: s}}}}}}`
			if tc.args != "" {
				req += `, requiredResources: {bootstrap-data: ` + tc.args + `}`
			}
			if diff := cmp.Diff(tc.want, observe(t, parse(t, req+`}`)).Bootstrap); diff != "" {
				t.Errorf("\n%s\nFrom(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("NoName", func(t *testing.T) {
		req := parse(t, `{observed: {composite: {resource: {metadata: {namespace: team-a}, spec: {bootstrap: {format: cloud-config}}}}}}`)
		if got := observe(t, req).Bootstrap.Source; got != pool.SourceNotFound {
			t.Errorf("From(...): a Secret without a name is never asked for, so it is not being fetched: got %s", got)
		}
	})
	t.Run("Key", func(t *testing.T) {
		req := parse(t, `{observed: {composite: {resource: {metadata: {namespace: team-a}, spec: {bootstrap: {dataSecretRef: {name: s, key: other}}}}}}, requiredResources: {bootstrap-data: {items: [{resource: {kind: Secret, metadata: {name: s, namespace: team-a}, data: {value: YQ==, other: Yg==}}}]}}}`)
		if got := string(observe(t, req).Bootstrap.Payload); got != "b" {
			t.Errorf("From(...): want the bytes of the key that the pool names, got %q", got)
		}
	})
}
