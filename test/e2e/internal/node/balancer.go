package node

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// A balancer sends one call after the other to each pod of a Service in turn, as Crossplane's gRPC client does where DNS gives it
// every pod's address. Here one name has one address, so the balancer is between: it serves with the pod's certificate, asks for
// Crossplane's, and calls a pod with that.
type balancer struct {
	// Address that it listens at.
	Address string

	transport http.RoundTripper

	mu   sync.Mutex
	pods []*Pod
	next int
}

// startBalancer for a service. The folder holds the certificate that Crossplane calls with.
func startBalancer(service, clientCerts string) (*balancer, error) {
	client, err := tls.LoadX509KeyPair(filepath.Join(clientCerts, "tls.crt"), filepath.Join(clientCerts, "tls.key"))
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(filepath.Join(clientCerts, "ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &balancer{Address: l.Addr().String(), transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{client}, ServerName: service},
	}}
	server := &http.Server{Handler: b, TLSConfig: &tls.Config{ //nolint:gosec // It serves this machine only.
		MinVersion: tls.VersionTLS12, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return b.certificate() },
	}}
	go func() { _ = server.ServeTLS(l, "", "") }()
	return b, nil
}

// set the pods that calls go to.
func (b *balancer) set(pods []*Pod) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pods = pods
}

// certificate that the first pod was started with.
func (b *balancer) certificate() (*tls.Certificate, error) {
	b.mu.Lock()
	dir := b.pods[0].certs
	b.mu.Unlock()
	c, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	return &c, err
}

// inTurn are the pods, the one whose turn it is first.
func (b *balancer) inTurn() []*Pod {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]*Pod, 0, len(b.pods))
	for i := range b.pods {
		out = append(out, b.pods[(b.next+i)%len(b.pods)])
	}
	b.next++
	return out
}

// ServeHTTP serves a call, which is a request of HTTP/2 with its status in trailers.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rsp, err := b.call(r, body)
	if err != nil {
		// A gRPC client takes this for Unavailable.
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer func() { _ = rsp.Body.Close() }()
	maps.Copy(w.Header(), rsp.Header)
	w.WriteHeader(rsp.StatusCode)
	_, _ = io.Copy(w, rsp.Body)
	for k, v := range rsp.Trailer {
		w.Header()[http.TrailerPrefix+k] = v
	}
}

// call the pod whose turn it is, or the next one where it does not listen.
func (b *balancer) call(r *http.Request, body []byte) (*http.Response, error) {
	err := errors.New("no pod runs")
	for _, pod := range b.inTurn() {
		out := r.Clone(r.Context())
		out.RequestURI, out.Body, out.ContentLength = "", io.NopCloser(bytes.NewReader(body)), int64(len(body))
		out.URL.Scheme, out.URL.Host = "https", pod.Address
		var rsp *http.Response
		if rsp, err = b.transport.RoundTrip(out); err == nil {
			return rsp, nil
		}
		var dial *net.OpError
		if !errors.As(err, &dial) || dial.Op != "dial" {
			return nil, err
		}
	}
	return nil, err
}
