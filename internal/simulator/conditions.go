package simulator

import (
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// A Condition of an object's status.
type Condition struct {
	Type, Status, Reason, Message string
}

// ConditionOf an object; the zero Condition when it has none of the type.
func ConditionOf(o Object, conditionType string) Condition {
	list, _ := Field(o, fieldStatus, fieldConditions).([]any)
	for _, c := range list {
		if Text(c, "type") == conditionType {
			return Condition{Type: conditionType, Status: Text(c, "status"), Reason: Text(c, "reason"), Message: Text(c, "message")}
		}
	}
	return Condition{}
}

// setCondition leaves the transition time alone unless the status changes, as Kubernetes does.
func setCondition(o Object, c Condition, now string) {
	list, _ := Field(o, fieldStatus, fieldConditions).([]any)
	fresh := Object{"type": c.Type, "status": c.Status, "reason": c.Reason, "lastTransitionTime": now}
	if c.Message != "" {
		fresh["message"] = c.Message
	}
	for i, old := range list {
		if Text(old, "type") != c.Type {
			continue
		}
		if Text(old, "status") == c.Status {
			fresh["lastTransitionTime"] = Text(old, "lastTransitionTime")
		}
		list[i] = fresh
		return
	}
	SetField(o, append(list, fresh), fieldStatus, fieldConditions)
}

// setConditions of the function's own. After a fatal response those that it lacks become Unknown (C2).
func (c *Crossplane) setConditions(rsp *fnv1.RunFunctionResponse, fatal bool) {
	var set []string
	for _, fc := range rsp.GetConditions() {
		set = append(set, fc.GetType())
		if isReserved(fc.GetType()) {
			continue
		}
		s := strings.TrimPrefix(fc.GetStatus().String(), "STATUS_CONDITION_")
		setCondition(c.XR, Condition{Type: fc.GetType(), Status: s[:1] + strings.ToLower(s[1:]), Reason: fc.GetReason(), Message: fc.GetMessage()}, c.now())
	}
	list, _ := Field(c.XR, fieldStatus, fieldConditions).([]any)
	for _, old := range list {
		t := Text(old, "type")
		if fatal && !slices.Contains(set, t) && !isReserved(t) {
			setCondition(c.XR, Condition{Type: t, Status: "Unknown", Reason: "FatalError"}, c.now())
		}
	}
	synced := Condition{Type: typeSynced, Status: "True", Reason: "ReconcileSuccess"}
	if fatal {
		synced = Condition{Type: typeSynced, Status: "False", Reason: "ReconcileError"}
	}
	setCondition(c.XR, synced, c.now())
}

// isReserved reports whether a condition is Crossplane's own; it skips a function's silently (C6).
func isReserved(t string) bool {
	return slices.Contains([]string{typeReady, typeSynced, "Healthy", "UpToDate", "Responsive"}, t)
}
