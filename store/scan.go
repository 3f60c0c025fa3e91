package store

import (
	"bytes"
	"math"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

func (r *reader) scan() error {
	start, end, ok := r.tokenBounds()
	if !ok {
		return nil
	}
	p := &r.place
	if r.after != nil {
		p.prefix = rows.AppendPartition(p.prefix[:0], r.read.Table, r.id, r.after.Partition)
		behind := rows.Successor(bytes.Clone(p.prefix))
		if !r.after.Whole && bytes.Compare(p.prefix, start) >= 0 && bytes.Compare(p.prefix, end) < 0 {
			if err := r.readPartition(r.after.Partition); err != nil || r.done {
				return err
			}
		}
		r.after = nil
		if bytes.Compare(behind, start) > 0 {
			start = behind
		}
	}
	p.prefix = p.prefix[:0]
	r.tombstones.Scan(r.src, r.id, start, end)
	if r.read.allRows() && !r.read.Reverse {
		if err := r.scanRows(start, end); err != nil || r.done {
			return err
		}
		return r.read.Tombstones.passRanges(nil)
	}
	return r.hop(start, end)
}

// hop reads partition by partition: it finds the first key of the next one, and reads the wanted rows of it.
func (r *reader) hop(start, end []byte) error {
	for {
		if err := r.step(); err != nil {
			return err
		}
		found := false
		err := r.src.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			found = true
			return false, r.place.enter(key)
		})
		if err != nil {
			return err
		}
		if !found {
			return nil
		}
		if err := r.readPartition(r.place.partition); err != nil || r.done {
			return err
		}
		start = rows.Successor(bytes.Clone(r.place.prefix))
	}
}

// tokenBounds are the keys that the token range begins with and ends before; not ok: it has no tokens.
func (r *reader) tokenBounds() (start, end []byte, ok bool) {
	start = rows.AppendArea(nil, r.id, rows.AreaRows)
	end = rows.Successor(bytes.Clone(start))
	t := r.read.Tokens
	if t == (TokenRange{}) {
		return start, end, true
	}
	from, to := t.Start, t.End
	if !t.StartInclusive {
		if from == math.MaxInt64 {
			return nil, nil, false
		}
		from++
	}
	if !t.EndInclusive {
		if to == math.MinInt64 {
			return nil, nil, false
		}
		to--
	}
	if from > to {
		return nil, nil, false
	}
	if to < math.MaxInt64 {
		end = rows.AppendToken(bytes.Clone(start), to+1)
	}
	return rows.AppendToken(start, from), end, true
}

// enter makes the partition of a key the current one.
func (p *readPlace) enter(key []byte) error {
	if len(key) < rows.AreaSize+rows.TokenSize {
		return rows.ErrKey
	}
	partition, rest, err := rows.SplitEscaped(p.partition[:0], key[rows.AreaSize+rows.TokenSize:])
	if err != nil {
		return err
	}
	if partition == nil {
		partition = []byte{} // the key of a view's partition can be empty, and nil would be null
	}
	p.partition = partition
	p.prefix = append(p.prefix[:0], key[:len(key)-len(rest)]...)
	return nil
}

// RowsPerStep is how many rows, or entries of an index, a read goes over between two steps of its turn.
const RowsPerStep = 32

// takeScanned takes a key and its value from a scan of one partition or many.
func (r *reader) takeScanned(key, value []byte) (bool, error) {
	if r.ticks++; r.ticks%RowsPerStep == 0 {
		if err := r.step(); err != nil {
			return false, err
		}
	}
	if r.dead.waiting {
		r.endWait(key)
	}
	p := &r.place
	if len(p.prefix) == 0 || !bytes.HasPrefix(key, p.prefix) {
		if err := r.scanPartition(key); err != nil {
			return false, err
		}
	}
	position := key[len(p.prefix):]
	if len(position) == 0 {
		return false, rows.ErrKey
	}
	if position[0] == rows.KindStatic {
		err := r.takeStatic(value)
		return !r.done, err
	}
	r.dead.alive = false
	err := r.deliverRow(position, value)
	if r.dead.alive {
		r.endRun(nil)
	} else if err == nil {
		r.dead.addDead(key)
	}
	return !r.done, err
}

// scanPartition goes on with the partition of a key.
func (r *reader) scanPartition(key []byte) error {
	if err := r.read.Tombstones.passRanges(nil); err != nil {
		return err
	}
	if err := r.place.enter(key); err != nil {
		return err
	}
	if err := r.beginPartition(r.place.partition); err != nil {
		return err
	}
	if r.tombstones.Any {
		r.read.Tombstones.beginSlice(&r.tombstones.PartitionTombstones, nil, nil)
	}
	return nil
}
