package bootstrap

import (
	"slices"
	"strings"
)

// FilterNodeLabels parts the labels a kubelet may register its Node with from those it may not. The kept ones are a
// new map, nil when empty; the dropped ones are keys, sorted.
//
// It does not judge syntax: a label that is no Kubernetes label at all is the caller's to refuse, as UserData does.
func FilterNodeLabels(labels map[string]string) (kept map[string]string, dropped []string) {
	for key, value := range labels {
		if !kubeletMaySet(key) {
			dropped = append(dropped, key)
			continue
		}
		if kept == nil {
			kept = make(map[string]string, len(labels))
		}
		kept[key] = value
	}
	slices.Sort(dropped)
	return kept, dropped
}

// kubeletLabels are the keys under kubernetes.io that a kubelet may set whatever their prefix.
//
// Source: kubeletLabels in k8s.io/kubelet/pkg/apis/well_known_labels.go, v1.35.
var kubeletLabels = []string{ //nolint:gochecknoglobals // A constant list.
	"beta.kubernetes.io/arch",
	"beta.kubernetes.io/instance-type",
	"beta.kubernetes.io/os",
	"failure-domain.beta.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone",
	"kubernetes.io/arch",
	"kubernetes.io/hostname",
	"kubernetes.io/os",
	"node.kubernetes.io/instance-type",
	"topology.kubernetes.io/region",
	"topology.kubernetes.io/zone",
}

// kubeletMaySet reports whether a kubelet starts with the key among its --node-labels and the API server then admits the
// Node. A kubelet exits on any other key, and the instance never joins.
//
// Source: ValidateKubeletFlags in cmd/kubelet/app/options/options.go, v1.35. What the NodeRestriction admission plugin
// refuses on top of that (node-restriction.kubernetes.io and its subdomains) fails the same rule.
func kubeletMaySet(key string) bool {
	namespace, _, found := strings.Cut(key, "/")
	if !found {
		return true
	}
	if !inDomain(namespace, "kubernetes.io") && !inDomain(namespace, "k8s.io") {
		return true
	}
	return slices.Contains(kubeletLabels, key) ||
		inDomain(namespace, "kubelet.kubernetes.io") ||
		inDomain(namespace, "node.kubernetes.io")
}

// inDomain reports whether a DNS name is the domain or below it.
func inDomain(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}
