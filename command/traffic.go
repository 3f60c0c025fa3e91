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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/protocol/client/traffic"
)

// proxyCommand is cqld proxy: it records requests and responses.
func proxyCommand(c *console) *cobra.Command {
	var to, at, out string
	cmd := &cobra.Command{
		Use: "proxy", GroupID: groupCheck, Short: "Record the traffic between clients and a server",
		Long: "Pass connections on to a server, and record requests and responses for replay. The recording includes the " +
			"values in statements.",
		Example: "proxy --to db.example:9042 --out session.txt\nproxy --to db.example --at 127.0.0.1:9044 --tls-ca cluster.crt",
	}
	topic(cmd.Flags(), "Traffic", func(f *pflag.FlagSet) {
		f.StringVar(&to, "to", "", "pass connections on to the server at `ADDRESS`")
		f.StringVar(&at, "at", "127.0.0.1:9043", "listen for clients at `ADDRESS`")
		f.StringVar(&out, "out", "-", "write the recording to `FILE`, which must not exist; - is the standard output")
	})
	var toServer clientTLS
	toServer.addFlags(cmd.Flags())
	var forClients certificateFiles
	topic(cmd.Flags(), "TLS for clients", func(f *pflag.FlagSet) {
		f.StringVar(&forClients.certificate, "at-tls-cert", "", "encrypt the connections of clients with the certificate in "+
			"`FILE` (PEM)")
		f.StringVar(&forClients.key, "at-tls-key", "", "private key of --at-tls-cert, in `FILE` (PEM)")
		f.StringVar(&forClients.authorities, "at-tls-client-ca", "", "require client certificates signed by an authority in "+
			"`FILE` (PEM)")
	})
	return newCommand(c, cmd, func(ctx context.Context, _ []string) error {
		if to == "" {
			return usagef("proxy needs --to ADDRESS")
		}
		return proxy(ctx, c, to, at, out, &toServer, forClients)
	})
}

// proxy passes connections to one address on to another one and records them.
func proxy(
	ctx context.Context, c *console, to, at, out string, toServer *clientTLS, forClients certificateFiles,
) error {
	secureTo, err := toServer.config()
	if err != nil {
		return err
	}
	secureAt, err := proxyEncryption(forClients)
	if err != nil {
		return err
	}
	l, err := listen(withPort(at))
	if err != nil {
		return err
	}
	defer l.Close()
	var file io.Writer = c.stdout
	if out != "-" {
		created, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // it has values
		if err != nil {
			return fmt.Errorf("create the recording: %w", err)
		}
		defer created.Close()
		file = created
	}
	fmt.Fprintf(c.stderr, "recording the traffic from %s to %s\n", l.Addr(), to)
	p := traffic.Proxy{
		To: withPort(to), Out: file, Dial: 10 * time.Second, ToTLS: secureTo, TLS: secureAt,
		Told: func(err error) { fmt.Fprintf(c.stderr, "%s: %v\n", c.name(), err) },
	}
	err = p.Serve(ctx, l)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// proxyEncryption reads the certificates that the proxy shows to clients. It returns nil if there are none.
func proxyEncryption(files certificateFiles) (*tls.Config, error) {
	switch {
	case files == (certificateFiles{}):
		return nil, nil
	case files.certificate == "" || files.key == "":
		return nil, usagef("--at-tls-cert and --at-tls-key need each other, and --at-tls-client-ca needs both")
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

// replayCommand is cqld replay.
func replayCommand(c *console) *cobra.Command {
	var against string
	cmd := &cobra.Command{
		Use: "replay FILE", GroupID: groupCheck, Short: "Replay a recording against a server and print the differences",
		Long: "Replay a recording of proxy against a server, and print each response that differs from the recorded one. " +
			"Exit with 1 if there are any. A FILE of - is the standard input.",
		Example: "replay session.txt --against 127.0.0.1:9042\nreplay session.txt --username app --timeout 1m",
	}
	topic(cmd.Flags(), "Server", func(f *pflag.FlagSet) {
		f.StringVar(&against, "against", "", "replay against the server at `ADDRESS` (default "+defaultListen+")")
	})
	login := loginFlags(cmd.Flags(), "wait at most this long for each answer")
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		if err := login.complete(c, against); err != nil {
			return err
		}
		return replay(ctx, c, args[0], login)
	})
}

// replay replays a recording.
func replay(ctx context.Context, c *console, file string, l *login) error {
	var recording io.Reader = c.stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return cannotRead(file, err)
		}
		defer opened.Close()
		recording = opened
	}
	out := bufio.NewWriter(c.stdout)
	r := traffic.Replay{
		Against: l.Addr, Username: l.Username, Password: l.Password, TLS: l.TLS, Timeout: l.Timeout, Out: out,
	}
	outcome, err := r.Run(ctx, recording)
	if err == nil {
		fmt.Fprintln(out, outcome)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("%s: %s", file, strings.TrimSpace(err.Error()))
	}
	if outcome.Different > 0 {
		return fmt.Errorf("%d of %d responses differ from %s", outcome.Different, outcome.Compared, file)
	}
	return nil
}
