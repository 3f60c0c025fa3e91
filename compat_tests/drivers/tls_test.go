package drivers

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
	"testing"

	apache "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/cqltest/gocqlv2test"
)

// tlsFromEnvironment returns a driver's configuration for TLS; nil: no TLS.
func tlsFromEnvironment(t *testing.T) *tls.Config {
	t.Helper()
	ca := os.Getenv("CQL_CA")
	if ca == "" {
		return nil
	}
	content, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(content)
	if certificate := os.Getenv("CQL_CERT"); certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, os.Getenv("CQL_KEY"))
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// TestGocqlTLS has both lines of gocql connect through TLS, with and without certificates.
func TestGocqlTLS(t *testing.T) {
	const create = "CREATE TABLE t (k int PRIMARY KEY, v text)"
	const insert = "INSERT INTO t (k, v) VALUES (1, 'one')"
	for name, s := range map[string]*cqltest.Server{
		"without a certificate": cqltest.RunT(t, cqltest.WithTLS()),
		"with a certificate":    cqltest.RunT(t, cqltest.WithClientCertificates()),
	} {
		config := s.TLSConfig()
		if name == "with a certificate" {
			cluster := gocqltest.Cluster(s.Addr())
			cluster.SslOpts = &gocql.SslOptions{Config: config}
			if session, err := cluster.CreateSession(); err == nil {
				session.Close()
				t.Error("gocql connects without a certificate where it has to show one")
			}
			config = s.TLSConfigOf(t)
		}
		session := gocqltest.Session(t, s, func(c *gocql.ClusterConfig) { c.SslOpts = &gocql.SslOptions{Config: config} })
		v2 := gocqlv2test.Session(t, s, func(c *apache.ClusterConfig) { c.SslOpts = &apache.SslOptions{Config: config} })
		for _, text := range []string{create, insert} {
			if err := errors.Join(session.Query(text).Exec(), v2.Query(text).Exec()); err != nil {
				t.Fatal(name, err)
			}
		}
		var one, two string
		err := errors.Join(session.Query("SELECT v FROM t WHERE k = ?", 1).Scan(&one), v2.Query("SELECT v FROM t WHERE k = ?", 1).Scan(&two))
		if err != nil || one != "one" || two != "one" {
			t.Errorf("%s: %q, %q, %v", name, one, two, err)
		}
	}
}

// byCertificate answers AUTHENTICATE of a server that looks at the certificate.
type byCertificate struct{ asked *string }

// Challenge implements gocql.Authenticator.
func (b byCertificate) Challenge(req []byte) ([]byte, gocql.Authenticator, error) {
	*b.asked = string(req)
	return []byte{}, nil, nil
}

// Success implements gocql.Authenticator.
func (byCertificate) Success([]byte) error { return nil }

// TestGocqlCertificateLogin has gocql log in with the identity in its certificate.
func TestGocqlCertificateLogin(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithMutualTLSOrPassword())
	s.Exec(t, "CREATE ROLE app WITH LOGIN = true", "ADD IDENTITY 'spiffe://test/app' TO ROLE 'app'")
	cluster := gocqltest.Cluster(s.Addr())
	asked := ""
	cluster.Authenticator = byCertificate{&asked}
	cluster.SslOpts = &gocql.SslOptions{Config: s.TLSConfigOf(t, "spiffe://test/app")}
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	err = session.Query("CREATE ROLE other").Exec()
	if err == nil || !strings.Contains(err.Error(), "User app does not have sufficient privileges") {
		t.Errorf("asked by %s: %v", asked, err)
	}
}
