package command

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestHugePages has small pages joined to large ones, but not where half of them were returned to the system.
func TestHugePages(t *testing.T) {
	if !newHugePages().given {
		t.Skip("the system gives no large pages where they are asked for")
	}
	const pages = 8
	memory, err := unix.Mmap(-1, 0, (pages+1)*hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	}()
	address := uintptr(unsafe.Pointer(&memory[0]))
	from := (address + hugePage - 1) &^ (hugePage - 1)
	whole := memory[from-address:][:pages*hugePage]
	for i := range whole {
		whole[i] = byte(i >> 12)
	}
	returned := whole[hugePage:][:hugePage/2]
	if err := unix.Madvise(returned, unix.MADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if n := largeBytes(t, from, from+pages*hugePage); n != 0 {
		t.Fatalf("%d bytes are in large pages already", n)
	}
	if err := unix.Madvise(whole[:hugePage], unix.MADV_COLLAPSE); err != nil {
		t.Skipf("the system has no large page: %v", err)
	}

	h := &hugePages{given: true, maps: []mapping{{from - 1, from + pages*hugePage}}}
	h.join(pages, 0)
	h.join(pages, 1)
	if n := largeBytes(t, from, from+pages*hugePage); n != hugePage || h.next != from+hugePage {
		t.Errorf("%d bytes are in large pages after no time, and the next round begins at %x", n, h.next)
	}
	h.next = 0
	h.join(3, time.Hour)
	if want := from + 3*hugePage; h.next != want {
		t.Errorf("the next round begins at %x and not at %x", h.next, want)
	}
	h.join(pages, time.Hour)
	var small [smallPages]byte
	if n := used(from+hugePage, &small); n != smallPages/2 {
		t.Errorf("%d small pages are where half of them were returned", n)
	}
	if n := largeBytes(t, from, from+pages*hugePage); n > (pages-1)*hugePage || n < 2*hugePage || h.next == 0 && n != (pages-1)*hugePage {
		t.Errorf("%d bytes are in large pages, and the next round begins at %x", n, h.next)
	}
	for i := range whole {
		if want := byte(i >> 12); whole[i] != want && (i < hugePage || i >= hugePage+hugePage/2) {
			t.Fatalf("byte %d is %d and not %d", i, whole[i], want)
		}
	}
}

// largeBytes counts the bytes in large pages of the mappings that lie between two addresses.
func largeBytes(t *testing.T, from, to uintptr) (n int) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.Lines(string(smaps)) {
		var m mapping
		var kibibytes int
		if k, _ := fmt.Sscanf(line, "%x-%x ", &m.from, &m.to); k == 2 {
			inside = m.from < to && m.to > from
		} else if k, _ := fmt.Sscanf(line, "AnonHugePages: %d kB", &kibibytes); k == 1 && inside {
			n += kibibytes << 10
		}
	}
	return n
}

// TestHugePagesWhere looks for the heap of the process, where there is much of it.
func TestHugePagesWhere(t *testing.T) {
	block := make([]byte, 32<<20)
	address := uintptr(unsafe.Pointer(&block[0]))
	h := &hugePages{given: true}
	if err := h.look(hugeFrom-1, 1, false); err != nil || h.maps != nil {
		t.Errorf("little memory: %v, %v", h.maps, err)
	}
	if err := h.look(hugeFrom, 1, false); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(h.maps, func(m mapping) bool { return m.from <= address && address+uintptr(len(block)) <= m.to }) {
		t.Errorf("%x is in none of %x", address, h.maps)
	}
}

// TestAnonymous reads the mappings of a process.
func TestAnonymous(t *testing.T) {
	maps := "00400000-01000000 rw-p 00000000 fe:00 1835 /bin/cqld\n" +
		"c000000000-c004000000 rw-p 00000000 00:00 0 \n" +
		"c004000000-c008000000 ---p 00000000 00:00 0 \n" +
		"7f0000000000-7f0000200000 rw-p 00000000 00:00 0                          [anon: Go: heap]\n" +
		"7f0000200000-7f00003ff000 rw-p 00000000 00:00 0\n" +
		"7f0000400000-7f0000800000 rw-s 00000000 00:00 0\n"
	found, err := anonymous(strings.NewReader(maps))
	want := []mapping{{0xc000000000, 0xc004000000}, {0x7f0000000000, 0x7f0000200000}}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("%x, %v", found, err)
	}
	if _, err := anonymous(bytes.NewReader([]byte("what?\n"))); err == nil {
		t.Error("a line that is none was read")
	}
}
