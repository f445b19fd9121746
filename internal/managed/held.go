package managed

import (
	"encoding/base64"
	"maps"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
)

// heldObject is the object as observed, with the payload that is to be, if there is one.
func heldObject(obj *decision.Object) decision.Held {
	if len(obj.Payload) == 0 || obj.Held == nil {
		return obj.Held
	}
	return with(obj.Held, base64.StdEncoding.EncodeToString(obj.Payload), "forProvider", "contentBase64")
}

// heldGroup is the group as observed, but for two fields. Its size is the pool's own, which needs nothing of what is missing. Its
// template is the one that the group was last told to use: what is observed can be older, and another template is another roll.
func heldGroup(g *decision.Group) decision.Held {
	held := with(g.Held, float64(g.Capacity.Min), "forProvider", "minSize")
	held = with(held, float64(g.Capacity.Max), "forProvider", "maxSize")
	if g.TemplateID == "" {
		return held
	}
	return with(held, g.TemplateID, "forProvider", "launchTemplate", "id")
}

// with a value at a path of the spec, whose parents have to be there; what is observed stays as it is.
func with(held decision.Held, value any, path ...string) decision.Held {
	if held == nil {
		return nil
	}
	out := *held
	out.Spec = maps.Clone(held.Spec)
	parent := out.Spec
	for _, name := range path[:len(path)-1] {
		child, ok := parent[name].(map[string]any)
		if !ok {
			return held
		}
		child = maps.Clone(child)
		parent[name] = child
		parent = child
	}
	parent[path[len(path)-1]] = value
	return &out
}
