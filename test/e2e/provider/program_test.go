//go:build e2eprovider

package provider

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/process"
)

// poll is how often the provider looks at what stands still. Its default is 10 minutes.
const poll = 15 * time.Second

// A program is one of provider-aws's.
type program struct {
	service string

	mu      sync.Mutex
	process *process.Process
	metrics string
}

func (s *suite) startPrograms(ctx context.Context) error {
	for _, service := range []string{"autoscaling", "ec2", "s3"} {
		p := &program{service: service}
		if err := p.start(); err != nil {
			return err
		}
		s.programs[service] = p
	}
	for _, p := range s.programs {
		if err := p.await(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) start() error {
	webhook, metrics, health := controlplane.FreeAddress(), controlplane.FreeAddress(), controlplane.FreeAddress()
	_, port, err := net.SplitHostPort(webhook)
	if err != nil {
		return err
	}
	// Without certificates it serves no webhook, and the kinds are there in one version each.
	cmd := exec.Command(s.bin("provider-aws-"+p.service),
		"--debug", "--poll="+poll.String(), "--certs-dir=", "--webhook-port="+port, "--metrics-bind-address="+metrics, "--health-probe-bind-addr="+health)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubernetes.Kubeconfig, "AWS_EC2_METADATA_DISABLED=true")
	started, err := s.keeper.Start("provider-aws-"+p.service, cmd)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process, p.metrics = started, "http://"+metrics+"/metrics"
	return nil
}

// await the program.
func (p *program) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return kube.Poll(ctx, 500*time.Millisecond, func() (bool, string) {
		// It may be killed and started again meanwhile.
		p.mu.Lock()
		metrics, running := p.metrics, p.process
		p.mu.Unlock()
		select {
		case <-running.Done():
			return false, fmt.Sprintf("provider-aws-%s ended: %v", p.service, running.Err())
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, metrics, nil)
		if err != nil {
			return false, err.Error()
		}
		rsp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, err.Error()
		}
		_ = rsp.Body.Close()
		return rsp.StatusCode == http.StatusOK, rsp.Status
	})
}

// kill the program by SIGKILL and start it again, as a kubelet does.
func (p *program) kill() {
	p.mu.Lock()
	running := p.process
	p.mu.Unlock()
	running.Kill()
	if err := p.start(); err != nil {
		// Nothing comes about any more, and the tests say so.
		sayf("provider-aws-%s: %v", p.service, err)
	}
}
