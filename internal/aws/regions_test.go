package aws

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestOnlyRegionsOfAPartition(t *testing.T) {
	for region, want := range map[string]bool{
		"us-east-1": true, "ap-southeast-7": true, "mx-central-1": true, "eusc-de-east-1": true, "us-gov-west-1": true, "cn-northwest-1": true,
		"us-iso-east-1": true, "us-isob-west-1": true, "us-isof-south-1": true, "eu-isoe-west-1": true, "us-nowhere-12": true,
		"": false, "us-east-1a": false, "us-east": false, "us-east-1-": false, "us-east-123": false, "xx-east-1": false, "aws-global": false, "us-east1-1": false,
		"US-EAST-1": false, "us-east-1\n": false, "us_east_1": false, "us-ea_st-1": false, "us-east-1.evil.example.com": false, "evil.example.com/#us-east-1": false,
		"us-gov-": false, "eu-isoe-1": true, "us-isox-east-1": false, "eusc-fr-east-1": false, "us-" + strings.Repeat("x", 60) + "-1": false, "us-éast-1": false, "us-east-١": false,
	} {
		if got := regionName.MatchString(region); got != want {
			t.Errorf("%q: want %t, got %t", region, want, got)
		}
	}
}

// The partitions and regions are those that the SDK knows. It is the SDK's own list, which it keeps from us: when this fails
// after an update of the SDK, AWS has a partition, or a continent, that regionName lacks.
func TestRegionsAreThoseOfTheSDK(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-sdk-go-v2")
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	dir, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal", "endpoints", "awsrulesfn", "partitions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Partitions []struct {
			ID          string         `json:"id"`
			RegionRegex string         `json:"regionRegex"`
			Regions     map[string]any `json:"regions"`
		} `json:"partitions"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Partitions) < 8 {
		t.Fatalf("want all partitions, got %d", len(list.Partitions))
	}

	words := regexp.MustCompile(`[a-z]+`)
	for _, p := range list.Partitions {
		for region := range p.Regions {
			if got := regionName.MatchString(region); got == strings.HasSuffix(region, "-global") {
				t.Errorf("%s: %s: got %t", p.ID, region, got)
			}
		}
		// A region of each beginning that the pattern names: ^(us|eu)\-\w+\-\d+$ has us-new-1 and eu-new-1.
		pattern := regexp.MustCompile(p.RegionRegex)
		begin := strings.TrimSuffix(p.RegionRegex, `\-\w+\-\d+$`)
		if begin == p.RegionRegex {
			t.Errorf("%s: want a pattern that ends as all do, got %s", p.ID, p.RegionRegex)
		}
		beginnings := []string{strings.NewReplacer("^", "", `\-`, "-", "(", "", ")", "").Replace(begin)}
		if strings.Contains(begin, "|") {
			beginnings = words.FindAllString(begin, -1)
		}
		for _, b := range beginnings {
			if region := b + "-new-1"; !pattern.MatchString(region) || !regionName.MatchString(region) {
				t.Errorf("%s: want %s to be a region as %s says", p.ID, region, p.RegionRegex)
			}
		}
	}
}
