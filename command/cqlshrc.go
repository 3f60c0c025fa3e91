package command

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cqld/cqld/protocol/client/cqlfiles"
)

// settingsFile has the settings of a file such as cqlshrc, by section and key.
type settingsFile struct {
	path     string
	sections map[string]map[string]string
}

// readRC reads the cqlshrc at a path, or else ~/.cassandra/cqlshrc.
func readRC(c *console, path string) (*settingsFile, error) {
	standard := expandHome(c, "~/.cassandra/cqlshrc")
	if path == "" {
		path = standard
	} else if path = expandHome(c, path); !exists(path) {
		fmt.Fprintf(c.stderr, "\nWarning: Specified cqlshrc location `%s` does not exist.  Using `%s` instead.\n\n",
			path, standard)
		path = standard
	}
	f, err := readSections(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &settingsFile{path: path}, nil
	}
	return f, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// expandHome replaces a leading ~ by the home folder.
func expandHome(c *console, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(c.getenv("HOME"), rest)
	}
	return path
}

// readSettings reads a file of settings.
func readSections(path string) (*settingsFile, error) {
	sections, err := cqlfiles.ReadSettings(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &settingsFile{path, sections}, nil
}

// get returns a setting, or "".
func (f *settingsFile) get(section, key string) string { return f.sections[section][key] }

// flag returns a setting that is true or false.
func (f *settingsFile) flag(section, key string, without bool) bool {
	switch strings.ToLower(f.get(section, key)) {
	case "1", "yes", "true", "on":
		return true
	case "0", "no", "false", "off":
		return false
	}
	return without
}

// number returns given unless it is 0, or else a setting that is a whole number, or else without.
func (f *settingsFile) number(section, key string, given, without int) (int, error) {
	text := f.get(section, key)
	switch {
	case given != 0:
		return given, nil
	case text == "":
		return without, nil
	}
	whole, _, _ := strings.Cut(text, ".") // max_trace_wait may have a fraction
	n, err := strconv.Atoi(whole)
	if err != nil || n <= 0 {
		return 0, usagef("%s: %s = %s: want a positive number", f.path, key, text)
	}
	return n, nil
}

// tls returns the parameters of TLS in the sections ssl and certfiles. As cqlsh does it, a certificate has to be signed
// by an authority of the file, but not for the host.
func (f *settingsFile) tls(c *console, host string) (*tls.Config, error) {
	validate := c.getenv("SSL_VALIDATE")
	if validate == "" {
		validate = f.get("ssl", "validate")
	}
	authorities := c.getenv("SSL_CERTFILE")
	for _, place := range [][2]string{{"certfiles", host}, {"ssl", "certfile"}} {
		if authorities == "" {
			authorities = f.get(place[0], place[1])
		}
	}
	files := certificateFiles{
		authorities: expandHome(c, authorities), certificate: expandHome(c, f.get("ssl", "usercert")),
		key: expandHome(c, f.get("ssl", "userkey")),
	}
	own, trusted, err := files.read()
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: own, RootCAs: trusted}
	switch {
	case strings.EqualFold(validate, "false"):
		config.InsecureSkipVerify = true
	case authorities != "":
		config.InsecureSkipVerify = true // replaced by VerifyConnection
		config.VerifyConnection = func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return errors.New("the server shows no certificate")
			}
			o := x509.VerifyOptions{Roots: trusted, Intermediates: x509.NewCertPool()}
			for _, one := range state.PeerCertificates[1:] {
				o.Intermediates.AddCert(one)
			}
			_, err := state.PeerCertificates[0].Verify(o)
			return err
		}
	}
	return config, nil
}
