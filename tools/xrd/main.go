// Command xrd writes the MachinePool CompositeResourceDefinition from the CRD that controller-gen makes of its Go types, and
// adds what no marker can say to the Input's CRD.
//
//	go run ./tools/xrd -crd .cache/crd/aws.machinepool.fn.crossplane.io_machinepools.yaml -xrd configuration/machinepools.yaml \
//	  -input package/input/machinepool.fn.crossplane.io_inputs.yaml
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const header = "# Generated from apis/v1alpha1 by `make generate`. Change the markers there.\n"

func main() {
	crd := flag.String("crd", "", "the CRD to read, as controller-gen writes it")
	xrd := flag.String("xrd", "", "the XRD to write")
	input := flag.String("input", "", "the Input's CRD to complete")
	flag.Parse()

	if err := errors.Join(generate(*crd, *xrd), boundInput(*input)); err != nil {
		fmt.Fprintln(os.Stderr, "xrd:", err)
		os.Exit(1)
	}
}

func generate(crdPath, xrdPath string) error {
	data, err := os.ReadFile(crdPath)
	if err != nil {
		return fmt.Errorf("cannot read CRD: %w", err)
	}

	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		return fmt.Errorf("cannot parse CRD %s: %w", crdPath, err)
	}

	xrd, err := fromCRD(crd)
	if err != nil {
		return fmt.Errorf("cannot make an XRD of %s: %w", crdPath, err)
	}

	out, err := yaml.Marshal(xrd)
	if err != nil {
		return fmt.Errorf("cannot marshal XRD: %w", err)
	}

	if err := os.WriteFile(xrdPath, append([]byte(header), out...), 0o644); err != nil {
		return fmt.Errorf("cannot write XRD: %w", err)
	}

	return nil
}
