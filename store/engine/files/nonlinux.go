//go:build !linux

package files

import (
	"os"
	"syscall"
)

// AllocateBlocks cannot allocate blocks of files that are mapped.
func AllocateBlocks(*os.File, int64, int64) error { return syscall.ENOSYS }

// Descriptors is not known here.
func Descriptors() (used, limit int, known bool) { return 0, 0, false }

// MappedWrites is false: mappings and files are not known to be coherent.
const MappedWrites = false

// Populate does nothing.
func Populate([]byte) {}
