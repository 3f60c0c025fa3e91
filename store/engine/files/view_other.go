//go:build !linux && !darwin && !freebsd

package files

import "os"

// View reads a file.
func View(path string) (content []byte, release func() error, err error) {
	content, err = os.ReadFile(path)
	return content, func() error { return nil }, err
}
