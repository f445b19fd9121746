//go:build boot

package boot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// checkSignature says why S3 would refuse the request, empty when it would not, and the canonical request it signs. It
// follows "Create a signed AWS API request" of the AWS IAM User Guide; the AWS CLI and Ignition pass it too.
func checkSignature(r *http.Request) (why, canonical string) {
	fields := map[string]string{}
	algorithm, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	for field := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	if algorithm != "AWS4-HMAC-SHA256" {
		return "algorithm " + algorithm, ""
	}

	now := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", now)
	if err != nil || time.Since(at).Abs() > 15*time.Minute {
		return "date " + now, ""
	}
	day := now[:8]
	keyID, scope, _ := strings.Cut(fields["Credential"], "/")
	if keyID != roleKeyID || r.Header.Get("X-Amz-Security-Token") != roleToken {
		return "not the role's credentials", ""
	}
	region := regionOf(r.Host)
	if scope != day+"/"+region+"/s3/aws4_request" {
		return "scope " + scope + " at " + r.Host, ""
	}

	payload := r.Header.Get("X-Amz-Content-Sha256")
	if payload == "" {
		return "no x-amz-content-sha256", ""
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "query " + query, ""
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	for _, must := range []string{"host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"} {
		if !slices.Contains(signed, must) {
			return must + " is not signed", ""
		}
	}
	lines := []string{r.Method, path, strings.ReplaceAll(values.Encode(), "+", "%20")}
	for _, name := range signed {
		value := strings.Join(strings.Fields(r.Header.Get(name)), " ")
		if name == "host" {
			value = r.Host
		}
		lines = append(lines, name+":"+value)
	}
	lines = append(lines, "", fields["SignedHeaders"], payload)
	canonical = strings.Join(lines, "\n")

	hash := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + roleSecret)
	for _, part := range []string{
		day, region, "s3", "aws4_request", strings.Join([]string{algorithm, now, scope, hex.EncodeToString(hash[:])}, "\n"),
	} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if fields["Signature"] != hex.EncodeToString(key) {
		return "signature", canonical
	}
	return "", canonical
}

// regionOf is the region in a host such as demo.s3.dualstack.eu-west-1.amazonaws.com.
func regionOf(host string) string {
	_, rest, _ := strings.Cut("."+host, ".s3.")
	region, _, _ := strings.Cut(strings.TrimPrefix(rest, "dualstack."), ".")
	return region
}
