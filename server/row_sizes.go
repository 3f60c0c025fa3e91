package server

import "sync/atomic"

// rowSizes remembers whether the quick reads of a statement give large rows. It is above zero when the last reads gave
// small ones, and below zero when one of them gave large ones.
type rowSizes struct {
	reads atomic.Int32
}

// readsRemembered is how many reads must give small rows after large ones until the statement's rows do not count as
// large, and as many again until they count as small.
const readsRemembered = 64

// note takes down how many bytes a read gave.
func (s *rowSizes) note(n int) {
	switch reads := s.reads.Load(); {
	case n >= chargeStep:
		s.reads.Store(-readsRemembered)
	case reads < readsRemembered:
		s.reads.Add(1) // several at a time may make it more, which does no harm
	}
}

// large reports whether one of the last reads gave large rows.
func (s *rowSizes) large() bool { return s.reads.Load() < 0 }

// small reports whether many reads gave small rows, and none gave large ones since.
func (s *rowSizes) small() bool { return s.reads.Load() >= readsRemembered }
