//go:build !linux

package files

import (
	"os"
	"syscall"
)

// TakeBlocks cannot take blocks of files that are mapped.
func TakeBlocks(*os.File, int64, int64) error { return syscall.ENOSYS }
