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
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	attempts = 30 // as the stub
	object   = "s3://demo-bootstrap/pool/demo-pool-0"

	otherHost = "demo-bootstrap.s3.eu-west-1.amazonaws.com"
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
			line:   "attempt 2 of 30: An error occurred (NoSuchKey) when calling the GetObject operation",
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
			last:   "An error occurred (AccessDenied) when calling the GetObject operation",
		},
		"OtherRegion": {
			reason: "The stub follows no redirect: the exports name the bucket's region.",
			breaks: func(_ int, w http.ResponseWriter) bool {
				s3Error(w, http.StatusMovedPermanently, "PermanentRedirect", "<Endpoint>"+otherHost+"</Endpoint>")
				return true
			},
			last: "HTTP 301 PermanentRedirect " + otherHost,
		},
		"AlwaysInterrupted": {
			reason: "Half an object is none, however often it comes.",
			breaks: hangUp,
			last:   "curl: (18) ",
		},
		"NoRole": {
			reason:  "An instance without a profile has no credentials.",
			prepare: func(*machine) { metadata.noRole = true },
			last:    "the instance metadata has no credentials of an instance role",
		},
		"NoMetadata": {
			reason:  "The metadata service may be disabled.",
			prepare: func(*machine) { metadata.noTokens = 1000 },
			last:    "the instance metadata (IMDSv2) gives no session token",
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
			m.install(demo())
			tries := attempts
			if tc.cli { // It takes seconds to start.
				tries = 3
				m.edit("attempts=30", "attempts=3")
			}
			r := m.run(hookFile)
			last := m.last()
			want := "failed: gave up on " + object + ": " + tc.last
			if !strings.HasPrefix(last, want) {
				t.Errorf("%s\nthe last line:\n got %s\nwant %s", tc.reason, last, want)
			}
			m.checkNothing(r, last)
			m.checkSecrets(r.out)
			slept := strings.Fields(m.read("/run/slept"))
			if len(slept) != tries-1 {
				t.Errorf("%s\nwaited %d times, want %d", tc.reason, len(slept), tries-1)
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

// TestTerminated: a stub that is told to end while it downloads does, and leaves nothing.
func TestTerminated(t *testing.T) {
	resetServers(t)
	s3.put(kubeadmPayload)
	started := make(chan struct{})
	s3.breakWith(stall(t, started))
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
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil { // The group, as systemd does.
		t.Error(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("status %d, want 1", code)
	}
	if got := m.leftovers(); len(got) > 0 {
		t.Errorf("cloud.cfg.d holds %v", got)
	}
}

// stall is a way to break S3: it sends the start of an object, and then nothing until the test ends.
func stall(t *testing.T, started chan<- struct{}) func(int, http.ResponseWriter) bool {
	t.Helper()
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	var once sync.Once
	return func(_ int, w http.ResponseWriter) bool {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte("#cloud-config\n"))
		_ = http.NewResponseController(w).Flush()
		once.Do(func() { close(started) })
		<-stop
		return true
	}
}

// blackhole makes an address swallow all that is sent to it.
func blackhole(t *testing.T, address string) {
	t.Helper()
	ip(t, []string{"neigh", "del", address, "dev", "ens5"},
		"neigh", "replace", address, "lladdr", "02:00:00:00:00:77", "nud", "permanent", "dev", "ens5")
}

// TestBounds: whatever does not answer, an attempt ends, says why, and so do all attempts together.
func TestBounds(t *testing.T) {
	noRoute := func(m *machine) {
		blackhole(m.t, "192.0.2.77")
		m.resolve("192.0.2.77", demoHost)
	}
	stalled := func(m *machine) { s3.breakWith(stall(m.t, make(chan struct{}))) }
	cases := map[string]struct {
		reason   string
		cli      bool
		prepare  func(*machine)
		edits    []string // before and after, in turn
		min, max time.Duration
		last     string
	}{
		"NoRoute": {
			reason: "Nothing between here and S3 answers.", prepare: noRoute,
			edits: []string{"attempts=30", "attempts=1"}, min: 10 * time.Second, max: 55 * time.Second,
			last: "curl: (28) ",
		},
		"NoRouteCLI": {
			reason: "It does not try again by itself, and gives up as soon.", cli: true, prepare: noRoute,
			edits: []string{"attempts=30", "attempts=1"}, min: 10 * time.Second, max: 55 * time.Second,
			last: `Connect timeout on endpoint URL: "https://` + demoHost,
		},
		"Deadline": {
			reason: "Attempts that take long are fewer.", prepare: noRoute,
			edits: []string{"deadline=900", "deadline=12", "--connect-timeout 10", "--connect-timeout 4"},
			min:   12 * time.Second, max: 100 * time.Second, last: "curl: (28) ",
		},
		"DeadlineCLI": {
			reason: "So they are with the AWS CLI.", cli: true, prepare: noRoute,
			edits: []string{"deadline=900", "deadline=8", "--cli-connect-timeout 10", "--cli-connect-timeout 4"},
			min:   8 * time.Second, max: 100 * time.Second, last: "Connect timeout on endpoint URL: ",
		},
		"Stalled": {
			reason: "It starts to answer and stops.", prepare: stalled,
			edits: []string{"attempts=30", "attempts=1", "--max-time 180", "--max-time 3"},
			min:   3 * time.Second, max: 60 * time.Second, last: "curl: (28) ",
		},
		"StalledCLI": {
			reason: "The AWS CLI waits for bytes no longer than it is told.", cli: true, prepare: stalled,
			edits: []string{"attempts=30", "attempts=1", "--cli-read-timeout 60", "--cli-read-timeout 3"},
			min:   3 * time.Second, max: 55 * time.Second, last: "Read timeout on endpoint URL: ",
		},
		"StuckCLI": {
			reason: "It is ended, and gives no reason.", cli: true, prepare: stalled,
			edits: []string{"attempts=30", "attempts=1", "timeout 180", "timeout 6"},
			min:   6 * time.Second, max: 55 * time.Second, last: "no answer in 180 s",
		},
		"NoRouteToMetadata": {
			reason: "Two addresses of the metadata do not answer.",
			prepare: func(m *machine) {
				blackhole(m.t, "192.0.2.1")
				blackhole(m.t, "2001:db8::1")
				for _, address := range []string{"169.254.169.254/32", "fd00:ec2::254/128"} {
					ip(m.t, []string{"address", "add", address, "dev", "lo"}, "address", "del", address, "dev", "lo")
				}
			},
			edits: []string{"attempts=30", "attempts=1", "--max-time 10", "--max-time 60"},
			min:   6 * time.Second, max: 55 * time.Second,
			last: "the instance metadata (IMDSv2) gives no session token",
		},
		"StuckMetadata": {
			reason:  "The metadata service takes the request and does not answer.",
			prepare: func(*machine) { metadata.delay = 10 * time.Second },
			edits:   []string{"attempts=30", "attempts=1", "--max-time 10", "--max-time 2"},
			min:     4 * time.Second, max: 19 * time.Second,
			last: "the instance metadata (IMDSv2) gives no session token",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(kubeadmPayload)
			m := newMachine(t)
			if !tc.cli {
				m.withoutCLI()
			}
			tc.prepare(m)
			m.install(demo())
			for i := 0; i < len(tc.edits); i += 2 {
				m.edit(tc.edits[i], tc.edits[i+1])
			}
			start := time.Now()
			r := m.run(hookFile)
			if took := time.Since(start); took < tc.min || took > tc.max {
				t.Errorf("%s\ntook %v, want from %v to %v", tc.reason, took, tc.min, tc.max)
			}
			if want := "failed: gave up on " + object + ": " + tc.last; !strings.HasPrefix(m.last(), want) {
				t.Errorf("%s\nthe last line:\n got %s\nwant %s", tc.reason, m.last(), want)
			}
			m.checkNothing(r, m.last())
			m.checkSecrets(r.out)
		})
	}
}

// TestSlowMetadata: the AWS CLI's own patience with the metadata, a second and one attempt, is too little.
func TestSlowMetadata(t *testing.T) {
	for name, prepare := range map[string]func(){
		"Slow":      func() { metadata.delay = 2 * time.Second },
		"Throttled": func() { metadata.noTokens = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(kubeadmPayload)
			prepare()
			m := newMachine(t)
			m.install(demo())
			m.edit("attempts=30", "attempts=1")
			if r := m.run(hookFile); r.code != 0 {
				t.Errorf("status %d\n%s", r.code, r.out)
			}
			m.checkInstalled(kubeadmPayload)
		})
	}
}

