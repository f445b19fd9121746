//go:build boot

// Package boot boots the bootstrap stub, byte for byte as it ships, in a Debian chroot. Run it with test/boot/run.sh,
// which makes the chroot and the namespaces it needs.
package boot

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
)

const (
	configFile = "/etc/cloud/cloud.cfg.d/99-zzz-aws-machinepool.cfg"
	logFile    = "/var/log/aws-machinepool.log"
	marker     = "/var/lib/cloud/instance/aws-machinepool"
	hookFile   = "/var/lib/cloud/instance/boothooks/part-001"

	instanceID = "i-0aaa"
)

// What the run.sh that started us has made.
var (
	image = os.Getenv("MACHINEPOOL_BOOT_IMAGE")
	work  = os.Getenv("MACHINEPOOL_BOOT_WORK")
)

func TestMain(m *testing.M) {
	if image == "" || work == "" {
		os.Stderr.WriteString("start this with test/boot/run.sh: it needs a chroot and namespaces of its own\n")
		os.Exit(1)
	}
	if err := startServers(); err != nil {
		os.Stderr.WriteString("start servers: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// demo is the stub most tests run.
func demo() bootstrap.Stub {
	return bootstrap.Stub{
		Format: v1alpha1.BootstrapFormatCloudConfig,
		Region: "us-east-1",
		Bucket: "demo-bootstrap",
		Key:    "pool/demo-pool-0",
	}
}

const demoHost = "demo-bootstrap.s3.us-east-1.amazonaws.com"

// userData is the shipped stub.
func userData(t *testing.T, s bootstrap.Stub) string {
	t.Helper()
	text, err := bootstrap.UserData(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A machine is an instance: an overlay of the chroot, thrown away with the test.
type machine struct {
	t    *testing.T
	dir  string // holds the overlay's parts
	root string
	env  []string
}

// newMachine makes an instance that knows S3's host names and trusts our CA. Its sleep takes no time, and writes down
// how long it was to be.
func newMachine(t *testing.T, hosts ...string) *machine {
	t.Helper()
	dir, err := os.MkdirTemp(work, "machine-") //nolint:usetesting // Overlays need the file system mounted there.
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir, root: filepath.Join(dir, "root"), env: []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		// Debian's AWS CLI brings a list of CAs, other images take the system's: either way ours is the machine's affair.
		"AWS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt",
	}}
	for _, part := range []string{"root", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(dir, part), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, point := range []string{"/run", "/sys", "/proc", "/dev/pts", ""} {
			_ = syscall.Unmount(m.root+point, syscall.MNT_DETACH)
		}
		_ = os.RemoveAll(dir)
	})
	options := "lowerdir=" + image + ",upperdir=" + dir + "/upper,workdir=" + dir + "/work"
	for _, mount := range []struct {
		kind, point, options string
		flags                uintptr
	}{
		{kind: "overlay", options: options},
		{kind: "devpts", point: "/dev/pts", options: "newinstance"},
		{kind: "proc", point: "/proc"},
		{kind: "sysfs", point: "/sys", flags: syscall.MS_RDONLY},
		{kind: "tmpfs", point: "/run"},
	} {
		if err := syscall.Mount(mount.kind, m.root+mount.point, mount.kind, mount.flags, mount.options); err != nil {
			t.Fatalf("mount %s: %v", mount.kind, err)
		}
	}
	m.remove("/dev/console") // It is this machine's.
	m.resolve("127.0.0.1", append(hosts, demoHost)...)
	m.write("/etc/ssl/certs/ca-certificates.crt", m.read("/etc/ssl/certs/ca-certificates.crt")+authority.pem, 0o644)
	m.write("/usr/local/bin/sleep", "#!/bin/sh\nprintf '%s\\n' \"$1\" >>/run/slept\n", 0o755)
	m.write("/var/lib/cloud/instance/keep", "", 0o644)
	return m
}

// withoutCLI takes the AWS CLI off the machine.
func (m *machine) withoutCLI() *machine {
	m.remove("/usr/bin/aws")
	return m
}

// resolve makes the names resolve to the address, and no others.
func (m *machine) resolve(address string, names ...string) {
	m.t.Helper()
	m.write("/etc/resolv.conf", "nameserver 127.0.0.1\n", 0o644) // Nobody listens there: a lookup fails at once.
	m.write("/etc/hosts", "127.0.0.1 localhost\n"+address+" "+strings.Join(names, " ")+"\n", 0o644)
}

func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

func (m *machine) write(name, text string, mode fs.FileMode) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path(name), []byte(text), mode); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chmod(m.path(name), mode); err != nil {
		m.t.Fatal(err)
	}
}

// read is the file's text, empty when there is no such file.
func (m *machine) read(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(m.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.t.Fatal(err)
	}
	return string(text)
}

func (m *machine) exists(name string) bool {
	_, err := os.Lstat(m.path(name))
	return err == nil
}

func (m *machine) remove(name string) {
	m.t.Helper()
	if err := os.RemoveAll(m.path(name)); err != nil {
		m.t.Fatal(err)
	}
}

// A result is how a command ended and all that it printed.
type result struct {
	code int
	out  string
}

// run runs a command on the machine.
func (m *machine) run(argv ...string) result {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := m.command(ctx, argv...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("%v: %v", argv, err)
	}
	return result{code: cmd.ProcessState.ExitCode(), out: out.String()}
}

