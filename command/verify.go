package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/cqld/cqld/protocol/client/shell"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
)

// shownFaults is how many faults verify prints.
const shownFaults = 1000

// verifyCommand is cqld verify.
func verifyCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify DIR|ADDR", GroupID: groupData, Short: "Check stored data for damage",
		Long: "Check the data folder DIR, which no server may have open: compare files with their checksums, and rows " +
			"with indexes and views. Or have the server at ADDR compare rows with indexes and views while it goes on serving; " +
			"where clients log in, a superuser is needed. Exit with 1 if anything is wrong.",
		Example: "verify ./cqld-data\nverify 127.0.0.1:9042",
	}
	login, quiet := loginFlags(cmd.Flags(), "wait at most this long for the connection"), quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		steps := newProgress(c.stderr, *quiet)
		if _, err := os.Stat(args[0]); err != nil && isAddress(args[0]) {
			if err := login.to(c, args[0]); err != nil {
				return err
			}
			return verifyServer(ctx, c, &login.Login, steps)
		}
		err := verifyFolder(ctx, c, args[0], steps)
		var p *fs.PathError
		if errors.Is(err, fs.ErrPermission) && errors.As(err, &p) {
			return cannotRead(p.Path, err)
		}
		return err
	})
}

// verifyFolder compares the files of a folder with their checksums, and rows with their indexes and views. It opens the
// folder as a server does, which reads the log that a killed server has left, and changes nothing else.
func verifyFolder(ctx context.Context, c *console, dir string, steps *progress) error {
	defer steps.end()
	c.privateFiles()
	if err := holdsData(dir); err != nil {
		return err
	}
	damages, err := disk.Examine(dir, func(file string, done, all int) {
		steps.show("files", part(int64(done), int64(all)), fmt.Sprintf("%d of %d, %s", done+1, all, file))
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
	steps.end()
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
	defer steps.end()
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
	steps.end()
	return reportVerified(c.stdout, done)
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

// verified shows how far a verification has come, table by table.
func (p *progress) verified(v store.VerifyProgress) {
	p.show(v.Name, v.Part, fmt.Sprintf("%d rows and %d entries so far", v.Rows, v.Entries))
}
