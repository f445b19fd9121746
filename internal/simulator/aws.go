package simulator

import (
	"encoding/base64"
	"fmt"
	"slices"
)

// A Call is a writing call of AWS's API. Reads are not calls: they never fail here, but for those of a Reader.
type Call string

// Calls of AWS's API.
const (
	CreateLaunchTemplate        Call = "CreateLaunchTemplate"
	CreateLaunchTemplateVersion Call = "CreateLaunchTemplateVersion"
	SetDefaultVersion           Call = "SetDefaultVersion"
	DeleteLaunchTemplate        Call = "DeleteLaunchTemplate"
	CreateAutoScalingGroup      Call = "CreateAutoScalingGroup"
	UpdateAutoScalingGroup      Call = "UpdateAutoScalingGroup"
	DeleteAutoScalingGroup      Call = "DeleteAutoScalingGroup"
	StartInstanceRefresh        Call = "StartInstanceRefresh"
	CancelInstanceRefresh       Call = "CancelInstanceRefresh"
	PutScalingPolicy            Call = "PutScalingPolicy"
	DeletePolicy                Call = "DeletePolicy"
	PutLifecycleHook            Call = "PutLifecycleHook"
	DeleteLifecycleHook         Call = "DeleteLifecycleHook"
	PutObject                   Call = "PutObject"
	DeleteObject                Call = "DeleteObject"
)

// An APIError is AWS's refusal of a call.
type APIError struct {
	Code, Message string
}

func (e *APIError) Error() string { return e.Code + ": " + e.Message }

// AWS is one account in one region.
type AWS struct {
	// Clock of the account, which the others go by too.
	Clock *Clock
	// Zones by subnet.
	Zones map[string]string
	// Images that can be looked up, oldest first.
	Images []Image
	// Templates by id, Groups by name, Instances by id, S3 by bucket/key.
	Templates map[string]*LaunchTemplate
	Groups    map[string]*Group
	Instances map[string]*Instance
	S3        map[string]*StoredObject
	// Calls counts the calls that were let through, whether or not they were refused then.
	Calls map[Call]int
	// Moves of groups from one launch template to another, in their order.
	Moves []*Move
	// RefreshDelay is how many more reconciles of a group lie between its move and the start of its refresh.
	RefreshDelay int
	// Refreshes counts those that were ever started.
	Refreshes int
	// Taken are the names that a template could not be created under.
	Taken map[string]bool
	// Collisions are those of them that another managed resource's template had, one whose id is known.
	Collisions []string
	// Misdeeds are deletions of what is in use.
	Misdeeds []string

	forgotten map[string]bool
	faults    map[Call]int
	ids       int
}

// An Image is an AMI.
type Image struct {
	ID, Name, Owner, Architecture string
	// RootDevice is its root device's name, /dev/sda1 when it is empty.
	RootDevice string
}

// A LaunchTemplate with its versions, of which the first is number 1.
type LaunchTemplate struct {
	ID, Name string
	Versions []Object
	Tags     any
}

// A StoredObject is an object in S3.
type StoredObject struct {
	Content []byte
	// Puts counts how often it was written.
	Puts int

	// sent is what the provider wrote last, which is all that it compares with.
	sent string
}

// NewAWS returns an empty account whose subnets are in zones.
func NewAWS(zones map[string]string) *AWS {
	return &AWS{
		Clock:     &Clock{},
		Zones:     zones,
		Templates: map[string]*LaunchTemplate{},
		Groups:    map[string]*Group{},
		Instances: map[string]*Instance{},
		S3:        map[string]*StoredObject{},
		Calls:     map[Call]int{},
		Taken:     map[string]bool{},
		forgotten: map[string]bool{},
		faults:    map[Call]int{},
	}
}

// FailNext makes the next n calls of a kind fail.
func (a *AWS) FailNext(c Call, n int) { a.faults[c] = n }

// Heal ends all faults.
func (a *AWS) Heal() { clear(a.faults) }

// Writes counts all calls so far. In a steady state it stands still.
func (a *AWS) Writes() int {
	n := 0
	for _, calls := range a.Calls {
		n += calls
	}
	return n
}

