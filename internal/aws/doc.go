// Package aws reads what AWS says of a pool: its Auto Scaling group, its instances, its newest image and its newest
// instance refresh. It is the only package that knows the AWS SDK, and it only ever reads.
//
// A Reader serves every run of the function. It keeps one view per identity and region, so that no tenant is answered
// with another's data, and a view reads many pools with few calls (package batch). A read that fails, or whose answer
// is not whole, is a failed read: the function then stays with what it last knew.
package aws
