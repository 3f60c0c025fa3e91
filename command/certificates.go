package command

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
)

// certificateFiles are files in PEM with what one side of a TLS connection shows and trusts.
type certificateFiles struct {
	certificate, key string // what it shows; both or none
	authorities      string // whose signatures it trusts; "": the system's, or nobody's on a server
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

// stat returns the state of each file; nil: it cannot be told.
func (f *certificateFiles) stat() (states [3]os.FileInfo) {
	for i, name := range []string{f.certificate, f.key, f.authorities} {
		if info, err := os.Stat(name); err == nil {
			states[i] = info
		}
	}
	return states
}

// sameFiles reports whether no file was changed or replaced.
func sameFiles(a, b [3]os.FileInfo) bool {
	for i := range a {
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil || b[i] == nil:
			return false
		case !os.SameFile(a[i], b[i]) || !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size():
			return false
		}
	}
	return true
}

// reloading is the TLS configuration of the server. A handshake looks whether the files have changed, at most once a
// second. Connections that are open keep what they were made with.
type reloading struct {
	files      certificateFiles
	clientAuth tls.ClientAuthType
	log        zerolog.Logger

	mu      sync.Mutex
	current *tls.Config
	states  [3]os.FileInfo // of the files that were read last, whether they could be used or not
	looked  time.Time
}

// lookEvery is how often the files are looked at.
const lookEvery = time.Second

// newReloading reads the files, which have to be right.
func newReloading(files certificateFiles, clientAuth tls.ClientAuthType, log zerolog.Logger) (*reloading, error) {
	r := &reloading{files: files, clientAuth: clientAuth, log: log, looked: time.Now()}
	r.states = files.stat()
	err := r.load()
	return r, err
}

// config is what the server listens with.
func (r *reloading) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return r.now(), nil },
	}
}

// now is the configuration for a handshake. Files that cannot be used leave it as it was.
func (r *reloading) now() *tls.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) < lookEvery {
		return r.current
	}
	r.looked = time.Now()
	states := r.files.stat()
	if sameFiles(states, r.states) {
		return r.current
	}
	r.states = states
	if err := r.load(); err != nil {
		r.log.Error().Err(err).Msg("the changed certificates cannot be used: those from before stay")
	} else {
		r.log.Info().Str("certificate", r.files.certificate).Msg("the certificates have changed and are in use")
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

		DynamicRecordSizingDisabled: true, // answers are written as a whole
	}
	return nil
}

// encryption reads the certificates; nil: there are none.
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
