package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFullDiskIsFreed fills disks with blobs until writes are refused: TRUNCATE, DROP and DELETE are taken nevertheless
// and free the room, before and after a restart, and the server stops in time. make crash fills large disks too, which
// takes a quarter of an hour.
func TestFullDiskIsFreed(t *testing.T) {
	onlyWhenFull(t)
	for _, size := range []struct {
		megabytes int64
		flags     []string
	}{
		{600, []string{"--memtable", "8MiB"}},
		{1500, []string{"--memtable", "32MiB"}},
		{3000, nil},
	} {
		if size.megabytes > 600 && os.Getenv("TEST_CQLD_DISKS") == "" {
			continue
		}
		for _, statement := range []string{"TRUNCATE k.t", "DROP TABLE k.t", "DELETE"} {
			t.Run(fmt.Sprintf("%d MB/%s", size.megabytes, statement), func(t *testing.T) {
				fillAndFree(t, size.megabytes<<20, statement, size.flags)
			})
		}
	}
}

// fillAndFree fills a disk and frees it with a statement; DELETE deletes each row.
func fillAndFree(t *testing.T, size int64, statement string, flags []string) {
	image := filepath.Join(t.TempDir(), "image")
	makeImage(t, image, size)
	dir := mount(t, "-o", "loop", image)
	l := startLimited(t, filepath.Join(dir, "data"), 50<<10, flags...)
	for began := time.Now(); !strings.Contains(l.lastRefusal(), "no room") && time.Since(began) < 5*time.Minute; { // which until has no time for
		time.Sleep(20 * time.Millisecond)
	}
	l.refused("there is no room on the disk")
	l.stopWriting()
	free := func() int64 { return freeBytes(t, dir) }
	t.Logf("full: %d rows, %d MiB free of %d", l.count(), free()>>20, size>>20)
	began := time.Now()
	since := func() string { return time.Since(began).Round(100 * time.Millisecond).String() }
	conn := l.dial()
	defer conn.Close()
	if _, err := conn.Query(t.Context(), "CREATE TABLE IF NOT EXISTS k.u (p int PRIMARY KEY, v text)", nil, nil); err == nil {
		t.Log("a table is created on the full disk")
	}
	if statement == "DELETE" {
		for i := range l.count() {
			if _, err := conn.Query(t.Context(), fmt.Sprintf("DELETE FROM k.t WHERE p = %d", i), nil, nil); err != nil {
				t.Fatalf("row %d of %d is not deleted, after %s: %v", i, l.count(), since(), err)
			}
		}
	} else if _, err := conn.Query(t.Context(), statement, nil, nil); err != nil {
		t.Fatal(err)
	}
	t.Logf("acknowledged after %s", since())
	for !taken(l, statement) {
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("writes are still refused, %d MiB are free", free()>>20)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("writes are taken after %s, %d MiB are free", since(), free()>>20)
	for free() < size/2 && time.Since(began) < 2*time.Minute {
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("after %s %d MiB are free", since(), free()>>20)
	if free() < size/2 {
		t.Error("the room is not freed")
	}
	began = time.Now()
	if err := l.server.Stop(); err != nil {
		t.Fatalf("%v\n%s", err, l.server.Log())
	}
	t.Logf("stopped within %s", since())
	if time.Since(began) > 10*time.Second {
		t.Error("the server does not stop within ten seconds")
	}
	l.start()
	t.Logf("opened again, %d MiB are free", free()>>20)
	if !taken(l, statement) {
		t.Error("writes are refused after a restart")
	}
	if err := l.server.Stop(); err != nil {
		t.Error(err)
	}
}

// taken reports whether a write is taken.
func taken(l *limited, statement string) bool {
	conn := l.dial()
	defer conn.Close()
	text := "INSERT INTO k.t (p, v) VALUES (-1, 'after')"
	if statement == "DROP TABLE k.t" {
		text = "CREATE TABLE IF NOT EXISTS k.after (p int PRIMARY KEY)"
	}
	_, err := conn.Query(l.t.Context(), text, nil, nil)
	return err == nil
}
