// Package process starts programs and stops all that it started, whatever happens to the tests.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// patience with a program that is asked to stop.
const patience = 10 * time.Second

// A Keeper keeps the programs of one run of the tests, and their logs.
//
// Each program leads a process group of its own, so that a ctrl-C at the terminal does not reach it before the tests have
// had their say. So it can also be stopped with all it started. When the tests die without a word, the kernel kills the
// programs.
type Keeper struct {
	// Dir holds a log of each program.
	Dir string

	starts chan func()
	mu     sync.Mutex
	kept   []*Process
}

// NewKeeper returns a Keeper that logs below dir.
func NewKeeper(dir string) *Keeper {
	k := &Keeper{Dir: dir, starts: make(chan func())}
	go func() {
		// The kernel kills a child when the thread that started it ends, and Go ends threads as it likes. This one stays.
		runtime.LockOSThread()
		for start := range k.starts {
			start()
		}
	}()
	return k
}

// A Process is a program that runs.
type Process struct {
	// Name of the program in its log and in errors.
	Name string

	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
	err  error
}

// Start a program. Its log is appended to, so that a restart keeps it.
func (k *Keeper) Start(name string, cmd *exec.Cmd) (*Process, error) {
	log, err := os.OpenFile(filepath.Join(k.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p := &Process{Name: name, cmd: cmd, log: log, done: make(chan struct{})}

	started := make(chan error)
	k.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start %s: %w", name, err), log.Close())
	}
	go func() {
		p.err = cmd.Wait()
		_ = log.Close()
		close(p.done)
	}()

	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, p)
	return p, nil
}

// Run a program to its end.
func (k *Keeper) Run(ctx context.Context, name string, cmd *exec.Cmd) error {
	p, err := k.Start(name, cmd)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("%s: %w: see %s", name, p.err, p.log.Name())
		}
		return nil
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("%s: %w: see %s", name, ctx.Err(), p.log.Name())
	}
}

// StopAll that was started, the last first.
func (k *Keeper) StopAll() {
	k.mu.Lock()
	kept := k.kept
	k.kept = nil
	k.mu.Unlock()
	for _, p := range slices.Backward(kept) {
		p.Stop()
	}
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the program ended, once it did.
func (p *Process) Err() error { return p.err }

// PID of the program.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop the program in an orderly way, or else by force.
func (p *Process) Stop() {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(patience):
	}
	p.Kill()
}

// Kill the program with all that it started.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// CPU time that the program has used so far.
func (p *Process) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, err
	}
	return cpu(stat)
}

func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done:
		// Its id may be another's by now.
	default:
		_ = syscall.Kill(-p.PID(), s)
	}
}
