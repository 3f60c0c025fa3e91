package server

import (
	"crypto/x509"
	"encoding/asn1"
	"strings"

	"github.com/cqld/cqld/auth/roles"
	"github.com/cqld/cqld/protocol"
)

// Authenticator is a way to log in.
type Authenticator int

// The authenticators are those of Cassandra.
const (
	ByPassword Authenticator = iota

	// ByCertificate logs a client in as the role of the identity in its certificate.
	ByCertificate

	// ByCertificateOrPassword asks clients that show no certificate for a password.
	ByCertificateOrPassword
)

// class is the name in AUTHENTICATE.
func (a Authenticator) class() string {
	return [...]string{
		ByPassword:              protocol.PasswordAuthenticator,
		ByCertificate:           protocol.MutualTLSAuthenticator,
		ByCertificateOrPassword: protocol.MutualTLSWithPasswordAuthenticator,
	}[a]
}

// byCertificate reports whether a client logs in with its certificate. What it sends in AUTH_RESPONSE does not matter
// then.
func (a Authenticator) byCertificate(c *conn) bool {
	return a == ByCertificate || a == ByCertificateOrPassword && c.certificate() != nil
}

// certificate is what the client has shown; nil: nothing.
func (c *conn) certificate() *x509.Certificate {
	if s := c.secured.Load(); s != nil && len(s.PeerCertificates) > 0 {
		return s.PeerCertificates[0]
	}
	return nil
}

var subjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

// tagURI is the tag of an alternative name that is a URI.
const tagURI = 6

// spiffeID is the first alternative name of a certificate that is a URI and begins with spiffe://, as Cassandra's
// SpiffeCertificateValidator finds it.
func spiffeID(certificate *x509.Certificate) (string, error) {
	if certificate != nil {
		for _, extension := range certificate.Extensions {
			var names []asn1.RawValue
			if !extension.Id.Equal(subjectAltName) {
				continue
			}
			if _, err := asn1.Unmarshal(extension.Value, &names); err != nil {
				break
			}
			for _, n := range names {
				if n.Tag == tagURI && strings.HasPrefix(string(n.Bytes), "spiffe://") {
					return string(n.Bytes), nil
				}
			}
		}
	}
	return "", roles.BadCredentials("Unable to extract Spiffe from the certificate")
}
