package awsproxy

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/process"
)

// startTimeout is how long moto may take to be there. It imports for two or three seconds on an idle machine.
const startTimeout = time.Minute

//go:embed account.py
var accountPy string

// StartMoto starts moto with a Python that has it, and returns its URL.
func StartMoto(ctx context.Context, k *process.Keeper, python string) (string, error) {
	address := controlplane.FreeAddress()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	p, err := k.Start("moto", exec.Command(python, "-c", accountPy, port)) //nolint:noctx // The keeper stops it.
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	url := "http://" + address
	for {
		if req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/moto-api/", nil); err == nil {
			if rsp, err := http.DefaultClient.Do(req); err == nil {
				return url, rsp.Body.Close()
			}
		}
		select {
		case <-p.Done():
			return "", fmt.Errorf("moto ended: %w", p.Err())
		case <-ctx.Done():
			return "", fmt.Errorf("moto does not answer: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
