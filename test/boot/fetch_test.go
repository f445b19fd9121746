//go:build boot

package boot

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	attempts = 30 // as the stub
	object   = "s3://demo-bootstrap/pool/demo-pool-0"
)

// TestLateObject: what is not there yet, or fails for a while, is tried again.
func TestLateObject(t *testing.T) {
	cases := map[string]struct {
		reason string
		cli    bool
		breaks func(int, http.ResponseWriter) bool
		line   string
	}{
		"AbsentAtFirst": {
			reason: "The object may appear after the instance.",
			breaks: until(3, answer(http.StatusNotFound, "NoSuchKey")),
			line:   "attempt 3 of 30: HTTP 404 NoSuchKey",
		},
		"AbsentAtFirstCLI": {
			reason: "The AWS CLI's own retries do not cover it.",
			cli:    true,
			breaks: until(2, answer(http.StatusNotFound, "NoSuchKey")),
			line: "attempt 2 of 30: An error occurred (NoSuchKey) when calling the GetObject operation: " +
				"It says why.",
		},
		"DeniedAtFirst": {
			reason: "A new instance role takes a while to work everywhere.",
			breaks: until(2, answer(http.StatusForbidden, "AccessDenied")),
			line:   "attempt 2 of 30: HTTP 403 AccessDenied",
		},
		"SlowDown": {
			reason: "S3 sheds load.",
			breaks: until(1, answer(http.StatusServiceUnavailable, "SlowDown")),
			line:   "attempt 1 of 30: HTTP 503 SlowDown",
		},
		"InterruptedOnce": {
			reason: "Half an object is none.",
			breaks: until(1, hangUp),
			line:   "attempt 1 of 30: curl: (18) ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(kubeadmPayload)
			s3.breakWith(tc.breaks)
			m := newMachine(t)
			if !tc.cli {
				m.withoutCLI()
			}
			r := m.hook(demo())
			if r.code != 0 {
				t.Errorf("%s\nstatus %d:\n%s", tc.reason, r.code, r.out)
			}
			m.checkInstalled(kubeadmPayload)
			m.checkSecrets(r.out)
			if !slices.ContainsFunc(m.lines(), func(line string) bool { return strings.HasPrefix(line, tc.line) }) {
				t.Errorf("%s\nthe log lacks %q:\n%s", tc.reason, tc.line, m.read(logFile))
			}
		})
	}
}

// TestGivingUp: what fails for good ends after a bounded time with a clear line, another status than 0 and no file.
func TestGivingUp(t *testing.T) {
	cases := map[string]struct {
		reason  string
		cli     bool
		breaks  func(int, http.ResponseWriter) bool
		prepare func(*machine)
		last    string
	}{
		"Absent": {
			reason: "Nobody wrote the object.",
			last:   "HTTP 404 NoSuchKey",
		},
		"Denied": {
			reason: "The role may not read it, or it is absent and the role may not list the bucket.",
			breaks: answer(http.StatusForbidden, "AccessDenied"),
			last:   "HTTP 403 AccessDenied",
		},
		"DeniedCLI": {
			reason: "The AWS CLI says the same in its own words.",
			cli:    true,
			breaks: answer(http.StatusForbidden, "AccessDenied"),
			last:   "An error occurred (AccessDenied) when calling the GetObject operation: It says why.",
		},
		"OtherRegion": {
			reason: "The stub follows no redirect: the exports name the bucket's region.",
			breaks: answer(http.StatusMovedPermanently, "PermanentRedirect"),
			last:   "HTTP 301 PermanentRedirect",
		},
		"AlwaysInterrupted": {
			reason: "Half an object is none, however often it comes.",
			breaks: hangUp,
			last:   "curl: (18) ",
		},
		"NoRole": {
			reason:  "An instance without a profile has no credentials.",
			prepare: func(*machine) { metadata.noRole = true },
			last:    "no credentials of an instance role from the instance metadata (IMDSv2)",
		},
		"NoSuchHost": {
			reason:  "Without a route to S3 or DNS there is no answer at all.",
			prepare: func(m *machine) { m.resolve("127.0.0.1", "localhost") },
			last:    "curl: (6) Could not resolve host: " + demoHost,
		},
		"Untrusted": {
			reason:  "Only S3 is let to hand out what a node runs.",
			prepare: func(m *machine) { m.write("/etc/ssl/certs/ca-certificates.crt", "", 0o644) },
			last:    "curl: (77) error setting certificate ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.breakWith(tc.breaks)
			m := newMachine(t)
			if !tc.cli {
				m.withoutCLI()
			}
			if tc.prepare != nil {
				tc.prepare(m)
			}
			r := m.hook(demo())
			last := m.last()
			want := "failed: gave up on " + object + ": " + tc.last
			if !strings.HasPrefix(last, want) {
				t.Errorf("%s\nthe last line:\n got %s\nwant %s", tc.reason, last, want)
			}
			m.checkNothing(r, last)
			m.checkSecrets(r.out)
			slept := strings.Fields(m.read("/run/slept"))
			if len(slept) != attempts-1 {
				t.Errorf("%s\nwaited %d times, want %d", tc.reason, len(slept), attempts-1)
			}
			total := 0
			for _, seconds := range slept {
				n, err := strconv.Atoi(seconds)
				if err != nil {
					t.Fatal(err)
				}
				total += n
			}
			if total > 300 {
				t.Errorf("%s\nwaits %d s in all, want 300 at most", tc.reason, total)
			}
		})
	}
}