// TestCLICredentials: an image's credentials and settings are not the instance role's.
func TestCLICredentials(t *testing.T) {
	resetServers(t)
	s3.put(kubeadmPayload)
	m := newMachine(t)
	const credentials = "aws_access_key_id = AKIABAKED\naws_secret_access_key = baked\n"
	m.write("/root/.aws/credentials", "[default]\n"+credentials+"[other]\n"+credentials, 0o600)
	m.write("/root/.aws/config", "[default]\n"+credentials+"endpoint_url = http://127.0.0.1:9\n", 0o600)
	m.write("/root/.boto", "[Credentials]\n"+credentials, 0o600)
	m.env = append(m.env, "HOME=/root", "AWS_PROFILE=other", "AWS_ACCESS_KEY_ID=AKIABAKED",
		"AWS_SECRET_ACCESS_KEY=baked", "AWS_SESSION_TOKEN=baked", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ENDPOINT_URL=http://127.0.0.1:9", "AWS_DEFAULT_OUTPUT=none")
	r := m.hook(demo())
	if r.code != 0 || len(m.lines()) != 3 {
		t.Errorf("status %d\n%s", r.code, r.out)
	}
	m.checkInstalled(kubeadmPayload)
	if len(s3.refused) > 0 {
		t.Errorf("S3 refused signatures: %v", s3.refused)
	}
}

// TestCLIReasons: of all that the AWS CLI says, the line that says why is told, and not more of it than fits.
func TestCLIReasons(t *testing.T) {
	cases := map[string]struct {
		reason string
		says   string
		want   string
	}{
		"Advice":  {reason: "Advice may follow.", says: "\nAn error occurred (X): because\nYou can fix this.\n\n", want: "An error occurred (X): because"},
		"Fault":   {reason: "A Python fault ends with its name.", says: "Traceback:\n  raise it\nKeyError: 'x'\n", want: "KeyError: 'x'"},
		"Other":   {reason: "Without the word, the last line.", says: "first\nUnable to locate credentials\n\n", want: "Unable to locate credentials"},
		"Silent":  {reason: "There always is a reason.", says: "", want: "no answer in 180 s"},
		"Endless": {reason: "A log line is no dump.", says: strings.Repeat("0123456789", 100), want: strings.Repeat("0123456789", 30)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			m := newMachine(t)
			m.write("/tmp/says", tc.says, 0o644)
			m.write("/usr/bin/aws", "#!/bin/sh\n[ \"$1\" = --version ] || { cat /tmp/says >&2; exit 1; }\n", 0o755)
			m.install(demo())
			m.edit("attempts=30", "attempts=1")
			r := m.run(hookFile)
			m.checkNothing(r, "failed: gave up on "+object+": "+tc.want)
		})
	}
}

