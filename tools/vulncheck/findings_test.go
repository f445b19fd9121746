package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// told is what govulncheck says of one vulnerability: of the module, and of a function if one is named.
func told(id, module, fixed, function string) string {
	out := `{"osv":{"id":"` + id + `","summary":"it falls over"}}
{"finding":{"osv":"` + id + `","fixed_version":"` + fixed + `","trace":[{"module":"` + module + `","version":"v1.0.0"}]}}
`
	if function != "" {
		out += `{"finding":{"osv":"` + id + `","fixed_version":"` + fixed + `","trace":[{"module":"` + module + `","version":"v1.0.0","package":"p","function":"` + function + `"}]}}
`
	}
	return out
}

func TestVulnerabilities(t *testing.T) {
	type want struct {
		found []finding
		err   string
	}
	const config = `{"config":{"scanner_name":"govulncheck"}}
{"progress":{"message":"Checking"}}
`
	cases := map[string]struct {
		reason string
		said   string
		want   want
	}{
		"None": {
			reason: "A program without any passes.",
			said:   config,
		},
		"Linked": {
			reason: "What a newer module would end fails, and is told once however often govulncheck tells it.",
			said:   config + told("GO-1", "google.golang.org/grpc", "v1.83.1", "NewBuffer"),
			want: want{
				found: []finding{{ID: "GO-1", Module: "google.golang.org/grpc", Version: "v1.0.0", Fixed: "v1.83.1", Summary: "it falls over", Linked: true}},
				err:   "1 of modules that have a version without it: go get <module>@<version>",
			},
		},
		"NotLinked": {
			reason: "A module that is vulnerable elsewhere fails too: a change of the code may link it tomorrow.",
			said:   config + told("GO-1", "golang.org/x/net", "v0.62.0", ""),
			want: want{
				found: []finding{{ID: "GO-1", Module: "golang.org/x/net", Version: "v1.0.0", Fixed: "v0.62.0", Summary: "it falls over"}},
				err:   "1 of modules that have a version without it: go get <module>@<version>",
			},
		},
		"GoItself": {
			reason: "Who builds the function chooses the Go to build it with.",
			said:   config + told("GO-1", "stdlib", "v1.26.9", "Read"),
			want:   want{found: []finding{{ID: "GO-1", Module: "stdlib", Version: "v1.0.0", Fixed: "v1.26.9", Summary: "it falls over", Linked: true}}},
		},
		"NoCure": {
			reason: "What has no version without it is told, and nothing can be done about it here.",
			said:   config + told("GO-1", "example.org/m", "", "Read"),
			want:   want{found: []finding{{ID: "GO-1", Module: "example.org/m", Version: "v1.0.0", Summary: "it falls over", Linked: true}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found, err := findings(strings.NewReader(tc.said))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want.found, found, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nfindings: -want, +got:\n%s", tc.reason, diff)
			}
			out := &strings.Builder{}
			got := ""
			if err := judge(found, out); err != nil {
				got = err.Error()
			}
			if got != tc.want.err {
				t.Errorf("%s\nerror: want %q, got %q", tc.reason, tc.want.err, got)
			}
			for _, f := range tc.want.found {
				if !strings.Contains(out.String(), f.ID) {
					t.Errorf("%s\n%s is not told: %s", tc.reason, f.ID, out)
				}
			}
		})
	}

	if _, err := findings(strings.NewReader(`{"finding":`)); err == nil {
		t.Error("a stream that is cut is taken for one without findings")
	}
}
