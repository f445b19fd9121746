package rollout

import "github.com/crossplane-contrib/function-aws-machinepool/internal/pool"

// isRetried reports whether the current attempt is given up for another, and remembers a roll that looks lost until the next
// reading says so too.
func isRetried(in Inputs, p *Plan, current Template) bool {
	again := p.Current.Number%generation < MaxRetries
	if current.ID == "" && current.Stuck != "" {
		return again
	}
	if !isLost(in, current) {
		if isUnread(in, current) {
			p.Memory.LostReading = in.Memory.LostReading
		}
		return false
	}
	p.Memory.LostReading = in.Memory.LostReading
	if p.Memory.LostReading.IsZero() {
		p.Memory.LostReading = in.Reading.Newest
	}
	return again && isAgreed(in)
}

// isUnread reports whether a run has no reading, and the status still speaks of the same template. What an earlier reading found
// then stays found: while AWS throttles, two readings in a row are rare, and a lost roll would never be told.
func isUnread(in Inputs, current Template) bool {
	return in.Reading == nil && in.Memory.RollKey == in.RollKey && in.Memory.SentID == current.ID
}

// isAgreed reports whether an earlier reading found the roll lost before this one, and that each part of this one is from after
// the whole of that. One answer that is kept while the other is renewed is not two.
func isAgreed(in Inputs) bool {
	return pool.IsAfter(in.Memory.LostReading, in.Reading.Oldest)
}

// isLost reports whether one reading finds the roll lost. The group is settled on the current template, members that a
// refresh would replace are on another, and no refresh has been at work since the template was made. A reading in which AWS
// has the group on another template is from before the switch, and no evidence.
func isLost(in Inputs, current Template) bool {
	if !isEvidence(in, current.ID) || !isSwitched(in.Group, current.ID) {
		return false
	}
	n, skipped := outdated(in.Reading, current.ID)
	return *n > len(skipped) && !in.Reading.isRefreshing() && !hasGivenUp(in, current)
}

// isEvidence reports whether a reading can tell whether the refresh of a switch was started: it is from after the switch, holds
// the newest refresh, and the provider is not about to start one.
func isEvidence(in Inputs, currentID string) bool {
	r := in.Reading
	return r != nil && r.RefreshRead && r.TemplateID == currentID && !in.Group.Busy
}

// hasGivenUp reports whether a refresh to the current template ended without success. Starting it again by itself could
// replace nodes forever, with an image that never joins.
func hasGivenUp(in Inputs, current Template) bool {
	r := in.Reading.Refresh
	return r != nil && !IsActive(r.Status) && r.Status != statusSuccessful && isOfRoll(r, in, current)
}
