package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/server/control/endpoints"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine/disk"
)

// The deadlines of a stop.
const (
	drainTime = 7 * time.Second         // for requests in flight
	closeTime = 2 * time.Second         // after that, for leaving a cluster
	flushTime = 7 * time.Second         // for flushing memtables, which only makes the next start faster
	stopTime  = 9500 * time.Millisecond // for everything
)

// serveCommand is cqld serve, and cqld without a command, for which name is the name of the program.
func serveCommand(c *console, name string) *cobra.Command {
	s := &settings{engine: c.engine}
	cmd := &cobra.Command{
		Use: name, GroupID: groupServer, Short: "Run the server (the default command)",
		Long: "Run a server that answers CQL clients as one Apache Cassandra 5.0 node, until it gets SIGTERM or SIGINT.",
		Example: `
serve --memory --listen 127.0.0.1:0 --port-file cqld.port
serve --data /var/lib/cqld --listen 0.0.0.0:9042 --auth password`,
	}
	if name != "serve" {
		cmd.GroupID = ""
		cmd.Long = "cqld answers CQL clients as one Apache Cassandra 5.0 node would, and has a small client."
		cmd.Example = "--memory\nexec -e \"SELECT release_version FROM system.local\""
	}
	if c.engine != nil {
		cmd.Long, cmd.Example = c.engine.About, c.engine.Example
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(s.flags())
	return newCommand(c, cmd, func(ctx context.Context, _ []string) error {
		if err := s.complete(c, cmd.Flags()); err != nil {
			return err
		}
		return serve(ctx, c, s)
	})
}

// serve runs the server until ctx ends.
func serve(ctx context.Context, c *console, s *settings) error {
	s.ends = c.ends
	if s.withParent {
		var err error
		var stop context.CancelFunc
		if ctx, stop, err = withParent(ctx); err != nil {
			return err
		}
		defer stop()
	}
	c.privateFiles()
	steps := newProgress(c.stderr, false)
	log := newLogger(c.stderr, s)
	if steps.out != nil {
		log = log.Output(s.logWriter(aboveProgress{steps, c.stderr}, true))
	} else {
		steps.print = func(line string) { log.Info().Msg(line) }
	}
	for _, warning := range s.warnings {
		log.Warn().Msg(warning)
	}
	bound := boundMemory(s.memoryLimit)
	s.useMemory(bound)
	tuneMemory(bound, c.getenv)
	encryption, err := s.encryption(log)
	if err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	if err := s.checkData(); err != nil {
		return err
	}
	if err := s.removePortFile(); err != nil {
		return err
	}
	listeners, err := openListeners(s, log)
	if err != nil {
		return err
	}
	defer listeners.close()
	first, err := planInit(s, log)
	if err != nil {
		return err
	}
	if first != nil {
		first.steps = steps
		listeners.pause() // clients cannot connect before the scripts have run
	}
	web, err := listenHTTP(s.http)
	if err != nil {
		return err
	}
	defer web.close()
	if s.engine != nil {
		listeners.pauseKnown() // nor while nobody would answer, which may take as long as the cluster
		web.await(log)
	}
	var clock *control.Clock
	if s.controls {
		clock = control.NewClock(nil)
		log.Warn().Msg("every client can control this server: --test-controls is for tests")
	}
	if err := s.joinAt(listeners.addresses()[0]); err != nil {
		return err
	}
	open := openStore
	if s.engine != nil {
		open = openRemote
	}
	st, onDisk, err := open(ctx, s, clock, log)
	if errors.Is(err, errNotOpened) {
		log.Info().Msg("stopped before the cluster was reached")
		return nil
	}
	if err != nil {
		return err
	}
	listeners.tls = encryption
	announce := func() error { return s.announce(c, listeners, log) }
	err = serveStore(ctx, s, st, onDisk, clock, listeners, web, first, bound, log, c.getenv, announce)
	if s.engine == nil {
		return errors.Join(err, st.Close())
	}
	return errors.Join(err, closeWithin(st, closeTime))
}

// serveStore serves clients from an open store until ctx ends. When it returns, all requests have ended. It runs the
// scripts of first before, if it is not nil, and calls announce when clients are served. clock is the store's clock if
// clients may move it, or nil.
func serveStore(
	ctx context.Context, s *settings, st *store.Store, onDisk *disk.Engine, clock *control.Clock, listeners *listeners,
	web *web, first *initialisation, bound memoryBound, log zerolog.Logger, getenv func(string) string, announce func() error,
) error {
	listeners.http = web.address()
	srv, err := server.New(server.Options{
		Store:       st,
		Log:         log,
		Advertise:   s.advertise,
		ClusterName: s.clusterName,
		Datacenter:  s.datacenter,
		Rack:        s.rack,
		Logins:      s.logins,
		Login:       s.login,
		TLS:         listeners.tls,
		HTTP:        web.address(),
		Masks:       s.masks,
		Limits:      s.limits,
		Settings:    s.guardrails,
		Shown:       s.shown(),

		StrictReplicas: s.strict,
		Ring:           listeners.ring,
	})
	if err != nil {
		return err
	}
	controls := control.New(srv, st, clock)
	var tests http.Handler
	if clock != nil {
		tests = s.asPrivateAsCQL(s.withLogin(endpoints.Handler(controls.Register()), srv), listeners)
	}
	web.serve(s, srv, st, onDisk, s.console(srv, st, onDisk, controls, listeners), tests, log)
	if first != nil {
		if err := first.prepare(ctx, s, srv, onDisk, listeners); err != nil {
			return err
		}
	}
	governed, stopGoverning := context.WithCancel(ctx)
	defer stopGoverning()
	panics.Go(&log, func() { governMemory(governed, bound, getenv) })
	if s.calls != nil {
		defer s.calls.reach.start(ctx, st.Cluster(), log)()
	}
	if err := listeners.resume(); err != nil { // after a wait, in which another process may have taken a port
		stopping, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		return errors.Join(err, srv.Shutdown(stopping))
	}
	served := make(chan error, 1)
	panics.Go(&log, func() { served <- panics.Call(func() error { return listeners.serve(srv) }) })
	s.logMemory(bound, log)
	for _, address := range listeners.logged() {
		log.Info().Msgf("Starting listening for CQL clients on /%s (%s)...", address, listeners.encryption())
	}
	log.Info().Msg("Startup complete")
	web.serving(true)
	failed := announce()
	if failed == nil {
		select {
		case failed = <-served: // the listener broke
		case <-ctx.Done():
			log.Info().Msg("stopping: no new connections, finishing the requests in flight")
			if onDisk != nil {
				onDisk.FlushSoon() // while requests are answered
				if s.ends {
					onDisk.CloseBy(time.Now().Add(flushTime))
				}
			}
		}
	}
	failed = errors.Join(failed, s.removePortFile())
	web.serving(false)
	late := time.AfterFunc(stopTime, func() {
		log.Error().Msg("stopping took too long: exiting")
		os.Exit(exitFailed)
	})
	if !s.ends {
		defer late.Stop() // otherwise it bounds the closing of the store, too
	}
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := srv.Shutdown(drain); err != nil {
		log.Warn().Err(err).Msg("abandoned requests in flight")
	}
	log.Info().Msg("stopped")
	return failed
}
