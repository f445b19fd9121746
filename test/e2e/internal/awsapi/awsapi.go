// Package awsapi serves the four reads that the function makes of AWS, over HTTP as AWS does, from the simulator's account.
package awsapi

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
)

// A Server of AWS's API.
type Server struct {
	// URL to send requests to.
	URL string

	look   func(func(a *simulator.AWS))
	server *http.Server
	calls  atomic.Int64
	others sync.Map
}

// Start a server of the account that look lets it look at.
func Start(look func(func(a *simulator.AWS))) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + l.Addr().String(), look: look}
	s.server = &http.Server{Handler: s} //nolint:gosec // It serves this machine only.
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

// Stop the server.
func (s *Server) Stop() { _ = s.server.Close() }

// A region that another server serves.
type region struct {
	proxy *httputil.ReverseProxy
	cut   atomic.Bool
}

// Forward the calls of a region to another server.
func (s *Server) Forward(name, to string) error {
	target, err := url.Parse(to)
	if err != nil {
		return err
	}
	s.others.Store(name, &region{proxy: httputil.NewSingleHostReverseProxy(target)})
	return nil
}

// Cut the wire to a forwarded region, until it is called with false: connections end without an answer.
func (s *Server) Cut(name string, cut bool) {
	if r, ok := s.others.Load(name); ok {
		r.(*region).cut.Store(cut) //nolint:forcetypeassert // There is nothing else in it.
	}
}

// forward a call of a region that is not the simulator's. Moto has no instance refresh, so there never was one.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, body []byte, action string) bool {
	// Credential=<key>/<date>/<region>/<service>/aws4_request
	scope := strings.Split(r.Header.Get("Authorization"), "/")
	if len(scope) < 4 {
		return false
	}
	other, ok := s.others.Load(scope[2])
	if !ok {
		return false
	}
	to, _ := other.(*region)
	switch {
	case to.cut.Load():
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	case action == "DescribeInstanceRefreshes":
		answer(w, describeRefreshes{})
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		to.proxy.ServeHTTP(w, r)
	}
	return true
}

// Calls that were served so far.
func (s *Server) Calls() int64 { return s.calls.Load() }

// ServeHTTP serves one call of EC2's or Auto Scaling's query API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	action := form.Get("Action")
	if s.forward(w, r, body, action) {
		return
	}
	serve, known := map[string]func(*simulator.AWS, url.Values) any{
		"DescribeAutoScalingGroups": groups,
		"DescribeInstanceRefreshes": refreshes,
		"DescribeInstances":         instances,
		"DescribeImages":            images,
	}[action]
	if !known {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>%s is refused by the test</Message></Error></Errors></Response>", action)
		return
	}
	var out any
	s.look(func(a *simulator.AWS) { out = serve(a, form) })
	answer(w, out)
}

func answer(w http.ResponseWriter, out any) {
	body, err := xml.Marshal(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// list of a form's values under a prefix, which it numbers from 1.
func list(form url.Values, prefix string) []string {
	var out []string
	for i := 1; form.Has(prefix + strconv.Itoa(i)); i++ {
		out = append(out, form.Get(prefix+strconv.Itoa(i)))
	}
	return out
}

// filter of EC2 by its name.
func filter(form url.Values, name string) []string {
	for i := 1; form.Has(fmt.Sprintf("Filter.%d.Name", i)); i++ {
		if form.Get(fmt.Sprintf("Filter.%d.Name", i)) == name {
			return list(form, fmt.Sprintf("Filter.%d.Value.", i))
		}
	}
	return nil
}

func groups(a *simulator.AWS, form url.Values) any {
	out := describeGroups{}
	for _, name := range list(form, "AutoScalingGroupNames.member.") {
		g := read(a, pool.Query{GroupName: name}).Group.Value
		if g == nil {
			continue
		}
		x := group{
			Name: g.Name, ARN: g.ARN, Desired: g.DesiredCapacity,
			Template: templateRef{ID: g.LaunchTemplateID},
		}
		if claim := read(a, pool.Query{Claims: []string{name}}).Claims[name].Value; claim != nil {
			x.MaxSize = claim.MaxSize
			x.Tags = []groupTag{
				{tagging.KeyCluster, claim.Owner.ClusterID}, {tagging.KeyNamespace, claim.Owner.Namespace}, {tagging.KeyPool, claim.Owner.Name},
			}
		}
		for _, m := range g.Members {
			x.Members = append(x.Members, member{
				ID: m.InstanceID, Zone: m.Zone, Lifecycle: m.LifecycleState, Protected: m.ProtectedFromScaleIn,
				Template: templateRef{ID: m.LaunchTemplateID},
			})
		}
		out.Groups = append(out.Groups, x)
	}
	return out
}

func refreshes(a *simulator.AWS, form url.Values) any {
	out := describeRefreshes{}
	name := form.Get("AutoScalingGroupName")
	if r := read(a, pool.Query{GroupName: name, Refresh: true}).Refresh.Value; r != nil {
		out.Refreshes = append(out.Refreshes, refresh{
			ID: r.ID, Group: name, Status: r.Status, Reason: r.StatusReason, Start: r.StartTime.Format("2006-01-02T15:04:05Z"),
			Percentage: r.PercentageComplete,
		})
	}
	return out
}

func instances(a *simulator.AWS, form url.Values) any {
	out := describeInstances{}
	for _, escaped := range filter(form, "tag:aws:autoscaling:groupName") {
		name := strings.ReplaceAll(escaped, `\`, "")
		for _, i := range read(a, pool.Query{GroupName: name}).Instances.Value {
			x := instance{ID: i.ID, Zone: i.Zone, State: i.State, Tags: []tag{{Key: "aws:autoscaling:groupName", Value: name}}}
			if len(i.InternalIPs) > 0 {
				x.IP = i.InternalIPs[0]
			}
			out.Instances = append(out.Instances, x)
		}
	}
	return out
}

// images by id, or by owner, name and architecture: all of them, as the account has them, oldest first.
func images(a *simulator.AWS, form url.Values) any {
	out := describeImages{}
	ids, owners, names, architectures := filter(form, "image-id"), list(form, "Owner."), filter(form, "name"), filter(form, "architecture")
	for n, i := range a.Images {
		named := slices.ContainsFunc(names, func(name string) bool { ok, err := path.Match(name, i.Name); return ok && err == nil })
		if slices.Contains(ids, i.ID) || named && slices.Contains(owners, i.Owner) && slices.Contains(architectures, i.Architecture) {
			out.Images = append(out.Images, image{
				ID: i.ID, Name: i.Name, Owner: i.Owner, Architecture: i.Architecture, Device: i.Device(), State: "available", Created: simulator.ImageDate(n),
			})
		}
	}
	return out
}
