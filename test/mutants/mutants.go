package main

// A mutant is the function with one mistake in it that someone has made, or could well make. It is an edit of one file:
// a text that must be there exactly once, and what stands there instead.
type mutant struct {
	// name says what the mistake does.
	name string
	// property that kills it.
	property string
	file     string
	from, to string
	// blind says that it is tried in histories without AWS reads: what is read makes up for it.
	blind bool
	// rare says that it takes four times as many histories as others to come out.
	rare bool
}

const (
	deletion    = "1, nothing in use is deleted"
	convergence = "2, the pool converges"
	refreshes   = "3, one refresh per roll"
	rotation    = "4, a rotation reaches S3 and nothing else"
	stillness   = "5, a converged pool stands still"
	capacity    = "6, desired capacity and members stay"
)

const (
	inMachine = "internal/rollout/machine.go"
	inLost    = "internal/rollout/lost.go"
	inPlan    = "internal/decision/plan.go"
	inAgain   = "internal/decision/again.go"
)

var mutants = []mutant{ //nolint:gochecknoglobals // A constant table.
	{
		name: "drops the old template in the run that moves the group", property: deletion,
		file: "internal/rollout/keep.go",
		from: "if !isSwitched(in.Group, p.CurrentID) {",
		to:   "if p.GroupID != p.CurrentID {",
	},
	{
		name: "drops the old template once the group was told to leave it, and is not seen to have", property: deletion,
		file: inMachine,
		from: "g.Sent == currentID && g.Observed == currentID",
		to:   "g.Sent == currentID",
	},
	{
		name: "drops a template to which the provider may be moving the group", property: deletion, blind: true,
		file: "internal/rollout/keep.go",
		from: "isUnused(t, in) {\n\t\t\tunused = append(unused, t)",
		to:   "!t.Unpersisted && t.ID != \"\" && !isNamed(in, t.ID) {\n\t\t\tspare[t.Resource] = true",
	},
	{
		name: "drops a template that a member was launched from", property: deletion,
		file: "internal/rollout/keep.go",
		from: "return m.TemplateID == id }",
		to:   "return m.TemplateID == id && m.Leaving }",
	},
	{
		name: "goes back to the old template while the provider may be leaving it", property: deletion,
		file:  "internal/rollout/attempt.go",
		from:  "t.Terminating || left",
		to:    "t.Terminating || left && in.Group == nil",
		blind: true,
	},
	{
		name: "sends a group back because of an old view of it", property: deletion,
		file:  "internal/rollout/sent.go",
		from:  "g == nil || g.Generation == 0 ||",
		to:    "g == nil || g.Generation != 0 ||",
		blind: true, rare: true,
	},
	{
		name: "holds nothing when the exports are gone", property: deletion,
		file: inPlan,
		from: "if observed == nil && (!composable || !staged) {",
		to:   "if !composable || observed == nil && !staged {",
	},
	{
		name: "drops the object when the Secret is gone", property: deletion,
		file: inPlan,
		from: "	case observed == nil && (!composable || p.claim.isHeld()):",
		to:   "	case observed == nil && (!composable || p.claim.isHeld()), obj.Bucket != \"\" && !composable:",
	},
	{
		name: "computes the group's name anew", property: deletion,
		file: "internal/decision/claim.go",
		from: "	if name := provenGroupName(o); name != \"\" {\n		return claim{name: name}",
		to:   "	if name := provenGroupName(o); name != \"\" {\n		if e != nil {\n			name = naming.FormerGroup(identityOf(o, e))\n		}\n		return claim{name: name}",
	},
	{
		name: "sends a group another name than it has in AWS", property: deletion,
		file: inPlan,
		from: "return cmp.Or(naming.GroupOfARN(g.ARN), g.Name)",
		to:   "return g.Name",
	},
	{
		name: "sends no external name", property: convergence,
		file: inPlan,
		from: "		ExternalName: cmp.Or(observed.ID, observed.ExternalName),\n		Name: ",
		to:   "		ExternalName: observed.ExternalName,\n		Name: ",
	},
	{
		name: "points the group at the template by name", property: convergence,
		file: "internal/managed/autoscalinggroup.go",
		from: "{ID: &g.TemplateID, Version:",
		to:   "{Name: &g.Name, Version:",
	},
	{
		name: "forgets the record of zones", property: convergence,
		file: "internal/zones/zones.go",
		from: "if recorded := parseRecord(in.RecordAnnotated); len(recorded) > 0 {",
		to:   "if recorded := slices.Sorted(maps.Keys(in.Cluster)); len(recorded) > 0 {",
	},
	{
		name: "never retries a lost roll", property: convergence,
		file: inLost,
		from: "	if !isLost(in, current) {",
		to:   "	if !isLost(in, current) || true {",
	},
	{
		name: "waits for a template that cannot be created", property: convergence,
		file: inLost,
		from: "	if current.ID == \"\" && current.Stuck != \"\" {\n		return again",
		to:   "	if current.ID == \"\" && current.Stuck != \"\" {\n		return false",
	},
	{
		name: "calls another attempt's template like the one before", property: convergence,
		file: inPlan,
		from: "naming.Template(p.claim.name, p.Current)",
		to:   "naming.Template(p.claim.name, naming.Attempt{RollKey: p.Current.RollKey})",
	},
	{
		name: "retries without bound", property: refreshes,
		file: inLost,
		from: "again := p.Current.Number%generation < MaxRetries",
		to:   "again := p.Current.Number%generation < 2*MaxRetries",
	},
	{
		name: "retries on the first reading", property: refreshes,
		file: inLost,
		from: "return again && isAgreed(in)",
		to:   "return again",
	},
	{
		name: "agrees on one answer", property: refreshes,
		file: "internal/rollout/lost.go",
		from: "again && isAgreed(in)",
		to:   "again && !in.Memory.LostReading.IsZero()",
	},
	{
		name: "believes a reading from before the switch", property: refreshes,
		file: inAgain,
		from: "Refresh: news && ",
		to:   "Refresh: news && len(d.Templates) > 1000 && ",
	},
	{
		name: "believes an older answer of another replica", property: capacity,
		file: inAgain,
		from: "Members: news && ",
		to:   "Members: news && len(d.Templates) > 1000 && ",
	},
	{
		name: "retries a refresh that failed", property: refreshes,
		file: inLost,
		from: "return r != nil && !IsActive(r.Status) && r.Status != statusSuccessful && isOfRoll",
		to:   "return r != nil && r.Status == statusCancelled && isOfRoll",
	},
	{
		name: "rolls for another instance type", property: refreshes,
		file: "internal/rollout/key.go",
		from: "Trigger: s.Rollout.Trigger}",
		to:   "Trigger: s.Rollout.Trigger + s.InstanceType}",
	},
	{
		name: "puts the payload into the template", property: rotation,
		file: inPlan,
		from: "UserData:     in.bootstrap.userData,",
		to:   "UserData:     in.bootstrap.userData + string(in.bootstrap.payload),",
	},
	{
		name: "writes the time of the reading into the status", property: convergence,
		file: "internal/decision/rollmessage.go",
		from: "return \"the group and every member use launch template \" + p.CurrentID",
		to:   "return \"the group and every member use launch template \" + p.CurrentID + o.AWS.Group.At.String()",
	},
	{
		name: "tells of a steady pool in every run", property: stillness,
		file: "internal/decision/event.go",
		from: "if !told[c.Type] || !known || same {",
		to:   "if !told[c.Type] || !known || same && p.Phase != rollout.PhaseIdle {",
	},
	{
		name: "includes LateInitialize", property: convergence,
		file: "internal/managed/managed.go",
		from: "v1.ManagementActionUpdate, v1.ManagementActionDelete,",
		to:   "v1.ManagementActionUpdate, v1.ManagementActionDelete, v1.ManagementActionLateInitialize,",
	},
	{
		name: "sends the desired capacity in forProvider", property: capacity,
		file: "internal/managed/autoscalinggroup.go",
		from: "			ForProvider:         p,\n",
		to:   "			ForProvider:         func() autoscaling.AutoscalingGroupParameters { p.DesiredCapacity = new(float64(g.Capacity.Initial)); return p }(),\n",
	},
	{
		name: "trusts a reading that lacks instances", property: capacity,
		file: "internal/membership/membership.go",
		from: "if len(missing) > 0 {",
		to:   "if len(missing) > 1000 {",
	},
	{
		name: "knows no members but those that a status shows, which may be from before them", property: capacity,
		file: "internal/decision/report.go",
		from: "membership.Updated(s.ProviderIDList, earlier.Value, p.members)",
		to:   "membership.Updated(s.ProviderIDList, nil, p.members)",
	},
	{
		name: "trusts a reading in which nothing is found", property: capacity,
		file: "internal/membership/membership.go",
		from: "!seen[instanceID(id)] }) {",
		to:   "!seen[instanceID(id)] }) && len(last) > 1000 {",
	},
}
