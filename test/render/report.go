package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const resourceNameAnnotation = "crossplane.io/composition-resource-name"

// An object is what the report reads of the objects that render prints: the XR,
// the managed resources, and the results.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec     map[string]any `json:"spec"`
	Status   map[string]any `json:"status"`
	Severity string         `json:"severity"`
	Reason   string         `json:"reason"`
	Message  string         `json:"message"`
}

// name is the name that the Composition knows a managed resource by.
func (o object) name() string { return o.Metadata.Annotations[resourceNameAnnotation] }

// printRendered prints what a person wants to see of a rendered case.
func printRendered(w io.Writer, rendered, observedFile string) error {
	objects, err := parse([]byte(rendered))
	if err != nil {
		return fmt.Errorf("cannot read what was rendered: %w", err)
	}

	observed := map[string]object{}

	if observedFile != "" {
		content, err := os.ReadFile(observedFile)
		if err != nil {
			return err
		}

		before, err := parse(content)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", observedFile, err)
		}

		for _, o := range before {
			observed[o.name()] = o
		}
	}

	var resources, results []object

	for _, o := range objects {
		switch {
		case o.Kind == "Result":
			results = append(results, o)
		case o.name() != "":
			resources = append(resources, o)
		default:
			if err := printComposite(w, o); err != nil {
				return err
			}
		}
	}

	printResources(w, resources, observed)
	printEvents(w, results)

	return nil
}

// printComposite prints the XR's status, its conditions as a table.
func printComposite(w io.Writer, xr object) error {
	fmt.Fprintf(w, "%s %s\n", xr.Kind, xr.Metadata.Name)

	status := maps.Clone(xr.Status)
	delete(status, "conditions")

	fmt.Fprint(w, outline(status, "  "))

	var conditions []condition
	if err := into(xr.Status["conditions"], &conditions); err != nil {
		return err
	}

	slices.SortFunc(conditions, func(a, b condition) int { return cmp.Compare(a.Type, b.Type) })

	rows := [][]string{{"CONDITION", "STATUS", "REASON", "MESSAGE"}}
	for _, c := range conditions {
		rows = append(rows, []string{c.Type, c.Status, c.Reason, c.Message})
	}

	fmt.Fprint(w, "\n", table(rows))

	return nil
}

// printResources prints what becomes of each managed resource.
func printResources(w io.Writer, resources []object, observed map[string]object) {
	rows := [][]string{{"", "RESOURCE", "KIND", "WHAT"}}
	kept := map[string]bool{}

	for _, r := range resources {
		kept[r.name()] = true
		rows = append(rows, []string{change(r, observed), r.name(), r.Kind, describe(r)})
	}

	for _, name := range slices.Sorted(maps.Keys(observed)) {
		if !kept[name] {
			rows = append(rows, []string{"delete", name, observed[name].Kind, describe(observed[name])})
		}
	}

	if len(rows) > 1 {
		fmt.Fprint(w, "\n", table(rows))
	}
}

// change says what becomes of a managed resource that the function wants.
func change(r object, observed map[string]object) string {
	before, ok := observed[r.name()]

	switch {
	case !ok:
		return "create"
	case reflect.DeepEqual(before.Spec, r.Spec):
		return "keep"
	default:
		return "update"
	}
}

