package simulator

import (
	"errors"
	"maps"
	"slices"
)

// An external is how the provider deals with one kind of resource in AWS.
type external struct {
	// initialize the external name of a managed resource that has none.
	initialize func(mr Object)
	// observe returns nil when AWS does not have it.
	observe func(a *AWS, id string, mr Object) (atProvider Object, upToDate bool)
	create  func(a *AWS, name string, mr Object) func() (id string, err error)
	update  func(a *AWS, id string, mr Object) func() (again bool, err error)
	remove  func(a *AWS, id string, mr Object) func() (again bool, err error)
	// lateInitialize copies what AWS reports into the spec.
	lateInitialize func(mr, atProvider Object)
}

func externals() map[string]external {
	return map[string]external{
		"LaunchTemplate":   launchTemplates(),
		"AutoscalingGroup": autoscalingGroups(),
		"Object":           storedObjects(),
		"Policy":           groupParts(PutScalingPolicy, DeletePolicy),
		"LifecycleHook":    groupParts(PutLifecycleHook, DeleteLifecycleHook),
	}
}

func forProvider(mr Object) Object {
	p, _ := Field(mr, fieldSpec, fieldForProvider).(Object)
	return p
}

// nameAsExternalName is upjet's for whatever is named by its user: without a name it takes the managed resource's own.
func nameAsExternalName(mr Object) {
	if externalName(mr) == "" {
		SetField(mr, Text(mr, fieldMetadata, "name"), fieldMetadata, fieldAnnotations, annotationExternalName)
	}
}

// assignedName is for what no user names.
func assignedName(Object) {}

func lateInitializesNothing(Object, Object) {}

// launchTemplates are named by AWS. Any difference makes a version (P1, P2).
func launchTemplates() external {
	data := func(mr Object) Object {
		return without(forProvider(mr), "region", "name", "tags", "updateDefaultVersion")
	}
	return external{
		initialize: assignedName,
		observe: func(a *AWS, id string, mr Object) (Object, bool) {
			t, ok := a.Templates[id]
			if !ok {
				return nil, false
			}
			atProvider := Clone(forProvider(mr))
			maps.Copy(atProvider, Object{
				"id": t.ID, "arn": "arn:aws:ec2:us-east-1:123456789012:launch-template/" + t.ID,
				"name": t.Name, "latestVersion": int64(len(t.Versions)), "defaultVersion": int64(len(t.Versions)),
			})
			last := t.Versions[len(t.Versions)-1]
			same := Hash(last) == Hash(data(mr)) && Hash(t.Tags) == Hash(forProvider(mr)["tags"])
			return atProvider, same
		},
		create: func(a *AWS, _ string, mr Object) func() (string, error) {
			name, shown := Text(forProvider(mr), "name"), Text(mr, fieldStatus, fieldAtProvider, "id")
			content, tags := data(mr), forProvider(mr)["tags"]
			return func() (string, error) { return a.createTemplate(name, shown, content, tags) }
		},
		update: func(a *AWS, id string, mr Object) func() (bool, error) {
			content, tags := Clone(data(mr)), cloneAny(forProvider(mr)["tags"])
			return func() (bool, error) { return false, a.updateTemplate(id, content, tags) }
		},
		remove: func(a *AWS, id string, _ Object) func() (bool, error) {
			return func() (bool, error) { return false, a.deleteTemplate(id) }
		},
		lateInitialize: func(mr, atProvider Object) {
			SetField(mr, atProvider["id"], fieldMetadata, fieldAnnotations, annotationExternalName)
		},
	}
}

// updateTemplate writes tags first. When they are all that changed it then asks for default version 0, which AWS refuses,
// once, after the tags were written (P3).
func (a *AWS) updateTemplate(id string, content Object, tags any) error {
	t, ok := a.Templates[id]
	if !ok {
		return noTemplate(id)
	}
	t.Tags = tags
	if Hash(t.Versions[len(t.Versions)-1]) != Hash(content) {
		return a.createTemplateVersion(id, content)
	}
	if err := a.enter(SetDefaultVersion); err != nil {
		return err
	}
	return &APIError{"InvalidLaunchTemplateId.VersionNotFound", "version 0 does not exist"}
}

