package badger

import "testing"

// TestReaders checks that the version to keep does not pass a read under way, and catches up behind it.
func TestReaders(t *testing.T) {
	var r readers
	r.advance(10)
	old := r.enter()
	for published := uint64(11); published < 20; published++ {
		if oldest, ok := r.advance(published); ok && oldest > 10 {
			t.Fatalf("versions up to %d may go while a read is at 10", oldest)
		}
	}
	young := r.enter()
	old.leave()
	r.advance(20)
	if oldest, ok := r.advance(21); ok && oldest > 20 {
		t.Errorf("versions up to %d may go while a read is at 19", oldest)
	}
	young.leave()
	r.advance(30)
	r.advance(31)
	if oldest, ok := r.advance(32); !ok || oldest != 31 {
		t.Errorf("without reads versions up to %d may go, want 31", oldest)
	}
	r.close()
	if r.enter() != nil {
		t.Error("a read is let in after close")
	}
}
