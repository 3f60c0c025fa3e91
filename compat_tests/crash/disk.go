package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// disk is a file system in a file. A power cut keeps the blocks that were written to the file: all synced ones, and
// others that the system happened to write.
type disk struct {
	image, mount string
}

// diskSize is enough for the writes of a trial; the file is sparse.
const diskSize = 2 << 30

// newDisk makes and mounts a disk.
func newDisk(folder string) (*disk, error) {
	d := &disk{image: filepath.Join(folder, "image"), mount: filepath.Join(folder, "mount")}
	if os.Getuid() != 0 {
		return nil, errors.New("cutting the power needs root: it mounts a file system")
	}
	if err := os.MkdirAll(d.mount, 0o700); err != nil {
		return nil, err
	}
	f, err := os.Create(d.image)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(diskSize), f.Close()); err != nil {
		return nil, err
	}
	if err := command("mkfs.ext4", "-q", "-F", d.image); err != nil {
		return nil, err
	}
	return d, d.attach()
}

// attach mounts the file. The system commits its journal on its own only every 100 seconds.
func (d *disk) attach() error {
	return command("mount", "-o", "loop,commit=100", d.image, d.mount)
}

// cut simulates a power cut: the disk continues with a copy of the file as it is now. The server has ended, so the file
// does not change while it is copied.
func (d *disk) cut() error {
	left := d.image + ".left"
	if err := command("cp", "--sparse=always", d.image, left); err != nil {
		return err
	}
	if err := command("umount", d.mount); err != nil {
		return err
	}
	if err := os.Rename(left, d.image); err != nil {
		return err
	}
	return d.attach()
}

// remove unmounts the disk.
func (d *disk) remove() error { return command("umount", d.mount) }

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}