// TestCLIOtherRegion: the AWS CLI finds a bucket that is in another region than the exports say.
func TestCLIOtherRegion(t *testing.T) {
	resetServers(t)
	s3.put(kubeadmPayload)
	s3.breakWith(until(1, func(_ int, w http.ResponseWriter) bool {
		w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
		s3Error(w, http.StatusMovedPermanently, "PermanentRedirect", "<Endpoint>"+otherHost+"</Endpoint>")
		return true
	}))
	m := newMachine(t, otherHost)
	if r := m.hook(demo()); r.code != 0 || len(m.lines()) != 3 {
		t.Errorf("status %d\n%s", r.code, r.out)
	}
	m.checkInstalled(kubeadmPayload)
	if got := s3.seen(); len(got) != 2 || got[1].host != otherHost {
		t.Errorf("requests %v, want the last at %s", got, otherHost)
	}
}

// TestIPv6Late: routes may come after the stub has started.
func TestIPv6Late(t *testing.T) {
	const host = "demo-bootstrap.s3.dualstack.us-east-1.amazonaws.com"
	resetServers(t)
	s3.put(kubeadmPayload)
	m := newMachine(t).withoutCLI()
	m.resolve("::1", host)
	ip(t, []string{"route", "add", "default", "via", "192.0.2.1"}, "route", "del", "default", "via", "192.0.2.1")
	ip(t, []string{"-6", "route", "replace", "default", "via", "2001:db8::1"}, "-6", "route", "del", "default")
	m.install(demo())
	// The first wait lasts until the route is there.
	m.write("/usr/local/bin/sleep", "#!/bin/sh\n: >/run/waits\nuntil grep -q '^0* 00 .* ens5$' /proc/net/ipv6_route; do :; done\n", 0o755)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !m.exists("/run/waits") && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		_ = exec.Command("ip", "-6", "route", "replace", "default", "via", "2001:db8::1").Run()
	}()
	r := m.run(hookFile)
	if r.code != 0 {
		t.Errorf("status %d\n%s", r.code, r.out)
	}
	m.checkInstalled(kubeadmPayload)
	for _, from := range []string{demoHost, host} {
		if want := "instance i-0aaa fetches " + object + " from " + from + " with curl"; !slices.Contains(m.lines(), want) {
			t.Errorf("the log lacks %q:\n%s", want, m.read(logFile))
		}
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("it never waited")
	}
}

