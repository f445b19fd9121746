package observation

import (
	"slices"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
)

// LastConditions of the composite, as the last run reported them, by type.
func LastConditions(req *fnv1.RunFunctionRequest) map[condition.Type]condition.Condition {
	return ownConditions(req.GetObserved().GetComposite().GetResource())
}

// ownConditions are those of a composite that the function itself reports. There may be any number of others.
func ownConditions(xr *structpb.Struct) map[string]condition.Condition {
	conditions := map[string]condition.Condition{}
	for _, v := range at(xr, "status", "conditions").GetListValue().GetValues() {
		c := v.GetStructValue()
		if t := text(c, "type"); slices.Contains(condition.Types(), t) {
			conditions[t] = condition.New(t, condition.Status(text(c, "status")), text(c, "reason"), text(c, "message"))
		}
	}
	return conditions
}

// conditionsOf a resource, by type.
func conditionsOf(s *structpb.Struct) map[string]condition.Condition {
	conditions := map[string]condition.Condition{}
	for _, v := range at(s, "status", "conditions").GetListValue().GetValues() {
		c := v.GetStructValue()
		t := text(c, "type")
		// As they are: a provider's message can be long, and what tells its error may stand at the end.
		conditions[t] = condition.Condition{Type: t, Status: condition.Status(text(c, "status")), Reason: text(c, "reason"), Message: text(c, "message")}
	}
	return conditions
}
