//go:build boot

package boot

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// newImage is a machine with cloud-init's NoCloud datasource, which a test writes.
func newImage(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t).withoutCLI()
	m.remove("/var/lib/cloud/instance")
	// The rest is as Debian ships it. Growing and resizing are for disks, and the network is ours.
	m.write("/etc/cloud/cloud.cfg.d/90-test.cfg", `datasource_list: [NoCloud]
network: {config: disabled}
growpart: {mode: "off"}
resize_rootfs: false
apt_preserve_sources_list: true
`, 0o644)
	return m
}

// boot boots the instance: a fresh /run, and then cloud-init's four stages as systemd starts them. It returns all that
// they printed, which is what a console shows.
func (m *machine) boot(instance, userData string) string {
	m.t.Helper()
	m.write("/var/lib/cloud/seed/nocloud/meta-data", "instance-id: "+instance+"\nlocal-hostname: "+instance+"\n", 0o600)
	m.write("/var/lib/cloud/seed/nocloud/user-data", userData, 0o600)
	if err := syscall.Unmount(m.path("/run"), 0); err != nil {
		m.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", m.path("/run"), "tmpfs", 0, "mode=755"); err != nil {
		m.t.Fatal(err)
	}
	var out strings.Builder
	for _, stage := range [][]string{
		{"init", "--local"}, {"init"}, {"modules", "--mode=config"}, {"modules", "--mode=final"},
	} {
		r := m.run(append([]string{"cloud-init"}, stage...)...)
		out.WriteString(r.out)
	}
	return out.String()
}

// bootLogs are what a boot leaves for people to read.
func (m *machine) bootLogs() string {
	m.t.Helper()
	return m.read("/var/log/cloud-init.log") + m.read("/var/log/cloud-init-output.log") + m.read(logFile)
}

// told is what cloud-init passes on of what a boothook says: old ones into their log if it fails, newer ones all of it to
// where their own output goes.
func (m *machine) told(out string) string {
	m.t.Helper()
	return out + m.read("/var/log/cloud-init.log")
}

// checkRan fails unless the payload's files and commands were carried out that often.
func (m *machine) checkRan(when string, times int) {
	m.t.Helper()
	written := strings.Count(m.read("/var/lib/boots/written"), "written\n")
	ran := strings.Count(m.read("/var/lib/boots/ran"), "joined with 1 token\n")
	if written != times || ran != times {
		m.t.Errorf("%s: write_files ran %d times and runcmd %d, want %d\n%s", when, written, ran, times, m.bootLogs())
	}
}

// TestBoot is the life of an instance and of the image made from it.
func TestBoot(t *testing.T) {
	resetServers(t)
	s3.put(kubeadmPayload)
	m := newImage(t)
	data := userData(t, labelled())

	out := m.boot(instanceID, data)
	m.checkInstalled(kubeadmPayload)
	m.checkRan("first boot", 1)
	m.checkSecrets(out)
	if got := m.extraArgs("/etc/default/kubelet"); got != "--node-labels="+joined {
		t.Errorf("the kubelet's arguments: %s", got)
	}
	// The marker by its real name: the link to it is absolute, within the chroot.
	files := []string{
		configFile, "/etc/default/kubelet", rke2File, "/var/lib/cloud/instances/" + instanceID + "/aws-machinepool",
	}
	before := m.state(files)

	out = m.boot(instanceID, data)
	m.checkRan("second boot", 1)
	m.checkSecrets(out)
	if got := m.state(files); !slices.Equal(got, before) {
		t.Errorf("second boot: the files changed:\n%v\n%v", before, got)
	}
	if got := len(s3.seen()); got != 1 {
		t.Errorf("second boot: fetched %d times in all, want 1", got)
	}
	if want := "instance i-0aaa has its bootstrap data"; m.last() != want {
		t.Errorf("second boot: the last line is %q, want %q", m.last(), want)
	}

	// The disk becomes an image, from which a new instance starts, of another pool and later: its own data, no labels.
	rotated := strings.ReplaceAll(kubeadmPayload, "joined with", "rejoined with")
	s3.put(rotated)
	m.boot("i-0bbb", userData(t, demo()))
	m.checkInstalled(rotated)
	if got := strings.Count(m.read("/var/lib/boots/ran"), "rejoined with 1 token\n"); got != 1 {
		t.Errorf("new instance: its commands ran %d times, want once\n%s", got, m.bootLogs())
	}
	if m.exists(rke2File) || strings.Contains(m.read("/etc/default/kubelet"), markLine) {
		t.Error("new instance: the image's labels are still there")
	}
}

