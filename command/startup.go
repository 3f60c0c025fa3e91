package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine/files"
)

// announce tells that clients are served: in the log, or on a terminal in a summary, and in the port file.
func (s *settings) announce(c *console, l *listeners, log zerolog.Logger) error {
	s.warnOpen(l, log)
	if isTerminal(c.stderr) && s.logFormat != "json" && s.level <= zerolog.InfoLevel {
		s.printSummary(c.stderr, c, l)
	} else {
		event := log.Info()
		for _, one := range s.summary(c, l) {
			event = event.Str(one.key, one.value)
		}
		event.Msg("clients are served")
	}
	if s.portFile == "" {
		return nil
	}
	address := reachable(l.addresses()[0].String())
	if err := files.ReplaceFile(s.portFile, []byte(address+"\n")); err != nil {
		return fmt.Errorf("--port-file: %w", err)
	}
	return nil
}

// removePortFile removes the port file: it exists only while clients are served.
func (s *settings) removePortFile() error {
	if s.portFile == "" {
		return nil
	}
	if err := os.Remove(s.portFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--port-file: %w", err)
	}
	return nil
}

// fact is a line of the summary.
type fact struct{ key, value string }

// summary describes a server that has started.
func (s *settings) summary(c *console, l *listeners) []fact {
	data := "in memory"
	switch {
	case s.engine != nil:
		data = "in a cluster"
	case !s.memory:
		data = s.data
		if path, err := filepath.Abs(s.data); err == nil {
			data = path
		}
	}
	address := l.logged()[0]
	encryption := "none"
	if l.tls != nil {
		encryption = s.given.tls
	}
	at := reachable(l.addresses()[0].String())
	host, port, _ := net.SplitHostPort(at)
	shell, own := fmt.Sprintf("cqlsh %s %s", host, port), c.name()+" exec "+at
	if s.logins {
		shell, own = shell+" -u USER", own+" --username USER"
	}
	if l.tls != nil && !l.tls.Optional {
		shell, own = shell+" --ssl", own+" --tls"
	}
	facts := []fact{
		{"version", c.buildVersion()},
		{"listen", address},
		{"data", data},
		{"auth", s.given.auth},
		{"tls", encryption},
		{"connect", shell + "  or  " + own + ` -e "..."`},
	}
	if l.http.IsValid() {
		facts = append(facts, fact{"console", "http://" + reachable(l.http.String()) + "/"})
	}
	return facts
}

// printSummary prints the summary for people.
func (s *settings) printSummary(out io.Writer, c *console, l *listeners) {
	names := map[string]string{
		"listen": "Address", "data": "Data", "auth": "Authentication", "tls": "TLS", "connect": "Connect with",
		"console": "Console",
	}
	var b strings.Builder
	for _, one := range s.summary(c, l) {
		switch one.key {
		case "version":
			fmt.Fprintf(&b, "\n%s %s is ready\n", c.name(), one.value)
		default:
			fmt.Fprintf(&b, "  %-16s%s\n", names[one.key], one.value)
		}
	}
	fmt.Fprint(&b, "  Stop with       Ctrl-C\n\n")
	fmt.Fprint(out, b.String())
}

// reachable returns an address at which this machine reaches a listener.
func reachable(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsUnspecified() {
		return address
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
}

// warnOpen warns if other machines can reach a server without authentication.
func (s *settings) warnOpen(l *listeners, log zerolog.Logger) {
	address := l.public()
	if s.logins || l.wantCertificates(s) || address == "" {
		return
	}
	log.Warn().Msgf("no authentication: everyone who can reach %s can read and change all data; --auth password makes "+
		"clients log in, and --listen 127.0.0.1 refuses other machines", address)
}

// newLogger makes the logger, in the format of --log-format.
func newLogger(w io.Writer, s *settings) zerolog.Logger {
	return zerolog.New(s.logWriter(w, isTerminal(w))).Level(s.level).With().Timestamp().Logger()
}

// logWriter returns a writer for the log: it turns JSON into readable lines if the format is console.
func (s *settings) logWriter(w io.Writer, terminal bool) io.Writer {
	if s.logFormat == "console" || s.logFormat == "auto" && terminal {
		return zerolog.ConsoleWriter{Out: w, NoColor: !terminal, TimeFormat: time.DateTime}
	}
	return w
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
