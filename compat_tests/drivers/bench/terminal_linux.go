package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// startOnTerminal starts a program on a new terminal, and returns the terminal's other end.
func startOnTerminal(cmd *exec.Cmd) (keyboard *os.File, err error) {
	if keyboard, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, err
	}
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	if err != nil {
		return nil, errors.Join(err, keyboard.Close())
	}
	terminal, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, errors.Join(err, keyboard.Close())
	}
	defer terminal.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, keyboard.Close())
	}
	return keyboard, nil
}
