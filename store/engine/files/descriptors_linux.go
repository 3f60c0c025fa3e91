package files

import (
	"errors"
	"os"
	"syscall"
)

// Descriptors is how many file descriptors the process uses, and how many it may have.
func Descriptors() (used, most int, known bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, 0, false
	}
	most = int(min(limit.Cur, 1<<30))
	f, err := os.Open("/proc/self/fd")
	if errors.Is(err, syscall.EMFILE) {
		return most, most, true
	}
	if err != nil { // no /proc, as in a bare root folder
		return 0, 0, false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return len(names) - 1, most, err == nil
}
