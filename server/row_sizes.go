package server

import "sync/atomic"

// rowSizes remembers whether the quick or brief reads of a statement are large. It is above zero when the last reads
// were small, and below zero when one of them was large.
type rowSizes struct {
	reads atomic.Int32
}

// readsRemembered is how many reads must be small after a large one until the statement's reads do not count as large,
// and as many again until they count as small.
const readsRemembered = 64

// note takes down how many bytes a read gave.
func (s *rowSizes) note(n int) {
	switch reads := s.reads.Load(); {
	case n >= chargeStep:
		s.noteLarge()
	case reads < readsRemembered:
		s.reads.Add(1) // several at a time may make it more, which does no harm
	}
}

// noteLarge takes down that a read was large.
func (s *rowSizes) noteLarge() { s.reads.Store(-readsRemembered) }

// large reports whether one of the last reads was large.
func (s *rowSizes) large() bool { return s.reads.Load() < 0 }

// small reports whether many reads were small, and none was large since.
func (s *rowSizes) small() bool { return s.reads.Load() >= readsRemembered }
