package bootstrap

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

const (
	taken          = "taken"
	notCloudConfig = "not cloud-config: its first line must be #cloud-config, or ## template: jinja before that"
	damagedGzip    = "damaged gzip"
)

// TestStubAndFunctionAgree holds the function's rule for cloud-config against the stub's own: each judges the same data, and both
// must say the same of it, in the same words.
func TestStubAndFunctionAgree(t *testing.T) {
	const cloudConfig = "#cloud-config\nruncmd: [echo]\n"
	whole := compress(cloudConfig, "")
	blanks := func(n int) string { return strings.Repeat("\n", n) }
	cases := map[string]struct {
		reason  string
		payload []byte
		want    string
	}{
		"CloudConfig":          {reason: "What kubeadm writes.", payload: []byte(cloudConfig), want: taken},
		"Capitals":             {reason: "Case does not matter.", payload: []byte("#Cloud-CONFIG\n"), want: taken},
		"Comment":              {reason: "More may come on the line.", payload: []byte("#cloud-config \t v1\n"), want: taken},
		"CRLF":                 {reason: "Lines of Windows.", payload: []byte("#cloud-config\r\nruncmd: []\r\n"), want: taken},
		"NoEnd":                {reason: "A last line needs no end.", payload: []byte("#cloud-config"), want: taken},
		"BlanksBefore":         {reason: "Blank lines are overlooked.", payload: []byte("\n \t\r\n\n#cloud-config\n"), want: taken},
		"Jinja":                {reason: "A template.", payload: []byte("## template: jinja\n#cloud-config\n"), want: taken},
		"JinjaCapitals":        {reason: "Case and blanks do not matter.", payload: []byte("##\tTEMPLATE:Jinja \r\n\n#cloud-config\n"), want: taken},
		"Gzip":                 {reason: "The stub decompresses it.", payload: whole, want: taken},
		"GzipJinja":            {reason: "A template, too.", payload: compress("## template: jinja\n#cloud-config\n", ""), want: taken},
		"GzipMembers":          {reason: "Members follow each other.", payload: append(compress("#cloud-", ""), compress("config\n", "")...), want: taken},
		"GzipEmptyMember":      {reason: "One may be empty.", payload: append(compress("", ""), whole...), want: taken},
		"GzipPadded":           {reason: "Zeros pad it.", payload: append(bytes.Clone(whole), 0, 0, 0), want: taken},
		"GzipLarge":            {reason: "Only the beginning is looked at.", payload: compress(cloudConfig+blanks(100_000), ""), want: taken},
		"GzipNamed":            {reason: "Its header names a file.", payload: compress(cloudConfig, "user-data"), want: taken},
		"BlanksFit":            {reason: "The line ends with the 4,096 bytes.", payload: []byte(blanks(4096-13) + "#cloud-config"), want: taken},
		"BlanksFitAndMore":     {reason: "What comes after is not seen.", payload: []byte(blanks(4096-13) + "#cloud-config-archive"), want: taken},
		"BlanksDoNotFit":       {reason: "The line does not end there.", payload: []byte(blanks(4096-12) + "#cloud-config"), want: notCloudConfig},
		"GzipBlanksDoNotFit":   {reason: "Nor does it decompressed.", payload: compress(blanks(4096-12)+"#cloud-config", ""), want: notCloudConfig},
		"MIME":                 {reason: "Several parts.", payload: []byte("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\n#cloud-config\n"), want: notCloudConfig},
		"Script":               {reason: "It is not run.", payload: []byte("#!/bin/bash\n#cloud-config\n"), want: notCloudConfig},
		"Include":              {reason: "It is not fetched.", payload: []byte("#include\nhttps://example.org/x\n"), want: notCloudConfig},
		"Archive":              {reason: "It only starts alike.", payload: []byte("#cloud-config-archive\n"), want: notCloudConfig},
		"Blanks":               {reason: "Nothing is in it.", payload: []byte(" \n\t\n\r\n"), want: notCloudConfig},
		"Empty":                {reason: "Nothing at all.", payload: nil, want: notCloudConfig},
		"BOM":                  {reason: "Three bytes that no editor shows.", payload: []byte("\xef\xbb\xbf#cloud-config\n"), want: notCloudConfig},
		"NoBreakSpace":         {reason: "It is no blank.", payload: []byte("\u00a0\n#cloud-config\n"), want: notCloudConfig},
		"DotlessI":             {reason: "No letter of another alphabet counts.", payload: []byte("## template: Jınja\n#cloud-config\n"), want: notCloudConfig},
		"UTF16":                {reason: "Another encoding.", payload: []byte("\xff\xfe#\x00c\x00l\x00o\x00u\x00d\x00"), want: notCloudConfig},
		"Zero":                 {reason: "Not even text.", payload: []byte("\x00\n#cloud-config\n"), want: notCloudConfig},
		"Ignition":             {reason: "The format is wrong.", payload: []byte(`{"ignition": {"version": "3.0.0"}}`), want: notCloudConfig},
		"Indented":             {reason: "cloud-init, too, wants it in front.", payload: []byte(" #cloud-config\n"), want: notCloudConfig},
		"YAML":                 {reason: "The header is missing.", payload: []byte("runcmd: [echo]\n"), want: notCloudConfig},
		"JinjaScript":          {reason: "A template of a script.", payload: []byte("## template: jinja\n#!/bin/sh\n"), want: notCloudConfig},
		"JinjaAlone":           {reason: "A template of nothing.", payload: []byte("## template: jinja\n"), want: notCloudConfig},
		"JinjaTwice":           {reason: "Only the first line says so.", payload: []byte("## template: jinja\n## template: jinja\n#cloud-config\n"), want: notCloudConfig},
		"JinjaSecond":          {reason: "It must be the first line.", payload: []byte("\n## template: jinja\n#cloud-config\n"), want: notCloudConfig},
		"JinjaSpaced":          {reason: "No blank stands before the colon.", payload: []byte("## template : jinja\n#cloud-config\n"), want: notCloudConfig},
		"GzipScript":           {reason: "Compressed or not.", payload: compress("#!/bin/sh\n", ""), want: notCloudConfig},
		"GzipEmpty":            {reason: "Nothing is in it.", payload: compress("", ""), want: notCloudConfig},
		"GzipTwice":            {reason: "It is decompressed once.", payload: compress(string(whole), ""), want: notCloudConfig},
		"OneByteOfGzip":        {reason: "Half of the magic number.", payload: []byte("\x1f"), want: notCloudConfig},
		"GzipCut":              {reason: "A part is not enough.", payload: whole[:len(whole)-9], want: damagedGzip},
		"GzipCutTrailer":       {reason: "Nor is all but the length.", payload: whole[:len(whole)-1], want: damagedGzip},
		"GzipMagic":            {reason: "Only the magic number.", payload: []byte("\x1f\x8b"), want: damagedGzip},
		"GzipGarbage":          {reason: "No member comes of it.", payload: []byte("\x1f\x8b#cloud-config\n"), want: damagedGzip},
		"GzipChecksum":         {reason: "It is not what was compressed.", payload: flipped(whole, len(whole)-8, 1), want: damagedGzip},
		"GzipLength":           {reason: "It is not as long as it says.", payload: flipped(whole, len(whole)-4, 1), want: damagedGzip},
		"GzipReserved":         {reason: "A flag that no one knows.", payload: flipped(whole, 3, 0x80), want: damagedGzip},
		"GzipThenText":         {reason: "What follows is no member.", payload: append(bytes.Clone(whole), "text"...), want: damagedGzip},
		"GzipThenMagic":        {reason: "What follows is no whole member.", payload: append(bytes.Clone(whole), 0x1f, 0x8b), want: damagedGzip},
		"GzipThenZeros":        {reason: "What follows is not padding alone.", payload: append(bytes.Clone(whole), 0, 0, 'x'), want: damagedGzip},
		"GzipSecondCut":        {reason: "The second member counts, too.", payload: append(bytes.Clone(whole), whole[:len(whole)-2]...), want: damagedGzip},
		"GzipCutWithoutHeader": {reason: "Damage is told before what it holds.", payload: compress("#!/bin/sh\n", "")[:20], want: damagedGzip},
	}
	payloads := map[string][]byte{}
	for name, tc := range cases {
		payloads[name] = tc.payload
	}
	stub := stubVerdicts(t, payloads)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, stub[name]); diff != "" {
				t.Errorf("\n%s\nthe stub: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, functionVerdict(tc.payload)); diff != "" {
				t.Errorf("\n%s\nCheckPayload(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStubAndFunctionAgreeOnAnything draws data of the pieces that matter, some of it compressed, some of that damaged.
func TestStubAndFunctionAgreeOnAnything(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"#cloud-config", "## template: jinja", "## template:jinja", "#CLOUD", "-config", "##", "template:", "jinja", "#!/bin/sh",
		"\n", "\n", "\n", " ", "\t", "\r", "\r\n", "\xef\xbb\xbf", "\x00", "é", "a", strings.Repeat(" ", 500), strings.Repeat("\n", 2000),
	})
	payload := rapid.Custom(func(t *rapid.T) []byte {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"), "")
		if !rapid.Bool().Draw(t, "gzip") {
			return []byte(text)
		}
		// The function does not see damage behind what it looks at.
		compressed := compress(text[:min(len(text), headBytes-1)], "")
		switch rapid.SampledFrom([]string{"whole", "cut", "flipped"}).Draw(t, "state") {
		case "cut":
			compressed = compressed[:rapid.IntRange(2, len(compressed)).Draw(t, "length")]
		case "flipped":
			compressed = flipped(compressed, rapid.IntRange(2, len(compressed)-1).Draw(t, "at"), 1<<rapid.IntRange(0, 7).Draw(t, "bit"))
		}
		return compressed
	})
	rapid.Check(t, func(rt *rapid.T) {
		payloads := map[string][]byte{}
		for i, p := range rapid.SliceOfN(payload, 1, 5).Draw(rt, "payloads") {
			payloads[fmt.Sprint(i)] = p
		}
		stub := stubVerdicts(t, payloads)
		for name, p := range payloads {
			if head, err := headOf(p); err == nil && len(head) == headBytes && stub[name] == damagedGzip {
				continue // A bit made more of it, and the damage lies behind what is looked at.
			}
			if got := functionVerdict(p); got != stub[name] {
				rt.Errorf("%q: the stub says %q, the function says %q", p, stub[name], got)
			}
		}
	})
}

// TestStubDecompressesAllAndFunctionDoesNot is where the two may differ: what lies behind the 4,096 bytes that say what the data
// is, as decompressing all of it could take gigabytes.
func TestStubDecompressesAllAndFunctionDoesNot(t *testing.T) {
	var noise bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&noise, "# %d\n", i*i*7919)
	}
	cut := compress("#cloud-config\n"+noise.String(), "")
	cut = cut[:len(cut)-1]
	if got := stubVerdicts(t, map[string][]byte{"cut": cut})["cut"]; got != damagedGzip {
		t.Errorf("the stub says %q, want %q", got, damagedGzip)
	}
	if got := functionVerdict(cut); got != taken {
		t.Errorf("the function says %q, want %q", got, taken)
	}
}

