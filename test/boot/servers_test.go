//go:build boot

package boot

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Credentials that must never be seen outside of a request.
const (
	roleName      = "demo-worker"
	roleKeyID     = "ASIADEMODEMODEMODEMO"
	roleSecret    = "demoSecretKey/0123456789abcdefghijklmnop"
	roleToken     = "demoSessionToken//////////wEaCXVzLWVhc3QtMSJHMEUCIQDdemo+/=="
	metadataToken = "demoMetadataToken-AQAAAdemo=="
)

// startServers starts what an instance talks to. They live as long as the test binary.
func startServers() error {
	for _, start := range []func() error{
		func() error { return serve("169.254.169.254:80", metadata, nil) },
		func() error { return serve("[fd00:ec2::254]:80", metadata, nil) },
		func() error { return serve("127.0.0.1:443", s3, authority.config()) },
		func() error { return serve("[::1]:443", s3, authority.config()) },
		func() error { return serve(proxyAddress, proxy, nil) },
	} {
		if err := start(); err != nil {
			return err
		}
	}
	return nil
}

func serve(address string, handler http.Handler, config *tls.Config) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }()
	return nil
}

// resetServers gives a test servers that know of nothing.
func resetServers(t *testing.T) {
	t.Helper()
	metadata.reset()
	s3.reset()
	proxy.reset()
}

// A fakeMetadata is EC2's instance metadata service, version 2 only.
type fakeMetadata struct {
	mu       sync.Mutex
	noRole   bool
	noTokens int           // so many requests for a session token fail first
	delay    time.Duration // until a session token is given
	oneLine  bool          // answers in one line, as no promise of EC2's says it does not
	userData string        // for Ignition
	requests []string
}

var metadata = &fakeMetadata{}

func (f *fakeMetadata) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noRole, f.noTokens, f.delay, f.oneLine, f.userData, f.requests = false, 0, 0, false, "", nil
}

func (f *fakeMetadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)

	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/") // The first is a version.
	if path == "api/token" {
		if r.Method != http.MethodPut || r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") == "" ||
			r.Header.Get("X-Forwarded-For") != "" {
			http.Error(w, "", http.StatusForbidden)
			return
		}
		if f.noTokens > 0 {
			f.noTokens--
			http.Error(w, "", http.StatusServiceUnavailable)
			return
		}
		time.Sleep(f.delay)
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
		_, _ = io.WriteString(w, metadataToken)
		return
	}
	if r.Header.Get("X-Aws-Ec2-Metadata-Token") != metadataToken {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	const base = "meta-data/iam/security-credentials/"
	switch {
	case path == base && !f.noRole:
		_, _ = io.WriteString(w, roleName)
	case path == base+roleName && !f.noRole:
		credentials := map[string]string{
			"Code": "Success", "LastUpdated": time.Now().UTC().Format(time.RFC3339), "Type": "AWS-HMAC",
			"AccessKeyId": roleKeyID, "SecretAccessKey": roleSecret, "Token": roleToken,
			"Expiration": time.Now().Add(6 * time.Hour).UTC().Format(time.RFC3339),
		}
		encode := func() ([]byte, error) { return json.MarshalIndent(credentials, "", "  ") }
		if f.oneLine {
			encode = func() ([]byte, error) { return json.Marshal(credentials) }
		}
		text, err := encode()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(text)
	case path == "dynamic/instance-identity/document":
		_, _ = io.WriteString(w, `{"region": "`+demo().Region+`"}`)
	case path == "user-data" && f.userData != "":
		_, _ = io.WriteString(w, f.userData)
	default:
		http.NotFound(w, r)
	}
}

// An s3Request is one that came with a valid signature.
type s3Request struct {
	host   string
	bucket string
	key    string
}

// A fakeS3 serves objects to the instance role alone, and lets a test break it.
type fakeS3 struct {
	mu       sync.Mutex
	objects  map[string]string // by bucket/key
	breaks   func(attempt int, w http.ResponseWriter) bool
	requests []s3Request
	refused  []string // why a signature was refused
}

var s3 = &fakeS3{}

func (f *fakeS3) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects, f.breaks, f.requests, f.refused = map[string]string{}, nil, nil, nil
}

