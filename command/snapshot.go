package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/protocol/client/shell"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
	"github.com/cqld/cqld/store/engine/files"
	snapshots "github.com/cqld/cqld/store/snapshot"
)

// login is how a command connects to a server.
type login struct {
	shell.Login
	secure clientTLS
}

// loginFlags are the flags of commands that connect to a server. timeout says what --timeout bounds.
func loginFlags(f *pflag.FlagSet, timeout string) *login {
	l := &login{}
	topic(f, "Authentication", func(f *pflag.FlagSet) {
		f.StringVar(&l.Username, "username", "", "log in as the role `NAME`, if the server asks")
		f.StringVar(&l.Password, "password", "", "`PASSWORD` of the role; in the environment others do not see it")
	})
	topic(f, "Time", func(f *pflag.FlagSet) {
		f.DurationVar(&l.Timeout, "timeout", 30*time.Second, timeout)
	})
	l.secure.addFlags(f)
	return l
}

// quietFlag turns progress off.
func quietFlag(f *pflag.FlagSet) *bool {
	quiet := false
	topic(f, "Output", func(f *pflag.FlagSet) { f.BoolVar(&quiet, "quiet", false, "do not show progress") })
	return &quiet
}

// to says which server to connect to, and reads the files of TLS.
func (l *login) to(c *console, addr string) (err error) {
	l.Addr = serverAddress(c, addr)
	l.TLS, err = l.secure.config()
	return err
}

// unfinished ends the names of files and folders that are being written.
const unfinished = ".unfinished"

// errExists refuses to write over something.
func errExists(path string) error { return fmt.Errorf("%s exists already", path) }

// snapshotCommand is cqld snapshot.
func snapshotCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "snapshot ADDR FILE", GroupID: groupData, Short: "Save everything that a running server holds",
		Long: "Save everything that the server at ADDR holds at this moment to FILE, while it goes on serving: rows with " +
			"timestamps and TTLs, definitions, roles. Where clients log in, a superuser is needed.",
		Example: "snapshot 127.0.0.1:9042 monday.snapshot\nsnapshot db.example monday.snapshot --username admin --quiet",
	}
	login, quiet := loginFlags(cmd.Flags(), "wait at most this long for the connection"), quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		if err := login.to(c, args[0]); err != nil {
			return err
		}
		return snapshot(ctx, c, login, args[1], newProgress(c.stderr, *quiet))
	})
}

// snapshot fetches a snapshot of a running server. The file gets its name when it is whole.
func snapshot(ctx context.Context, c *console, login *login, path string, steps *progress) (err error) {
	defer steps.end()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, errExists(path))
	}
	out, err := os.OpenFile(path+unfinished, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = out.Close() // it may be closed
			err = errors.Join(err, os.Remove(path+unfinished))
		}
	}()
	w, err := snapshots.NewWriter(out)
	if err != nil {
		return err
	}
	var head *snapshots.Head
	began, size := time.Now(), int64(0)
	err = shell.Stream(ctx, &login.Login, server.StreamKey, server.SnapshotStream, func(block []byte) error {
		if head == nil {
			head = new(snapshots.Head)
			if err := json.Unmarshal(block, head); err != nil {
				return fmt.Errorf("the head of the snapshot: %w", err)
			}
		} else {
			size += int64(len(block))
		}
		steps.show("snapshot", part(size, head.Bytes), megabytes(size)+", "+rate(size, began))
		return w.Block(block)
	})
	if err != nil {
		return err
	}
	if err := errors.Join(w.Close(), out.Sync(), out.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+unfinished, path); err != nil {
		return err
	}
	if err := files.SyncFile(filepath.Dir(path)); err != nil {
		return err
	}
	steps.end()
	fmt.Fprintf(c.stdout, "%s has what %s held at %s: %s\n", path, login.Addr, head.Taken.Format(time.RFC3339Nano), megabytes(size))
	return nil
}