func (a *AWS) enter(c Call) error {
	if a.faults[c] > 0 {
		a.faults[c]--
		return &APIError{"Throttling", "rate exceeded for " + string(c)}
	}
	a.Calls[c]++
	return nil
}

// id returns an id that looks like AWS's and is the same in every replay.
func (a *AWS) id(prefix string) string {
	a.ids++
	return fmt.Sprintf("%s%017x", prefix, a.ids)
}

// TemplateNamed returns the launch template of a name, nil when there is none.
func (a *AWS) TemplateNamed(name string) *LaunchTemplate {
	for _, t := range a.Templates {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// createTemplate refuses a name that is taken: names are unique per account and region (A1). Shown is the id that
// the managed resource has in its status, which a provider that lost it creates again.
func (a *AWS) createTemplate(name, shown string, data Object, tags any) (string, error) {
	if err := a.enter(CreateLaunchTemplate); err != nil {
		return "", err
	}
	if t := a.TemplateNamed(name); t != nil {
		a.Taken[name] = true
		if t.ID != shown && !a.forgotten[t.ID] {
			a.Collisions = append(a.Collisions, name)
		}
		return "", &APIError{"InvalidLaunchTemplateName.AlreadyExistsException", "launch template name already in use: " + name}
	}
	t := &LaunchTemplate{ID: a.id("lt-"), Name: name, Versions: []Object{Clone(data)}, Tags: cloneAny(tags)}
	a.Templates[t.ID] = t
	return t.ID, nil
}

func (a *AWS) createTemplateVersion(id string, data Object) error {
	if err := a.enter(CreateLaunchTemplateVersion); err != nil {
		return err
	}
	t, ok := a.Templates[id]
	if !ok {
		return noTemplate(id)
	}
	t.Versions = append(t.Versions, Clone(data))
	return nil
}

// deleteTemplate does not ask who uses it: a group that does can launch nothing from then on.
func (a *AWS) deleteTemplate(id string) error {
	if err := a.enter(DeleteLaunchTemplate); err != nil {
		return err
	}
	if _, ok := a.Templates[id]; !ok {
		return noTemplate(id)
	}
	for _, name := range sortedKeys(a.Groups) {
		if a.Groups[name].TemplateID == id {
			a.Misdeeds = append(a.Misdeeds, "template "+id+" was deleted while the group used it")
		}
	}
	delete(a.Templates, id)
	return nil
}

// Forgotten reports whether a restart of the provider lost the id of a template before it was persisted. Such a template can
// stay behind, where it costs nothing.
func (a *AWS) Forgotten(id string) bool { return a.forgotten[id] }

func noTemplate(id string) error {
	return &APIError{"InvalidLaunchTemplateId.NotFound", "no launch template " + id}
}

func (a *AWS) putObject(key, contentBase64 string) error {
	if err := a.enter(PutObject); err != nil {
		return err
	}
	content, err := base64.StdEncoding.DecodeString(contentBase64)
	if err != nil {
		return &APIError{"MalformedContent", "content is not base64"}
	}
	o, ok := a.S3[key]
	if !ok {
		o = &StoredObject{}
		a.S3[key] = o
	}
	o.Content, o.sent = content, contentBase64
	o.Puts++
	return nil
}

func (a *AWS) deleteObject(key string) error {
	if err := a.enter(DeleteObject); err != nil {
		return err
	}
	a.Misdeeds = append(a.Misdeeds, "object "+key+" was deleted")
	delete(a.S3, key)
	return nil
}

// What follows is done by hand, behind the provider's back.

// RemoveTemplate out of band.
func (a *AWS) RemoveTemplate(id string) { delete(a.Templates, id) }

// RemoveObject out of band.
func (a *AWS) RemoveObject(key string) { delete(a.S3, key) }

// RemoveImage deregisters an image.
func (a *AWS) RemoveImage(id string) {
	a.Images = slices.DeleteFunc(a.Images, func(i Image) bool { return i.ID == id })
}