// printEvents prints what the function itself had to say.
func printEvents(w io.Writer, results []object) {
	rows := [][]string{{"EVENT", "REASON", "MESSAGE"}}

	for _, r := range results {
		// Crossplane's own results say nothing about the function.
		if _, message, ok := strings.Cut(r.Message, `Pipeline step "machine-pool": `); ok {
			rows = append(rows, []string{r.Severity, r.Reason, message})
		}
	}

	if len(rows) > 1 {
		fmt.Fprint(w, "\n", table(rows))
	}
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// parameters are the telling fields of every kind of managed resource.
type parameters struct {
	// LaunchTemplate
	ImageID               string    `json:"imageId"` //nolint:tagliatelle // The provider's name.
	InstanceType          string    `json:"instanceType"`
	UserData              string    `json:"userData"`
	InstanceMarketOptions *struct{} `json:"instanceMarketOptions"`
	// AutoscalingGroup
	MinSize           *float64 `json:"minSize"`
	MaxSize           *float64 `json:"maxSize"`
	DesiredCapacity   *float64 `json:"desiredCapacity"`
	CapacityRebalance bool     `json:"capacityRebalance"`
	VPCZoneIdentifier []string `json:"vpcZoneIdentifier"`
	LaunchTemplate    struct {
		ID      string `json:"id"`
		Version string `json:"version"`
	} `json:"launchTemplate"`
	// Policy
	TargetTrackingConfiguration struct {
		TargetValue *float64 `json:"targetValue"`
	} `json:"targetTrackingConfiguration"`
	// Object
	Bucket        string `json:"bucket"`
	Key           string `json:"key"`
	ContentBase64 string `json:"contentBase64"`
	// LifecycleHook
	LifecycleTransition string   `json:"lifecycleTransition"`
	HeartbeatTimeout    *float64 `json:"heartbeatTimeout"`
	DefaultResult       string   `json:"defaultResult"`
}

// describe tells a managed resource in one line.
func describe(r object) string {
	var p, initial parameters
	if err := into(r.Spec["forProvider"], &p); err != nil {
		return err.Error()
	}

	if err := into(r.Spec["initProvider"], &initial); err != nil {
		return err.Error()
	}

	switch r.Kind {
	case "LaunchTemplate":
		return join(r.Metadata.Annotations["crossplane.io/external-name"], p.ImageID, p.InstanceType,
			when(p.InstanceMarketOptions != nil, "spot"), size(p.UserData)+" user data")
	case "AutoscalingGroup":
		return join(
			span(number(p.MinSize), number(p.MaxSize))+" instances",
			when(initial.DesiredCapacity != nil, number(initial.DesiredCapacity)+" at first"),
			strings.TrimSpace(p.LaunchTemplate.ID+" "+p.LaunchTemplate.Version),
			fmt.Sprintf("%d subnets", len(p.VPCZoneIdentifier)),
			when(p.CapacityRebalance, "rebalances"))
	case "Policy":
		return number(p.TargetTrackingConfiguration.TargetValue) + " % CPU"
	case "Object":
		return join("s3://"+p.Bucket+"/"+p.Key, size(p.ContentBase64))
	case "LifecycleHook":
		return join(strings.TrimPrefix(p.LifecycleTransition, "autoscaling:EC2_INSTANCE_"), number(p.HeartbeatTimeout)+" s", p.DefaultResult)
	default:
		return ""
	}
}

// join puts what there is to tell into one line.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

func when(is bool, s string) string {
	if is {
		return s
	}

	return ""
}

// span is one number if both are the same.
func span(low, high string) string {
	if low == high {
		return low
	}

	return low + " to " + high
}

func number(n *float64) string {
	if n == nil {
		return "?"
	}

	return fmt.Sprint(*n)
}

// size is how long base64 data is once decoded.
func size(data string) string {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err.Error()
	}

	return fmt.Sprintf("%d bytes", len(raw))
}

// into decodes a generic value; an absent one leaves out as it is.
func into(value, out any) error {
	if value == nil {
		return nil
	}

	raw, err := yaml.Marshal(value)
	if err != nil {
		return err
	}

	return yaml.Unmarshal(raw, out)
}

// parse reads the objects of a YAML stream.
func parse(stream []byte) ([]object, error) {
	var objects []object

	for doc := range documents(stream) {
		var o object
		if err := yaml.Unmarshal(doc, &o); err != nil {
			return nil, err
		}

		if o.Kind != "" {
			objects = append(objects, o)
		}
	}

	return objects, nil
}

// documents are the parts of a YAML stream.
func documents(stream []byte) iter.Seq[[]byte] {
	return bytes.SplitSeq(append([]byte("\n"), stream...), []byte("\n---\n"))
}

// listed is a refusal with each mistake on a line of its own.
func listed(refusal string) string {
	head, mistakes, ok := strings.Cut(refusal, "returned a fatal result: ")
	if !ok {
		return refusal
	}

	lines := []string{head + "returned a fatal result:"}
	for mistake := range strings.SplitSeq(strings.TrimSpace(mistakes), "; spec.") {
		mistake = "spec." + strings.TrimPrefix(mistake, "spec.")
		lines = append(lines, "- "+strings.Join(wrap(mistake, width-4), "\n  "))
	}

	return strings.Join(lines, "\n")
}

// outline is a generic value as short YAML: lists of plain values on one line, an
// object in a list on a line of its own.
func outline(value any, margin string) string {
	var out strings.Builder

	fields, _ := value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		out.WriteString(margin + key + ":")

		switch v := fields[key].(type) {
		case map[string]any:
			out.WriteString("\n" + outline(v, margin+"  "))
		case []any:
			out.WriteString(listing(v, margin+"  ") + "\n")
		default:
			out.WriteString(" " + strings.Join(wrap(fmt.Sprint(v), width-len(margin)-2), "\n"+margin+"  ") + "\n")
		}
	}

	return out.String()
}

// listing is a list, on one line if its values are plain.
func listing(list []any, margin string) string {
	var items []string

	for _, item := range list {
		fields, isObject := item.(map[string]any)
		if !isObject {
			return " " + flow(list)
		}

		items = append(items, "\n"+margin+"- "+flow(fields))
	}

	if len(items) == 0 {
		return " []"
	}

	return strings.Join(items, "")
}

// flow is a generic value on one line.
func flow(value any) string {
	var items []string

	switch v := value.(type) {
	case []any:
		for _, item := range v {
			items = append(items, flow(item))
		}

		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			items = append(items, key+": "+flow(v[key]))
		}

		return "{" + strings.Join(items, ", ") + "}"
	default:
		return fmt.Sprint(v)
	}
}
