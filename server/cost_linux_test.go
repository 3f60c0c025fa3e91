//go:build !race

package server_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// instructionCounter counts the instructions of this process's threads, in user space. A nil one counts nothing.
type instructionCounter struct{ threads []int } // descriptors

// countInstructions begins to count, where the system and the machine can do that.
func countInstructions() (*instructionCounter, error) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_INSTRUCTIONS,
		Bits: unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	c := &instructionCounter{}
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		if err != nil {
			return nil, err
		}
		fd, err := unix.PerfEventOpen(&attr, id, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			c.close()
			return nil, fmt.Errorf("perf_event_open: %w", err)
		}
		c.threads = append(c.threads, fd)
	}
	return c, nil
}

// read is how many instructions there were until now.
func (c *instructionCounter) read() (sum uint64) {
	if c == nil {
		return 0
	}
	var b [8]byte
	for _, fd := range c.threads {
		if n, err := unix.Read(fd, b[:]); n == len(b) && err == nil {
			sum += binary.NativeEndian.Uint64(b[:])
		}
	}
	return sum
}

func (c *instructionCounter) close() {
	for _, fd := range c.threads {
		_ = unix.Close(fd) // it was only read
	}
}
