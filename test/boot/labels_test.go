//go:build boot

package boot

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
)

const (
	markLine = "# aws-machinepool: node labels, written on every boot"
	rke2File = "/etc/rancher/rke2/config.yaml.d/99-aws-machinepool.yaml"
)

func labelled() bootstrap.Stub {
	s := demo()
	s.NodeLabels = map[string]string{"pool": "demo", "example.org/disk": "ssd", "empty": ""}
	return s
}

const joined = "empty=,example.org/disk=ssd,pool=demo"

// newBootedMachine has its bootstrap data, so that a run of the stub sets labels only.
func newBootedMachine(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	m.write(marker, instanceID+"\n", 0o600)
	return m
}

func (m *machine) mustHook(s bootstrap.Stub) {
	m.t.Helper()
	if r := m.hook(s); r.code != 0 {
		m.t.Fatalf("status %d\n%s", r.code, r.out)
	}
}

// extraArgs is KUBELET_EXTRA_ARGS of the file as systemd reads it: its own parser, behind environment.d, says so.
func (m *machine) extraArgs(file string) string {
	m.t.Helper()
	m.write("/etc/environment.d/99.conf", m.read(file), 0o644)
	r := m.run("/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")
	if r.code != 0 {
		m.t.Fatalf("systemd cannot read %s: status %d\n%s\n%s", file, r.code, r.out, m.read(file))
	}
	_, rest, found := strings.Cut("\n"+r.out, "\nKUBELET_EXTRA_ARGS=")
	if !found {
		return ""
	}
	// What it prints is quoted for a shell.
	unquoted := m.run("sh", "-c", "printf %s "+strings.SplitN(rest, "\n", 2)[0])
	return unquoted.out
}

