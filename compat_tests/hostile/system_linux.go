package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// cage is a control group that the server runs in. The system kills a process that exceeds its memory limit. Pages of
// files count too, but the system reclaims them first.
type cage struct {
	folder string
	kills  string // the file of the group that has the number of kills
}

// newCage makes a control group, which wants root.
func newCage(limit int64) (*cage, error) {
	const root = "/sys/fs/cgroup"
	name := fmt.Sprint("cqld-hostile-", os.Getpid())
	c := &cage{folder: filepath.Join(root, "memory", name), kills: "memory.oom_control"}
	limits := map[string]int64{"memory.limit_in_bytes": limit}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		if err := os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0); err != nil {
			return nil, err
		}
		c = &cage{folder: filepath.Join(root, name), kills: "memory.events"}
		limits = map[string]int64{"memory.max": limit, "memory.swap.max": 0}
	}
	if err := os.Mkdir(c.folder, 0o755); err != nil {
		return nil, err
	}
	for file, n := range limits {
		if err := os.WriteFile(filepath.Join(c.folder, file), []byte(strconv.FormatInt(n, 10)), 0); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// command starts a program in the group: a shell joins the group and then executes the program.
func (c *cage) command(program string, arguments []string) (string, []string) {
	const enter = `echo $$ >"$0" && exec "$@"`
	return "/bin/sh", append([]string{"-c", enter, filepath.Join(c.folder, "cgroup.procs"), program}, arguments...)
}

// killed returns how many processes of the group the system has killed.
func (c *cage) killed() (int, error) {
	events, err := os.ReadFile(filepath.Join(c.folder, c.kills))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(events)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			return strconv.Atoi(n)
		}
	}
	return 0, fmt.Errorf("%s does not tell of kills: %q", c.kills, events)
}

// remove removes the group. Its processes have ended.
func (c *cage) remove() error { return os.Remove(c.folder) }

// arrived is the number of unread bytes of a socket.
func arrived(socket net.Conn) (n int) {
	raw, ok := socket.(syscall.Conn)
	if !ok {
		return 0
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return 0 // it is closed
	}
	_ = control.Control(func(fd uintptr) {
		n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ)
	})
	return n
}