// TestTools: what the image has decides how the object is fetched.
func TestTools(t *testing.T) {
	// A curl before 7.75, as Ubuntu 20.04's and Debian 11's: it does not know --aws-sigv4.
	const oldCurl = `#!/bin/sh
for argument do
	case $argument in
	--aws-sigv4*) echo "curl: option --aws-sigv4: is unknown" >&2; exit 2 ;;
	--version) echo "curl 7.68.0 (x86_64-pc-linux-gnu)"; exit 0 ;;
	esac
done
exec /usr/bin/curl "$@"
`
	cases := map[string]struct {
		reason  string
		prepare func(*machine)
		with    string
	}{
		"CLI": {
			reason:  "The AWS CLI is asked first.",
			prepare: func(m *machine) { m.remove("/usr/bin/curl") },
			with:    "the AWS CLI",
		},
		"Curl": {
			reason:  "Most images have no AWS CLI.",
			prepare: func(m *machine) { m.withoutCLI() },
			with:    "curl",
		},
		"OldCurl": {
			reason:  "The stub signs by itself, so that any curl does.",
			prepare: func(m *machine) { m.withoutCLI().write("/usr/local/bin/curl", oldCurl, 0o755) },
			with:    "curl",
		},
		"WithoutOpenSSL": {
			reason:  "It signs with sha256sum, which every image has.",
			prepare: func(m *machine) { m.withoutCLI().remove("/usr/bin/openssl") },
			with:    "curl",
		},
		"BrokenCLI": {
			reason:  "A CLI that does not even start is none.",
			prepare: func(m *machine) { m.write("/usr/bin/aws", "#!/bin/sh\nexit 127\n", 0o755) },
			with:    "curl",
		},
		"MetadataInOneLine": {
			reason:  "Nothing promises that the metadata's JSON has a line per field.",
			prepare: func(m *machine) { m.withoutCLI(); metadata.oneLine = true },
			with:    "curl",
		},
		"CurlConfig": {
			reason: "A curl configuration of the image's does not get in the way.",
			prepare: func(m *machine) {
				m.withoutCLI().write("/root/.curlrc", "proxy = http://127.0.0.1:9\n", 0o600)
				m.env = append(m.env, "HOME=/root")
			},
			with: "curl",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(kubeadmPayload)
			m := newMachine(t)
			tc.prepare(m)
			r := m.hook(demo())
			if r.code != 0 {
				t.Errorf("%s\nstatus %d:\n%s", tc.reason, r.code, r.out)
			}
			m.checkInstalled(kubeadmPayload)
			m.checkSecrets(r.out)
			want := "instance i-0aaa fetches " + object + " from " + demoHost + " with " + tc.with
			if !slices.Contains(m.lines(), want) {
				t.Errorf("%s\nthe log lacks %q:\n%s", tc.reason, want, m.read(logFile))
			}
			if len(s3.refused) > 0 {
				t.Errorf("%s\nS3 refused signatures: %v", tc.reason, s3.refused)
			}
		})
	}

	t.Run("Neither", func(t *testing.T) {
		resetServers(t)
		m := newMachine(t).withoutCLI()
		m.remove("/usr/bin/curl")
		r := m.hook(demo())
		m.checkNothing(r, "failed: neither the AWS CLI nor curl is installed: cannot fetch "+object)
	})
}