// restoreCommand is cqld restore.
func restoreCommand(c *console) *cobra.Command {
	if c.engine != nil {
		return restoreIntoEngineCommand(c)
	}
	cmd := &cobra.Command{
		Use: "restore FILE DIR", GroupID: groupData, Short: "Make a data folder of a snapshot",
		Long: "Make the data folder DIR of a snapshot in FILE. DIR must be empty or missing. A server that is started " +
			"with --data DIR takes the place of the one that the snapshot is of.",
		Example: "restore monday.snapshot ./restored-data\nrestore monday.snapshot /var/lib/cqld --quiet",
	}
	quiet := quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		return restoreFolder(ctx, c, args[0], filepath.Clean(args[1]), newProgress(c.stderr, *quiet))
	})
}

// restoreIntoEngineCommand is the command of a program that brings an engine.
func restoreIntoEngineCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FILE", GroupID: groupData, Short: "Write a snapshot into the cluster",
		Long: "Write a snapshot in FILE into the cluster, under a prefix that holds nothing. Servers that are started with " +
			"this prefix take the place of those that the snapshot is of. If it fails, what it wrote is deleted again.",
		Example: "restore monday.snapshot --pd pd1:2379,pd2:2379 --prefix monday",
	}
	cmd.Flags().SortFlags = false
	topic(cmd.Flags(), "Cluster", c.engine.Reach)
	quiet := quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		open := func(f engine.Fold) (engine.Engine, error) { return c.engine.Open(ctx, f, zerolog.Nop()) }
		done, err := restore(ctx, c, args[0], open, newProgress(c.stderr, *quiet))
		if err != nil {
			return err
		}
		done.print(c, "the cluster")
		return nil
	})
}

// restoreFolder makes a folder of a snapshot. The folder gets its name when it is whole.
func restoreFolder(ctx context.Context, c *console, path, dir string, steps *progress) (err error) {
	c.privateFiles()
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotRead(dir, err)
	}
	next := dir + unfinished
	if err := os.RemoveAll(next); err != nil { // what a restore before has left
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(next))
		}
	}()
	done, err := restore(ctx, c, path, func(f engine.Fold) (engine.Engine, error) {
		return disk.Open(disk.Options{Dir: next, Log: zerolog.Nop()}, f)
	}, steps)
	if err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(files.SyncFile(next), os.Rename(next, dir), files.SyncFile(filepath.Dir(dir))); err != nil {
		return err
	}
	done.print(c, dir)
	return nil
}

// restored is what a restore has done.
type restored snapshots.Restored

// print says what where has from now on.
func (r restored) print(c *console, where string) {
	fmt.Fprintf(c.stdout, "%s has what was held at %s: %d keys, %s\n", where, r.Head.Taken.Format(time.RFC3339Nano), r.Keys, megabytes(r.Bytes))
}

// restore writes a snapshot into an engine.
func restore(
	ctx context.Context, c *console, path string, open func(engine.Fold) (engine.Engine, error), steps *progress,
) (restored, error) {
	defer steps.end()
	in, err := os.Open(path)
	if err != nil {
		return restored{}, cannotRead(path, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return restored{}, err
	}
	began := time.Now()
	done, err := snapshots.Restore(ctx, in, open, func(r snapshots.Restored) {
		steps.show("restore", part(r.Bytes, max(r.Head.Bytes, info.Size())), megabytes(r.Bytes)+", "+rate(r.Bytes, began))
	})
	if err != nil {
		return restored{}, fmt.Errorf("restore %s: %w", path, err)
	}
	return restored(done), nil
}

// megabytes prints a size.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// rate prints how many bytes were done per second.
func rate(n int64, since time.Time) string {
	return megabytes(int64(float64(n)/max(time.Since(since).Seconds(), 1e-3))) + "/s"
}

// part is how much of an estimated whole is done. Work that goes on is never done.
func part(done, whole int64) float64 {
	return min(float64(done)/float64(max(whole, 1)), 0.99)
}
