package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol/client"
)

// limited is a server that runs out of something, and a writer that goes on when it is refused.
type limited struct {
	t      *testing.T
	binary string
	data   string
	flags  []string
	server *process.Process
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu      sync.Mutex
	acked   []time.Time // when each number was
	refusal string      // of the last write, or empty
}

// startLimited starts a server with some flags and the writer. Rows have so many bytes.
func startLimited(t *testing.T, data string, row int, flags ...string) *limited {
	t.Helper()
	l := &limited{t: t, binary: builtBinary(t), data: data, flags: flags}
	l.start()
	conn := l.dial()
	defer conn.Close()
	for _, s := range []string{
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (p int PRIMARY KEY, v text)",
	} {
		if _, err := conn.Query(t.Context(), s, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.cancel = cancel
	writing := l.dial()
	fill := strings.Repeat("x", row)
	l.wait.Go(func() {
		defer writing.Close()
		for ctx.Err() == nil {
			_, err := writing.Query(ctx, fmt.Sprintf("INSERT INTO k.t (p, v) VALUES (%d, '%s')", l.count(), fill), nil, nil)
			l.mu.Lock()
			if l.refusal = ""; err == nil {
				l.acked = append(l.acked, time.Now())
			} else {
				l.refusal = err.Error()
			}
			l.mu.Unlock()
			if err != nil {
				time.Sleep(10 * time.Millisecond)
			}
		}
	})
	t.Cleanup(func() {
		l.stopWriting()
		if l.server != nil { // it was started
			_ = l.server.Kill() // which may have ended
		}
	})
	return l
}

func (l *limited) start() {
	l.t.Helper()
	var err error
	args := []string{
		"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", l.data, "--log-format", "json",
	}
	l.server, err = process.Start(l.binary, append(args, l.flags...)...)
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *limited) dial() *client.Conn {
	l.t.Helper()
	conn, err := client.Dial(l.t.Context(), l.server.Addr, client.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	return conn
}

func (l *limited) stopWriting() {
	l.cancel()
	l.wait.Wait()
}

func (l *limited) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// ackedAt is when a number was acknowledged.
func (l *limited) ackedAt(n int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked[n]
}

// safe is the time up to which acknowledged writes survive a power cut. The last acknowledged write was sent after the
// one before it was acknowledged.
func (l *limited) safe() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.acked); n > 1 {
		return l.acked[n-2].Add(-window)
	}
	return time.Time{}
}

func (l *limited) lastRefusal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusal
}

// until waits for a condition.
func (l *limited) until(what string, done func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("waiting until %s takes too long; the last refusal is %q, %d writes; the server's log: %s", what, l.lastRefusal(), l.count(), l.server.Log())
		}
	}
}

// ready asks whether the server is ready.
func (l *limited) ready() (int, string) {
	response, err := http.Get("http://" + l.server.HTTP + "/ready")
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

// refused waits until writes are refused for a reason, which /ready has as well, and looks whether reads go on.
func (l *limited) refused(reason string) {
	l.t.Helper()
	l.until("writes are refused", func() bool {
		r := l.lastRefusal()
		return strings.Contains(r, "Nothing was written: ") && strings.Contains(r, reason)
	})
	l.until("/ready says so", func() bool {
		code, body := l.ready()
		return code == http.StatusServiceUnavailable && strings.Contains(body, reason)
	})
	conn := l.dial()
	defer conn.Close()
	if r, err := conn.Query(l.t.Context(), "SELECT v FROM k.t WHERE p = 0", nil, nil); err != nil || len(r.Rows) != 1 {
		l.t.Errorf("a read answers %v", err)
	}
}

// taken waits until writes are taken again, and the server is ready.
func (l *limited) taken() {
	l.t.Helper()
	l.written(1)
	l.until("the server is ready", func() bool {
		code, _ := l.ready()
		return code == http.StatusOK
	})
}

// written waits until so many more are.
func (l *limited) written(n int) {
	l.t.Helper()
	from := l.count()
	l.until("writes are taken", func() bool { return l.count() >= from+n })
}

// restart kills the server, unless it has ended, and starts it again: everything is there that was acknowledged before
// a time.
func (l *limited) restart(between func(), before time.Time) {
	l.t.Helper()
	l.stopWriting()
	if err := l.server.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		l.t.Fatal(err)
	}
	between()
	l.start()
	conn := l.dial()
	defer conn.Close()
	for i, at := range l.acked {
		if at.After(before) {
			break
		}
		r, err := conn.Query(l.t.Context(), "SELECT p FROM k.t WHERE p = "+strconv.Itoa(i), nil, nil)
		if err != nil || len(r.Rows) != 1 {
			l.t.Fatalf("%d of %d acknowledged writes is lost, error %v", i, len(l.acked), err)
		}
	}
}

