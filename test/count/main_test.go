package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     []string
		tally  string
		err    string
		shows  []string
		hides  []string
	}{
		"AllPass": {
			reason: "Tests and subtests count, and what they printed is not shown.",
			in: []string{
				`{"Action":"run","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA/one"}`,
				`{"Action":"pass","Package":"p","Test":"TestA"}`,
				`{"Action":"skip","Package":"p","Test":"TestB"}`,
				`{"Action":"pass","Package":"p","Elapsed":0.5}`,
			},
			tally: "2 0 1\n",
			shows: []string{"ok    p  2 tests  0.5s"},
			hides: []string{"noise"},
		},
		"TestFails": {
			reason: "A failed test shows what it printed, and the package is not counted again.",
			in: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"got 1, want 2\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			tally: "0 1 0\n",
			err:   "1 failed",
			shows: []string{"got 1, want 2", "FAIL  p"},
		},
		"BuildFails": {
			reason: "A package that does not build is a failure, with what the compiler said.",
			in: []string{
				`{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1:1: undefined: x\n"}`,
				`{"ImportPath":"p [p.test]","Action":"build-fail"}`,
				`{"Action":"pass","Package":"q","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}`,
				`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			},
			tally: "1 1 0\n",
			err:   "1 failed",
			shows: []string{"p.go:1:1: undefined: x", "FAIL  p"},
			hides: []string{"[build failed]"},
		},
		"Crash": {
			reason: "A test that never ended shows what it printed, and is a failure.",
			in: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: oh no\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			tally: "0 1 0\n",
			err:   "1 failed",
			shows: []string{"panic: oh no"},
		},
		"NothingRan": {
			reason: "A run with no test is a failure, not a success.",
			in:     []string{`{"Action":"skip","Package":"p"}`},
			tally:  "0 0 0\n",
			err:    "no test ran",
		},
		"OtherLines": {
			reason: "What is not JSON is shown as it is.",
			in:     []string{`go: downloading example.org/x`, `{"Action":"pass","Package":"p","Test":"TestA"}`},
			tally:  "1 0 0\n",
			shows:  []string{"go: downloading example.org/x\n"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer

			tally := filepath.Join(t.TempDir(), "tally")
			err := run(strings.NewReader(strings.Join(tc.in, "\n")+"\n"), &out, tally)

			if tc.err == "" && err != nil || tc.err != "" && (err == nil || err.Error() != tc.err) {
				t.Errorf("%s\nrun(...): want error %q, got %v", tc.reason, tc.err, err)
			}

			if got, _ := os.ReadFile(tally); string(got) != tc.tally {
				t.Errorf("%s\nrun(...): want tally %q, got %q", tc.reason, tc.tally, got)
			}

			for _, s := range tc.shows {
				if !strings.Contains(out.String(), s) {
					t.Errorf("%s\nrun(...): does not show %q in:\n%s", tc.reason, s, &out)
				}
			}

			for _, s := range tc.hides {
				if strings.Contains(out.String(), s) {
					t.Errorf("%s\nrun(...): shows %q in:\n%s", tc.reason, s, &out)
				}
			}
		})
	}
}