func (m *machine) command(ctx context.Context, argv ...string) *exec.Cmd {
	m.t.Helper()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if !filepath.IsAbs(argv[0]) { // Looked up on the machine, not here.
		cmd = exec.CommandContext(ctx, "/usr/bin/env", argv...)
	}
	cmd.Dir = "/"
	cmd.Env = m.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: m.root, Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// hook runs the stub as cloud-init does, without its first line and with the instance's id in the environment, or with
// the given shell instead of its own.
func (m *machine) hook(s bootstrap.Stub, shell ...string) result {
	m.t.Helper()
	m.install(s)
	return m.run(append(shell, hookFile)...)
}

func (m *machine) install(s bootstrap.Stub) {
	m.t.Helper()
	_, script, _ := strings.Cut(userData(m.t, s), "\n")
	m.write(hookFile, script, 0o700)
	m.env = append(m.env, "INSTANCE_ID="+instanceID)
}

// edit changes a constant of the installed stub, which must be there: a test of a limit need not wait for all of it.
func (m *machine) edit(before, after string) {
	m.t.Helper()
	text := m.read(hookFile)
	if strings.Count(text, before) != 1 {
		m.t.Fatalf("the stub holds %q %d times, want once", before, strings.Count(text, before))
	}
	m.write(hookFile, strings.ReplaceAll(text, before, after), 0o700)
}

// readOnly puts a file system there that nobody can write to.
func (m *machine) readOnly(dir string) {
	m.t.Helper()
	if err := os.MkdirAll(m.path(dir), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", m.path(dir), "tmpfs", syscall.MS_RDONLY, ""); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = syscall.Unmount(m.path(dir), syscall.MNT_DETACH) })
}

// lines are the lines of our log, without their times.
func (m *machine) lines() []string {
	m.t.Helper()
	var lines []string
	for line := range strings.Lines(m.read(logFile)) {
		_, said, _ := strings.Cut(strings.TrimSpace(line), " aws-machinepool: ")
		lines = append(lines, said)
	}
	return lines
}

// last is the last line of our log.
func (m *machine) last() string {
	m.t.Helper()
	lines := m.lines()
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// leftovers are the names in cloud.cfg.d that the image did not bring.
func (m *machine) leftovers() []string {
	m.t.Helper()
	entries, err := os.ReadDir(m.path(filepath.Dir(configFile)))
	if err != nil {
		m.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "99-") || strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names
}

// checkSecrets fails when a credential was written anywhere, or a payload's secret where others than root can read it
// or into a log.
func (m *machine) checkSecrets(outputs ...string) {
	m.t.Helper()
	credentials := []string{roleSecret, roleToken, metadataToken}
	for _, out := range outputs {
		for _, secret := range append(credentials, joinToken) {
			if strings.Contains(out, secret) {
				m.t.Errorf("%q was printed", secret)
			}
		}
	}
	for _, dir := range []string{filepath.Join(m.dir, "upper"), m.path("/run")} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			for _, secret := range credentials {
				if bytes.Contains(text, []byte(secret)) {
					m.t.Errorf("%s holds the credential %q", path, secret)
				}
			}
			readable := info.Mode().Perm()&0o077 != 0 && !privateParent(filepath.Dir(path), dir) && !writtenByPayload(path)
			if bytes.Contains(text, []byte(joinToken)) && (readable || strings.Contains(path, "/var/log/")) {
				m.t.Errorf("%s (%v) holds the payload's secret", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// writtenByPayload reports whether the payload, and not the boot, chose who may read the file.
func writtenByPayload(path string) bool {
	return strings.Contains(path, "/run/kubeadm/") || strings.Contains(path, "/var/lib/boots/")
}

// privateParent reports whether a directory from path up to root keeps all but root out.
func privateParent(path, root string) bool {
	for ; path != root; path = filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 == 0 {
			return true
		}
	}
	return false
}

// checkInstalled fails unless the payload is installed, whole, private and alone.
func (m *machine) checkInstalled(payload string) {
	m.t.Helper()
	if got := m.read(configFile); got != payload {
		m.t.Errorf("%s holds %d bytes, want the payload's %d; the log:\n%s",
			configFile, len(got), len(payload), m.read(logFile))
		return
	}
	info, err := os.Stat(m.path(configFile))
	if err != nil {
		m.t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		m.t.Errorf("%s has mode %v, want 0600", configFile, info.Mode())
	}
	if got := m.leftovers(); !slices.Equal(got, []string{filepath.Base(configFile)}) {
		m.t.Errorf("cloud.cfg.d holds %v", got)
	}
}

// checkNothing fails unless the stub gave up cleanly.
func (m *machine) checkNothing(r result, lastLine string) {
	m.t.Helper()
	if r.code == 0 {
		m.t.Error("the stub ended with 0, want another status")
	}
	if got := m.leftovers(); len(got) > 0 {
		m.t.Errorf("cloud.cfg.d holds %v", got)
	}
	if m.exists(marker) {
		m.t.Error("the instance counts as done")
	}
	if got := m.last(); got != lastLine {
		m.t.Errorf("the last line of the log:\n got %s\nwant %s", got, lastLine)
	}
}