// TestHosts: each partition's S3 is at its own host, and only there.
func TestHosts(t *testing.T) {
	cases := map[string]struct {
		reason string
		cli    bool
		region string
		bucket string
		host   string
	}{
		"China":        {reason: "aws-cn", region: "cn-north-1", host: "demo.s3.cn-north-1.amazonaws.com.cn"},
		"ChinaCLI":     {reason: "aws-cn", cli: true, region: "cn-north-1", host: "demo.s3.cn-north-1.amazonaws.com.cn"},
		"GovCloud":     {reason: "aws-us-gov", region: "us-gov-west-1", host: "demo.s3.us-gov-west-1.amazonaws.com"},
		"GovCloudCLI":  {reason: "aws-us-gov", cli: true, region: "us-gov-east-1", host: "demo.s3.us-gov-east-1.amazonaws.com"},
		"Sovereign":    {reason: "aws-eusc", region: "eusc-de-east-1", host: "demo.s3.eusc-de-east-1.amazonaws.eu"},
		"ISO":          {reason: "aws-iso", region: "us-iso-east-1", host: "demo.s3.us-iso-east-1.c2s.ic.gov"},
		"ISOB":         {reason: "aws-iso-b", region: "us-isob-east-1", host: "demo.s3.us-isob-east-1.sc2s.sgov.gov"},
		"ISOE":         {reason: "aws-iso-e", region: "eu-isoe-west-1", host: "demo.s3.eu-isoe-west-1.cloud.adc-e.uk"},
		"ISOF":         {reason: "aws-iso-f", region: "us-isof-south-1", host: "demo.s3.us-isof-south-1.csp.hci.ic.gov"},
		"DottedBucket": {reason: "by path", region: "eu-west-1", bucket: "a.b", host: "s3.eu-west-1.amazonaws.com"},
		"DottedBucketCLI": {
			reason: "by path", cli: true, region: "eu-west-1", bucket: "a.b", host: "s3.eu-west-1.amazonaws.com",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := demo()
			s.Region, s.Bucket = tc.region, "demo"
			if tc.bucket != "" {
				s.Bucket = tc.bucket
			}
			resetServers(t)
			s3.putAs(s.Bucket, s.Key, kubeadmPayload)
			m := newMachine(t, tc.host)
			if !tc.cli {
				m.withoutCLI()
			}
			if r := m.hook(s); r.code != 0 {
				t.Errorf("%s: status %d\n%s%v", tc.reason, r.code, r.out, s3.refused)
			}
			m.checkInstalled(kubeadmPayload)
			want := []s3Request{{host: tc.host, bucket: s.Bucket, key: s.Key}}
			if got := s3.seen(); !slices.Equal(got, want) {
				t.Errorf("%s: requests %v, want %v", tc.reason, got, want)
			}
		})
	}
}

// TestQuoting: names may hold whatever S3 lets them hold.
func TestQuoting(t *testing.T) {
	cases := map[string]struct {
		reason string
		bucket string
		key    string
	}{
		"Shell": {
			reason: "Nothing in a name is run, split or expanded.",
			bucket: "Demo_bucket.1",
			key:    "pool/it's \"$(touch /pwned)\" `touch /pwned`; touch /pwned & $HOME \\ * [a-z] {a,b} ~ |<>",
		},
		"URL": {
			reason: "Nothing in a name is a part of a URL or already encoded.",
			bucket: "demo-bucket",
			key:    "pool/a b+c%41?versionId=x&y=z#f;p=é€@:$,!()*'",
		},
		"Option": {
			reason: "A name is no option.",
			bucket: "demo-bucket",
			key:    "--region",
		},
		"Dots": {
			reason: "A name is no path.",
			bucket: "demo-bucket",
			key:    "pool/../a/./b",
		},
	}
	for name, tc := range cases {
		for _, with := range []string{"curl", "the AWS CLI"} {
			t.Run(name+" with "+with, func(t *testing.T) {
				s := demo()
				s.Bucket, s.Key = tc.bucket, tc.key
				resetServers(t)
				s3.putAs(tc.bucket, tc.key, kubeadmPayload)
				m := newMachine(t, "s3.us-east-1.amazonaws.com", tc.bucket+".s3.us-east-1.amazonaws.com")
				if with == "curl" {
					m.withoutCLI()
				}
				r := m.hook(s)
				if r.code != 0 {
					t.Errorf("%s\nstatus %d: %v\n%s", tc.reason, r.code, s3.refused, r.out)
				}
				m.checkInstalled(kubeadmPayload)
				if m.exists("/pwned") {
					t.Errorf("%s\nit was run", tc.reason)
				}
				if want := "installed s3://" + tc.bucket + "/" + tc.key + " as " + configFile; m.last() != want {
					t.Errorf("%s\nthe last line:\n got %s\nwant %s", tc.reason, m.last(), want)
				}
			})
		}
	}
}