// TestKubeletLabels: the image's own arguments stay, however they are written, and ours follow.
func TestKubeletLabels(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string // empty means absent
		want   string // the image's arguments, in front of ours
	}{
		"Absent":      {reason: "Most images have no such file."},
		"Empty":       {reason: "kubeadm's packages bring KUBELET_EXTRA_ARGS empty.", file: "\n"},
		"EmptyValue":  {reason: "kubeadm's packages bring KUBELET_EXTRA_ARGS empty.", file: "KUBELET_EXTRA_ARGS=\n"},
		"EmptyQuotes": {reason: "An empty value may be quoted.", file: "KUBELET_EXTRA_ARGS=\"\"\n"},
		"Bare":        {reason: "One argument needs no quotes.", file: "KUBELET_EXTRA_ARGS=--v=2\n", want: "--v=2"},
		"BareSpaces": {
			reason: "systemd lets bare values hold spaces.",
			file:   "KUBELET_EXTRA_ARGS=--v=2 --cloud-provider=external  \n", want: "--v=2 --cloud-provider=external",
		},
		"Double": {
			reason: "The usual way.",
			file:   "KUBELET_EXTRA_ARGS=\"--v=2 --cloud-provider=external\"\n", want: "--v=2 --cloud-provider=external",
		},
		"Single": {
			reason: "The other usual way.",
			file:   "KUBELET_EXTRA_ARGS='--v=2 --a=\"b\\c\"'\n", want: `--v=2 --a="b\c"`,
		},
		"EscapedQuotes": {
			reason: "Escapes within double quotes.",
			file:   `KUBELET_EXTRA_ARGS="--a=\"b c\" --d=e\\f"` + "\n", want: `--a="b c" --d=e\f`,
		},
		"BareEscape": {reason: "Escapes without quotes.", file: `KUBELET_EXTRA_ARGS=--a=b\ c\"d` + "\n", want: `--a=b c"d`},
		"Pieces":     {reason: "Quoted pieces join.", file: `KUBELET_EXTRA_ARGS="--a='b' "'--c="d"'` + "\n", want: `--a='b' --c="d"`},
		"QuoteInBare": {
			reason: "A quote that does not start a value is one of its characters.",
			file:   "KUBELET_EXTRA_ARGS=--a=\"b c\"\n", want: `--a="b c"`,
		},
		"Continued": {
			reason: "A backslash at the end continues a line.",
			file:   "KUBELET_EXTRA_ARGS=--a \\\n  --b\nOTHER=x\n", want: "--a   --b",
		},
		"ContinuedInQuotes": {
			reason: "Within quotes, too.",
			file:   "KUBELET_EXTRA_ARGS=\"--a \\\n--b\"\n", want: "--a --b",
		},
		"Dollar":       {reason: "Nothing expands.", file: "KUBELET_EXTRA_ARGS='--a=`x`'\n", want: "--a=`x`"},
		"LastWins":     {reason: "So says systemd.", file: "KUBELET_EXTRA_ARGS=--a\nKUBELET_EXTRA_ARGS=--b\n", want: "--b"},
		"Commented":    {reason: "A comment is none.", file: "#KUBELET_EXTRA_ARGS=--a\n; KUBELET_EXTRA_ARGS=--b\n"},
		"Others":       {reason: "Other variables are others.", file: "X_KUBELET_EXTRA_ARGS=--a\nKUBELET_EXTRA_ARGS_X=--b\nX=\"\nKUBELET_EXTRA_ARGS=--c\"\n"},
		"NoNewline":    {reason: "The last line may lack its end.", file: "KUBELET_EXTRA_ARGS=--a", want: "--a"},
		"Indented":     {reason: "Spaces around the name are none of it.", file: "  KUBELET_EXTRA_ARGS =--a\n", want: "--a"},
		"CRLF":         {reason: "Someone edited it elsewhere.", file: "KUBELET_EXTRA_ARGS=--a\r\nX=y\r\n", want: "--a"},
		"SpacesBefore": {reason: "Spaces before a value are none of it.", file: "KUBELET_EXTRA_ARGS= \"--a\"\n", want: "--a"},
		"OwnLabels": {
			reason: "The kubelet merges labels of repeated flags.",
			file:   "KUBELET_EXTRA_ARGS=--node-labels=a=b\n", want: "--node-labels=a=b",
		},
	}
	for name, tc := range cases {
		for _, on := range []struct{ dir, awk string }{ // Debian's, Red Hat's, and the smallest.
			{dir: "/etc/default", awk: "mawk"}, {dir: "/etc/sysconfig", awk: "gawk"}, {dir: "/etc/default", awk: "busybox"},
		} {
			t.Run(name+" in "+on.dir+" by "+on.awk, func(t *testing.T) {
				m := newBootedMachine(t)
				dir, file := on.dir, on.dir+"/kubelet"
				if err := os.Symlink("/usr/bin/"+on.awk, m.path("/usr/local/bin/awk")); err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(m.path(dir), 0o755); err != nil {
					t.Fatal(err)
				}
				if tc.file != "" {
					m.write(file, tc.file, 0o640)
				}
				if got := m.extraArgs(file); got != tc.want {
					t.Fatalf("%s\nsystemd reads %q before, and the test expects %q", tc.reason, got, tc.want)
				}

				m.mustHook(labelled())
				want := strings.TrimPrefix(tc.want+" --node-labels="+joined, " ")
				if got := m.extraArgs(file); got != want {
					t.Errorf("%s\nsystemd reads\n got %s\nwant %s\nin\n%s", tc.reason, got, want, m.read(file))
				}
				if tc.file != "" {
					if !strings.HasPrefix(m.read(file), strings.TrimRight(tc.file, "\n")) {
						t.Errorf("%s\nthe image's own lines changed:\n%s", tc.reason, m.read(file))
					}
					if info, err := os.Stat(m.path(file)); err != nil || info.Mode().Perm() != 0o640 {
						t.Errorf("%s\nthe mode changed to %v, %v", tc.reason, info.Mode(), err)
					}
				}

				first := m.read(file)
				for range 10 {
					m.mustHook(labelled())
				}
				if got := m.read(file); got != first || strings.Count(got, markLine) != 1 {
					t.Errorf("%s\nafter ten more boots:\n%s", tc.reason, got)
				}

				m.mustHook(demo())
				if got := m.extraArgs(file); got != tc.want || strings.Contains(m.read(file), markLine) {
					t.Errorf("%s\nwithout labels systemd reads %q, want %q, in\n%s", tc.reason, got, tc.want, m.read(file))
				}
				if got := strings.TrimRight(m.read(file), "\n"); got != strings.TrimRight(tc.file, "\n") {
					t.Errorf("%s\nwithout labels the file is\n%s\nwant\n%s", tc.reason, got, tc.file)
				}
			})
		}
	}
}