// mount mounts a file system for a test, and returns its folder.
func mount(t *testing.T, args ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	dir := t.TempDir()
	if err := command("mount", append(args, dir)...); err != nil {
		t.Skipf("mounting a file system: %v", err)
	}
	t.Cleanup(func() {
		err := command("umount", dir)
		for range 100 { // a loop device in it is given back in the background
			if err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
			err = command("umount", dir)
		}
		t.Error(err)
	})
	return dir
}

// makeImage makes a file with an empty file system.
func makeImage(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := command("mkfs.ext4", "-q", "-F", path); err != nil {
		t.Skipf("making a file system: %v", err)
	}
}

// TestFullDisk has another process take all room of a disk, at once, while a server is written to.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	onlyWhenFull(t)
	image := filepath.Join(t.TempDir(), "image")
	makeImage(t, image, 2<<30)
	dir := mount(t, "-o", "loop", image)
	l := startLimited(t, filepath.Join(dir, "data"), 20<<10)
	filler := filepath.Join(dir, "filler")
	for range 2 {
		l.written(1300)
		if err := command("fallocate", "-l", strconv.FormatInt(freeBytes(t, dir)-(64<<20), 10), filler); err != nil {
			t.Fatal(err)
		}
		l.refused("there is no room on the disk")
		free := int64(0)
		l.until("what is being flushed is on the disk", func() bool { // Badger's files are mapped, and would fault without room
			before := free
			time.Sleep(300 * time.Millisecond)
			free = freeBytes(t, dir)
			return free == before
		})
		for size := 64 << 20; size >= 4096; {
			if exec.Command("fallocate", "-o", strconv.FormatInt(length(filler), 10), "-l", strconv.Itoa(size), filler).Run() != nil {
				size /= 2
			}
		}
		l.refused("there is no room on the disk")
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		l.taken()
	}
	l.restart(func() {}, time.Now())
}

// length is how long a file is, if there is one.
func length(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// TestNoDescriptors takes all file descriptors from a server: it continues with the open ones until it must create a
// file.
func TestNoDescriptors(t *testing.T) {
	t.Parallel()
	onlyWhenFull(t)
	l := startLimited(t, t.TempDir(), 40<<10)
	l.written(10)
	pid := strconv.Itoa(l.server.Pid())
	if err := command("prlimit", "--pid", pid, "--nofile=5:"); err != nil {
		t.Skipf("taking the descriptors of a process: %v", err)
	}
	l.until("writes are refused", func() bool { return strings.Contains(l.lastRefusal(), "too many open files") })
	if !strings.Contains(l.lastRefusal(), "Nothing was written: ") {
		t.Errorf("the refusal is %q", l.lastRefusal())
	}
	if err := command("prlimit", "--pid", pid, "--nofile=1024:"); err != nil {
		t.Fatal(err)
	}
	l.taken()
	l.written(100)
	l.restart(func() {}, time.Now())
}

// TestReadOnlyDisk makes the file system of a server read-only, as an error of the disk does.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	onlyWhenFull(t)
	image := filepath.Join(t.TempDir(), "image")
	makeImage(t, image, 2<<30)
	dir := mount(t, "-o", "loop,errors=remount-ro", image)
	device, err := exec.Command("findmnt", "-no", "SOURCE", dir).Output()
	if err != nil {
		t.Skipf("finding the device: %v", err)
	}
	l := startLimited(t, filepath.Join(dir, "data"), 1000)
	l.written(500)
	l.until("writes are old enough to be safe", func() bool { return l.safe().After(l.ackedAt(500)) })
	trigger := filepath.Join("/sys/fs/ext4", filepath.Base(strings.TrimSpace(string(device))), "trigger_fs_error")
	if err := os.WriteFile(trigger, []byte("an error for a test\n"), 0o200); err != nil {
		t.Skipf("an error of the file system: %v", err)
	}
	l.refused("")
	l.stopWriting()
	l.restart(func() { repair(t, image, dir) }, l.safe())
}

