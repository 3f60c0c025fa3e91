package control

import (
	"testing"
	"time"
)

// TestClockSettings moves, stops and starts a clock whose source stands still unless it is moved.
func TestClockSettings(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	source := at
	c := NewClock(func() time.Time { return source })
	expect := func(what string, want time.Time) {
		t.Helper()
		if got := c.Now(); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("new", at)
	c.Advance(time.Hour)
	expect("advanced", at.Add(time.Hour))
	source = source.Add(time.Minute)
	expect("running", at.Add(time.Hour+time.Minute))
	c.Freeze()
	copied := c.Copy()
	source = source.Add(time.Minute)
	expect("frozen", at.Add(time.Hour+time.Minute))
	c.Advance(-time.Hour)
	expect("frozen and moved back", at.Add(time.Minute))
	c.Run()
	source = source.Add(time.Second)
	expect("running again", at.Add(time.Minute+time.Second))
	c.Run()
	c.Set(at)
	source = source.Add(time.Second)
	expect("set", at.Add(time.Second))
	c.Freeze()
	c.Set(at)
	source = source.Add(time.Second)
	expect("set and frozen", at)
	if got, want := copied.Now(), at.Add(time.Hour+time.Minute); !got.Equal(want) {
		t.Errorf("the copy shows %v, want %v", got, want)
	}
}
