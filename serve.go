package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
	"github.com/cqld/cqld/store/engine/memory"
)

// The times for stopping: requests in flight may take drainTime, and the process ends after stopTime.
const (
	drainTime = 7 * time.Second
	stopTime  = 9500 * time.Millisecond
)

// serve runs the server until ctx ends.
func serve(ctx context.Context, c *console, args []string) error {
	s, err := readSettings(c, args)
	if err != nil {
		return err
	}
	log := newLogger(c.stderr, s)
	bound := boundMemory(s.memoryLimit)
	s.useMemory(bound)
	tuneMemory(bound, c.getenv)
	encryption, err := s.encryption(log)
	if err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	listener, err := listen(s.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	st, onDisk, err := openStore(s, log)
	if err != nil {
		return err
	}
	err = serveStore(ctx, s, st, onDisk, secured{listener, encryption}, bound, log, c.getenv)
	return errors.Join(err, st.Close())
}

// serveStore serves clients from an open store. When it returns, all requests have ended.
func serveStore(
	ctx context.Context, s *settings, st *store.Store, onDisk *disk.Engine, listener secured, bound memoryBound,
	log zerolog.Logger, getenv func(string) string,
) error {
	srv, err := server.New(server.Options{
		Store:       st,
		Log:         log,
		Advertise:   s.advertise,
		ClusterName: s.clusterName,
		Datacenter:  s.datacenter,
		Rack:        s.rack,
		Logins:      s.logins,
		Login:       s.login,
		TLS:         listener.tls,
		Masks:       s.masks,
		Limits:      s.limits,
		Settings:    s.guardrails,

		StrictReplicas: s.strict,
	})
	if err != nil {
		return err
	}
	web, err := startHTTP(s.http, srv, st, onDisk, log)
	if err != nil {
		return err
	}
	governed, stopGoverning := context.WithCancel(ctx)
	defer stopGoverning()
	go governMemory(governed, bound, getenv)
	go governProcessors(governed, getenv)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(&sparing{listener, log}) }()
	s.logMemory(bound, log)
	log.Info().Msgf("Starting listening for CQL clients on /%s (%s)...", listener.Addr(), listener)
	log.Info().Msg("Startup complete")
	web.ready(true)

	var failed error
	select {
	case failed = <-served: // the listener broke
	case <-ctx.Done():
		log.Info().Msg("stopping: no more connections, finishing the requests in flight")
	}
	web.ready(false)
	late := time.AfterFunc(stopTime, func() {
		log.Error().Msg("stopping takes too long: giving up")
		os.Exit(exitFailed)
	})
	defer late.Stop()
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := srv.Shutdown(drain); err != nil {
		log.Warn().Err(err).Msg("requests were abandoned")
	}
	web.close()
	log.Info().Msg("stopped")
	return failed
}

// secured is a listener, and what its connections are encrypted with.
type secured struct {
	net.Listener
	tls *server.TLS // nil: nothing
}

// String says as Cassandra does whether connections are encrypted.
func (l secured) String() string {
	switch {
	case l.tls == nil:
		return "unencrypted"
	case l.tls.Optional:
		return "optionally encrypted"
	}
	return "encrypted"
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

// listen opens the port. The error says in one line why that failed.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another process has this port; --listen chooses another", addr)
	default:
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
}

// openStore opens the data folder, or a store in memory, which has no engine on disk.
func openStore(s *settings, log zerolog.Logger) (st *store.Store, onDisk *disk.Engine, err error) {
	open := func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil }
	if !s.memory {
		if err := os.MkdirAll(s.data, 0o755); err != nil {
			return nil, nil, fmt.Errorf("make the data folder: %w", err)
		}
		o := disk.Options{Dir: s.data, Sync: s.sync, Memtable: s.memtable, Cache: s.cache, Filter: s.filter, Reserve: s.reserve, Repair: s.repair, Log: log}
		open = func(f engine.Fold) (engine.Engine, error) {
			var err error
			onDisk, err = disk.Open(o, f)
			return onDisk, err
		}
	}
	st, err = store.Open(store.Options{
		Engine:     open,
		System:     server.SystemKeyspaces(),
		SweepEvery: s.purgeEvery,
		Log:        log,
	})
	if errors.Is(err, disk.ErrDamaged) {
		err = fmt.Errorf("%w; --repair opens the folder with what can be kept", err)
	}
	return st, onDisk, err
}

// newLogger logs lines for people on a terminal and JSON elsewhere, or in the format that the settings ask for.
func newLogger(w io.Writer, s *settings) zerolog.Logger {
	terminal := false
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	if s.logFormat == "console" || s.logFormat == "auto" && terminal {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !terminal, TimeFormat: time.DateTime}
	}
	return zerolog.New(w).Level(s.level).With().Timestamp().Logger()
}
