package badger

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/cqld/cqld/store/engine/badger/check"
)

// TestMapping finds the blocks of a table taken when Badger maps it, and its pages in memory, and the first blocks of a
// value log taken.
func TestMapping(t *testing.T) {
	dir := t.TempDir()
	hookMappings()
	var mu sync.Mutex
	taken := map[string]bool{} // by the ends of names
	mapper.Lock()
	hooked := mapper.mmap
	mapper.mmap = func(addr, length uintptr, prot, flags, fd int, offset int64) (uintptr, error) {
		at, err := hooked(addr, length, prot, flags, fd, offset)
		path, linkErr := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		var s syscall.Stat_t
		if linkErr == nil && filepath.Dir(path) == dir && syscall.Fstat(fd, &s) == nil {
			ext := filepath.Ext(path)
			ok := s.Blocks*512 >= min(s.Size, aheadSlack)
			if ext == check.TableFile {
				missing, mincoreErr := missingPages(at, length)
				ok = ok && missing == 0 && mincoreErr == nil
			}
			mu.Lock()
			taken[ext] = ok
			mu.Unlock()
		}
		return at, err
	}
	mapper.Unlock()
	defer func() {
		mapper.Lock()
		mapper.mmap = hooked
		mapper.Unlock()
	}()
	e := open(t, dir)
	if err := numbered(e, 1, 800); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{check.TableFile, check.ValueLog} {
		if !taken[ext] {
			t.Errorf("a file %s is not prepared when it is mapped: %v", ext, taken)
		}
	}
}

// TestWriteZeros finds all pages of a file in memory when zeros were written to it, and its length as it was.
func TestWriteZeros(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "table"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const length = 2*int64(len(zeros)) + 4099
	if err := f.Truncate(length); err != nil {
		t.Fatal(err)
	}
	if err := writeZeros(int(f.Fd()), length); err != nil {
		t.Fatal(err)
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, int(length), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mapped)
	if n, err := missingPages(uintptr(unsafe.Pointer(&mapped[0])), uintptr(length)); err != nil || n > 0 {
		t.Errorf("%d pages are not in memory, %v", n, err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != length {
		t.Errorf("the file has %d bytes, %v, want %d", info.Size(), err, length)
	}
}

// missingPages counts the pages of a mapped file that are not in memory.
func missingPages(addr, length uintptr) (n int, err error) {
	page := uintptr(os.Getpagesize())
	inMemory := make([]byte, (length+page-1)/page)
	_, _, failed := syscall.Syscall(syscall.SYS_MINCORE, addr, length, uintptr(unsafe.Pointer(&inMemory[0])))
	if failed != 0 {
		return 0, failed
	}
	for _, b := range inMemory {
		if b&1 == 0 {
			n++
		}
	}
	return n, nil
}

// TestDescriptors lets a commit that may begin a log find no descriptor: it is refused, and the next one is not.
func TestDescriptors(t *testing.T) {
	e, _, err := openTiny(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	written := 0
	for written < 5000 && err == nil {
		if err = numbered(e, written, 800); err == nil {
			written++
		}
	}
	synced := e.Sync()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if !passes(err) || e.failed.Load() != nil || synced != nil && !passes(synced) {
		t.Errorf("after %d commits: %v, sync: %v", written, err, synced)
	}
	if err := e.Sync(); err != nil {
		t.Error(err)
	}
	for i := range 3000 {
		if err := numbered(e, written+i, 800); err != nil {
			t.Fatalf("commit %d afterwards: %v", i, err)
		}
	}
	for began := time.Now(); e.Refusing() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal(e.Refusing())
		}
	}
	if found := readAndClose(t, e); len(found) != written+3000 {
		t.Errorf("%d are there of %d", len(found), written+3000)
	}
}
