package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
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
	"github.com/cqld/cqld/store/engine/files"
)

// login is how a command connects to a server.
type login struct {
	shell.Login
	secure clientTLS
}

// loginFlags are the flags of commands that connect to a server.
func loginFlags(f *flag.FlagSet) *login {
	l := &login{}
	f.StringVar(&l.Username, "username", "", "the `role` to log in as, if the server asks")
	f.StringVar(&l.Password, "password", "", "its `password`; the environment does not show it to others")
	f.DurationVar(&l.Timeout, "timeout", 30*time.Second, "the `time` to wait for the connection")
	l.secure.addFlags(f)
	return l
}

// to says which server to connect to, and reads the files of TLS.
func (l *login) to(c *console, addr string) (err error) {
	l.Addr = serverAddress(c, addr)
	l.TLS, err = l.secure.config()
	return err
}

// arguments parses a command line of flags and so many arguments, which may stand between them. Those in brackets may
// be left out.
func arguments(f *flag.FlagSet, c *console, args []string, names ...string) ([]string, error) {
	var given []string
	for first := true; first || len(args) > 0; first = false {
		for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "" {
			given, args = append(given, args[0]), args[1:]
		}
		if err := parse(f, c, args); err != nil {
			return nil, err
		}
		if args = f.Args(); len(args) > 0 && args[0] == "" {
			return nil, fmt.Errorf("%w: an empty argument", errUsage)
		}
	}
	least := 0
	for _, name := range names {
		if name[0] != '[' {
			least++
		}
	}
	if len(given) < least || len(given) > len(names) {
		return nil, fmt.Errorf("%w: %s wants %s", errUsage, strings.TrimPrefix(f.Name(), "cqld "), strings.Join(names, " and "))
	}
	return given, nil
}

// unfinished ends the names of files and folders that are being written.
const unfinished = ".unfinished"

// errExists refuses to write over something.
func errExists(path string) error { return fmt.Errorf("%s exists already", path) }

// snapshot is cqld snapshot: it fetches a snapshot of a running server. The file gets its name when it is whole.
func snapshot(ctx context.Context, c *console, args []string) (err error) {
	f := newFlags("snapshot")
	login := loginFlags(f)
	quiet := f.Bool("quiet", false, "do not print how far it has come")
	given, err := arguments(f, c, args, "ADDR", "FILE")
	if err != nil {
		return err
	}
	if err := login.to(c, given[0]); err != nil {
		return err
	}
	path := given[1]
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
	w, err := store.NewSnapshotWriter(out)
	if err != nil {
		return err
	}
	var head *store.SnapshotHead
	steps, began, size := newProgress(c.stderr, *quiet), time.Now(), int64(0)
	err = shell.Stream(ctx, &login.Login, server.StreamKey, server.SnapshotStream, func(block []byte) error {
		if head == nil {
			head = new(store.SnapshotHead)
			if err := json.Unmarshal(block, head); err != nil {
				return fmt.Errorf("the head of the snapshot: %w", err)
			}
		} else {
			size += int64(len(block))
		}
		steps.show("%s of about %s, %s a second", megabytes(size), megabytes(head.Bytes), rate(size, began))
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
	fmt.Fprintf(c.stdout, "%s has what %s held at %s: %s\n", path, login.Addr, head.Taken.Format(time.RFC3339Nano), megabytes(size))
	return nil
}

// restore is cqld restore: it makes a folder of a snapshot. The folder gets its name when it is whole.
func restore(ctx context.Context, c *console, args []string) (err error) {
	f := newFlags("restore")
	quiet := f.Bool("quiet", false, "do not print how far it has come")
	given, err := arguments(f, c, args, "FILE", "FOLDER")
	if err != nil {
		return err
	}
	c.privateFiles()
	path, dir := given[0], filepath.Clean(given[1])
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
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
	steps, began := newProgress(c.stderr, *quiet), time.Now()
	done, err := store.RestoreSnapshot(ctx, in, func(f engine.Fold) (engine.Engine, error) {
		return disk.Open(disk.Options{Dir: next, Log: zerolog.Nop()}, f)
	}, func(r store.Restored) {
		steps.show("%s of about %s, %s a second", megabytes(r.Bytes), megabytes(max(r.Head.Bytes, info.Size())), rate(r.Bytes, began))
	})
	if err != nil {
		return fmt.Errorf("restore %s: %w", path, err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(files.SyncFile(next), os.Rename(next, dir), files.SyncFile(filepath.Dir(dir))); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "%s has what was held at %s: %d keys, %s\n", dir, done.Head.Taken.Format(time.RFC3339Nano), done.Keys, megabytes(done.Bytes))
	return nil
}

// megabytes prints a size.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// rate prints how much there is in a second.
func rate(n int64, since time.Time) string {
	return megabytes(int64(float64(n) / max(time.Since(since).Seconds(), 1e-3)))
}
