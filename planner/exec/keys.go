package exec

import (
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// maxKey is the longest partition key or clustering that Cassandra takes.
const maxKey = math.MaxUint16

// appendKeys appends the serialized partition keys that a WHERE clause names, in the order of their values
// and without duplicates. Of many it appends the first ones, and the walk has the others. Whether Cassandra takes them is
// for checkKeys.
func appendKeys(dst [][]byte, x *expr.Context, w *where.Clause, most int) ([][]byte, *keyWalk, error) {
	if w.SinglePartition() {
		key, err := singleKey(x, w)
		if err != nil {
			return nil, nil, err
		}
		return append(dst, key), nil, nil
	}
	p, err := newProduct(x, w.Partition, byValue)
	if err != nil {
		return nil, nil, err
	}
	walk := &keyWalk{product: p, n: p.len(), x: x}
	if w.Token != nil {
		tokens, err := tokenRange(x, w.Token)
		if err != nil {
			return nil, nil, err
		}
		walk.tokens = &tokens
	}
	if dst, err = walk.fill(dst, most); err != nil || walk.next == walk.n {
		return dst, nil, err
	}
	return dst, walk, nil
}

// keyWalk makes the keys of many partitions one after the other.
type keyWalk struct {
	product *product
	n, next int               // combinations, and the one that is made next
	tokens  *store.TokenRange // that keys have to be in; nil: all are wanted
	x       *expr.Context
	values  point
	memory  []byte // of the keys
}

// fill appends up to most keys. Those that were made before are not valid any more.
func (k *keyWalk) fill(dst [][]byte, most int) (_ [][]byte, err error) {
	k.memory = k.memory[:0]
	for n := len(dst); k.next < k.n && len(dst)-n < most; k.next++ {
		if k.next%64 == 63 {
			if err := step(k.x); err != nil {
				return nil, err
			}
		}
		from := len(k.memory)
		key, err := k.key(k.next)
		if err != nil {
			return nil, err
		}
		if k.tokens != nil && !hasToken(*k.tokens, types.Token(key)) {
			k.memory = k.memory[:from]
			continue
		}
		dst = append(dst, key)
	}
	return dst, nil
}

// key is one of the keys.
func (k *keyWalk) key(i int) (_ []byte, err error) {
	k.values = k.product.append(k.values[:0], i)
	if len(k.values) == 1 {
		return k.values[0], nil
	}
	from := len(k.memory)
	for _, part := range k.values {
		if k.memory, err = appendKeyPart(k.memory, part); err != nil {
			return nil, err
		}
	}
	return k.memory[from:len(k.memory):len(k.memory)], nil
}

// check refuses keys that Cassandra does not take, of all that are still to come.
func (k *keyWalk) check() error {
	if k.product.longest()+3*len(k.product.lists) <= maxKey && len(k.product.lists) > 1 {
		return nil
	}
	rest := k.another()
	var keys [][]byte
	for rest.next < rest.n {
		var err error
		if keys, err = rest.fill(keys[:0], maxListed); err == nil {
			err = checkKeys(keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// another is a walk of its own over the keys that are still to come.
func (k *keyWalk) another() *keyWalk {
	return &keyWalk{product: k.product, n: k.n, next: k.next, tokens: k.tokens, x: k.x}
}

// after is the key that comes behind those that were made; nil: there is none.
func (k *keyWalk) after() ([]byte, error) {
	keys, err := k.another().fill(nil, 1)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return keys[0], nil
}

// seek makes a key the one that is made next, and reports whether it is one of them.
func (k *keyWalk) seek(key []byte) bool {
	values, err := types.SplitCompositeKey(key, len(k.product.cols))
	if err != nil {
		return false
	}
	i, ok := k.product.find(values)
	k.next = i
	return ok
}

// steps is the step of an execution on a turn; nil: nothing bounds it.
func steps(turn *pace.Turn) func() error {
	if turn == nil {
		return nil
	}
	return func() error {
		if err := turn.Step(); err != nil {
			return &expr.Ended{Cause: err}
		}
		return nil
	}
}

// step lets others run, and says when an execution has to end.
func step(x *expr.Context) error {
	if x.Step == nil {
		return nil
	}
	return x.Step()
}

// singleKey is the key of the one partition that a WHERE clause names.
func singleKey(x *expr.Context, w *where.Clause) ([]byte, error) {
	var key []byte
	for _, c := range w.Partition {
		b, err := keyValue(x, c.Points[0].Parts[0], c.Columns[0])
		if err != nil {
			return nil, err
		}
		if len(w.Partition) == 1 {
			key = b
		} else if key, err = appendKeyPart(key, b); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// appendKeyPart appends a part of a composite partition key.
func appendKeyPart(key, part []byte) ([]byte, error) {
	if len(part) > maxKey {
		return nil, tooLong(len(part))
	}
	return types.AppendCompositeKey(key, part), nil
}

// checkKeys refuses partition keys that Cassandra does not take.
func checkKeys(keys [][]byte) error {
	for _, key := range keys {
		if len(key) == 0 {
			return cqlerr.Invalidf("Key may not be empty")
		}
		if len(key) > maxKey {
			return tooLong(len(key))
		}
	}
	return nil
}

// checkClustering refuses clusterings that Cassandra does not take.
func checkClustering(clustering [][]byte) error {
	n := 0
	for _, b := range clustering {
		n += len(b)
	}
	if n > maxKey {
		return tooLong(n)
	}
	return nil
}

func tooLong(n int) error {
	return cqlerr.Invalidf("Key length of %d is longer than maximum of %d", n, maxKey)
}
