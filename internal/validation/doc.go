// Package validation refuses what can never work. It says what the XRD says, in the same words, because an XR may reach
// the function through an older XRD or none at all; its tests hold the words together.
//
// Every error of an object is returned, sorted by path. No error holds a secret.
package validation