func autoscalingGroups() external {
	return external{
		initialize: nameAsExternalName,
		observe: func(a *AWS, id string, mr Object) (Object, bool) {
			g, ok := a.Groups[id]
			if !ok {
				return nil, false
			}
			return g.atProvider(a), g.matches(a.groupSpecOf(mr))
		},
		create: func(a *AWS, name string, mr Object) func() (string, error) {
			s := a.groupSpecOf(mr)
			// An initProvider value is sent on creation only, 0 not even then, and a forProvider value that is not zero
			// wins over it (P8, P9).
			if n, ok := Number(mr, fieldSpec, "initProvider", "desiredCapacity"); ok && n != 0 && s.desired == nil {
				s.desired = &n
			}
			return func() (string, error) { return name, a.createGroup(name, s) }
		},
		update: func(a *AWS, id string, mr Object) func() (bool, error) {
			return a.groupUpdate(id, a.groupSpecOf(mr), forProvider(mr)["instanceRefresh"] != nil)
		},
		remove: func(a *AWS, id string, _ Object) func() (bool, error) {
			return func() (bool, error) {
				if g := a.Groups[id]; g == nil || len(g.Members) == 0 {
					return false, a.deleteGroup(id)
				}
				a.drainGroup(id)
				return true, nil
			}
		},
		lateInitialize: func(mr, atProvider Object) {
			for _, path := range [][]string{{"desiredCapacity"}, {"launchTemplate", "name"}} {
				spec := append([]string{fieldSpec, fieldForProvider}, path...)
				if Field(mr, spec...) == nil {
					SetField(mr, cloneAny(Field(atProvider, path...)), spec...)
				}
			}
		},
	}
}

// groupUpdate is two calls in this order: the group first, the refresh last, and only for another launch template. When
// the second fails, nothing starts it ever again. While a refresh is at work it is cancelled and waited for (P5,
// P6).
func (a *AWS) groupUpdate(id string, s groupSpec, refreshes bool) func() (bool, error) {
	updated, wait := false, a.RefreshDelay
	var move *Move
	return func() (bool, error) {
		if !updated {
			before := Group{}
			if g, ok := a.Groups[id]; ok {
				before = *g
			}
			if err := a.updateGroup(id, s); err != nil {
				return false, err
			}
			updated = true
			if refreshes && (before.TemplateID != s.templateID || before.Version != s.version) {
				move = a.moved(a.Groups[id], before.TemplateID)
			}
		}
		if move == nil {
			return false, nil
		}
		if wait > 0 {
			wait--
			return true, nil
		}
		return a.refreshAfter(move, id)
	}
}

// refreshAfter a move. It has to be tried again while an earlier refresh is being cancelled.
func (a *AWS) refreshAfter(m *Move, group string) (again bool, err error) {
	err = a.startRefresh(group)
	var refused *APIError
	if errors.As(err, &refused) && refused.Code == codeRefreshInProgress {
		if a.Groups[group].active().Status != RefreshCancelling {
			// Whether cancelling fails does not matter: it is tried again.
			_ = a.cancelRefresh(group)
		}
		return true, nil
	}
	if m.Lost = err != nil; !m.Lost {
		m.Refresh = a.Groups[group].active()
	}
	return false, err
}

// groupSpecOf a managed resource. An id of a template wins over its name (P4).
func (a *AWS) groupSpecOf(mr Object) groupSpec {
	p := forProvider(mr)
	s := groupSpec{
		templateID: Text(p, "launchTemplate", "id"),
		version:    Text(p, "launchTemplate", "version"),
		subnets:    slices.Sorted(slices.Values(Texts(p, "vpcZoneIdentifier"))),
		settings:   without(p, "region", "minSize", "maxSize", "desiredCapacity", "launchTemplate", "vpcZoneIdentifier", "instanceRefresh", "waitForCapacityTimeout"),
	}
	if t := a.TemplateNamed(Text(p, "launchTemplate", "name")); t != nil && s.templateID == "" {
		s.templateID = t.ID
	}
	s.min, _ = Number(p, "minSize")
	s.max, _ = Number(p, "maxSize")
	if n, ok := Number(p, "desiredCapacity"); ok {
		s.desired = &n
	}
	return s
}

