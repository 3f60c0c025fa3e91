package commitlog

import "golang.org/x/sys/unix"

// mayMap says that what is copied into mapped files and what is written to them are the same at once.
const mayMap = true

// makeWritable has the system make pages writable, rather than each when it is first written to. An old one does not.
func makeWritable(pages []byte) { _ = unix.Madvise(pages, unix.MADV_POPULATE_WRITE) }
