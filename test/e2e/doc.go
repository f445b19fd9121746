// Package e2e runs the function inside a real Crossplane control plane: etcd, kube-apiserver, Crossplane with its defaults,
// the function and the Configuration installed from packages, and calls over mTLS. `make e2e` runs it; the tests have the
// build tag e2e. It is a module of its own, since it needs a client of Kubernetes that the function does not.
//
// Played by the tests, each in a package of its own below internal:
//
//   - nodes, DNS and Services, for the one program that Crossplane's packages run: node
//   - provider-aws and AWS itself, from the simulator that the rollout tests have: provider, awsapi
//   - the registries xpkg.crossplane.io and xpkg.upbound.io: controlplane/packages.go. ImageConfigs send Crossplane to one
//     on this machine, so that it resolves the Configuration's dependencies as it does elsewhere. The providers' packages
//     there are stand-ins: their kinds, from the pinned provider's module, and no program.
//   - the RBAC manager: controlplane/crossplane.yaml
//
// All tests share one control plane and have a namespace each.
package e2e
