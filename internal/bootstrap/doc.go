// Package bootstrap makes the user data of a pool's instances: a stub that fetches the bootstrap data from S3, since
// the data changes far more often than a launch template should and is a secret. It also says which node labels a
// kubelet may register with, and which payloads the stub can deliver.
//
// The package is pure: equal input gives byte-equal output, and nothing here prints a payload.
package bootstrap

import "github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"

// A Format is the format of bootstrap data.
type Format = v1alpha1.BootstrapFormat
