package restriction

import (
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// MaxKey is the largest number of bytes of a partition key or clustering that Cassandra accepts.
const MaxKey = math.MaxUint16

// AppendKeys appends the serialized partition keys that a WHERE clause names, in the order of their values and without
// duplicates. It appends up to maxKeys keys, and returns a walk over the others; nil: there are no others. CheckKeys
// reports whether Cassandra accepts them.
func AppendKeys(dst [][]byte, x *expr.Context, w *where.Clause, maxKeys int) ([][]byte, *KeyWalk, error) {
	if w.SinglePartition() {
		key, err := singleKey(x, w)
		if err != nil {
			return nil, nil, err
		}
		return append(dst, key), nil, nil
	}
	p, err := newProduct(x, w.Partition, ByClustering)
	if err != nil {
		return nil, nil, err
	}
	walk := &KeyWalk{product: p, n: p.len(), x: x}
	if w.Token != nil {
		tokens, err := TokenRange(x, w.Token)
		if err != nil {
			return nil, nil, err
		}
		walk.tokens = &tokens
	}
	if dst, err = walk.Fill(dst, maxKeys); err != nil || walk.next == walk.n {
		return dst, nil, err
	}
	return dst, walk, nil
}

// KeyWalk makes many partition keys, some at a time.
type KeyWalk struct {
	product *product
	n, next int               // the number of combinations, and the one that is made next
	tokens  *store.TokenRange // in which keys have to be; nil: all keys are wanted
	x       *expr.Context
	values  Point
	memory  []byte // of the keys
}

// Fill appends up to maxKeys keys. Keys of earlier calls are not valid any more.
func (k *KeyWalk) Fill(dst [][]byte, maxKeys int) (_ [][]byte, err error) {
	k.memory = k.memory[:0]
	for n := len(dst); k.next < k.n && len(dst)-n < maxKeys; k.next++ {
		if k.next%64 == 63 {
			if err := Step(k.x); err != nil {
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

// Len is how many combinations are left.
func (k *KeyWalk) Len() int { return k.n - k.next }

// key is the key of the i-th combination.
func (k *KeyWalk) key(i int) (_ []byte, err error) {
	k.values = k.product.append(k.values[:0], i)
	if len(k.values) == 1 {
		return k.values[0], nil
	}
	from := len(k.memory)
	if k.memory, err = appendComposite(k.memory, k.values); err != nil {
		return nil, err
	}
	return k.memory[from:len(k.memory):len(k.memory)], nil
}

// Check refuses the walk if Cassandra does not accept one of the remaining keys.
func (k *KeyWalk) Check() error {
	if k.product.longest()+3*len(k.product.lists) <= MaxKey && len(k.product.lists) > 1 {
		return nil
	}
	rest := k.copy()
	var keys [][]byte
	for rest.next < rest.n {
		var err error
		if keys, err = rest.Fill(keys[:0], MaxListed); err == nil {
			err = CheckKeys(keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copy is another walk over the remaining keys.
func (k *KeyWalk) copy() *KeyWalk {
	return &KeyWalk{product: k.product, n: k.n, next: k.next, tokens: k.tokens, x: k.x}
}

// Peek returns the next key without taking it; nil: there is none.
func (k *KeyWalk) Peek() ([]byte, error) {
	keys, err := k.copy().Fill(nil, 1)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return keys[0], nil
}

// Seek makes the walk go on with a key, and reports whether the key is one of the combinations.
func (k *KeyWalk) Seek(key []byte) bool {
	values, err := types.SplitCompositeKey(key, len(k.product.cols))
	if err != nil {
		return false
	}
	i, ok := k.product.find(values)
	k.next = i
	return ok
}

// singleKey is the only partition key that a WHERE clause names.
func singleKey(x *expr.Context, w *where.Clause) ([]byte, error) {
	var few [4][]byte
	values := few[:0]
	for _, c := range w.Partition {
		b, err := keyValue(x, c.Points[0].Parts[0], c.Columns[0])
		if err != nil {
			return nil, err
		}
		values = append(values, b)
	}
	if len(values) == 1 {
		return values[0], nil
	}
	return appendComposite(nil, values)
}

// appendComposite appends the partition key with these values. Cassandra counts only the bytes of the values first, and
// those of the whole key after that, in CheckKeys.
func appendComposite(dst []byte, values Point) ([]byte, error) {
	if err := CheckLength(values); err != nil {
		return nil, err
	}
	for _, b := range values {
		dst = types.AppendCompositeKey(dst, b)
	}
	return dst, nil
}

// CheckKeys refuses partition keys that Cassandra does not accept.
func CheckKeys(keys [][]byte) error {
	for _, key := range keys {
		if len(key) == 0 {
			return cqlerr.Invalidf("Key may not be empty")
		}
		if len(key) > MaxKey {
			return errKeyTooLong(len(key))
		}
	}
	return nil
}

// CheckLength refuses the values of a key or clustering that is written if they have more bytes than Cassandra accepts.
// It lets reads look for longer clusterings.
func CheckLength(values [][]byte) error {
	n := 0
	for _, b := range values {
		n += len(b)
	}
	if n > MaxKey {
		return errKeyTooLong(n)
	}
	return nil
}

func errKeyTooLong(n int) error {
	return cqlerr.Invalidf("Key length of %d is longer than maximum of %d", n, MaxKey)
}

// CheckKeyValues refuses partition keys with values that are not valid in a key. Expressions can give such values,
// which other columns accept: lists with null elements and tuples of any bytes.
func CheckKeyValues(t *schema.Table, keys [][]byte) error {
	for i, c := range t.PartitionKey {
		if !maybeInvalid(c.Type) {
			continue
		}
		for _, key := range keys {
			parts, err := types.SplitCompositeKey(key, len(t.PartitionKey))
			if err != nil {
				return err
			}
			if err := c.Type.Validate(parts[i]); err != nil {
				return cqlerr.Invalidf("%s", err.Error())
			}
		}
	}
	return nil
}

// maybeInvalid reports whether an expression of a type can have a value that the type refuses.
func maybeInvalid(t types.Type) bool {
	switch t.(type) {
	case *types.List, *types.Set, *types.Map, *types.Tuple, *types.Vector, *types.UserType:
		return true
	}
	return false
}
