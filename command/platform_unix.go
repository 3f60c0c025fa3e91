//go:build unix

package command

import (
	"context"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// parentInterval is how often withParent checks the parent.
const parentInterval = 200 * time.Millisecond

// withParent makes a context that ends when the parent process does: the process has another parent then.
func withParent(ctx context.Context) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(parentInterval)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel, nil
}

// privateFiles makes files that the process creates from now on unreadable for other users: Badger's tables, which
// have the hashes of passwords, would be readable for all.
func (c *console) privateFiles() {
	if c.ends { // the umask belongs to the whole process
		syscall.Umask(0o077)
	}
}

// spareDescriptors is how many file descriptors are reserved for the storage engine, at most a quarter of all.
const spareDescriptors = 256

// sparing is a listener that refuses connections when few file descriptors are left, because the storage engine needs
// some.
type sparing struct {
	net.Listener
	log      zerolog.Logger
	reserved int // for HTTP, on top
}

// Accept closes connections whose descriptor is too large: the system assigns the smallest free one.
func (l *sparing) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || !tooMany(c, l.reserved) {
			return c, err
		}
		log := l.log.Sample(&refusalsLogged)
		log.Warn().Stringer("client", c.RemoteAddr()).Msg("refused a connection: few file descriptors are left")
		_ = c.Close()
	}
}

// refusalsLogged limits the log to a few refusals a minute.
var refusalsLogged = zerolog.BurstSampler{Burst: 5, Period: time.Minute}

// httpShare is how many connections of HTTP there may be.
func httpShare() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return httpConnections
	}
	return int(max(1, min(httpConnections, uint64(limit.Cur)/8)))
}

// tooMany reports whether a connection has a descriptor that is reserved for the storage engine, or as many others.
func tooMany(c net.Conn, reserved int) bool {
	var limit syscall.Rlimit
	s, ok := c.(syscall.Conn)
	if !ok || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	maxFD := uint64(limit.Cur)
	maxFD -= min(spareDescriptors, maxFD/4) + uint64(reserved)
	over := false
	err = raw.Control(func(fd uintptr) { over = uint64(fd) >= maxFD })
	return err == nil && over
}
