package v1alpha1

import (
	"slices"
	"unicode/utf8"
)

// How many items lists and maps may have. The XRD's markers say the same; a test holds them together.
const (
	// MaxZones of a cluster. No AWS region has nearly as many, Local Zones and Wavelength Zones included.
	MaxZones = 64
	// MaxWorkerSecurityGroups on one network interface, where the account's quota is raised as far as it goes.
	// Source: https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-security-groups.
	MaxWorkerSecurityGroups = 16
	// MaxProviderIDs in a status: as many nodes as a Kubernetes cluster can have. They take about 230 kB, and etcd takes 1.5
	// MiB for the whole object. Source: https://kubernetes.io/docs/setup/best-practices/cluster-large/.
	MaxProviderIDs = 5000
	// MaxInstances is how many members a status lists one by one. A thousand take about 300 kB.
	MaxInstances = 1000
)

// How long what a status holds may be, in characters.
const (
	// MaxProviderIDLength is of a provider id: aws:///<zone>/<instance id>.
	MaxProviderIDLength = 128
	// MaxMessageLength is of a message for a person.
	MaxMessageLength = 2048

	maxNameLength         = 255
	maxARNLength          = 2048
	maxIDLength           = 64
	maxZoneLength         = 63
	maxWordLength         = 63
	maxReasonLength       = 128
	maxLabelKeyLength     = 317
	maxAttemptLength      = 32
	maxAddresses          = 16
	maxReasons            = 128
	maxDroppedLabels      = 128
	maxRememberedAttempts = 10
)

// Bound makes a status that the XRD takes: what is no identifier where one should be is left out, messages and lists
// are cut. Status is input, and holds what AWS and other objects say: one value that the API server refuses would keep the
// whole status from being written, in every run. It changes no list in place.
func (s *MachinePoolStatus) Bound() {
	identifier(&s.AutoscalingGroupName, maxNameLength)
	identifier(&s.ProviderID, maxARNLength)
	identifiers(&s.ProviderIDList, MaxProviderIDs, MaxProviderIDLength)
	identifier(&s.LaunchTemplateID, maxIDLength)
	identifier(&s.ImageID, maxIDLength)
	identifier(&s.ListedReading, maxIDLength)
	identifier(&s.DoubtedReading, maxIDLength)
	identifiers(&s.FailureDomains, MaxZones, maxZoneLength)
	identifiers(&s.InheritedFailureDomains, MaxZones, maxZoneLength)
	identifiers(&s.DroppedNodeLabels, maxDroppedLabels, maxLabelKeyLength)
	s.boundInstances()
	if s.Health != nil {
		h := *s.Health
		identifier(&h.State, maxWordLength)
		h.Message = cut(h.Message)
		identifiers(&h.Reasons, maxReasons, maxReasonLength)
		s.Health = &h
	}
	if s.Rollout != nil {
		r := *s.Rollout
		identifier(&r.RollKey, maxAttemptLength)
		identifier(&r.Phase, maxWordLength)
		r.Message = cut(r.Message)
		identifier(&r.LostReading, maxIDLength)
		identifier(&r.EarlierRefresh, maxIDLength)
		identifier(&r.NewestRefresh, maxIDLength)
		identifiers(&r.RetiredAttempts, len(r.RetiredAttempts), maxAttemptLength)
		r.RetiredAttempts = r.RetiredAttempts[max(0, len(r.RetiredAttempts)-maxRememberedAttempts):] // The latest are last.
		s.Rollout = &r
	}
}

// boundInstances leaves out the instances whose ids are none.
func (s *MachinePoolStatus) boundInstances() {
	if !slices.ContainsFunc(s.Instances, exceeds) && len(s.Instances) <= MaxInstances {
		return
	}
	bounded := make([]Instance, 0, min(len(s.Instances), MaxInstances))
	for _, i := range s.Instances[:min(len(s.Instances), MaxInstances)] {
		if !isIdentifier(i.ProviderID, MaxProviderIDLength) || !isIdentifier(i.InstanceID, maxIDLength) {
			continue
		}
		identifier(&i.FailureDomain, maxZoneLength)
		identifier(&i.State, maxWordLength)
		i.Addresses = slices.DeleteFunc(slices.Clone(i.Addresses), func(a Address) bool {
			return !isIdentifier(a.Type, maxWordLength) || !isIdentifier(a.Address, maxIDLength)
		})
		i.Addresses = i.Addresses[:min(len(i.Addresses), maxAddresses)]
		bounded = append(bounded, i)
	}
	s.Instances = bounded
}

func exceeds(i Instance) bool {
	return !isIdentifier(i.ProviderID, MaxProviderIDLength) || !isIdentifier(i.InstanceID, maxIDLength) ||
		!isIdentifier(i.FailureDomain, maxZoneLength) || !isIdentifier(i.State, maxWordLength) || len(i.Addresses) > maxAddresses ||
		slices.ContainsFunc(i.Addresses, func(a Address) bool {
			return !isIdentifier(a.Type, maxWordLength) || !isIdentifier(a.Address, maxIDLength)
		})
}

// identifier that is none is left out: a part of it would be another's.
func identifier(id *string, length int) {
	if !isIdentifier(*id, length) {
		*id = ""
	}
}

func identifiers(ids *[]string, items, length int) {
	isNone := func(id string) bool { return !isIdentifier(id, length) }
	if slices.ContainsFunc(*ids, isNone) {
		*ids = slices.DeleteFunc(slices.Clone(*ids), isNone)
	}
	*ids = (*ids)[:min(len(*ids), items)]
}

// dots stand for what a message lacks.
const dots = "..."

// cut a message that is too long.
func cut(message string) string {
	if fits(message, MaxMessageLength) {
		return message
	}

	kept := 0
	for i := range message {
		if kept == MaxMessageLength-len(dots) {
			return message[:i] + dots
		}
		kept++
	}

	return message
}

// isIdentifier reports whether a text can be an identifier of at most so many characters. Those that a status holds are of printable
// ASCII characters.
func isIdentifier(s string, length int) bool {
	if len(s) > length {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// fits counts characters, as the API server does, and where there are fewer bytes need not.
func fits(s string, length int) bool { return len(s) <= length || utf8.RuneCountInString(s) <= length }
