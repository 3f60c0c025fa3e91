//go:build unix

package prompt

import (
	"os"
	"os/signal"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sizeSignals tell that the size of the terminal has changed.
var sizeSignals = []os.Signal{unix.SIGWINCH}

// setSize gives a size to a terminal that has none, such as a serial line or a container's first moments: the editor
// does not edit lines on a terminal without columns. As in readline COLUMNS and LINES come first.
func setSize() {
	out := int(os.Stdout.Fd())
	size, err := unix.IoctlGetWinsize(out, unix.TIOCGWINSZ)
	if err != nil || size.Col > 0 {
		return
	}
	from := func(variable string, otherwise int) uint16 {
		n, err := strconv.Atoi(os.Getenv(variable))
		if err != nil || n <= 0 {
			n = otherwise
		}
		return uint16(min(n, 1<<16-1))
	}
	size.Col, size.Row = from("COLUMNS", defaultColumns), from("LINES", defaultLines)
	// The signal about the new size must not reach the editor, which would draw its first line again.
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, unix.SIGWINCH)
	defer signal.Stop(changed)
	if unix.IoctlSetWinsize(out, unix.TIOCSWINSZ, size) != nil {
		return // lines are read as the terminal gives them
	}
	select {
	case <-changed:
	case <-time.After(signalTime): // the terminal controls other processes
	}
}

// signalTime is how long a signal may take.
const signalTime = 50 * time.Millisecond

// keepKeys makes the terminal keep each key for the next prompt without showing it. Ctrl-C stays a signal.
func keepKeys() {
	in := int(os.Stdin.Fd())
	mode, err := unix.IoctlGetTermios(in, getMode)
	if err != nil {
		return
	}
	mode.Iflag &^= unix.ICRNL | unix.IXON
	mode.Lflag &^= unix.ECHO | unix.ICANON | unix.IEXTEN
	mode.Lflag |= unix.ISIG
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(in, setMode, mode) // then keys are shown
}
