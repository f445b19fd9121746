package awsproxy

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// A Proxy before moto.
type Proxy struct {
	// URL that callers send their requests to.
	URL string

	moto    string
	callers map[string]string
	server  *http.Server

	mu    sync.Mutex
	calls []*Call
	rules []*Rule

	refreshes refreshes
}

// A Rule acts upon calls of one action by one caller.
type Rule struct {
	Caller, Action string
	// Times it acts before it is used up; once, when it is 0.
	Times int
	// Match chooses among the calls. All, when it is nil.
	Match func(*Call) bool
	// Code refuses the call with this error. AWS never sees it.
	Code string
	// Before runs when the call arrives, and After when AWS has done it and the caller does not know yet.
	Before, After func()

	acted int
}

// Start a proxy before moto. Callers are named by their access keys.
func Start(ctx context.Context, moto string, callers map[string]string) (*Proxy, error) {
	target, err := url.Parse(moto)
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{URL: "http://" + l.Addr().String(), moto: moto, callers: callers}
	p.refreshes.init(context.WithoutCancel(ctx), p)
	forward := &httputil.ReverseProxy{
		Transport: p,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Expect")
		},
	}
	p.server = &http.Server{Handler: forward} //nolint:gosec // It serves this machine only.
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// Stop the proxy.
func (p *Proxy) Stop() {
	p.refreshes.stop()
	_ = p.server.Close()
}

// On adds a rule.
func (p *Proxy) On(r *Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.Times = max(r.Times, 1)
	p.rules = append(p.rules, r)
}

// Acted says how often a rule did.
func (p *Proxy) Acted(r *Rule) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.acted
}

// Mark is a moment of the record. Since tells what was called after it.
func (p *Proxy) Mark() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls)
}

// Since a moment, what was called, in the order in which the calls came.
func (p *Proxy) Since(mark int) []*Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*Call, 0, len(p.calls)-mark)
	for _, c := range p.calls[mark:] {
		done := *c
		out = append(out, &done)
	}
	return out
}

// RoundTrip makes one call.
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	c := newCall(r, body, p.callers)
	rule := p.arrive(c)
	if rule.Before != nil {
		rule.Before()
	}
	rsp, err := p.answer(r, body, c, rule)
	if err != nil {
		return nil, err
	}
	if err := p.note(c, rsp); err != nil {
		return nil, err
	}
	if rule.After != nil {
		rule.After()
	}
	return rsp, nil
}

// arrive records a call and returns the rule that acts upon it; an empty one when none does.
func (p *Proxy) arrive(c *Call) *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
	for _, r := range p.rules {
		if r.acted < r.Times && r.Caller == c.Caller && r.Action == c.Action && (r.Match == nil || r.Match(c)) {
			r.acted++
			return r
		}
	}
	return &Rule{}
}

func (p *Proxy) answer(r *http.Request, body []byte, c *Call, rule *Rule) (*http.Response, error) {
	if rule.Code != "" {
		p.mu.Lock()
		c.Refused = true
		p.mu.Unlock()
		return refuse(r, http.StatusForbidden, rule.Code, "refused by the test"), nil
	}
	if rsp := p.refreshes.answer(r, body, c.Action); rsp != nil {
		return rsp, nil
	}
	// What the caller gives up is finished nevertheless, as in AWS.
	out := r.Clone(context.WithoutCancel(r.Context()))
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	rsp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(rsp.Body)
	if err != nil {
		return nil, err
	}
	_ = rsp.Body.Close()
	rsp.Body = io.NopCloser(bytes.NewReader(content))
	return rsp, nil
}

// errorCode in AWS's several shapes of an error.
type errorCode struct {
	Code   string `xml:"Code"`
	Error  string `xml:"Error>Code"`
	Errors string `xml:"Errors>Error>Code"`
}

// note how a call went.
func (p *Proxy) note(c *Call, rsp *http.Response) error {
	if rsp.StatusCode < http.StatusBadRequest {
		return nil
	}
	content, err := io.ReadAll(rsp.Body)
	if err != nil {
		return err
	}
	rsp.Body = io.NopCloser(bytes.NewReader(content))
	e := errorCode{}
	_ = xml.Unmarshal(content, &e)
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Code = e.Code + e.Error + e.Errors; c.Code == "" {
		c.Code = strconv.Itoa(rsp.StatusCode)
	}
	return nil
}

// refuse a request as the query APIs do. EC2 has another shape than the others.
func refuse(r *http.Request, status int, code, message string) *http.Response {
	text := fmt.Sprintf("<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>", code, message)
	if _, service := signer(r); service == "ec2" {
		text = fmt.Sprintf("<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors></Response>", code, message)
	}
	return reply(r, status, text)
}

func reply(r *http.Request, status int, text string) *http.Response {
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header:        http.Header{"Content-Type": {"text/xml"}},
		Body:          io.NopCloser(strings.NewReader(text)),
		ContentLength: int64(len(text)),
	}
}
