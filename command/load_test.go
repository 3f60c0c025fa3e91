package command

import (
	"testing"
	"time"
)

// TestBusy has the process busy for a while, and lets it rest.
func TestBusy(t *testing.T) {
	if processorTime() == 0 {
		t.Skip("the system does not tell how much time of processors a process has used")
	}
	var l load
	now := time.Now()
	if l.busy(now, 0) {
		t.Error("busy at the first look")
	}
	for processorTime() < l.used+200*time.Millisecond {
	}
	used := l.used
	if now = now.Add(time.Second); !l.busy(now, 0) {
		t.Error("not busy after 200 ms of a second")
	}
	l = load{now, used}
	if now = now.Add(time.Second); l.busy(now, processorTime()-used) {
		t.Error("busy with its own upkeep")
	}
	if now = now.Add(time.Hour); l.busy(now, 0) {
		t.Error("busy after an hour of nothing")
	}
}
