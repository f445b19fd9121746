// Package simulator plays everything around the function, so that tests can hold the function's rules against whole
// histories: Crossplane, provider-aws and AWS. Only tests import it.
//
// It is deterministic, but for a Clock that is set to real time: it has no goroutine and no randomness of its own. Time passes
// when a test says so, one step of one party at a time, and every id comes from a counter. What is random is drawn by the test and handed in.
//
// Three layers, each of which can be used without the one above it:
//
//   - AWS (aws.go, autoscaling.go, refresh.go): launch templates, Auto Scaling groups with their members and instance
//     refreshes, S3 objects. Reader (reader.go) reads it for the function.
//   - Provider (provider.go, external.go): reconciles one managed resource at a time against AWS, in place. It knows
//     nothing of Crossplane's compositions, so it can also play the provider of a real API server.
//   - Crossplane (crossplane.go, request.go, apply.go, conditions.go): builds requests, calls the function and applies what it says.
//
// World (world.go) puts them together. C1, P1, A1 and so on in comments are facts of
// docs/provider-behaviour.md, each of which is cited where it is played.
package simulator
