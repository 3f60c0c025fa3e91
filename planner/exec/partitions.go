package exec

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// partitions are the partitions that a read names by their keys.
type partitions struct {
	keys [][]byte             // that are read next; of many some
	rest *restriction.KeyWalk // the keys behind those; nil: there are none
}

// evaluate makes the keys that a WHERE clause names.
func (p *partitions) evaluate(x *expr.Context, w *where.Clause) (err error) {
	p.keys, p.rest, err = restriction.AppendKeys(p.keys, x, w, restriction.MaxListed)
	return err
}

// several reports whether there is more than one partition.
func (p *partitions) several() bool { return len(p.keys) > 1 || p.rest != nil }

// count is how many partitions there are. Of many it is the number of combinations, whatever their tokens.
func (p *partitions) count() int {
	if p.rest == nil {
		return len(p.keys)
	}
	return len(p.keys) + p.rest.Len()
}

// check refuses keys that Cassandra does not accept.
func (p *partitions) check() error {
	err := restriction.CheckKeys(p.keys)
	if err == nil && p.rest != nil {
		err = p.rest.Check()
	}
	return err
}

// next goes on to the next keys of many, and reports whether there are any.
func (p *partitions) next() (more bool, err error) {
	p.keys, err = p.rest.Fill(p.keys[:0], restriction.MaxListed)
	return len(p.keys) > 0, err
}

// seek returns the keys from one key on; none: it is not one of the keys.
func (p *partitions) seek(key []byte) ([][]byte, error) {
	if p.rest != nil {
		if !p.rest.Seek(key) {
			return nil, nil
		}
		if _, err := p.next(); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(p.keys, func(k []byte) bool { return bytes.Equal(k, key) })
	if i < 0 || i > 0 && p.rest != nil {
		return nil, nil
	}
	return p.keys[i:], nil
}

// behind is the key that follows another one; nil: there is none.
func (p *partitions) behind(key []byte) ([]byte, error) {
	for i, k := range p.keys {
		if bytes.Equal(k, key) && i+1 < len(p.keys) {
			return p.keys[i+1], nil
		}
	}
	if p.rest != nil {
		return p.rest.Peek()
	}
	return nil, nil
}
