package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/protocol/client/shell"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
)

// shownFaults is how many faults verify prints.
const shownFaults = 1000

// verify is cqld verify: it compares the files of a folder with their checksums, and rows with their indexes and views.
// It opens the folder as a server does, which reads the log that a killed server has left, and changes nothing else.
func verify(ctx context.Context, c *console, args []string) error {
	f := newFlags("verify")
	login := loginFlags(f)
	quiet := f.Bool("quiet", false, "do not print how far it has come")
	given, err := arguments(f, c, args, "FOLDER or ADDR")
	if err != nil {
		return err
	}
	dir, steps := given[0], newProgress(c.stderr, *quiet)
	if _, err := os.Stat(dir); err != nil && isAddress(dir) {
		if err := login.to(c, dir); err != nil {
			return err
		}
		return verifyServer(ctx, c, &login.Login, steps)
	}
	c.privateFiles()
	if err := holdsData(dir); err != nil {
		return err
	}
	damages, err := disk.Examine(dir, func(file string, done, all int) {
		steps.show("file %d of %d: %s", done+1, all, file)
	})
	if err != nil {
		return fmt.Errorf("examine the files: %w", err)
	}
	for _, d := range damages {
		fmt.Fprintf(c.stdout, "%s: %s\n", filepath.Join(dir, d.Name), d.What)
	}
	if len(damages) > 0 {
		return fmt.Errorf("damaged files: %d; serve --repair opens the folder with what can be kept of them", len(damages))
	}
	st, err := store.Open(store.Options{
		Engine: func(f engine.Fold) (engine.Engine, error) {
			return disk.Open(disk.Options{Dir: dir, Log: zerolog.Nop()}, f)
		},
		System: server.SystemKeyspaces(), Still: true, Log: zerolog.Nop(),
	})
	if err != nil {
		return err
	}
	done, err := verifyStore(ctx, st, c.stdout, steps)
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	return reportVerified(c.stdout, &done)
}

// isAddress reports whether an argument has a port or is an IP address or localhost, and not a path.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	return err == nil && port != "" || net.ParseIP(strings.Trim(text, "[]")) != nil || text == "localhost"
}

// verifyServer has a running server compare rows with their indexes and views. It does not look at files: the server
// does so when it starts.
func verifyServer(ctx context.Context, c *console, login *shell.Login, steps *progress) error {
	shown, done := newFaultPrinter(c.stdout), (*store.Verified)(nil)
	err := shell.Stream(ctx, login, server.StreamKey, server.VerifyStream, func(element []byte) error {
		var v server.StreamedVerification
		if err := json.Unmarshal(element, &v); err != nil {
			return err
		}
		switch {
		case v.Fault != nil:
			shown.fault(*v.Fault)
		case v.Progress != nil:
			steps.verified(*v.Progress)
		}
		done = v.Done
		return nil
	})
	if err == nil && done == nil {
		err = errors.New("the server has not verified all")
	}
	if err != nil {
		return err
	}
	return reportVerified(c.stdout, done)
}

// holdsData refuses a folder that no server has used: opening it would make it one.
func holdsData(dir string) error {
	for _, name := range []string{"CQLD", "MANIFEST", "LOG"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	return fmt.Errorf("the folder %s has no data of cqld", dir)
}

// verifyStore verifies what a store holds, and prints what it finds.
func verifyStore(ctx context.Context, st *store.Store, out io.Writer, steps *progress) (store.Verified, error) {
	return st.Verify(ctx, store.Verifier{Fault: newFaultPrinter(out).fault, Progress: steps.verified})
}

// faultPrinter prints the first faults.
type faultPrinter struct {
	out   io.Writer
	shown int
}

func newFaultPrinter(out io.Writer) *faultPrinter { return &faultPrinter{out: out} }

func (p *faultPrinter) fault(f store.Fault) {
	if p.shown++; p.shown <= shownFaults {
		fmt.Fprintln(p.out, f)
	}
}

// reportVerified prints the sums. It fails if there are faults.
func reportVerified(out io.Writer, v *store.Verified) error {
	fmt.Fprintf(out, "%d tables with %d rows and %d tombstones, %d indexes and views with %d entries (%d stale)\n",
		v.Tables, v.Rows, v.Tombstones, v.Indexes, v.Entries, v.Stale)
	if v.Unbuilt > 0 {
		fmt.Fprintf(out, "%d of the indexes and views are not built yet: rows that lack entries there are no faults\n", v.Unbuilt)
	}
	if v.Faults > shownFaults {
		fmt.Fprintf(out, "%d more faults are not shown\n", v.Faults-shownFaults)
	}
	if v.Faults > 0 {
		return fmt.Errorf("faults: %d", v.Faults)
	}
	return nil
}

// progress prints how far a command has come, now and then.
type progress struct {
	out  io.Writer // nil: nowhere
	last time.Time
}

// progressEvery is how long progress waits at least between two lines.
const progressEvery = time.Second

// verified shows how far a verification has come.
func (p *progress) verified(v store.VerifyProgress) {
	p.show("%s: %.0f %%, %d rows and %d entries so far", v.Name, 100*v.Part, v.Rows, v.Entries)
}

func newProgress(out io.Writer, quiet bool) *progress {
	if quiet {
		out = nil
	}
	return &progress{out: out, last: time.Now()}
}

// show prints a line, unless one was printed just now.
func (p *progress) show(format string, args ...any) {
	if p.out == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.out, format+"\n", args...)
}