// state tells files apart by content, mode and when they were written.
func (m *machine) state(files []string) []string {
	m.t.Helper()
	var states []string
	for _, file := range files {
		info, err := os.Stat(m.path(file))
		if err != nil {
			m.t.Error(err)
			continue
		}
		states = append(states, strings.Join([]string{
			file, info.Mode().String(), info.ModTime().String(), m.read(file),
		}, " "))
	}
	return states
}

// TestBootWithoutData: an image's old data never runs on another instance, and a boot that failed is made good by the
// next one.
func TestBootWithoutData(t *testing.T) {
	resetServers(t)
	s3.put(kubeadmPayload)
	m := newImage(t)
	data := userData(t, demo())
	m.boot(instanceID, data)
	m.checkRan("first instance", 1)

	s3.breakWith(answer(http.StatusForbidden, "AccessDenied"))
	out := m.boot("i-0bbb", data)
	if m.exists(configFile) {
		t.Error("the first instance's data is still installed")
	}
	m.checkRan("second instance, denied", 1)
	m.checkSecrets(out)
	if got := strings.Count(m.read(logFile), "failed: gave up on "+object+": HTTP 403 AccessDenied"); got != 1 {
		t.Errorf("second instance: the log says %d times that it gave up:\n%s", got, m.read(logFile))
	}
	if !strings.Contains(m.told(out), "gave up on "+object) {
		t.Error("cloud-init does not tell why the boothook failed")
	}

	s3.breakWith(nil)
	m.boot("i-0bbb", data)
	m.checkInstalled(kubeadmPayload)
	m.checkRan("second instance, rebooted", 2)
}

// TestBootPayloads boots each kind of payload that there is.
func TestBootPayloads(t *testing.T) {
	rendered := strings.NewReplacer(
		"## template: jinja\n", "", "{{ v1.instance_id }}", instanceID, "{% raw %}", "", "{% endraw %}", "",
	).Replace(jinjaPayload)
	cases := map[string]struct {
		reason    string
		payload   string
		installed string
	}{
		"Jinja":     {reason: "Templates are rendered.", payload: jinjaPayload, installed: rendered},
		"GzipJinja": {reason: "Compressed ones, too.", payload: gzipped(jinjaPayload), installed: rendered},
		"Gzip":      {reason: "Large payloads are compressed.", payload: gzipped(kubeadmPayload), installed: kubeadmPayload},
		"CRLF": {
			reason:    "Line ends of other systems.",
			payload:   strings.ReplaceAll(kubeadmPayload, "\n", "\r\n"),
			installed: strings.ReplaceAll(kubeadmPayload, "\n", "\r\n"),
		},
		"Bootcmd": {
			reason:    "Even the earliest commands run in the same boot.",
			payload:   kubeadmPayload + "bootcmd:\n- mkdir -p /var/lib/boots && touch /var/lib/boots/bootcmd\n",
			installed: kubeadmPayload + "bootcmd:\n- mkdir -p /var/lib/boots && touch /var/lib/boots/bootcmd\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(tc.payload)
			m := newImage(t)
			out := m.boot(instanceID, userData(t, demo()))
			m.checkInstalled(tc.installed)
			m.checkSecrets(out)
			if strings.Contains(tc.installed, "/var/lib/boots/rendered") {
				want := "name: " + instanceID + "\nraw: {{ not.rendered }} as it is\ntoken: " + joinToken + "\n"
				if got := m.read("/var/lib/boots/rendered"); got != want {
					t.Errorf("%s\nrendered:\n got %s\nwant %s", tc.reason, got, want)
				}
			} else {
				m.checkRan(tc.reason, 1)
			}
			if name == "Bootcmd" && !m.exists("/var/lib/boots/bootcmd") {
				t.Error("bootcmd did not run")
			}
			m.boot(instanceID, userData(t, demo()))
			m.checkSecrets(m.bootLogs())
			if strings.Contains(m.bootLogs(), "Failed loading yaml") {
				t.Error("cloud-init cannot read it at the next boot")
			}
		})
	}
}

