package main

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// slowFunction is a Function whose runs take their time.
type slowFunction struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	takes time.Duration
}

func (f slowFunction) RunFunction(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	time.Sleep(f.takes)
	return &fnv1.RunFunctionResponse{}, nil
}

// TestAFunctionThatIsToldToStopStillServes holds that a pod that leaves fails no run: Crossplane still calls it for a while.
func TestAFunctionThatIsToldToStopStillServes(t *testing.T) {
	t.Parallel()
	cmd, address := listen(t, "--insecure")
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(t.Context(), &fnv1.RunFunctionRequest{}); err != nil {
		t.Errorf("RunFunction(...) after SIGTERM: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the function should end without an error: %v", err)
	}
}

func TestDrain(t *testing.T) {
	type args struct {
		// takes is how long a run takes, begins when one begins after the function is told to stop.
		takes  time.Duration
		begins []time.Duration
	}
	cases := map[string]struct {
		reason string
		args   args
		// want is how long the process goes on.
		want time.Duration
	}{
		"NoRun": {
			reason: "Crossplane does not know yet that the pod leaves, so that its next run is still served.",
			want:   leaveTime,
		},
		"ShortRun": {
			reason: "A run that ends in time costs no time.",
			args:   args{takes: 10 * time.Millisecond, begins: []time.Duration{time.Second}},
			want:   leaveTime,
		},
		"LongRun": {
			reason: "A run that is on its way is waited for, and its response is sent.",
			args:   args{takes: 5 * time.Second, begins: []time.Duration{4 * time.Second}},
			want:   9*time.Second + quietTime,
		},
		"LateRun": {
			reason: "So is one that begins while another is waited for.",
			args:   args{takes: 5 * time.Second, begins: []time.Duration{4 * time.Second, 8 * time.Second}},
			want:   13*time.Second + quietTime,
		},
		"EndlessRun": {
			reason: "Kubernetes would kill the process a little later.",
			args:   args{takes: time.Minute, begins: []time.Duration{0}},
			want:   drainTime,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDrain(slowFunction{takes: tc.args.takes})
				runs := sync.WaitGroup{}
				for _, after := range tc.args.begins {
					runs.Go(func() {
						time.Sleep(after)
						if _, err := d.RunFunction(t.Context(), &fnv1.RunFunctionRequest{}); err != nil {
							t.Errorf("\n%s\nRunFunction(...): %v", tc.reason, err)
						}
					})
				}
				began := time.Now()
				d.wait()
				if got := time.Since(began); got != tc.want {
					t.Errorf("\n%s\nwait(): want to go on for %s, got %s", tc.reason, tc.want, got)
				}
				runs.Wait()
			})
		})
	}
}
