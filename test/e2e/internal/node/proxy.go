package node

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// A Proxy is the DNS and the Services of the cluster: an HTTP proxy that connects a Service's host and port to wherever
// its pod listens. Only bytes pass, so that TLS is between Crossplane and the function.
type Proxy struct {
	// Address that it listens at.
	Address string

	mu     sync.Mutex
	routes map[string]string
	open   map[net.Conn]string
	server *http.Server
}

// StartProxy starts a proxy.
func StartProxy() (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{Address: l.Addr().String(), routes: map[string]string{}, open: map[net.Conn]string{}}
	p.server = &http.Server{Handler: p} //nolint:gosec // It serves this machine only.
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// Route a Service's host and port to a pod's address, or to none. Connections to another one end, as they do when a pod
// is replaced.
func (p *Proxy) Route(service, pod string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.routes[service] == pod {
		return
	}
	p.routes[service] = pod
	for conn, of := range p.open {
		if of == service {
			_ = conn.Close()
		}
	}
}

// ServeHTTP serves CONNECT.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	pod := p.routes[r.Host]
	p.mu.Unlock()
	if r.Method != http.MethodConnect || pod == "" {
		http.Error(w, "no such service: "+r.Host, http.StatusBadGateway)
		return
	}
	dialer := net.Dialer{}
	to, err := dialer.DialContext(context.WithoutCancel(r.Context()), "tcp", pod)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = to.Close()
		return
	}
	_, _ = io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n")
	p.mu.Lock()
	p.open[to] = r.Host
	p.mu.Unlock()
	go func() {
		_, _ = io.Copy(to, buffered)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
	_ = from.Close()
	_ = to.Close()
	p.mu.Lock()
	delete(p.open, to)
	p.mu.Unlock()
}

// Stop the proxy.
func (p *Proxy) Stop() { _ = p.server.Close() }
