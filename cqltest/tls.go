package cqltest

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/cqld/cqld/internal/certificates"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/server"
)

// WithTLS makes the server take encrypted connections only, with a certificate for 127.0.0.1 and localhost that is
// made when the server starts. Clients use TLSConfig or CertPool.
func WithTLS() Option { return func(c *inside.Config) { c.TLS = true } }

// WithClientCertificates is WithTLS for a server that asks clients for certificates. TLSConfigOf makes them.
func WithClientCertificates() Option {
	return func(c *inside.Config) { c.TLS, c.ClientCertificates = true, true }
}

// WithServerTLS sets the server's configuration, where the other options are not enough.
func WithServerTLS(config *tls.Config) Option {
	return func(c *inside.Config) { c.Server.TLS = &server.TLS{Config: config} }
}

// useTLS makes the certificates that the options ask for, and the options with which Exec connects.
func (s *Server) useTLS(c *inside.Config) (err error) {
	if c.Server.Logins {
		s.setupOptions.Username, s.setupOptions.Password = "cassandra", "cassandra"
	}
	if !c.TLS {
		return nil
	}
	if s.authority, err = certificates.NewAuthority("cqltest"); err != nil {
		return err
	}
	pair, err := s.authority.Server("127.0.0.1", "localhost")
	if err != nil {
		return err
	}
	config, err := s.authority.ServerConfig(pair)
	if err != nil {
		return err
	}
	if c.ClientCertificates {
		config.ClientAuth = tls.RequireAndVerifyClientCert
		if c.Server.Login == server.ByCertificateOrPassword {
			config.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	s.serverTLS = config
	c.Server.TLS = &server.TLS{Config: config}
	if config.ClientAuth == tls.RequireAndVerifyClientCert {
		s.setupOptions.TLS, err = s.clientConfig()
	} else {
		s.setupOptions.TLS = s.TLSConfig()
	}
	return err
}

// clientConfig is the configuration of a client with a new certificate.
func (s *Server) clientConfig(identities ...string) (*tls.Config, error) {
	pair, err := s.authority.Client("client", identities...)
	if err != nil {
		return nil, err
	}
	return s.authority.ClientConfig(pair)
}

// CertPool has the authority that has signed the server's certificate. The server needs WithTLS.
func (s *Server) CertPool() *x509.CertPool { return s.authority.Pool() }

// ServerTLSConfig is the configuration that the server has, for other servers with the same certificate. The server
// needs WithTLS.
func (s *Server) ServerTLSConfig() *tls.Config { return s.serverTLS.Clone() }

// TLSConfig makes clients trust the server. They show no certificate. It is nil without WithTLS.
func (s *Server) TLSConfig() *tls.Config {
	if s.authority == nil {
		return nil
	}
	return &tls.Config{RootCAs: s.CertPool(), MinVersion: tls.VersionTLS12}
}

// TLSConfigOf is TLSConfig for a client with a new certificate, which has identities like spiffe://test/app, or none.
func (s *Server) TLSConfigOf(t testing.TB, identities ...string) *tls.Config {
	t.Helper()
	config, err := s.clientConfig(identities...)
	if err != nil {
		t.Fatal(err)
	}
	return config
}
