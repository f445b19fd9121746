package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// programEnv makes the tests' own program the function, with these arguments.
const programEnv = "MACHINEPOOL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if args, set := os.LookupEnv(programEnv); set {
		os.Args = append(os.Args[:1], strings.Fields(args)...)
		main()
		return
	}
	os.Exit(m.Run())
}

// program is the function with these arguments.
func program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), programEnv+"="+strings.Join(args, " "))
	return cmd
}

// An issuer of certificates.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// issue a certificate for one use. Without an issuer it signs itself.
func (i *issuer) issue(t *testing.T, name string, uses ...x509.ExtKeyUsage) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: uses, BasicConstraintsValid: true,
	}
	parent, signer := template, key
	if i != nil {
		parent, signer = i.certificate, i.key
	} else {
		template.IsCA, template.KeyUsage = true, template.KeyUsage|x509.KeyUsageCertSign
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func newIssuer(t *testing.T, name string) *issuer {
	t.Helper()
	var none *issuer
	c := none.issue(t, name)
	key, _ := c.PrivateKey.(*ecdsa.PrivateKey)
	return &issuer{certificate: c.Leaf, key: key}
}

// write a certificate as the Secret of a function has it: tls.crt, tls.key and ca.crt.
func write(t *testing.T, dir string, ca *issuer, c tls.Certificate) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: c.Certificate[0]},
		"tls.key": {Type: "PRIVATE KEY", Bytes: key},
		"ca.crt":  {Type: "CERTIFICATE", Bytes: ca.certificate.Raw},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCallersWithoutACertificateAreRefused holds that the function answers those alone whose certificate Crossplane's CA
// issued to a client, and that it does not start when no certificate says who may call.
func TestCallersWithoutACertificateAreRefused(t *testing.T) {
	t.Parallel()
	const server = "function.crossplane-system"
	ca := newIssuer(t, "crossplane")
	serving := ca.issue(t, server, x509.ExtKeyUsageServerAuth)
	dir := t.TempDir()
	write(t, dir, ca, serving)
	_, address := listen(t, "--tls-certs-dir="+dir)

	roots := x509.NewCertPool()
	roots.AddCert(ca.certificate)
	with := func(certificates ...tls.Certificate) *tls.Config {
		return &tls.Config{ServerName: server, RootCAs: roots, Certificates: certificates, MinVersion: tls.VersionTLS12}
	}
	client := ca.issue(t, "crossplane", x509.ExtKeyUsageClientAuth)
	old := with(client)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	var none *issuer

	cases := map[string]struct {
		reason string
		config *tls.Config
		want   codes.Code
	}{
		"Crossplane": {
			reason: "Crossplane's client certificate is what the function is called with.",
			config: with(client),
			want:   codes.OK,
		},
		"Plaintext": {
			reason: "Whoever reaches the port must not be served.",
			want:   codes.Unavailable,
		},
		"NoCertificate": {
			reason: "TLS alone does not say who calls.",
			config: with(),
			want:   codes.Unavailable,
		},
		"SelfSigned": {
			reason: "Anyone can issue such a certificate.",
			config: with(none.issue(t, "crossplane", x509.ExtKeyUsageClientAuth)),
			want:   codes.Unavailable,
		},
		"AnotherIssuer": {
			reason: "The issuer has the name of Crossplane's and another key.",
			config: with(newIssuer(t, "crossplane").issue(t, "crossplane", x509.ExtKeyUsageClientAuth)),
			want:   codes.Unavailable,
		},
		"AServersCertificate": {
			reason: "A function, or what else has a certificate to serve with, is no caller.",
			config: with(serving),
			want:   codes.Unavailable,
		},
		"OldTLS": {
			reason: "TLS 1.0 and 1.1 are broken.",
			config: old,
			want:   codes.Unavailable,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			creds := insecure.NewCredentials()
			if tc.config != nil {
				creds = credentials.NewTLS(tc.config)
			}
			conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(creds))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(ctx, &fnv1.RunFunctionRequest{})
			if got := status.Code(err); got != tc.want {
				t.Errorf("%s\nwant %s, got %s: %v", tc.reason, tc.want, got, err)
			}
		})
	}

	t.Run("NoCertificates", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := program(ctx, "--address=127.0.0.1:0", "--metrics-address=").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no credentials provided") {
			t.Errorf("without certificates it should not start: %v\n%s", err, out)
		}
	})
}

// listen runs the function with these arguments, and returns it and its address.
func listen(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	cmd := program(t.Context(), append(args, "--address="+address, "--metrics-address=")...)
	out := &strings.Builder{}
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return cmd, address
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the function does not listen:\n%s", out)
	return nil, ""
}