func (g *Group) matches(s groupSpec) bool {
	return g.Min == s.min && g.Max == s.max && (s.desired == nil || *s.desired == g.Desired) &&
		g.TemplateID == s.templateID && g.Version == s.version &&
		slices.Equal(g.Subnets, s.subnets) && Hash(g.Settings) == Hash(s.settings)
}

func (g *Group) atProvider(a *AWS) Object {
	subnets := make([]any, 0, len(g.Subnets))
	for _, s := range g.Subnets {
		subnets = append(subnets, s)
	}
	template := Object{"id": g.TemplateID, "version": g.Version}
	if t, ok := a.Templates[g.TemplateID]; ok {
		template["name"] = t.Name
	}
	return Object{
		"id": g.Name, "arn": g.ARN, "launchTemplate": template, "vpcZoneIdentifier": subnets,
		"minSize": int64(g.Min), "maxSize": int64(g.Max), "desiredCapacity": int64(g.Desired),
	}
}

// storedObjects notice a change of the content that is sent, and none that is made in S3 (P13).
func storedObjects() external {
	key := func(mr Object) string { return Text(forProvider(mr), "bucket") + "/" + Text(forProvider(mr), "key") }
	put := func(a *AWS, mr Object) error { return a.putObject(key(mr), Text(forProvider(mr), "contentBase64")) }
	return external{
		// Bucket and key identify it; no external name is ever written (make e2e-provider).
		initialize: assignedName,
		observe: func(a *AWS, _ string, mr Object) (Object, bool) {
			o, ok := a.S3[key(mr)]
			if !ok {
				return nil, false
			}
			// The content is plain in the status as well (P13).
			atProvider := Clone(forProvider(mr))
			maps.Copy(atProvider, Object{"id": key(mr), "contentBase64": o.sent})
			return atProvider, o.sent == Text(forProvider(mr), "contentBase64")
		},
		create: func(a *AWS, _ string, mr Object) func() (string, error) {
			mr = Clone(mr)
			return func() (string, error) { return key(mr), put(a, mr) }
		},
		update: func(a *AWS, _ string, mr Object) func() (bool, error) {
			mr = Clone(mr)
			return func() (bool, error) { return false, put(a, mr) }
		},
		remove: func(a *AWS, _ string, mr Object) func() (bool, error) {
			k := key(mr)
			return func() (bool, error) { return false, a.deleteObject(k) }
		},
		lateInitialize: lateInitializesNothing,
	}
}

// groupParts are a group's policies and hooks, named by their external name.
func groupParts(put, remove Call) external {
	write := func(a *AWS, name string, mr Object) error {
		return a.putOn(put, Text(forProvider(mr), "autoscalingGroupName"), name, forProvider(mr))
	}
	return external{
		initialize: nameAsExternalName,
		observe: func(a *AWS, id string, mr Object) (Object, bool) {
			g := a.Groups[Text(forProvider(mr), "autoscalingGroupName")]
			if g == nil || g.parts(put)[id] == nil {
				return nil, false
			}
			return Object{"id": id, "autoscalingGroupName": g.Name}, Hash(g.parts(put)[id]) == Hash(forProvider(mr))
		},
		create: func(a *AWS, name string, mr Object) func() (string, error) {
			mr = Clone(mr)
			return func() (string, error) { return name, write(a, name, mr) }
		},
		update: func(a *AWS, id string, mr Object) func() (bool, error) {
			mr = Clone(mr)
			return func() (bool, error) { return false, write(a, id, mr) }
		},
		remove: func(a *AWS, id string, mr Object) func() (bool, error) {
			group := Text(forProvider(mr), "autoscalingGroupName")
			return func() (bool, error) { return false, a.removeFrom(remove, group, id) }
		},
		lateInitialize: lateInitializesNothing,
	}
}
