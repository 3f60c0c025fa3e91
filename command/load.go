package command

import "time"

// load tells whether the server is busy.
type load struct {
	at   time.Time     // of the last look
	used time.Duration // processor time until then
}

// busyShare is how much of a processor a busy server uses.
const busyShare = 0.1

// busy reports whether the process was busy since the last look. Upkeep is the time that governMemory has taken since
// then, which does not count. Where the system does not tell processor time, the process is never busy.
func (l *load) busy(now time.Time, upkeep time.Duration) bool {
	before := *l
	l.at, l.used = now, processorTime()
	used := l.used - before.used - upkeep
	return !before.at.IsZero() && used.Seconds() > busyShare*now.Sub(before.at).Seconds()
}