// TestKubeletLabelsChange: other labels replace the old ones, and what the image changes meanwhile is kept.
func TestKubeletLabelsChange(t *testing.T) {
	const file = "/etc/default/kubelet"
	m := newBootedMachine(t)
	m.write(file, "KUBELET_EXTRA_ARGS=--v=2\n", 0o644)
	m.mustHook(labelled())
	m.write(file, "X=y\n"+m.read(file)+"KUBELET_EXTRA_ARGS=--v=4\n", 0o644)
	s := demo()
	s.NodeLabels = map[string]string{"pool": "other"}
	m.mustHook(s)
	want := "X=y\nKUBELET_EXTRA_ARGS=--v=2\nKUBELET_EXTRA_ARGS=--v=4\n" + markLine + "\n" +
		"KUBELET_EXTRA_ARGS=\"--v=4 --node-labels=pool=other\"\n"
	if got := m.read(file); got != want {
		t.Errorf("%s:\n got\n%s\nwant\n%s", file, got, want)
	}
}

// TestKubeletUnfinished: what the image's file leaves open swallows nothing of ours, and is still the image's.
func TestKubeletUnfinished(t *testing.T) {
	const file = "/etc/default/kubelet"
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Backslash":          {reason: "Nothing follows to continue it.", text: "KUBELET_EXTRA_ARGS=--a \\\n", want: "--a"},
		"BackslashOther":     {reason: "It is another variable's.", text: "KUBELET_EXTRA_ARGS=--a\nX=y \\\n", want: "--a"},
		"BackslashNoNewline": {reason: "Not even a line's end.", text: "KUBELET_EXTRA_ARGS=--a \\", want: "--a"},
		"DoubleQuote":        {reason: "systemd takes all the rest.", text: "KUBELET_EXTRA_ARGS=\"--a\n", want: "--a"},
		"SingleQuote":        {reason: "systemd takes all the rest.", text: "KUBELET_EXTRA_ARGS='--a\n", want: "--a"},
		"QuoteOther":         {reason: "Another variable's.", text: "KUBELET_EXTRA_ARGS=--a\nX=\"y\n", want: "--a"},
		"Comment": {
			reason: "systemd continues no comment from 254 on.",
			text:   "# note \\\nKUBELET_EXTRA_ARGS=--a\n", want: "--a",
		},
		"LastComment": {reason: "Ours is no part of it, in any version.", text: "KUBELET_EXTRA_ARGS=--a\n# note \\\n", want: "--a"},
		"Edited": {
			reason: "A line after the mark that is not ours stays.",
			text:   markLine + "\nKUBELET_EXTRA_ARGS=--a\n", want: "--a",
		},
		"EditedOther": {
			reason: "Whatever it is.",
			text:   "KUBELET_EXTRA_ARGS=--a\n" + markLine + "\nX=y\n", want: "--a",
		},
	}
	for name, tc := range cases {
		for _, awk := range []string{"mawk", "gawk", "busybox"} {
			t.Run(name+" by "+awk, func(t *testing.T) {
				m := newBootedMachine(t)
				if err := os.Symlink("/usr/bin/"+awk, m.path("/usr/local/bin/awk")); err != nil {
					t.Fatal(err)
				}
				m.write(file, tc.text, 0o644)
				m.mustHook(labelled())
				want := tc.want + " --node-labels=" + joined
				if got := m.extraArgs(file); got != want {
					t.Errorf("%s\nsystemd reads\n got %q\nwant %q\nin\n%s", tc.reason, got, want, m.read(file))
				}
				first := m.read(file)
				m.mustHook(labelled())
				if got := m.read(file); got != first || strings.Count(got, markLine) != 1 {
					t.Errorf("%s\nafter another boot:\n%s\nbefore:\n%s", tc.reason, got, first)
				}
				for line := range strings.SplitSeq(tc.text, "\n") {
					if line != markLine && !strings.Contains(first, line) {
						t.Errorf("%s\nthe image's line %q is gone:\n%s", tc.reason, line, first)
					}
				}
			})
		}
	}
}