// TestBootOverruled: of the image's configuration, what comes before ours in the alphabet gives way. What comes after it
// does not, and that is said.
func TestBootOverruled(t *testing.T) {
	cases := map[string]struct {
		reason  string
		file    string
		text    string
		times   int
		warning string
	}{
		"Before": {
			reason: "Names with a dash come before ours.",
			file:   "99-image.cfg", text: "runcmd:\n- touch /image-ran\n", times: 1,
		},
		"AfterOther": {
			reason: "What ours does not set is no matter.",
			file:   "99_image.cfg", text: "# runcmd:\nfinal_message: over\nx:\n  runcmd: y\n", times: 1,
		},
		"After": {
			reason: "It replaces the key.",
			file:   "99_image.cfg", text: "final_message: over\nruncmd :\n- touch /image-ran\n",
			warning: "warning: /etc/cloud/cloud.cfg.d/99_image.cfg comes after " + configFile + " and overrules its runcmd",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(kubeadmPayload)
			m := newImage(t)
			m.write("/etc/cloud/cloud.cfg.d/"+tc.file, tc.text, 0o644)
			out := m.boot(instanceID, userData(t, demo()))
			m.checkSecrets(out)
			if got := strings.Count(m.read("/var/lib/boots/ran"), "joined"); got != tc.times {
				t.Errorf("%s\nruncmd ran %d times, want %d\n%s", tc.reason, got, tc.times, m.bootLogs())
			}
			want := "installed " + object + " as " + configFile
			if tc.warning != "" {
				want = tc.warning
			}
			if m.last() != want {
				t.Errorf("%s\nthe last line:\n got %s\nwant %s", tc.reason, m.last(), want)
			}
		})
	}
}

// TestBootRefused: the boot goes on without what is refused, and says so where people look.
func TestBootRefused(t *testing.T) {
	for name, payload := range map[string]string{
		"MIME":    "Content-Type: multipart/mixed; boundary=\"x\"\nMIME-Version: 1.0\n\n--x\nContent-Type: text/x-shellscript\n\ntouch /ran " + joinToken + "\n--x--\n",
		"Shell":   "#!/bin/sh\ntouch /ran\n: " + joinToken + "\n",
		"Garbage": "\x00\x01\xfe\xff" + joinToken,
		"BadYAML": "#cloud-config\nruncmd: [touch /ran, " + joinToken + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s3.put(payload)
			m := newImage(t)
			out := m.boot(instanceID, userData(t, demo()))
			m.checkSecrets(out)
			if m.exists("/ran") || len(m.leftovers()) > 0 {
				t.Errorf("it was run or left: %v", m.leftovers())
			}
			if got := strings.Count(m.read(logFile), "failed: "); got != 1 {
				t.Errorf("our log says %d times that it failed:\n%s", got, m.read(logFile))
			}
			if !strings.Contains(m.told(out), "aws-machinepool: failed: "+object+" is not ") {
				t.Errorf("cloud-init does not tell why:\n%s", m.told(out))
			}
		})
	}
}