// TestHeader: cloud-init overlooks blank lines and case in front, and so does the stub.
func TestHeader(t *testing.T) {
	for name, payload := range map[string]string{
		"BlankLines": "\n \n" + kubeadmPayload,
		"Case":       strings.Replace(kubeadmPayload, "#cloud-config", "#Cloud-Config", 1),
	} {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(payload)
			m := newMachine(t).withoutCLI()
			m.hook(demo())
			m.checkInstalled(payload)
		})
	}
}

// TestInterpreters: some Python that knows YAML looks at it, not just the first by its name.
func TestInterpreters(t *testing.T) {
	const broken = "#cloud-config\nruncmd: [touch /ran, " + joinToken + "\n"
	const without = "#!/bin/sh\nexit 1\n" // python3 without yaml
	cases := map[string]struct {
		reason  string
		prepare func(*machine)
		refused bool
	}{
		"CloudInit": {
			reason: "cloud-init's own has it for sure.",
			prepare: func(m *machine) {
				m.write("/usr/bin/cloud-init", "#!/opt/python -s\n", 0o755)
				m.write("/opt/python", "#!/bin/sh\nexec /usr/bin/python3.11 \"$@\"\n", 0o755)
				m.remove("/usr/bin/python3")
			},
			refused: true,
		},
		"System": {
			reason:  "The distribution's.",
			prepare: func(m *machine) { m.remove("/usr/bin/cloud-init") },
			refused: true,
		},
		"Platform": {
			reason: "Red Hat's.",
			prepare: func(m *machine) {
				m.remove("/usr/bin/cloud-init")
				m.remove("/usr/bin/python3")
				m.write("/usr/libexec/platform-python", "#!/bin/sh\nexec /usr/bin/python3.11 \"$@\"\n", 0o755)
			},
			refused: true,
		},
		"None": {
			reason:  "Then it is said.",
			prepare: func(m *machine) { m.remove("/usr/lib/python3/dist-packages/yaml") },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(broken)
			m := newMachine(t).withoutCLI()
			m.write("/usr/local/bin/python3", without, 0o755)
			if !m.exists("/usr/bin/python3.11") {
				t.Skip("it hides and shows the system's Python 3.11, which this Debian does not have")
			}
			tc.prepare(m)
			r := m.hook(demo())
			m.checkSecrets(r.out)
			const cannot = "no python3 with yaml: cannot check the YAML, and cloud-init prints what it cannot read"
			if tc.refused {
				m.checkNothing(r, "failed: "+object+" is not a YAML mapping")
			} else {
				m.checkInstalled(broken)
			}
			if slices.Contains(m.lines(), cannot) == tc.refused {
				t.Errorf("%s\nthe log:\n%s", tc.reason, m.read(logFile))
			}
		})
	}
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
