package tree

import "bytes"

// Scan calls fn with the rows whose keys are in [start, end), in their order or backwards, until it returns false or an
// error. An end without bytes is behind the last key.
func (t *Tree) Scan(start, end []byte, reverse bool, fn func(Row) (more bool, err error)) error {
	if len(end) > 0 && bytes.Compare(start, end) >= 0 {
		return nil
	}
	s := scanning{start, end, reverse, fn}
	_, err := s.node(t.root, t.level, len(start) > 0, len(end) > 0)
	return err
}

// scanning is a Scan under way.
type scanning struct {
	start, end []byte
	reverse    bool
	fn         func(Row) (bool, error)
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
		if s.reverse {
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
		if s.reverse {
			at = first + end - 1 - i
		}
		if more, err = s.fn(l.rows[at]); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
