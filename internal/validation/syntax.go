package validation

import (
	"regexp"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A syntax is what a string must look like, in words that say so.
type syntax struct {
	pattern *regexp.Regexp
	length  int
	words   string
}

// check returns an error when the value is not of the syntax.
func (s syntax) check(path *field.Path, value string) field.ErrorList {
	if errs := atMostLong(path, value, s.length); len(errs) > 0 {
		return errs
	}
	if s.pattern.MatchString(value) {
		return nil
	}

	return field.ErrorList{field.Invalid(path, value, s.words)}
}

// required is check, for a field that must be there.
func (s syntax) required(path *field.Path, value string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}

	return s.check(path, value)
}

// optional is check, for a field that may be absent.
func (s syntax) optional(path *field.Path, value *string) field.ErrorList {
	if value == nil {
		return nil
	}

	return s.check(path, *value)
}

// Lengths in characters.
const (
	maxNameLength      = 253 // A DNS subdomain.
	maxNamespaceLength = 63  // A DNS label.
	maxARNLength       = 2048
)

// Identifiers as AWS writes them.
//
//nolint:gochecknoglobals // Constants, if Go had them of structs.
var (
	amiID = syntax{
		pattern: regexp.MustCompile(`^ami-[0-9a-f]{8}([0-9a-f]{9})?$`),
		length:  21,
		words:   "must be an AMI id such as ami-0123456789abcdef0",
	}
	securityGroupID = syntax{
		pattern: regexp.MustCompile(`^sg-[0-9a-f]{8}([0-9a-f]{9})?$`),
		length:  20,
		words:   "must be a security group id such as sg-0123456789abcdef0",
	}
	instanceTypeName = syntax{
		pattern: regexp.MustCompile(`^[a-z0-9-]+[.][a-z0-9-]+$`),
		length:  63,
		words:   "must be an EC2 instance type such as m6i.large",
	}
	// Source: Owners in https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html.
	imageOwner = syntax{
		pattern: regexp.MustCompile(`^([0-9]{12}|self|amazon|aws-marketplace|aws-backup-vault)$`),
		length:  63,
		words:   "must be a 12-digit AWS account id, self, amazon, aws-marketplace or aws-backup-vault",
	}
	// Source: Name in https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateImage.html.
	imageNameFormat = syntax{
		pattern: regexp.MustCompile(`^([][A-Za-z0-9 ()./@_'*?-]|[{](semver|version)[}])*$`),
		length:  255,
		words:   "may hold only what an AMI's name can (letters, digits, spaces and ( ) [ ] . / @ _ - and single quotes), the wildcards * and ?, {semver} and {version}",
	}
	deviceName = syntax{
		pattern: regexp.MustCompile(`^/dev/[a-z0-9]+$`),
		length:  63,
		words:   "must be a device such as /dev/sda1 or /dev/xvda",
	}
	kmsKeyARN = syntax{
		pattern: regexp.MustCompile(`^arn:aws(-[a-z]+)*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`),
		length:  255,
		words:   "must be the ARN of a KMS key: arn:<partition>:kms:<region>:<account>:key/<id>",
	}
	roleARN = syntax{
		pattern: regexp.MustCompile(`^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$`),
		length:  maxARNLength,
		words:   "must be the ARN of an IAM role",
	}
	notificationTargetARN = syntax{
		pattern: regexp.MustCompile(`^arn:aws(-[a-z]+)*:(sns|sqs):[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$`),
		length:  maxARNLength,
		words:   "must be the ARN of an SNS topic or an SQS queue",
	}
	// Source: LifecycleHookName in https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html.
	lifecycleHookName = syntax{
		pattern: regexp.MustCompile(`^[A-Za-z0-9_/-]+$`),
		length:  255,
		words:   "must be 1 to 255 letters, digits, -, _ and /",
	}
	// Source: ExternalId in https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html.
	externalIDSyntax = syntax{
		pattern: regexp.MustCompile(`^[A-Za-z0-9_+=,.@:/-]{2,}$`),
		length:  1224,
		words:   "must be 2 to 1224 letters, digits and + = , . @ : / - _",
	}
)

// Identifiers as Kubernetes writes them.
//
//nolint:gochecknoglobals // Constants, if Go had them of structs.
var (
	version = syntax{
		pattern: regexp.MustCompile(`^v?[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?$`),
		length:  63,
		words:   "must be a Kubernetes version such as v1.34.1 or v1.34.1+rke2r1",
	}
	apiVersion = syntax{
		pattern: regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*$`),
		length:  maxNameLength,
		words:   "must be an API version such as v1 or example.org/v1",
	}
	kind = syntax{
		pattern: regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`),
		length:  63,
		words:   "must be a kind such as Cluster",
	}
)

func runes(s string) int { return utf8.RuneCountInString(s) }
