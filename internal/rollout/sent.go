package rollout

import "slices"

// isOld reports whether the group is seen as it was before the last run sent it to another template. A cache that lags behind shows
// a group that has not been sent yet what the provider may be acting on by now. The API server gives a resource another
// generation with every change of its spec, so whatever was sent by a run that went on from one generation is beyond that.
// Where the status is the older one, the group is beyond it as well.
func isOld(in Inputs) bool {
	g, m := in.Group, in.Memory
	if g == nil || g.Generation == 0 || g.Generation > m.Generation || g.Sent == m.SentID {
		return false
	}
	return slices.ContainsFunc(in.Templates, func(t Template) bool { return t.ID != "" && t.ID == m.SentID })
}

// asSent is the group as the last run left it, of which nothing is observed.
func asSent(in Inputs) *Group {
	return &Group{Sent: in.Memory.SentID, Generation: in.Memory.Generation, Busy: in.Group.Busy}
}

// sentFrom is the generation from which a run goes on that tells the group to use a template. Where what is seen is old, that
// is the one that the last run made, if this one makes another.
func sentFrom(in Inputs, old bool, groupID string) int64 {
	switch {
	case in.Group == nil:
		return 0
	case old && groupID != in.Group.Sent:
		return in.Group.Generation + 1
	}
	return in.Group.Generation
}
