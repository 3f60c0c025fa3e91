package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A processor keeps some thousand addresses of pages at hand. Rows of gigabytes lie in more pages of 4 KiB than that,
// and reads of rows anywhere wait for the search of addresses; pages of 2 MiB are few enough. Many systems give these
// to a process only where it asks for them, which Go's runtime does not. To ask for them wherever memory is mapped
// would bring back what Go has returned, whole pages for a few bytes. So only small pages that are there become large
// ones.
const (
	hugePage      = 2 << 20
	hugeFrom      = 64 << 20 // live memory; less than this is nearly all at hand
	hugeAtOnce    = 256      // how many pages are looked at in a round
	smallPages    = hugePage / 4096
	nearlyPresent = smallPages / 16 * 15
)

// Whoever needs memory of a page that is being made has to wait for it, some milliseconds. So pages are made for a
// while in each round, and while the server is busy hardly more than one.
const (
	hugeIdle = 200 * time.Millisecond
	hugeBusy = time.Millisecond
)

// hugePages makes large pages of the memory of the process.
type hugePages struct {
	given bool      // the system gives them where they are asked for; before Linux 6.1 it cannot
	total uint64    // what Go had mapped at the last look
	maps  []mapping // where memory was then
	next  uintptr   // where the next round goes on
}

// mapping is an address range.
type mapping struct{ from, to uintptr }

// newHugePages finds out whether there is something to ask for.
func newHugePages() *hugePages {
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	given := err == nil && bytes.Contains(enabled, []byte("[madvise]")) && os.Getpagesize() == hugePage/smallPages
	return &hugePages{given: given}
}

// look makes large pages of small ones that are all in use, some at a time, and few while the server is busy. It does
// no more after an error.
func (h *hugePages) look(live, total uint64, busy bool) error {
	if !h.given || live < hugeFrom {
		return nil
	}
	if total != h.total {
		f, err := os.Open("/proc/self/maps")
		if err == nil {
			h.maps, err = anonymous(f)
			f.Close()
		}
		if err != nil {
			h.given = false
			return err
		}
		h.total = total
	}
	if busy {
		h.join(hugeAtOnce, hugeBusy)
	} else {
		h.join(hugeAtOnce, hugeIdle)
	}
	return nil
}

// join looks at n large pages, from where the last call ended, and makes them of small ones until it has done so for
// some time.
func (h *hugePages) join(n int, enough time.Duration) {
	var present [smallPages]byte
	for _, m := range h.maps {
		for at := max(m.from+hugePage-1, h.next) &^ (hugePage - 1); at+hugePage <= m.to; at += hugePage {
			if n == 0 || enough <= 0 {
				h.next = at
				return
			}
			n--
			if used(at, &present) < nearlyPresent {
				continue
			}
			began := time.Now()
			_, _, errno := unix.Syscall(unix.SYS_MADVISE, at, hugePage, unix.MADV_COLLAPSE)
			enough -= time.Since(began)
			if h.given = errno != unix.EINVAL; errno != 0 { // it cannot at all, or not now: others come first
				h.next = at + hugePage
				return
			}
		}
	}
	h.next = 0
}

// used counts the small pages of a large one that are in memory.
func used(at uintptr, present *[smallPages]byte) int {
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, at, hugePage, uintptr(unsafe.Pointer(present))); errno != 0 {
		return 0 // it is not mapped any more
	}
	n := 0
	for _, p := range present {
		n += int(p & 1)
	}
	return n
}

// anonymous reads the mappings of a process, and returns those that have no file, can be written and hold a large page.
func anonymous(maps io.Reader) ([]mapping, error) {
	var found []mapping
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var m mapping
		var access, offset, device string
		var inode uint64
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s %s %s %d", &m.from, &m.to, &access, &offset, &device, &inode); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		if access == "rw-p" && inode == 0 && m.to-m.from >= hugePage {
			found = append(found, m)
		}
	}
	return found, lines.Err()
}
