package command

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol/client/traffic"
)

// proxy is cqld proxy: it stands before a server and records what clients ask and get.
func proxy(ctx context.Context, c *console, args []string) error {
	f := newFlags("proxy")
	to := f.String("to", "", "the `address` of the server to pass connections on to")
	at := f.String("at", "127.0.0.1:9043", "the `address` clients connect to")
	out := f.String("out", "-", "the `file` for the recording, which must not exist; - is the standard output")
	var toServer clientTLS
	toServer.addFlags(f)
	var forClients certificateFiles
	f.StringVar(&forClients.certificate, "at-tls-cert", "", "a `file` in PEM with the certificate that clients see; empty: "+
		"their connections are not encrypted")
	f.StringVar(&forClients.key, "at-tls-key", "", "a `file` in PEM with its key")
	f.StringVar(&forClients.authorities, "at-tls-client-ca", "", "a `file` in PEM with the authorities that have to "+
		"have signed the certificate of a client; empty: clients need none")
	if err := parse(f, c, args); err != nil {
		return err
	}
	if *to == "" || f.NArg() > 0 {
		return fmt.Errorf("%w: proxy wants --to HOST and no other argument", errUsage)
	}
	secureTo, err := toServer.config()
	if err != nil {
		return err
	}
	secureAt, err := proxyEncryption(forClients)
	if err != nil {
		return err
	}
	l, err := listen(withPort(*at))
	if err != nil {
		return err
	}
	defer l.Close()
	var file io.Writer = c.stdout
	if *out != "-" {
		created, err := os.OpenFile(*out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // others must not read values
		if err != nil {
			return fmt.Errorf("make the recording: %w", err)
		}
		defer created.Close()
		file = created
	}
	fmt.Fprintf(c.stderr, "recording what clients of %s say to %s\n", l.Addr(), *to)
	p := traffic.Proxy{
		To: withPort(*to), Out: file, Dial: 10 * time.Second, ToTLS: secureTo, TLS: secureAt,
		Told: func(err error) { fmt.Fprintln(c.stderr, "cqld:", err) },
	}
	err = p.Serve(ctx, l)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// proxyEncryption reads the certificates that the proxy has for clients; nil: there are none.
func proxyEncryption(files certificateFiles) (*tls.Config, error) {
	switch {
	case files == (certificateFiles{}):
		return nil, nil
	case files.certificate == "" || files.key == "":
		return nil, fmt.Errorf("%w: --at-tls-cert and --at-tls-key belong together, and --at-tls-client-ca needs both", errUsage)
	}
	own, trusted, err := files.read()
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: own, ClientCAs: trusted}
	if trusted != nil {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}

// replay is cqld replay: it plays a recording against a server, and fails if there are differences.
func replay(ctx context.Context, c *console, args []string) error {
	f := newFlags("replay")
	against := f.String("against", "", "the `address` of the server; empty: 127.0.0.1:9042")
	username := f.String("username", "", "the `role` to log in as, if the server asks")
	password := f.String("password", "", "its `password`; the environment does not show it to others")
	var secure clientTLS
	secure.addFlags(f)
	timeout := f.Duration("timeout", 30*time.Second, "the `time` to wait for each answer")
	file, err := addressAndFlags(f, c, args)
	if err != nil {
		return err
	}
	if file == "" {
		return fmt.Errorf("%w: replay wants a FILE that cqld proxy has written", errUsage)
	}
	encryption, err := secure.config()
	if err != nil {
		return err
	}
	var recording io.Reader = c.stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read the recording: %w", err)
		}
		defer opened.Close()
		recording = opened
	}
	out := bufio.NewWriter(c.stdout)
	r := traffic.Replay{
		Against: serverAddress(c, *against), Username: *username, Password: *password, TLS: encryption,
		Timeout: *timeout, Out: out,
	}
	outcome, err := r.Run(ctx, recording)
	if err == nil {
		fmt.Fprintln(out, outcome)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("%s: %s", file, strings.TrimSpace(err.Error()))
	}
	if outcome.Different > 0 {
		return fmt.Errorf("%d of %d answers differ from %s", outcome.Different, outcome.Compared, file)
	}
	return nil
}
