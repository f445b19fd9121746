// Package syntax says what the identifiers of AWS and Kubernetes look like: one rule for each, in one set of words. The XRD
// and the Input's CRD say the same; the tests of package validation hold them together.
package syntax

import (
	"fmt"
	"regexp"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// A Syntax is what a string must look like.
type Syntax struct {
	pattern *regexp.Regexp
	// length is how long the string may be, in characters.
	length int
	// Words say what it must look like, to a person.
	Words string
}

// Fits reports whether the value is not too long. It is to be asked before anything else is made of a value that others wrote.
func (s Syntax) Fits(value string) bool { return utf8.RuneCountInString(value) <= s.length }

// Matches reports whether the value is of the syntax, and not too long.
func (s Syntax) Matches(value string) bool { return s.Fits(value) && s.pattern.MatchString(value) }

// Check returns an error when the value is too long or not of the syntax. The error of a value that is too long does not
// quote it.
func (s Syntax) Check(path *field.Path, value string) field.ErrorList {
	if !s.Fits(value) {
		return field.ErrorList{field.TooLong(path, "", s.length)}
	}
	if s.pattern.MatchString(value) {
		return nil
	}

	return field.ErrorList{field.Invalid(path, value, s.Words)}
}

// Required is Check, for a field that must be there.
func (s Syntax) Required(path *field.Path, value string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}

	return s.Check(path, value)
}

// Optional is Check, for a field that may be absent.
func (s Syntax) Optional(path *field.Path, value *string) field.ErrorList {
	if value == nil {
		return nil
	}

	return s.Check(path, *value)
}

// How long an ARN may be, in characters: a role's to STS, and whatever a lifecycle hook names to Auto Scaling. Sources:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html,
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html.
const (
	maxRoleARNLength = 2048
	maxHookARNLength = 255
)

var roleARN = regexp.MustCompile(`^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$`)

