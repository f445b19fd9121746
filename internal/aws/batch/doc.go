// Package batch answers many callers that each want one key with few calls that each read many keys.
//
// It knows nothing of AWS. A Loader gathers the keys of concurrent callers for a moment, reads them in one call on a
// deadline of its own. It shares the answer with everybody who waits for it, and keeps it for a short time.
package batch
