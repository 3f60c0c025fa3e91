package control

import (
	"time"

	"github.com/cqld/cqld/cql/types"
)

// clockTable is the clock as a table of one row:
//
//	UPDATE cqld_control.clock SET advance = 1h WHERE key = 'local'
//	UPDATE cqld_control.clock SET now = '2030-01-01', frozen = true WHERE key = 'local'
//	DELETE FROM cqld_control.clock WHERE key = 'local'
type clockTable struct{ clock *Clock }

// ClockKey is the key of the only row.
const ClockKey = "local"

func (t clockTable) rows() []Row {
	v := values{"now": types.EncodeTimestamp(t.clock.Now())}
	v.setDuration("ahead", t.clock.Ahead().Round(time.Millisecond))
	v.setBool("frozen", t.clock.Frozen())
	return []Row{{textKey(ClockKey), v}}
}

// Write freezes the clock or lets it run, then sets it, then moves it.
func (t clockTable) Write(key []byte, change map[string][]byte) error {
	if err := checkClockKey(key); err != nil {
		return err
	}
	if err := readOnly(change, "advance", "frozen", "now"); err != nil {
		return err
	}
	v := values(change)
	advance, err := v.duration("advance")
	if err != nil {
		return err
	}
	switch {
	case v["frozen"] == nil:
	case v.bool("frozen"):
		t.clock.Freeze()
	default:
		t.clock.Run()
	}
	if now := v["now"]; now != nil {
		t.clock.Set(time.UnixMilli(types.DecodeBigInt(now)))
	}
	if advance != 0 {
		t.clock.Advance(advance)
	}
	return nil
}

// Delete makes the clock show the real time again.
func (t clockTable) Delete(key []byte) error {
	if err := checkClockKey(key); err != nil {
		return err
	}
	return t.Truncate()
}

// Truncate makes the clock show the real time again.
func (t clockTable) Truncate() error {
	t.clock.Reset()
	return nil
}

func checkClockKey(key []byte) error {
	if string(key) != ClockKey {
		return errCannot("There is one clock, with the key '%s'", ClockKey)
	}
	return nil
}
