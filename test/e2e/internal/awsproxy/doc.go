// Package awsproxy is AWS for the real provider. It is moto, put right where AWS does otherwise (account.py), behind a
// proxy that records every call, has the instance refreshes that moto lacks, and fails or holds a call where a test says
// so.
package awsproxy
