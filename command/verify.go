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
	"github.com/cqld/cqld/store/engine/files"
)

// maxShownFaults is how many faults verify prints.
const maxShownFaults = 1000

// verifyCommand is cqld verify.
func verifyCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify DIR|ADDR", GroupID: groupData, Short: "Check stored data for damage",
		Long: "Check the data folder DIR of a stopped server: compare files with their checksums, and rows with indexes and " +
			"views. Or let the server at ADDR compare rows with indexes and views while it serves clients; if clients log in, a " +
			"superuser is needed. Exit with 1 if anything is wrong.",
		Example: "verify ./cqld-data\nverify 127.0.0.1:9042",
	}
	login, quiet := loginFlags(cmd.Flags(), "wait at most this long for the connection"), quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		steps := newProgress(c.stderr, *quiet)
		if _, err := os.Stat(args[0]); err != nil && isAddress(args[0]) {
			if err := login.complete(c, args[0]); err != nil {
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

// verifyFolder compares the files of a folder with their checksums, and rows with indexes and views. It opens the
// folder as a server does, so it replays the commit log of a killed server, and changes nothing else. In a folder that
// cannot be written to it changes nothing at all.
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
		return fmt.Errorf("damaged files: %d; serve --repair opens the folder and keeps all intact data", len(damages))
	}
	st, err := store.Open(store.Options{
		Engine: func(f engine.Fold) (engine.Engine, error) {
			return disk.Open(disk.Options{Dir: dir, ReadOnly: files.MayWrite(dir) != nil, Log: zerolog.Nop()}, f)
		},
		System: server.SystemKeyspaces(), Still: true, Log: zerolog.Nop(),
	})
	if err != nil {
		return err
	}
	faults := faultPrinter{out: c.stdout}
	done, err := st.Verify(ctx, store.Verifier{Fault: faults.print, Progress: steps.verified})
	steps.end()
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	return reportVerified(c.stdout, &done)
}

// isAddress reports whether an argument is an address and not a path: it has a port, or is an IP address or localhost.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	return err == nil && port != "" || net.ParseIP(strings.Trim(text, "[]")) != nil || text == "localhost"
}

// verifyServer lets a running server compare rows with indexes and views. The server has examined its files when it
// started.
func verifyServer(ctx context.Context, c *console, login *shell.Login, steps *progress) error {
	faults, done := faultPrinter{out: c.stdout}, (*store.Verified)(nil)
	defer steps.end()
	err := shell.Stream(ctx, login, server.StreamKey, server.VerifyStream, func(element []byte) error {
		var v server.StreamedVerification
		if err := json.Unmarshal(element, &v); err != nil {
			return err
		}
		switch {
		case v.Fault != nil:
			faults.print(*v.Fault)
		case v.Progress != nil:
			steps.verified(*v.Progress)
		}
		done = v.Done
		return nil
	})
	if err == nil && done == nil {
		err = errors.New("the server stopped before it was done")
	}
	if err != nil {
		return err
	}
	steps.end()
	return reportVerified(c.stdout, done)
}

// faultPrinter prints the first faults.
type faultPrinter struct {
	out   io.Writer
	shown int
}

func (p *faultPrinter) print(f store.Fault) {
	if p.shown++; p.shown <= maxShownFaults {
		fmt.Fprintln(p.out, f)
	}
}

// reportVerified prints the sums. It fails if there are faults.
func reportVerified(out io.Writer, v *store.Verified) error {
	result := "OK"
	if v.Faults > 0 {
		result = "damaged"
	}
	fmt.Fprintf(out, "%s: %s, %s, %s; %s, %s, %d stale\n", result,
		count(v.Tables, "table", "tables"), count(v.Rows, "row", "rows"), count(v.Tombstones, "tombstone", "tombstones"),
		count(v.Indexes, "index or view", "indexes and views"), count(v.Entries, "entry", "entries"), v.Stale)
	if v.Unbuilt > 0 {
		fmt.Fprintf(out, "%s not built yet: missing entries there are not faults\n",
			count(v.Unbuilt, "index or view is", "indexes and views are"))
	}
	if v.Faults > maxShownFaults {
		fmt.Fprintf(out, "%s not shown\n", count(v.Faults-maxShownFaults, "more fault is", "more faults are"))
	}
	if v.Faults > 0 {
		return fmt.Errorf("faults: %d", v.Faults)
	}
	return nil
}

// verified shows the progress of a verification, table by table.
func (p *progress) verified(v store.VerifyProgress) {
	p.show(v.Name, v.Part, count(v.Rows, "row", "rows")+" and "+count(v.Entries, "entry", "entries")+" so far")
}
