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

	"github.com/cqld/cqld/protocol/client/shell"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
	"github.com/cqld/cqld/store/engine/files"
	snapshots "github.com/cqld/cqld/store/snapshot"
)

// unfinished is the suffix of files and folders that are being written.
const unfinished = ".unfinished"

// errExists returns the error for a file that would be overwritten.
func errExists(path string) error { return fmt.Errorf("%s exists already", path) }

// snapshotCommand is cqld snapshot.
func snapshotCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "snapshot ADDR FILE", GroupID: groupData, Short: "Save all data of a running server",
		Long: "Save all data of the server at ADDR to FILE, as of one moment, while it serves clients: rows with timestamps " +
			"and TTLs, schema, roles. If clients log in, a superuser is needed.",
		Example: "snapshot 127.0.0.1:9042 monday.snapshot\nsnapshot db.example monday.snapshot --username admin --quiet",
	}
	login, quiet := loginFlags(cmd.Flags(), "wait at most this long for the connection"), quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		if err := login.complete(c, args[0]); err != nil {
			return err
		}
		return snapshot(ctx, c, login, args[1], newProgress(c.stderr, *quiet))
	})
}

// snapshot fetches a snapshot of a running server. The file gets its name when it is complete.
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
	fmt.Fprintf(c.stdout, "%s has the data of %s at %s: %s\n", path, login.Addr, head.Taken.Format(time.RFC3339Nano), megabytes(size))
	return nil
}

// restoreCommand is cqld restore.
func restoreCommand(c *console) *cobra.Command {
	if c.engine != nil {
		return restoreIntoEngineCommand(c)
	}
	cmd := &cobra.Command{
		Use: "restore FILE DIR", GroupID: groupData, Short: "Create a data folder from a snapshot",
		Long: "Create the data folder DIR from the snapshot in FILE. DIR must be empty or missing. A server that is started " +
			"with --data DIR replaces the server of the snapshot.",
		Example: "restore monday.snapshot ./restored-data\nrestore monday.snapshot /var/lib/cqld --quiet",
	}
	quiet := quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		return restoreFolder(ctx, c, args[0], filepath.Clean(args[1]), newProgress(c.stderr, *quiet))
	})
}

// restoreIntoEngineCommand is restore of a program with an engine.
func restoreIntoEngineCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FILE", GroupID: groupData, Short: "Write a snapshot into the cluster",
		Long: "Write the snapshot in FILE into the cluster, under a prefix without data. Servers that are started with this " +
			"prefix replace the servers of the snapshot. If the restore fails, it deletes the data that it has written.",
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

// restoreFolder creates a folder from a snapshot. The folder gets its name when it is complete.
func restoreFolder(ctx context.Context, c *console, path, dir string, steps *progress) (err error) {
	c.privateFiles()
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotRead(dir, err)
	}
	next := dir + unfinished
	if err := os.RemoveAll(next); err != nil { // of an interrupted restore
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

// restored sums up a restore.
type restored snapshots.Restored

// print prints the sums. target is the name of the restored folder or cluster.
func (r restored) print(c *console, target string) {
	fmt.Fprintf(c.stdout, "%s has the data of %s: %d keys, %s\n", target, r.Head.Taken.Format(time.RFC3339Nano), r.Keys, megabytes(r.Bytes))
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

// rate prints the throughput of n bytes since a time.
func rate(n int64, since time.Time) string {
	return megabytes(int64(float64(n)/max(time.Since(since).Seconds(), 1e-3))) + "/s"
}

// part returns the share of an estimated whole that is done, less than 1.
func part(done, whole int64) float64 {
	return min(float64(done)/float64(max(whole, 1)), 0.99)
}