// repair checks a mounted image and mounts it again.
func repair(t *testing.T, image, dir string) {
	t.Helper()
	if err := command("umount", dir); err != nil {
		t.Fatal(err)
	}
	_ = exec.Command("fsck.ext4", "-y", image).Run() // an error if it repaired anything
	if err := command("mount", "-o", "loop", image, dir); err != nil {
		t.Fatal(err)
	}
}

// TestFailingSync makes the writes of a disk fail: its image is on a full file system.
func TestFailingSync(t *testing.T) {
	t.Parallel()
	onlyWhenFull(t)
	below := mount(t, "-t", "tmpfs", "-o", "size=80m", "tmpfs")
	image := filepath.Join(below, "image")
	makeImage(t, image, 2<<30)
	dir := mount(t, "-o", "loop", image)
	l := startLimited(t, filepath.Join(dir, "data"), 20<<10)
	l.refused("")
	l.stopWriting()
	if err := command("mount", "-o", "remount,size=1g", below); err != nil {
		t.Fatal(err)
	}
	l.restart(func() { repair(t, image, dir) }, l.safe())
}

// TestTruncateFrees fills a disk with rows until writes are refused. TRUNCATE is taken, and gives the room back.
func TestTruncateFrees(t *testing.T) {
	t.Parallel()
	onlyWhenFull(t)
	image := filepath.Join(t.TempDir(), "image")
	makeImage(t, image, 400<<20)
	dir := mount(t, "-o", "loop", image)
	l := startLimited(t, filepath.Join(dir, "data"), 100<<10, "--memtable", "8MiB")
	l.refused("there is no room on the disk")
	conn := l.dial()
	defer conn.Close()
	full := l.count()
	for _, s := range []string{"DELETE FROM k.t WHERE p = 0", "TRUNCATE k.t"} {
		l.until(s+" is taken", func() bool { // a compaction under way takes room for a while
			_, err := conn.Query(t.Context(), s, nil, nil)
			return err == nil
		})
	}
	l.taken()
	l.written(100)
	l.stopWriting()
	r, err := conn.Query(t.Context(), "SELECT count(*) FROM k.t", nil, nil)
	if err != nil || len(r.Rows) != 1 {
		t.Fatal(err)
	}
	n, want := int(binary.BigEndian.Uint64(r.Rows[0][0])), l.count()-full
	if n != want && n != want+1 { // the last one may not have been answered
		t.Errorf("%d rows are there, want %d", n, want)
	}
}

// TestStopOnFullDisk ends a server whose disk another process has filled: it ends in time, and no write is lost.
func TestStopOnFullDisk(t *testing.T) {
	t.Parallel()
	onlyWhenFull(t)
	image := filepath.Join(t.TempDir(), "image")
	makeImage(t, image, 2<<30)
	dir := mount(t, "-o", "loop", image)
	l := startLimited(t, filepath.Join(dir, "data"), 20<<10)
	l.written(1000)
	filler := filepath.Join(dir, "filler")
	if err := command("fallocate", "-l", strconv.FormatInt(freeBytes(t, dir)-(64<<20), 10), filler); err != nil {
		t.Fatal(err)
	}
	l.refused("there is no room on the disk")
	l.stopWriting()
	began := time.Now()
	if err := l.server.Stop(); err != nil {
		t.Errorf("the server does not stop: %v; its log: %s", err, l.server.Log())
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the server stops within %v", took)
	}
	l.restart(func() {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}, time.Now())
}

// freeBytes is the free space of a disk.
func freeBytes(t *testing.T, dir string) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * s.Bsize
}

// TestFilesArePrivate looks who may read the files of a data folder: the owner alone.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	l := startLimited(t, data, 40<<10)
	l.written(100)
	l.stopWriting()
	for _, when := range []string{"running", "stopped"} {
		err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s has the permissions %v", when, path, info.Mode().Perm())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if when == "running" {
			if err := l.server.Stop(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
