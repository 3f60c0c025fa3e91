package store

import (
	"bytes"
	"math"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// scan reads a range of tokens.
func (r *reader) scan() error {
	start, end, ok := r.tokenBounds()
	if !ok {
		return nil
	}
	if r.after != nil {
		r.prefix = rows.AppendPartition(r.prefix[:0], r.read.Table, r.id, r.after.Partition)
		behind := rows.Successor(bytes.Clone(r.prefix))
		if !r.after.Whole && bytes.Compare(r.prefix, start) >= 0 && bytes.Compare(r.prefix, end) < 0 {
			if err := r.readPartition(r.after.Partition); err != nil || r.done {
				return err
			}
		}
		r.after = nil
		if bytes.Compare(behind, start) > 0 {
			start = behind
		}
	}
	r.prefix = r.prefix[:0]
	r.beginDeletions(start, end)
	if r.read.allRows() && !r.read.Reverse {
		err := r.src.Scan(start, end, engine.ScanOptions{}, r.onScan)
		r.endRun()
		if err != nil || r.done {
			return err
		}
		if err := r.passRest(); err != nil {
			return err
		}
		return r.passRowless(nil)
	}
	return r.hop(start, end)
}

// hop reads partition by partition: it finds the next one's first key, and reads of it what is wanted.
func (r *reader) hop(start, end []byte) error {
	for {
		if err := r.step(); err != nil {
			return err
		}
		found := false
		err := r.src.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			found = true
			return false, r.enter(key)
		})
		if err != nil {
			return err
		}
		if !found {
			return r.passRowless(nil)
		}
		if err := r.passRowless(r.prefix); err != nil {
			return err
		}
		if err := r.readPartition(r.partition); err != nil || r.done {
			return err
		}
		start = rows.Successor(bytes.Clone(r.prefix))
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
func (r *reader) enter(key []byte) error {
	if len(key) < rows.AreaSize+rows.TokenSize {
		return rows.ErrKey
	}
	partition, rest, err := rows.SplitEscaped(r.partition[:0], key[rows.AreaSize+rows.TokenSize:])
	if err != nil {
		return err
	}
	if partition == nil {
		partition = []byte{} // of a view: null is something else
	}
	r.partition = partition
	r.prefix = append(r.prefix[:0], key[:len(key)-len(rest)]...)
	return nil
}

// scanRow takes a key and its value from a scan of one partition or many.
func (r *reader) scanRow(key, value []byte) (bool, error) {
	if r.ticks++; r.ticks%64 == 0 {
		if err := r.step(); err != nil {
			return false, err
		}
	}
	if len(r.prefix) == 0 || !bytes.HasPrefix(key, r.prefix) {
		if err := r.passRest(); err != nil {
			return false, err
		}
		if err := r.enter(key); err != nil {
			return false, err
		}
		if err := r.passRowless(r.prefix); err != nil {
			return false, err
		}
		if err := r.beginPartition(r.partition); err != nil {
			return false, err
		}
		if r.deletions.Any {
			r.boundsWithin(nil, nil)
		}
	}
	position := key[len(r.prefix):]
	if len(position) == 0 {
		return false, rows.ErrKey
	}
	if position[0] == rows.KindStatic {
		err := r.pointStatic(value)
		return !r.done, err
	}
	r.seen = false
	err := r.deliverRow(position, value)
	if r.seen {
		r.endRun()
	} else if err == nil {
		r.dead.pass(key, r.gone)
	}
	return !r.done, err
}
