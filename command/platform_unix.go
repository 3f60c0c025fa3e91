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

// parentEvery is how often a process looks whether its parent is still there.
const parentEvery = 200 * time.Millisecond

// withParent makes a context that ends when the process that started this one ends: another process is the parent then.
func withParent(ctx context.Context) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(parentEvery)
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

// privateFiles has files that the process makes from here on be readable by their owner alone: the engine below makes
// tables that everybody could read, and roles with their passwords are in them.
func (c *console) privateFiles() {
	if c.ends { // it is of the whole process
		syscall.Umask(0o077)
	}
}

// spareDescriptors is how many file descriptors are kept for the storage engine, but at most a quarter of all.
const spareDescriptors = 256

// sparing is a listener that refuses connections when few file descriptors are left: the storage engine needs some for
// the files that it makes.
type sparing struct {
	net.Listener
	log zerolog.Logger
}

// Accept closes connections whose descriptor is too large: the system assigns the smallest free one.
func (l *sparing) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || !tooMany(c) {
			return c, err
		}
		log := l.log.Sample(&refusalsLogged)
		log.Warn().Stringer("client", c.RemoteAddr()).Msg("a connection is refused, as few file descriptors are left")
		_ = c.Close() // nothing was sent
	}
}

// refusalsLogged lets a few lines a minute pass: clients can cause any number of them.
var refusalsLogged = zerolog.BurstSampler{Burst: 5, Period: time.Minute}

// tooMany reports whether a connection has a descriptor that is kept for the storage engine.
func tooMany(c net.Conn) bool {
	var limit syscall.Rlimit
	s, ok := c.(syscall.Conn)
	if !ok || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	most := uint64(limit.Cur)
	most -= min(spareDescriptors, most/4)
	over := false
	err = raw.Control(func(fd uintptr) { over = uint64(fd) >= most })
	return err == nil && over
}