// ip changes the network of all that runs here, until the test ends.
func ip(t *testing.T, undo []string, change ...string) {
	t.Helper()
	run := func(arguments []string) {
		if out, err := exec.Command("ip", arguments...).CombinedOutput(); err != nil {
			t.Errorf("ip %v: %v\n%s", arguments, err, out)
		}
	}
	run(change)
	t.Cleanup(func() { run(undo) })
}

// TestIPv6Only: an instance without IPv4 reaches S3 by its dual-stack name, and the metadata by whichever address it has.
func TestIPv6Only(t *testing.T) {
	const host = "demo-bootstrap.s3.dualstack.us-east-1.amazonaws.com"
	for _, with := range []string{"curl", "the AWS CLI"} {
		for _, address := range []string{"fd00:ec2::254", "169.254.169.254"} {
			t.Run(with+" with metadata at "+address, func(t *testing.T) {
				resetServers(t)
				s3.put(kubeadmPayload)
				m := newMachine(t)
				if with == "curl" {
					m.withoutCLI()
				}
				m.resolve("::1", host)
				ip(t, []string{"route", "add", "default", "via", "192.0.2.1"}, "route", "del", "default", "via", "192.0.2.1")
				if address == "fd00:ec2::254" { // The other one is not there.
					other := []string{"169.254.169.254/32", "dev", "lo"}
					ip(t, append([]string{"address", "add"}, other...), append([]string{"address", "del"}, other...)...)
				} else {
					other := []string{"fd00:ec2::254/128", "dev", "lo"}
					ip(t, append([]string{"-6", "address", "add", "nodad"}, other...), append([]string{"-6", "address", "del"}, other...)...)
				}
				r := m.hook(demo())
				if r.code != 0 {
					t.Errorf("status %d\n%s", r.code, r.out)
				}
				m.checkInstalled(kubeadmPayload)
				want := s3Request{host: host, bucket: demo().Bucket, key: demo().Key}
				if got := s3.seen(); len(got) != 1 || got[0] != want {
					t.Errorf("requests %v, want %v", got, want)
				}
			})
		}
	}
}

// TestProxy: a proxy in the environment carries the requests to S3, and never those to the instance metadata.
func TestProxy(t *testing.T) {
	for _, with := range []string{"curl", "the AWS CLI"} {
		for _, noProxy := range []string{"", "NO_PROXY=10.0.0.0/8,.internal", "no_proxy=localhost"} {
			t.Run(fmt.Sprintf("%s, %q", with, noProxy), func(t *testing.T) {
				resetServers(t)
				s3.put(kubeadmPayload)
				m := newMachine(t)
				if with == "curl" {
					m.withoutCLI()
				}
				m.resolve("127.0.0.1", "localhost") // Only the proxy knows where S3 is.
				for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
					m.env = append(m.env, name+"=http://"+proxyAddress)
				}
				if noProxy != "" {
					m.env = append(m.env, noProxy)
				}
				r := m.hook(demo())
				if r.code != 0 {
					t.Errorf("status %d\n%s", r.code, r.out)
				}
				m.checkInstalled(kubeadmPayload)
				if want := []string{"CONNECT " + demoHost + ":443"}; !slices.Equal(proxy.asks, want) {
					t.Errorf("the proxy was asked for %v, want %v", proxy.asks, want)
				}
			})
		}
	}
}

