package memory

import (
	"bytes"

	"github.com/cqld/cqld/store/engine"
)

// scanning is a Scan under way.
type scanning struct {
	reader     *reader
	start, end []byte
	options    engine.ScanOptions
	fn         func(key, value []byte) (bool, error)
}

// run scans the reader's tree.
func (s *scanning) run() error {
	if len(s.end) > 0 && bytes.Compare(s.start, s.end) >= 0 {
		return nil
	}
	t := &s.reader.tree
	_, err := s.node(t.root, t.level, len(s.start) > 0, len(s.end) > 0)
	return err
}

// node scans what is below a node. fromStart and toEnd say that the start and the end of the scan lie between the
// separators around the node: elsewhere no key is compared with them.
func (s *scanning) node(n *node, level int, fromStart, toEnd bool) (more bool, err error) {
	if level == 0 {
		return s.leaf(n.leaf(), fromStart, toEnd)
	}
	in := n.inner()
	first, last := 0, int(in.n)
	if fromStart {
		first = in.kid(s.start)
	}
	if toEnd {
		last = in.kid(s.end)
	}
	for i := first; i <= last; i++ {
		at := i
		if s.options.Reverse {
			at = first + last - i
		}
		more, err = s.node(in.kids[at], level-1, fromStart && at == first, toEnd && at == last)
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// leaf scans the rows of a leaf.
func (s *scanning) leaf(l *leaf, fromStart, toEnd bool) (more bool, err error) {
	first, end := 0, int(l.n)
	if fromStart {
		first, _ = l.search(s.start)
	}
	if toEnd {
		end, _ = l.search(s.end)
	}
	for i := first; i < end; i++ {
		at := i
		if s.options.Reverse {
			at = first + end - 1 - i
		}
		if more, err = s.row(l.rows[at]); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// row calls the scan's function with a row.
func (s *scanning) row(r row) (more bool, err error) {
	if s.options.KeysOnly {
		return s.fn(r.key(), nil)
	}
	value, err := s.reader.value(r)
	if err != nil {
		return false, err
	}
	return s.fn(r.key(), value)
}
