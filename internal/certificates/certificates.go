// Package certificates makes certificates for tests: an authority that lives as long as the test, and the certificates
// that it signs for servers and clients.
//
//	authority, err := certificates.NewAuthority("test")
//	pair, err := authority.Client("app", "spiffe://example.com/app")
//	config, err := authority.ClientConfig(pair)
//
// Nothing is for production: keys are never protected, and everything is valid for a day.
package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"time"
)

// validity is how long certificates are valid.
const validity = 24 * time.Hour

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate with its key, both as PEM.
type Pair struct{ Certificate, Key []byte }

// NewAuthority makes an authority.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(name)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &Authority{certificate: certificate, key: key}, err
}

// newTemplate has the fields that all certificates share.
func newTemplate(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // clocks of other machines may be slow
		NotAfter:     now.Add(validity),
	}, nil
}

// PEM is the authority's certificate, as clients and servers get it to trust.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Pool has the authority's certificate.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Server signs a certificate for a server at hosts, which are names or IP addresses.
func (a *Authority) Server(hosts ...string) (Pair, error) {
	template, err := newTemplate("server")
	if err != nil {
		return Pair{}, err
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return a.sign(template)
}

// Client signs a certificate for a client. Its identities are URIs, like spiffe://example.com/app; it may have none.
func (a *Authority) Client(name string, identities ...string) (Pair, error) {
	template, err := newTemplate(name)
	if err != nil {
		return Pair{}, err
	}
	for _, text := range identities {
		uri, err := url.Parse(text)
		if err != nil {
			return Pair{}, err
		}
		template.URIs = append(template.URIs, uri)
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(template)
}

// sign makes a key and a certificate for it.
func (a *Authority) sign(template *x509.Certificate) (Pair, error) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return Pair{}, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}),
	}, nil
}

// ServerConfig is the configuration of a server that shows a certificate of the authority.
func (a *Authority) ServerConfig(p Pair) (*tls.Config, error) {
	c, err := tls.X509KeyPair(p.Certificate, p.Key)
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12, ClientCAs: a.Pool()}, err
}

// ClientConfig is the configuration of a client that trusts the authority. It shows a certificate unless the pair is
// empty.
func (a *Authority) ClientConfig(p Pair) (*tls.Config, error) {
	config := &tls.Config{RootCAs: a.Pool(), MinVersion: tls.VersionTLS12}
	if len(p.Certificate) == 0 {
		return config, nil
	}
	c, err := tls.X509KeyPair(p.Certificate, p.Key)
	config.Certificates = []tls.Certificate{c}
	return config, err
}

// Write writes a pair to files that only their owner may read.
func (p Pair) Write(certificate, key string) error {
	if err := os.WriteFile(certificate, p.Certificate, 0o600); err != nil {
		return fmt.Errorf("write a certificate: %w", err)
	}
	if err := os.WriteFile(key, p.Key, 0o600); err != nil {
		return fmt.Errorf("write a key: %w", err)
	}
	return nil
}