// put stores the demo stub's object.
func (f *fakeS3) put(text string) { f.putAs(demo().Bucket, demo().Key, text) }

func (f *fakeS3) putAs(bucket, key, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[bucket+"/"+key] = text
}

// breakWith makes each request go to the function first, which says whether it answered.
func (f *fakeS3) breakWith(breaks func(attempt int, w http.ResponseWriter) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.breaks = breaks
}

// seen are the requests with a valid signature so far.
func (f *fakeS3) seen() []s3Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]s3Request(nil), f.requests...)
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := s3Request{host: r.Host}
	bucket, _, virtual := strings.Cut(r.Host, ".s3.")
	if request.bucket, request.key = bucket, strings.TrimPrefix(r.URL.Path, "/"); !virtual {
		request.bucket, request.key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	}
	if r.Method == http.MethodHead && request.key == "" { // Anyone may ask where a bucket is.
		w.Header().Set("X-Amz-Bucket-Region", demo().Region)
		return
	}

	why, canonical := checkSignature(r)
	f.mu.Lock()
	if why != "" {
		f.refused = append(f.refused, why)
		f.mu.Unlock()
		// As S3 does, tell what was signed, the session token included: nobody may pass it on.
		s3Error(w, http.StatusForbidden, "SignatureDoesNotMatch", "<CanonicalRequest>"+canonical+"</CanonicalRequest>")
		return
	}
	f.requests = append(f.requests, request)
	attempt, breaks := len(f.requests), f.breaks
	text, found := f.objects[request.bucket+"/"+request.key]
	f.mu.Unlock()

	switch {
	case breaks != nil && breaks(attempt, w):
	case !found:
		s3Error(w, http.StatusNotFound, "NoSuchKey", "")
	default:
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	}
}

func s3Error(w http.ResponseWriter, status int, code, more string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>It says why.</Message>%s"+
		"<RequestId>R</RequestId></Error>", code, more)
}

// answer is a way to break S3: always the same error.
func answer(status int, code string) func(int, http.ResponseWriter) bool {
	return func(_ int, w http.ResponseWriter) bool {
		s3Error(w, status, code, "")
		return true
	}
}

// until lets a way to break S3 have the first attempts only.
func until(attempts int, breaks func(int, http.ResponseWriter) bool) func(int, http.ResponseWriter) bool {
	return func(attempt int, w http.ResponseWriter) bool { return attempt <= attempts && breaks(attempt, w) }
}

// hangUp sends the start of an object and closes the connection.
func hangUp(_ int, w http.ResponseWriter) bool {
	w.Header().Set("Content-Length", "100000")
	_, _ = io.WriteString(w, "#cloud-config\nruncmd:\n- touch /half\n")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

const proxyAddress = "127.0.0.1:3128"

// A fakeProxy tunnels to S3 and writes down what it was asked for.
type fakeProxy struct {
	mu   sync.Mutex
	asks []string
}

var proxy = &fakeProxy{}

func (f *fakeProxy) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asks = nil
}

func (f *fakeProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asks = append(f.asks, r.Method+" "+r.RequestURI)
	f.mu.Unlock()
	if r.Method != http.MethodConnect {
		http.Error(w, "", http.StatusBadGateway)
		return
	}
	server, err := net.Dial("tcp", "127.0.0.1:443")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	tunnel(client, buffer, server)
}

func tunnel(client net.Conn, buffer *bufio.ReadWriter, server net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, buffer)
		if tcp, ok := server.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
	<-done
}

// A certificateAuthority makes a certificate for whatever name it is asked for.
type certificateAuthority struct {
	pem         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

var authority = newAuthority()

func newAuthority() *certificateAuthority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test-boot"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &certificateAuthority{pem: string(text), certificate: certificate, key: key}
}

func (a *certificateAuthority) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName == "" {
				return nil, errors.New("no server name")
			}
			serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
			if err != nil {
				return nil, err
			}
			der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
				SerialNumber: serial, DNSNames: []string{hello.ServerName},
				NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
			}, a.certificate, &a.key.PublicKey, a.key)
			if err != nil {
				return nil, err
			}
			return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, nil
		},
	}
}
