package main

import (
	"path/filepath"
	"testing"
)

// TestClock has timestamps grow, also where the placement is killed and started again.
func TestClock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "placement.json")
	var physical, logical int64
	for range 3 {
		p, err := open(file)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			ts, err := p.timestamps(3)
			if err != nil {
				t.Fatal(err)
			}
			if ts.Physical < physical || ts.Physical == physical && ts.Logical < logical+3 {
				t.Fatalf("%d, %d is followed by %v", physical, logical, ts)
			}
			physical, logical = ts.Physical, ts.Logical
		}
		if _, err := p.AllocID(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if p.stored.LastID <= firstID {
			t.Error("numbers do not grow")
		}
	}
	p, err := open(file)
	if err != nil || p.stored.LastID != firstID+3 {
		t.Errorf("after three numbers the last one is %d, %v", p.stored.LastID, err)
	}
}
