package rollout

import "time"

// clockSkew is how far the clocks of the API server, which says when a template was made, and of AWS, which says when a
// refresh began, may be apart. Where a refresh is known by its id they do not matter.
const clockSkew = 2 * time.Minute

// isOfRoll reports whether a refresh was one to the current template. One from before the group was told to use that was one to
// another. Where it is not known which one that was, a refresh counts as earlier only if it began well before the template was
// made. One that failed must not be started again by itself, and one too many that waits for a person does no harm.
func isOfRoll(r *Refresh, in Inputs, current Template) bool {
	if earlier := earlierRefresh(in, current.ID); earlier != "" {
		return r.ID != earlier
	}
	return current.Resource != "" && !beganBefore(r, current)
}

// beganBefore reports whether a refresh began before a template was made, whatever the clocks say. AWS need not say when a refresh
// began, and has no answer for one that is Pending.
func beganBefore(r *Refresh, t Template) bool {
	return !r.Started.IsZero() && r.Started.Before(t.Created.Add(-clockSkew))
}

// earlierRefresh is the newest one from before the group was told to use a template. A status from before that run has it as
// the newest that was there.
func earlierRefresh(in Inputs, templateID string) string {
	if in.Memory.SentID == templateID {
		return in.Memory.EarlierRefresh
	}
	return in.Memory.NewestRefresh
}

// rememberedRefreshes are, for the next run, the newest refresh from before the group was told to use the template that it is
// told to use. Beside it is the newest of all while it is about to be told to use another.
func rememberedRefreshes(in Inputs, p Plan) (earlier, newest string) {
	if !isAboutToSwitch(in, p) {
		return earlierRefresh(in, p.CurrentID), ""
	}
	newest = in.Memory.NewestRefresh
	if r := in.Reading; r != nil && r.RefreshRead {
		newest = idOf(r.Refresh)
	}
	if p.CurrentID != "" && p.GroupID == p.CurrentID {
		return newest, ""
	}
	return in.Memory.EarlierRefresh, newest
}

func idOf(r *Refresh) string {
	if r == nil {
		return NoRefresh
	}
	return r.ID
}