// functionVerdict is what CheckPayload says of cloud-config, without what it adds for the pool's author.
func functionVerdict(payload []byte) string {
	err := CheckPayload(v1alpha1.BootstrapFormatCloudConfig, payload)
	if err == nil {
		return taken
	}
	said, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "the bootstrap data is "), "; ")
	return said
}

// stubVerdicts runs the stub on each payload from where it has fetched it to where it looks at the YAML.
func stubVerdicts(t *testing.T, payloads map[string][]byte) map[string]string {
	t.Helper()
	functions, _, found := strings.Cut(stubScript(), "\nset_labels\n")
	if !found {
		t.Fatal("stub.sh: set_labels is not called where the functions end")
	}
	_, judge, found := strings.Cut(stubScript(), "\nif [ \"$(head -c 2 \"$download\"")
	if !found {
		t.Fatal("stub.sh: it does not look for gzip")
	}
	judge, _, found = strings.Cut(judge, "\nis_mapping ||")
	if !found {
		t.Fatal("stub.sh: it does not look at the YAML last")
	}
	dir := t.TempDir()
	for name, payload := range payloads {
		if err := os.WriteFile(filepath.Join(dir, name+".payload"), payload, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "cloud-init"), []byte("#!/bin/sh\ncat \"$3\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := functions + `
bucket=b key=k
die() { printf '%s' "$*" >"$verdict"; exit; }
for payload in ` + quote(dir) + `/*.payload; do (
	download=$payload.download new=$payload.new verdict=$payload.verdict
	cp "$payload" "$download"
	if [ "$(head -c 2 "$download"` + judge + `
	printf ` + taken + ` >"$verdict"
) done
`
	cmd := exec.Command(shell(t))
	cmd.Stdin = strings.NewReader(script)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("sh: %v\n%s", err, out)
	}
	verdicts := map[string]string{}
	for name := range payloads {
		said, err := os.ReadFile(filepath.Join(dir, name+".payload.verdict"))
		if err != nil {
			t.Fatalf("the stub says nothing of %q: %v", payloads[name], err)
		}
		verdicts[name] = strings.TrimPrefix(string(said), "s3://b/k is ")
	}
	return verdicts
}

// compress as the program gzip does, which names the file.
func compress(text, name string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name = name
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err) // A buffer takes all.
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// flipped has other bits at a place.
func flipped(data []byte, at int, bits byte) []byte {
	data = bytes.Clone(data)
	data[at] ^= bits
	return data
}