// TestNoLabels: a pool without labels leaves no trace of any.
func TestNoLabels(t *testing.T) {
	m := newBootedMachine(t)
	m.mustHook(demo())
	for _, file := range []string{"/etc/default/kubelet", "/etc/sysconfig", "/etc/rancher"} {
		if m.exists(file) {
			t.Errorf("%s was made", file)
		}
	}
}

// TestRKE2Labels: RKE2 adds our labels to those that its other files give.
func TestRKE2Labels(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   []string
	}{
		"Alone": {
			reason: "A + without a value before it sets one.",
			want:   []string{"empty=", "example.org/disk=ssd", "pool=demo"},
		},
		"ConfigList": {
			reason: "The bootstrap data's labels stay.",
			files:  map[string]string{"config.yaml": "token: x\nnode-label:\n- a=b\n- c=d\n"},
			want:   []string{"a=b", "c=d", "empty=", "example.org/disk=ssd", "pool=demo"},
		},
		"ConfigString": {
			reason: "One label may be a string.",
			files:  map[string]string{"config.yaml": "node-label: a=b\n"},
			want:   []string{"a=b", "empty=", "example.org/disk=ssd", "pool=demo"},
		},
		"OtherFile": {
			reason: "Ours is the last by its name.",
			files: map[string]string{
				"config.yaml":               "node-label: [a=b]\n",
				"config.yaml.d/50-pool.yml": "node-label: [c=d]\n", "config.yaml.d/60-more.yaml": "node-label+: [e=f]\n",
			},
			want: []string{"c=d", "e=f", "empty=", "example.org/disk=ssd", "pool=demo"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newBootedMachine(t)
			for file, text := range tc.files {
				m.write("/etc/rancher/rke2/"+file, text, 0o600)
			}
			for range 10 {
				m.mustHook(labelled())
			}
			if got := m.rke2Labels(); !slices.Equal(got, tc.want) {
				t.Errorf("%s\nlabels:\n got %v\nwant %v\nin\n%s", tc.reason, got, tc.want, m.read(rke2File))
			}
			for path := rke2File; path != "/etc"; path = filepath.Dir(path) { // Labels are no secret.
				if info, err := os.Stat(m.path(path)); err != nil || info.Mode().Perm()&0o444 != 0o444 {
					t.Errorf("%s\n%s has mode %v, %v", tc.reason, path, info.Mode(), err)
				}
			}
			m.mustHook(demo())
			if m.exists(rke2File) {
				t.Errorf("%s\nwithout labels the file is still there", tc.reason)
			}
		})
	}
}

// rke2Labels merges RKE2's configuration as its documentation says ("Multiple Config Files"): files by name, the last
// value of a key wins, and a key that ends in + adds to the value before it.
func (m *machine) rke2Labels() []string {
	m.t.Helper()
	const base = "/etc/rancher/rke2/"
	files := []string{base + "config.yaml"}
	entries, err := os.ReadDir(m.path(base + "config.yaml.d"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, entry := range entries { // Sorted by name.
		if ext := filepath.Ext(entry.Name()); ext == ".yaml" || ext == ".yml" {
			files = append(files, base+"config.yaml.d/"+entry.Name())
		}
	}
	var labels []string
	for _, file := range files {
		values := map[string]any{}
		if err := yaml.UnmarshalStrict([]byte(m.read(file)), &values); err != nil {
			m.t.Fatalf("%s: %v", file, err)
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			name, adds := strings.CutSuffix(key, "+")
			if name != "node-label" {
				continue
			}
			if !adds {
				labels = nil
			}
			switch value := values[key].(type) {
			case string:
				labels = append(labels, value)
			case []any:
				for _, item := range value {
					labels = append(labels, item.(string))
				}
			}
		}
	}
	return labels
}
