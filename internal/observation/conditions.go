package observation

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
)

// conditionsOf a resource, by type.
func conditionsOf(s *structpb.Struct) map[string]condition.Condition {
	conditions := map[string]condition.Condition{}
	for _, v := range at(s, "status", "conditions").GetListValue().GetValues() {
		c := v.GetStructValue()
		t := text(c, "type")
		conditions[t] = condition.New(t, condition.Status(text(c, "status")), text(c, "reason"), text(c, "message"))
	}
	return conditions
}
