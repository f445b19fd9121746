package awsproxy

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// step of a refresh: it replaces one member in each.
const step = 2 * time.Second

// Statuses of an instance refresh that come about here.
const (
	Pending    = "Pending"
	InProgress = "InProgress"
	Cancelling = "Cancelling"
	Cancelled  = "Cancelled"
	Successful = "Successful"
	Failed     = "Failed"
)

// A Refresh is an instance refresh of a group.
type Refresh struct {
	ID         string `xml:"InstanceRefreshId"`
	Group      string `xml:"AutoScalingGroupName"`
	Status     string `xml:"Status"`
	Reason     string `xml:"StatusReason,omitempty"`
	Start      string `xml:"StartTime"`
	End        string `xml:"EndTime,omitempty"`
	Percentage int    `xml:"PercentageComplete"`
	Left       int    `xml:"InstancesToUpdate"`
}

// active while it has not come to its end.
func (r *Refresh) active() bool {
	return slices.Contains([]string{Pending, InProgress, Cancelling}, r.Status)
}

// refreshes are what moto lacks. They replace members by terminating them, whereupon moto launches others.
type refreshes struct {
	proxy   *Proxy
	context context.Context //nolint:containedctx // It ends what goes on between requests.
	stop    context.CancelFunc

	mu sync.Mutex
	// byGroup are all refreshes of a group, the newest first.
	byGroup map[string][]*Refresh
	count   int
}

func (s *refreshes) init(ctx context.Context, p *Proxy) {
	s.proxy, s.byGroup = p, map[string][]*Refresh{}
	s.context, s.stop = context.WithCancel(ctx)
}

// Refreshes of a group so far, the newest first.
func (p *Proxy) Refreshes(group string) []Refresh {
	p.refreshes.mu.Lock()
	defer p.refreshes.mu.Unlock()
	out := make([]Refresh, 0, len(p.refreshes.byGroup[group]))
	for _, r := range p.refreshes.byGroup[group] {
		out = append(out, *r)
	}
	return out
}

type described struct {
	XMLName   xml.Name   `xml:"InstanceRefreshes"`
	Refreshes []*Refresh `xml:"member"`
}

// answer a request about refreshes; nil for every other one.
func (s *refreshes) answer(r *http.Request, body []byte, action string) *http.Response {
	serve, known := map[string]func(form url.Values, group string) (string, *apiError){
		"StartInstanceRefresh":      s.start,
		"DescribeInstanceRefreshes": s.describe,
		"CancelInstanceRefresh":     s.cancel,
	}[action]
	if !known {
		return nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return refuse(r, http.StatusBadRequest, "ValidationError", "malformed")
	}
	result, refused := serve(form, form.Get("AutoScalingGroupName"))
	if refused != nil {
		return refuse(r, http.StatusBadRequest, refused.code, refused.message)
	}
	return reply(r, http.StatusOK, fmt.Sprintf("<%[1]sResponse><%[1]sResult>%[2]s</%[1]sResult></%[1]sResponse>", action, result))
}

type apiError struct{ code, message string }

func noGroup() *apiError {
	return &apiError{"ValidationError", "AutoScalingGroup name not found - null"}
}

func (s *refreshes) start(_ url.Values, group string) (string, *apiError) {
	members, err := s.members(group)
	if err != nil {
		return "", noGroup()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active(group) != nil {
		return "", &apiError{"InstanceRefreshInProgress", "a refresh is in progress already"}
	}
	s.count++
	r := &Refresh{
		ID: fmt.Sprintf("08b91cf7-8fa6-48af-b6a6-%012d", s.count), Group: group, Status: Pending, Left: len(members),
		Start: time.Now().UTC().Format(time.RFC3339),
	}
	s.byGroup[group] = append([]*Refresh{r}, s.byGroup[group]...)
	go s.run(r, members)
	return "<InstanceRefreshId>" + r.ID + "</InstanceRefreshId>", nil
}

func (s *refreshes) describe(form url.Values, group string) (string, *apiError) {
	if _, err := s.members(group); err != nil {
		return "", noGroup()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := described{}
	for _, r := range s.byGroup[group] {
		if id := form.Get("InstanceRefreshIds.member.1"); id == "" || id == r.ID {
			out.Refreshes = append(out.Refreshes, r)
		}
	}
	text, err := xml.Marshal(out)
	if err != nil {
		return "", &apiError{"InternalFailure", err.Error()}
	}
	return string(text), nil
}

func (s *refreshes) cancel(_ url.Values, group string) (string, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.active(group)
	if r == nil {
		return "", &apiError{"ActiveInstanceRefreshNotFound", "no refresh is active"}
	}
	r.Status = Cancelling
	return "<InstanceRefreshId>" + r.ID + "</InstanceRefreshId>", nil
}

// active refresh of a group; nil when none is.
func (s *refreshes) active(group string) *Refresh {
	if of := s.byGroup[group]; len(of) > 0 && of[0].active() {
		return of[0]
	}
	return nil
}

// run a refresh to its end.
func (s *refreshes) run(r *Refresh, members []string) {
	for done := 0; ; done++ {
		select {
		case <-s.context.Done():
			return
		case <-time.After(step):
		}
		if !s.goOn(r, done, len(members)) {
			return
		}
		if err := s.replace(r.Group, members[done]); err != nil {
			s.end(r, Failed, err.Error())
			return
		}
	}
}

// goOn with the next member, or end.
func (s *refreshes) goOn(r *Refresh, done, all int) bool {
	s.mu.Lock()
	cancelled := r.Status == Cancelling
	r.Left = all - done
	if all > 0 {
		r.Percentage = 100 * done / all
	}
	if !cancelled {
		r.Status = InProgress
	}
	s.mu.Unlock()
	switch {
	case cancelled:
		s.end(r, Cancelled, "Cancelled by a call")
		return false
	case done == all:
		s.end(r, Successful, "")
		return false
	}
	return true
}

func (s *refreshes) end(r *Refresh, status, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Status, r.Reason, r.End = status, reason, time.Now().UTC().Format(time.RFC3339)
}

// replace a member, if it still is one.
func (s *refreshes) replace(group, instance string) error {
	now, err := s.members(group)
	if err != nil {
		return err
	}
	if !slices.Contains(now, instance) {
		return nil
	}
	_, err = NewClient(s.proxy.moto, "refresh").Call(s.context, "autoscaling", "TerminateInstanceInAutoScalingGroup",
		Params{"InstanceId": instance, "ShouldDecrementDesiredCapacity": "false"})
	return err
}

// members of a group.
func (s *refreshes) members(group string) ([]string, error) {
	g, err := NewClient(s.proxy.moto, "refresh").Group(s.context, group)
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, fmt.Errorf("there is no group %s", group)
	}
	ids := make([]string, 0, len(g.Members))
	for _, m := range g.Members {
		ids = append(ids, m.ID)
	}
	return ids, nil
}