// Identifiers as AWS writes them.
//
//nolint:gochecknoglobals // Constants, if Go had them of structs.
var (
	AMIID = Syntax{
		pattern: regexp.MustCompile(`^ami-[0-9a-f]{8}([0-9a-f]{9})?$`),
		length:  21,
		Words:   "must be an AMI id such as ami-0123456789abcdef0",
	}
	// AWS answers with these, and no person writes them. It has made them longer once, from 8 digits to 17, so any number of
	// digits will do.
	InstanceID = Syntax{
		pattern: regexp.MustCompile(`^i-[0-9a-f]+$`),
		length:  34,
		Words:   "must be an instance id such as i-0123456789abcdef0",
	}
	SecurityGroupID = Syntax{
		pattern: regexp.MustCompile(`^sg-[0-9a-f]{8}([0-9a-f]{9})?$`),
		length:  20,
		Words:   "must be a security group id such as sg-0123456789abcdef0",
	}
	SubnetID = Syntax{
		pattern: regexp.MustCompile(`^subnet-[0-9a-f]{8}([0-9a-f]{9})?$`),
		length:  24,
		Words:   "must be a subnet id such as subnet-0123456789abcdef0",
	}
	// A region becomes a part of the host names that signed requests are sent to. Source: regionRegex in partitions.json of
	// botocore 1.43, of all partitions; it is one label of a host name there.
	Region = Syntax{
		pattern: regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$`),
		length:  63,
		Words:   "must be an AWS region such as us-east-1",
	}
	// A zone's name is its region's, and then a letter, or a dash and more. Source:
	// https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-zones.html.
	Zone = Syntax{
		pattern: regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}([a-z]|(-[a-z0-9]+)+)$`),
		length:  63,
		Words:   "must be the name of an availability zone such as us-east-1a or us-west-2-lax-1a",
	}
	// Source: InstanceProfileName in https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateInstanceProfile.html.
	InstanceProfile = Syntax{
		pattern: regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]+$`),
		length:  128,
		Words:   "must be the name of an instance profile, not its ARN",
	}
	// Upper case and _ are those of old buckets in us-east-1. Their names could be longer than 63 characters too, but no
	// such bucket has been made since 2018, and newer parts of S3 do not take it.
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html.
	Bucket = Syntax{
		pattern: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]+[A-Za-z0-9]$`),
		length:  63,
		Words:   "must be the name of an S3 bucket: 3 to 63 letters, digits, -, . and _, with a letter or digit first and last",
	}
	// The id in kubernetes.io/cluster/<id>, which is a tag's key and has 128 characters at most.
	ClusterID = Syntax{
		pattern: regexp.MustCompile(`^[A-Za-z0-9+=._:/@-]+$`),
		length:  106,
		Words:   "must be 1 to 106 letters, digits and + - = . _ : / @",
	}
	InstanceType = Syntax{
		pattern: regexp.MustCompile(`^[a-z0-9-]+[.][a-z0-9-]+$`),
		length:  63,
		Words:   "must be an EC2 instance type such as m6i.large",
	}
	// Source: Owners in https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html.
	ImageOwner = Syntax{
		pattern: regexp.MustCompile(`^([0-9]{12}|self|amazon|aws-marketplace|aws-backup-vault)$`),
		length:  63,
		Words:   "must be a 12-digit AWS account id, self, amazon, aws-marketplace or aws-backup-vault",
	}
	// Source: Name in https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateImage.html.
	ImageNameFormat = Syntax{
		pattern: regexp.MustCompile(`^([][A-Za-z0-9 ()./@_'*?-]|[{](semver|version|suffix)[}])*$`),
		length:  255,
		Words:   "may hold only what an AMI's name can (letters, digits, spaces and ( ) [ ] . / @ _ - and single quotes), the wildcards * and ?, {semver}, {version} and {suffix}",
	}
	DeviceName = Syntax{
		pattern: regexp.MustCompile(`^/dev/[a-z0-9]+$`),
		length:  63,
		Words:   "must be a device such as /dev/sda1 or /dev/xvda",
	}
	// Source: KeyName in https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateKeyPair.html.
	KeyPairName = Syntax{
		pattern: regexp.MustCompile(`^[^[:cntrl:]]+$`),
		length:  255,
		Words:   "must be the name of an EC2 key pair: 1 to 255 characters and no control characters",
	}
	KMSKeyARN = Syntax{
		pattern: regexp.MustCompile(`^arn:aws(-[a-z]+)*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`),
		length:  255,
		Words:   "must be the ARN of a KMS key: arn:<partition>:kms:<region>:<account>:key/<id>",
	}
	RoleARN = Syntax{
		pattern: roleARN,
		length:  maxRoleARNLength,
		Words:   "must be the ARN of an IAM role",
	}
	HookRoleARN = Syntax{
		pattern: roleARN,
		length:  maxHookARNLength,
		Words:   RoleARN.Words,
	}
	NotificationTargetARN = Syntax{
		pattern: regexp.MustCompile(`^arn:aws(-[a-z]+)*:(sns|sqs):[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$`),
		length:  maxHookARNLength,
		Words:   "must be the ARN of an SNS topic or an SQS queue",
	}
	// Source: LifecycleHookName in https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html.
	LifecycleHookName = Syntax{
		pattern: regexp.MustCompile(`^[A-Za-z0-9_/-]+$`),
		length:  255,
		Words:   "must be 1 to 255 letters, digits, -, _ and /",
	}
	// Source: ExternalId in https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html.
	ExternalID = Syntax{
		pattern: regexp.MustCompile(`^[A-Za-z0-9_+=,.@:/-]{2,}$`),
		length:  1224,
		Words:   "must be 2 to 1224 letters, digits and + = , . @ : / - _",
	}
)

// Identifiers as Kubernetes writes them.
//
//nolint:gochecknoglobals // Constants, if Go had them of structs.
var (
	KubernetesVersion = Syntax{
		pattern: regexp.MustCompile(`^v?[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?$`),
		length:  63,
		Words:   "must be a Kubernetes version such as v1.34.1 or v1.34.1+rke2r1",
	}
	APIVersion = Syntax{
		pattern: regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*$`),
		length:  253,
		Words:   "must be an API version such as v1 or example.org/v1",
	}
	Kind = Syntax{
		pattern: regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`),
		length:  63,
		Words:   "must be a kind such as Cluster",
	}
	// What objects of any kind are called, RBAC's included. It is one segment of a URL's path, and is shown to people.
	ObjectName = Syntax{
		pattern: regexp.MustCompile(`^[A-Za-z0-9_:-][A-Za-z0-9._:-]*$`),
		length:  253,
		Words:   "must be the name of an object: letters, digits, -, ., _ and :, and no . first",
	}
	FieldPath = Syntax{
		pattern: regexp.MustCompile(`^[[:print:]]+$`),
		length:  1024,
		Words:   "must be a field path such as status.exports, of printable ASCII characters",
	}
	ExportsSchema = Syntax{
		pattern: regexp.MustCompile("^" + regexp.QuoteMeta(v1alpha1.ExportsSchema) + "$"),
		length:  253,
		Words:   fmt.Sprintf("this function reads %q: point the pool at exports of that schema", v1alpha1.ExportsSchema),
	}
)
