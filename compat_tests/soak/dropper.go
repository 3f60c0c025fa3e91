package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// dropper fills a table of its own, reads it, and truncates or drops it, again and again. A kill may come at any
// moment: then a TRUNCATE or DROP without an answer was applied as a whole or not at all, and a row without an answer
// is there or not. Nothing that was removed comes back, and no row of the other tables goes with it (the workers see
// to that).
type dropper struct {
	random *rand.Rand
	report *report
	pace   *pace
	rows   int // of a full table
	round  int // of the rows that the table has

	exists  bool
	written int  // rows of the round that were acknowledged
	inDoubt bool // one more may be there
	gone    bool // a TRUNCATE or DROP was not answered
}

// droppedBlob is the length of a value: a table has some thousand rows.
const droppedBlob = 20_000

func newDropper(seed uint64, size int, r *report, p *pace) *dropper {
	return &dropper{random: rand.New(rand.NewPCG(seed, 1<<40)), report: r, pace: p, rows: size / droppedBlob}
}

// run works until the epoch is over or its server is gone.
func (d *dropper) run(ctx context.Context, e *epoch) error {
	s, err := connect(ctx, e, d.report)
	if err != nil {
		return unlessEnding(e, err)
	}
	defer s.conn.Close()
	if d.gone || d.inDoubt {
		err = d.look(ctx, s, "after a restart")
	}
	for err == nil && !closed(e.over) {
		switch {
		case !d.exists:
			err = d.do(ctx, s, "CREATE TABLE IF NOT EXISTS soak.dropped (c int PRIMARY KEY, round int, v blob)", func() {
				d.exists = true
			})
		case d.written < d.rows:
			err = d.insert(ctx, s)
		default:
			if err = d.look(ctx, s, "when it was full"); err == nil {
				err = d.remove(ctx, s)
			}
		}
	}
	return unlessEnding(e, err)
}

// do runs a statement on the table's definition.
func (d *dropper) do(ctx context.Context, s *session, text string, done func()) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if _, err := s.conn.Query(ctx, text, nil, nil); err != nil {
		return d.unlessRefused(s.epoch, text, err)
	}
	done()
	return nil
}

func (d *dropper) unlessRefused(e *epoch, text string, err error) error {
	if answer, ok := cqlerr.As(err); ok && !closed(e.ending) {
		d.report.refuse(fmt.Sprintf("%s: %s", text, answer.Message))
		return nil
	}
	return err
}

// insert writes the next row.
func (d *dropper) insert(ctx context.Context, s *session) error {
	d.pace.wait(droppedBlob, s.epoch)
	const text = "INSERT INTO soak.dropped (c, round, v) VALUES (?, ?, ?)"
	c := binary.BigEndian.AppendUint32(nil, uint32(d.written))
	v := bytes.Repeat(c, droppedBlob/4)
	_, err := s.execute(ctx, "write to dropped", text, []types.Value{{Bytes: c}, {Bytes: d.roundBytes()}, {Bytes: v}}, nil)
	if err != nil {
		d.inDoubt = true
		d.report.unanswer()
		return d.unlessRefused(s.epoch, text, err)
	}
	d.inDoubt = false // it is written again after a refusal
	d.written++
	d.report.acknowledge(droppedBlob)
	return nil
}

func (d *dropper) roundBytes() []byte { return binary.BigEndian.AppendUint32(nil, uint32(d.round)) }

// remove truncates or drops the table, and looks at once whether it is empty.
func (d *dropper) remove(ctx context.Context, s *session) error {
	text := "TRUNCATE soak.dropped"
	drops := d.random.IntN(2) == 0
	if drops {
		text = "DROP TABLE soak.dropped"
		s.prepared = map[string]*client.Prepared{}
	}
	d.gone = true
	err := d.do(ctx, s, text, func() { d.removed(drops) })
	if err == nil && !drops && !d.gone {
		err = d.look(ctx, s, "after TRUNCATE")
	}
	return err
}

// removed notes that the rows are gone.
func (d *dropper) removed(dropped bool) {
	d.exists, d.gone, d.inDoubt, d.written = !dropped, false, false, 0
	d.round++
	d.report.removed()
}

// look compares what the table has with what it may have.
func (d *dropper) look(ctx context.Context, s *session, how string) error {
	found := map[int]bool{}
	var lines []string
	err := s.read(ctx, "scan of dropped", "SELECT c, round, v FROM soak.dropped", nil, func(row [][]byte) {
		c := int(binary.BigEndian.Uint32(row[0]))
		if found[c] || !bytes.Equal(row[1], d.roundBytes()) || !bytes.Equal(row[2], bytes.Repeat(row[0], droppedBlob/4)) {
			lines = append(lines, fmt.Sprintf("c=%d: it is of round %x, and not of %d", c, row[1], d.round))
		}
		found[c] = true
	})
	if answer, ok := cqlerr.As(err); ok && answer.Code == cqlerr.Invalid && d.gone {
		d.removed(true) // the DROP was applied
		return nil
	}
	if err != nil {
		return d.unlessRefused(s.epoch, "read dropped", err)
	}
	switch {
	case d.gone && len(found) == 0:
		d.removed(false)
		return nil
	case len(found) == d.written, d.inDoubt && len(found) == d.written+1:
	default:
		lines = append(lines, fmt.Sprintf("%d rows are there, and %d were acknowledged", len(found), d.written))
	}
	for c := range d.written {
		if !found[c] && len(lines) < maxRowDetails {
			lines = append(lines, fmt.Sprintf("c=%d: it is missing", c))
		}
	}
	if lines != nil {
		d.report.differ(&table{name: "dropped"}, 0, how, lines)
		return errors.New("the table dropped has other rows than it must have")
	}
	d.written, d.inDoubt, d.gone = len(found), false, false
	return nil
}
