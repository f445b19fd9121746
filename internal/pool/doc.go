// Package pool holds the plain values that one run hands from observe to decide, render and report.
package pool
