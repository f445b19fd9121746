// Package main runs function-aws-machinepool, a Crossplane composition function that runs Kubernetes worker pools as
// AWS Auto Scaling groups.
package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/crossplane/function-sdk-go"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/encoding"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws"
)

// CLI of the function.
type CLI struct {
	Debug              bool   `help:"Emit debug logs in addition to info logs." short:"d"`
	Network            string `default:"tcp" help:"Network on which to listen for gRPC connections."`
	Address            string `default:":9443" help:"Address at which to listen for gRPC connections."`
	TLSCertsDir        string `env:"TLS_SERVER_CERTS_DIR" help:"Directory of the server's certificate (tls.key, tls.crt) and of the CA that client certificates are verified with (ca.crt)."`
	Insecure           bool   `help:"Run without mTLS credentials. If you supply this flag --tls-certs-dir will be ignored."`
	MetricsAddress     string `default:":8080" help:"Address at which to serve Prometheus metrics. Empty serves none."`
	MaxRecvMessageSize int    `default:"16" help:"Maximum size of received messages in MB. An object of 1.5 MB in etcd can take several times as much in a message."`
}

// Run the function's gRPC server until it fails, or until the process is told to stop and its runs have ended.
func (c *CLI) Run() error {
	log, err := function.NewLogger(c.Debug)
	if err != nil {
		return err
	}
	reader := aws.NewReader(aws.WithLogger(log), aws.WithRegisterer(prometheus.DefaultRegisterer))
	requests := newDecoder()
	encoding.RegisterCodecV2(requests)
	runs := newDrain(requests.serving(NewFunction(WithLogger(log), WithAWSReader(reader))))

	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		failed <- function.Serve(runs,
			function.Listen(c.Network, c.Address),
			function.MTLSCertificates(c.TLSCertsDir),
			function.Insecure(c.Insecure),
			function.WithMetricsServer(c.MetricsAddress),
			function.MaxRecvMessageSize(c.MaxRecvMessageSize*1024*1024))
	}()
	select {
	case err := <-failed:
		return err
	case <-stop.Done():
		log.Info("Told to stop: waiting for the runs that are on their way")
		runs.wait()
		return nil
	}
}

func main() {
	ctx := kong.Parse(&CLI{}, kong.Description("A Crossplane composition function that runs Kubernetes worker pools as AWS Auto Scaling groups."))
	ctx.FatalIfErrorf(ctx.Run())
}
