package main

import (
	"context"
	"embed"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// answers are what AWS says of the pool of example/with-reads, by action.
//
//go:embed aws
var answers embed.FS

// An aws stands in for AWS. It gives the same answers every time, whoever asks.
type aws struct {
	url  string
	stop func()
}

// startAWS on a free port of this machine.
func startAWS(ctx context.Context) (*aws, error) {
	listener := net.ListenConfig{}

	l, err := listener.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}

	server := &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Minute}

	// How it ends says nothing: it ends when stop closes it.
	go func() { _ = server.Serve(l) }()

	return &aws{url: "http://" + l.Addr().String(), stop: func() { _ = server.Close() }}, nil
}

// answer with the file of the action; an action that has none is not found.
func answer(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, answers, "aws/"+r.PostFormValue("Action")+".xml")
}

// environment of a function that reads it, and nothing else.
func (a *aws) environment() []string {
	env := os.Environ()
	for _, setting := range [][2]string{
		{"AWS_ENDPOINT_URL", a.url},
		{"AWS_ACCESS_KEY_ID", "example"},
		{"AWS_SECRET_ACCESS_KEY", "example"},
		{"AWS_EC2_METADATA_DISABLED", "true"},
		{"AWS_CONFIG_FILE", os.DevNull},
		{"AWS_SHARED_CREDENTIALS_FILE", os.DevNull},
	} {
		env = append(env, fmt.Sprintf("%s=%s", setting[0], setting[1]))
	}

	return env
}
