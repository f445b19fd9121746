package bootstrap

import "strings"

// An object is where S3 serves the bootstrap data.
type object struct {
	// host serves it over IPv4.
	host string
	// dualStackHost serves it over IPv4 and IPv6.
	dualStackHost string
	// path is the absolute path on either host, percent-encoded as SigV4's canonical URI.
	path string
}

// newObject addresses a key as AWS's SDKs do: by a virtual host where the bucket can be one label of S3's wildcard
// certificate, else by path.
func newObject(region, bucket, key string) object {
	suffix := dnsSuffix(region)
	o := object{
		host:          "s3." + region + "." + suffix,
		dualStackHost: "s3.dualstack." + region + "." + suffix,
		path:          "/" + percentEncode(key),
	}
	if !isHostLabel(bucket) {
		o.path = "/" + percentEncode(bucket) + o.path
		return o
	}
	o.host = bucket + "." + o.host
	o.dualStackHost = bucket + "." + o.dualStackHost
	return o
}

// dnsSuffix is the domain of AWS's services in the region's partition. An unknown region is taken for one of the
// public partition, as AWS's SDKs do.
//
// Source: partitions.json of botocore 1.43, dnsSuffix by regionRegex.
func dnsSuffix(region string) string {
	for _, partition := range []struct{ prefix, suffix string }{
		{"cn-", "amazonaws.com.cn"},
		{"eusc-", "amazonaws.eu"},
		{"us-iso-", "c2s.ic.gov"},
		{"us-isob-", "sc2s.sgov.gov"},
		{"us-isof-", "csp.hci.ic.gov"},
		{"eu-isoe-", "cloud.adc-e.uk"},
	} {
		if strings.HasPrefix(region, partition.prefix) {
			return partition.suffix
		}
	}
	return "amazonaws.com" // aws and aws-us-gov.
}

// isHostLabel reports whether the name is one lower-case DNS label. Buckets may hold dots, which a wildcard certificate
// does not cover, and old ones in us-east-1 upper case and underscores.
func isHostLabel(name string) bool {
	return len(name) <= 63 && isLowerHyphen(name) && !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-")
}

// isLowerHyphen reports whether the name is not empty and all of [a-z0-9-].
func isLowerHyphen(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// percentEncode encodes every byte but RFC 3986's unreserved characters and the slash. S3 signs a key encoded once, and
// net/url leaves more characters as they are.
func percentEncode(key string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&0xf])
		}
	}
	return b.String()
}
