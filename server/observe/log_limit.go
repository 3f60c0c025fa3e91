package observe

import (
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/auth/roles"
)

// LogLimit limits the log lines that clients can cause without logging in. Each minute a few lines of each kind are
// logged. The rest are counted per client network, and a line at the end of the minute reports the count.
type LogLimit struct {
	Log zerolog.Logger

	mu    sync.Mutex
	until time.Time // when the minute is over; zero: nothing was logged in it
	kinds map[string]*limitedLines
}

// limitedLines are the lines of one kind in a minute.
type limitedLines struct {
	logged int
	from   map[netip.Prefix]*lineCount
	others int // lines of further networks
}

// lineCount counts the lines of one network.
type lineCount struct{ logged, left int }

// The limits of lines of one kind in a minute.
const (
	linesPerNetwork = 5
	linesPerKind    = 50
	countedNetworks = 50
	logPeriod       = time.Minute
)

// Allow reports whether a line may be logged. Its message identifies its kind.
func (l *LogLimit) Allow(message string, client netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.After(l.until) {
		l.beginMinute()
		l.until = now.Add(logPeriod)
	}
	k := l.kinds[message]
	if k == nil {
		k = &limitedLines{from: map[netip.Prefix]*lineCount{}}
		l.kinds[message] = k
	}
	network := roles.NetworkOf(client)
	n := k.from[network]
	if n == nil && len(k.from) < countedNetworks {
		n = &lineCount{}
		k.from[network] = n
	}
	switch {
	case n == nil:
		k.others++
	case n.logged >= linesPerNetwork || k.logged >= linesPerKind:
		n.left++
	default:
		n.logged++
		k.logged++
		return true
	}
	return false
}

// SumUp logs how many lines were left out, if the minute is over at that time.
func (l *LogLimit) SumUp(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.until) {
		l.beginMinute()
	}
}

// End logs how many lines were left out since the minute began.
func (l *LogLimit) End() { l.SumUp(time.Now().Add(2 * logPeriod)) }

// beginMinute logs how many lines were left out, and forgets them.
func (l *LogLimit) beginMinute() {
	for message, k := range l.kinds {
		for network, n := range k.from {
			if n.left > 0 {
				l.Log.Warn().Stringer("client", network).Int("times", n.left).Msg(message + ", again and again")
			}
		}
		if k.others > 0 {
			l.Log.Warn().Str("client", "others").Int("times", k.others).Msg(message + ", again and again")
		}
	}
	l.kinds, l.until = map[string]*limitedLines{}, time.Time{}
}

// maxShown is the maximum length of client-supplied text in a log line, in bytes.
const maxShown = 128

// Shown prepares client-supplied text for the log: it is truncated, and control characters are escaped.
func Shown(text string) string {
	quoted := strconv.Quote(Truncate(text, maxShown))
	return quoted[1 : len(quoted)-1]
}

// Truncate returns a text that has at most that many bytes, or else its beginning with dots after it.
func Truncate(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "") + "..."
}
