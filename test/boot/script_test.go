//go:build boot

package boot

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// shells are what a stub may meet as sh: Debian's, Amazon Linux's, and the smallest.
func shells() map[string][]string {
	return map[string][]string{
		"dash":        {"dash"},
		"busybox ash": {"busybox", "ash"},
		"bash":        {"bash"},
		"bash posix":  {"bash", "--posix"},
	}
}

// TestShellcheck holds the stub to shellcheck's rules, style included.
func TestShellcheck(t *testing.T) {
	m := newMachine(t)
	m.install(demo())
	if r := m.run("shellcheck", "--shell=sh", "--severity=style", hookFile); r.code != 0 {
		t.Errorf("shellcheck:\n%s", r.out)
	}
}

// TestSyntax: every shell can read the stub.
func TestSyntax(t *testing.T) {
	m := newMachine(t)
	m.install(demo())
	for name, shell := range shells() {
		t.Run(name, func(t *testing.T) {
			if r := m.run(append(shell, "-n", hookFile)...); r.code != 0 || r.out != "" {
				t.Errorf("%v -n: status %d\n%s", shell, r.code, r.out)
			}
		})
	}
}

// TestShells runs all of the stub under each shell, with either way to fetch.
func TestShells(t *testing.T) {
	for name, shell := range shells() {
		for _, with := range []string{"curl", "the AWS CLI"} {
			t.Run(name+" with "+with, func(t *testing.T) {
				resetServers(t)
				s3.put(kubeadmPayload)
				m := newMachine(t)
				if with == "curl" {
					m.withoutCLI()
				}
				s := demo()
				s.NodeLabels = map[string]string{"pool": "demo", "example.org/disk": "ssd"}
				r := m.hook(s, shell...)
				if r.code != 0 {
					t.Errorf("status %d", r.code)
				}
				m.checkInstalled(kubeadmPayload)
				m.checkSecrets(r.out)
				want := strings.Join([]string{
					"node labels: example.org/disk=ssd,pool=demo",
					"instance i-0aaa fetches s3://demo-bootstrap/pool/demo-pool-0 from " + demoHost + " with " + with,
					"installed s3://demo-bootstrap/pool/demo-pool-0 as " + configFile,
				}, "\n")
				if got := strings.Join(m.lines(), "\n"); got != want {
					t.Errorf("the log:\n got\n%s\nwant\n%s\nthe output:\n%s", got, want, r.out)
				}
				if got, want := m.read("/etc/default/kubelet"), "# aws-machinepool: node labels, written on every boot\n"+
					"KUBELET_EXTRA_ARGS=\"--node-labels=example.org/disk=ssd,pool=demo\"\n"; got != want {
					t.Errorf("/etc/default/kubelet:\n got %s\nwant %s", got, want)
				}

				again := m.run(append(shell, hookFile)...)
				if again.code != 0 || m.last() != "instance i-0aaa has its bootstrap data" {
					t.Errorf("the next boot: status %d, %s", again.code, m.last())
				}
				if got := len(s3.seen()); got > 1 {
					t.Errorf("fetched %d times", got)
				}
			})
		}
	}
}

// TestUnwritableLabels: labels that cannot be written are said, and the boot goes on, in each shell.
func TestUnwritableLabels(t *testing.T) {
	for name, shell := range shells() {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(kubeadmPayload)
			m := newMachine(t).withoutCLI()
			m.readOnly("/etc/default")
			m.readOnly("/etc/rancher")
			if r := m.hook(labelled(), shell...); r.code != 0 {
				t.Errorf("status %d\n%s", r.code, r.out)
			}
			m.checkInstalled(kubeadmPayload)
			for _, file := range []string{"/etc/default/kubelet", rke2File} {
				if want := "could not write the node labels to " + file; !slices.Contains(m.lines(), want) {
					t.Errorf("the log lacks %q:\n%s", want, m.read(logFile))
				}
			}
		})
	}
}

// TestReadOnly: without a place for the data, nothing is fetched.
func TestReadOnly(t *testing.T) {
	resetServers(t)
	s3.put(kubeadmPayload)
	m := newMachine(t).withoutCLI()
	m.readOnly("/etc/cloud/cloud.cfg.d")
	r := m.hook(demo())
	m.checkNothing(r, "failed: cannot write in /etc/cloud/cloud.cfg.d")
	if got := len(s3.seen()); got != 0 {
		t.Errorf("fetched %d times", got)
	}
}

// TestNoInstance: without the instance's id nobody can say later whose data it is.
func TestNoInstance(t *testing.T) {
	resetServers(t)
	s3.put(kubeadmPayload)
	m := newMachine(t).withoutCLI()
	m.install(demo())
	m.env = m.env[:len(m.env)-1]
	r := m.run(hookFile)
	m.checkNothing(r, "failed: cloud-init tells no instance id")
	if got := len(s3.seen()); got != 0 {
		t.Errorf("fetched %d times", got)
	}
}

// TestArguments: no secret is ever an argument or in the environment of a program, where ps shows it.
func TestArguments(t *testing.T) {
	for _, with := range []string{"curl", "the AWS CLI"} {
		t.Run(with, func(t *testing.T) {
			resetServers(t)
			s3.put(jinjaPayload)
			m := newMachine(t)
			if with == "curl" {
				m.withoutCLI()
			}
			m.write("/run/cloud-init/instance-data-sensitive.json", `{"v1": {"instance_id": "i-0aaa"}}`, 0o600)
			m.install(demo())
			for _, name := range []string{ // What is exported stays so: the shell would export what the stub assigns.
				"session", "json", "id", "secret", "token", "request", "signature", "authorization",
				"rest", "escapes", "byte", "inner",
			} {
				m.env = append(m.env, name+"=exported")
			}
			const trace = "/tmp/trace"
			r := m.run("strace", "-f", "-qq", "-v", "-s", "1000000", "-e", "trace=execve", "-o", trace, hookFile)
			if r.code != 0 || !m.exists(configFile) {
				t.Fatalf("status %d\n%s", r.code, r.out)
			}
			text := m.read(trace)
			if !strings.Contains(text, `"get-object"`) && !strings.Contains(text, `"-K", "-"`) {
				t.Fatal("the trace lacks the fetch")
			}
			for _, secret := range []string{roleSecret, roleToken, metadataToken, joinToken} {
				if strings.Contains(text, secret) {
					t.Errorf("%q is in a program's arguments or environment", secret)
				}
			}
		})
	}
}

// TestConsole: a stub that waits or gives up says so on the console, which EC2 shows of a node that nobody can log in to.
func TestConsole(t *testing.T) {
	resetServers(t)
	s3.breakWith(answer(http.StatusForbidden, "AccessDenied"))
	m := newMachine(t).withoutCLI()
	m.install(demo())
	const console = "/tmp/console"
	m.run("script", "--quiet", "--command", "ln -s \"$(tty)\" /dev/console; "+hookFile+" 2>/dev/null", console)
	text := m.read(console)
	var got []string
	for line := range strings.SplitSeq(text, "\r\n") {
		if _, said, found := strings.Cut(line, " aws-machinepool: "); found {
			got = append(got, said)
		}
	}
	want := []string{
		"attempt 1 of 30: HTTP 403 AccessDenied",
		"attempt 10 of 30: HTTP 403 AccessDenied",
		"attempt 20 of 30: HTTP 403 AccessDenied",
		"attempt 30 of 30: HTTP 403 AccessDenied",
		"failed: gave up on " + object + ": HTTP 403 AccessDenied",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the console:\n got %q\nwant %q", got, want)
	}
	m.checkSecrets(text)
}
