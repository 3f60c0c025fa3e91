package check

import "time"

// pauses rests after each MiB, a multiple of the time that it took.
type pauses struct {
	factor, done int
	began        time.Time
}

func newPauses(factor int) *pauses { return &pauses{factor: factor, began: time.Now()} }

// worked notes that so many bytes are done.
func (p *pauses) worked(n int) {
	if p.done += n; p.done < 1<<20 || p.factor == 0 {
		return
	}
	time.Sleep(time.Since(p.began) * time.Duration(p.factor))
	p.began, p.done = time.Now(), 0
}
