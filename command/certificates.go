package command

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
)

// certificateFiles are the PEM files of one side of a TLS connection.
type certificateFiles struct {
	certificate, key string // its own certificate; both or none
	authorities      string // trusted to sign the other side's; "": the system's, or none on a server
}

// read reads the files. The error names the one that cannot be used.
func (f *certificateFiles) read() (own []tls.Certificate, trusted *x509.CertPool, err error) {
	if f.certificate != "" {
		pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
		if err != nil {
			var missing *os.PathError
			if errors.As(err, &missing) {
				return nil, nil, err
			}
			return nil, nil, fmt.Errorf("%s and %s: %w", f.certificate, f.key, err)
		}
		own = []tls.Certificate{pair}
	}
	if f.authorities == "" {
		return own, nil, nil
	}
	content, err := os.ReadFile(f.authorities)
	if err != nil {
		return nil, nil, err
	}
	trusted = x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(content) {
		return nil, nil, fmt.Errorf("%s has no certificate in PEM", f.authorities)
	}
	return own, trusted, nil
}

// contents returns the content of each file, or nil for one that cannot be read.
func (f *certificateFiles) contents() (all [3][]byte) {
	for i, name := range []string{f.certificate, f.key, f.authorities} {
		all[i], _ = os.ReadFile(name)
	}
	return all
}

// reloading is the TLS configuration of the server. A handshake checks at most once a second whether the files have
// changed. Open connections keep their certificates.
type reloading struct {
	files      certificateFiles
	clientAuth tls.ClientAuthType
	log        zerolog.Logger

	mu      sync.Mutex
	current *tls.Config
	last    [3][]byte // contents of the files, valid or not
	checked time.Time
}

// checkInterval is how often the files are checked for changes.
const checkInterval = time.Second

// newReloading reads the files. It fails if they are not valid.
func newReloading(files certificateFiles, clientAuth tls.ClientAuthType, log zerolog.Logger) (*reloading, error) {
	r := &reloading{files: files, clientAuth: clientAuth, log: log, checked: time.Now()}
	r.last = files.contents()
	err := r.load()
	return r, err
}

// config returns the configuration of the listener, which asks r at each handshake.
func (r *reloading) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return r.latest(), nil },
	}
}

// latest returns the configuration for a handshake. Changed files that are not valid are logged and not used.
func (r *reloading) latest() *tls.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.checked) < checkInterval {
		return r.current
	}
	r.checked = time.Now()
	contents := r.files.contents()
	if slices.EqualFunc(contents[:], r.last[:], bytes.Equal) {
		return r.current
	}
	r.last = contents
	if err := r.load(); err != nil {
		r.log.Error().Err(err).Msg("cannot use the changed certificates: the previous ones stay in use")
	} else {
		r.log.Info().Str("certificate", r.files.certificate).Msg("using the changed certificates")
	}
	return r.current
}

// load reads the files and makes them the current configuration.
func (r *reloading) load() error {
	own, trusted, err := r.files.read()
	if err != nil {
		return err
	}
	r.current = &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: own,
		ClientCAs:    trusted,
		ClientAuth:   r.clientAuth,

		DynamicRecordSizingDisabled: true, // responses are written as a whole
	}
	return nil
}

// encryption reads the server's certificates. It returns nil if there are none.
func (s *settings) encryption(log zerolog.Logger) (*server.TLS, error) {
	if s.certificates.certificate == "" {
		return nil, nil
	}
	clientAuth := tls.NoClientCert
	switch {
	case s.login == server.ByCertificateOrPassword:
		clientAuth = tls.VerifyClientCertIfGiven
	case s.certificates.authorities != "":
		clientAuth = tls.RequireAndVerifyClientCert
	}
	r, err := newReloading(s.certificates, clientAuth, log)
	if err != nil {
		return nil, err
	}
	return &server.TLS{Config: r.config(), Optional: s.optionalTLS}, nil
}
