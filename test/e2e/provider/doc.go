// Package provider runs the function inside a real Crossplane control plane with the real provider-aws, against moto behind a
// proxy (internal/awsproxy). `make e2e-provider` runs it; the tests have the build tag e2eprovider. The three providers take
// 40 minutes to build and half a gigabyte of memory each, so this is a deliberate check and no part of CI.
//
// What it is for: package simulator plays the provider for all other tests. Where this one says otherwise, the simulator is
// wrong.
//
// The kinds come as stand-ins of the provider's packages, as in package e2e: in one version each, since nothing serves their
// conversion webhook. The programs of the providers run beside them, as an administrator.
package provider
