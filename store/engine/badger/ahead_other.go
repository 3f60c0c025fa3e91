//go:build !linux

package badger

import (
	"os"
	"syscall"
)

// takeBlocks cannot take blocks of files that are mapped.
func takeBlocks(*os.File, int64, int64) error { return syscall.ENOSYS }