// TestKilled: a stub that is killed while it downloads leaves nothing that cloud-init reads, and the next one clears up.
func TestKilled(t *testing.T) {
	resetServers(t)
	s3.put(kubeadmPayload)
	started, stop := make(chan struct{}), make(chan struct{})
	s3.breakWith(func(_ int, w http.ResponseWriter) bool {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte("#cloud-config\n"))
		_ = http.NewResponseController(w).Flush()
		close(started)
		<-stop
		return true
	})
	m := newMachine(t).withoutCLI()
	m.install(demo())
	cmd := m.command(context.Background(), hookFile)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-started:
	case <-time.After(time.Minute):
		t.Error("the download did not start")
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	close(stop)
	for _, name := range m.leftovers() {
		if strings.HasSuffix(name, ".cfg") {
			t.Errorf("cloud-init would read %s", name)
		}
	}

	s3.breakWith(nil)
	if r := m.run(hookFile); r.code != 0 {
		t.Errorf("the next boot: status %d\n%s", r.code, r.out)
	}
	m.checkInstalled(kubeadmPayload)
}

// TestRefused: what is not cloud-config is refused in one line that quotes nothing of it, at the first attempt.
func TestRefused(t *testing.T) {
	const notCloudConfig = " is not cloud-config: its first line must be #cloud-config, or ## template: jinja before that"
	garbage := make([]byte, 20000)
	for i := range garbage {
		garbage[i] = byte(i * i >> 3)
	}
	cases := map[string]struct {
		reason  string
		payload string
		want    string
	}{
		"MIME": {
			reason:  "cloud.cfg.d takes YAML only.",
			payload: "Content-Type: multipart/mixed; boundary=\"x\"\nMIME-Version: 1.0\n\n--x\n" + joinToken,
			want:    notCloudConfig,
		},
		"Shell":       {reason: "It is not run.", payload: "#!/bin/sh\ntouch /ran " + joinToken, want: notCloudConfig},
		"Include":     {reason: "It is not fetched.", payload: "#include\nhttps://example.org/" + joinToken, want: notCloudConfig},
		"Archive":     {reason: "It only starts alike.", payload: "#cloud-config-archive\n- " + joinToken, want: notCloudConfig},
		"Ignition":    {reason: "The pool's format is wrong.", payload: `{"ignition": {"version": "3.0.0"}}`, want: notCloudConfig},
		"Empty":       {reason: "There is nothing in it.", payload: "", want: notCloudConfig},
		"Garbage":     {reason: "Not even text.", payload: string(garbage), want: notCloudConfig},
		"JinjaShell":  {reason: "A template of a script.", payload: "## template: jinja\n#!/bin/sh\n", want: notCloudConfig},
		"GzipShell":   {reason: "Compressed or not.", payload: gzipped("#!/bin/sh\ntouch /ran\n"), want: notCloudConfig},
		"GzipCut":     {reason: "A part is not enough.", payload: gzipped(kubeadmPayload)[:60], want: " is damaged gzip"},
		"GzipGarbage": {reason: "Only the magic number.", payload: "\x1f\x8b" + string(garbage), want: " is damaged gzip"},
		"BadYAML": {
			reason:  "cloud-init would print the lines around the fault.",
			payload: "#cloud-config\nruncmd:\n - [unclosed, " + joinToken + "\nfoo: bar: baz\n",
			want:    " is not a YAML mapping",
		},
		"List": {reason: "cloud-init takes mappings.", payload: "#cloud-config\n- " + joinToken + "\n", want: " is not a YAML mapping"},
		"BadJinja": {
			reason:  "cloud-init would print all of it.",
			payload: "## template: jinja\n#cloud-config\nruncmd:\n- {% if %}" + joinToken + "\n",
			want:    " is a Jinja template that cloud-init cannot render",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(tc.payload)
			m := newMachine(t).withoutCLI()
			m.write("/run/cloud-init/instance-data-sensitive.json", `{"v1": {"instance_id": "i-0aaa"}}`, 0o600)
			r := m.hook(demo())
			m.checkNothing(r, "failed: "+object+tc.want)
			m.checkSecrets(r.out)
			if got := strings.Count(r.out, "failed"); got != 1 {
				t.Errorf("%s\n%d lines say that it failed:\n%s", tc.reason, got, r.out)
			}
			if got := len(s3.seen()); got != 1 {
				t.Errorf("%s\nfetched %d times, want 1: trying again changes nothing", tc.reason, got)
			}
		})
	}
}
