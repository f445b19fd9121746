package aws

import "regexp"

// regionName is what a region may look like. It is as in the partitions of AWS, of which the SDK keeps a list
// (internal/endpoints/awsrulesfn/partitions.json of aws-sdk-go-v2), in lower case and with a number of one or two digits. A
// zone, such as us-east-1a, is none.
//
// A region comes from whoever writes the cluster's exports, and it becomes a part of the host name that signed requests
// are sent to, which this keeps below the endpoint's domain. Each makes a view, too.
var regionName = regexp.MustCompile(`^((us|eu|ap|sa|ca|me|af|il|mx)|cn|us-gov|us-iso|us-isob|us-isof|eu-isoe|eusc-de)-[a-z]{2,24}-[0-9]{1,2}$`)
