package exec

import (
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// maxKey is the longest partition key or clustering that Cassandra takes.
const maxKey = math.MaxUint16

// appendKeys appends the serialized partition keys that a WHERE clause names, in the order of their values
// and without duplicates. Whether Cassandra takes them is for checkKeys.
func appendKeys(dst [][]byte, x *expr.Context, w *planner.Where) ([][]byte, error) {
	if w.SinglePartition() {
		key, err := singleKey(x, w)
		if err != nil {
			return nil, err
		}
		return append(dst, key), nil
	}
	all, err := product(x, w.Partition, byValue)
	if err != nil {
		return nil, err
	}
	var tokens store.TokenRange
	if w.Token != nil {
		if tokens, err = tokenRange(x, w.Token); err != nil {
			return nil, err
		}
	}
	for _, p := range all {
		key := p[0]
		if len(p) > 1 {
			key = nil
			for _, part := range p {
				if key, err = appendKeyPart(key, part); err != nil {
					return nil, err
				}
			}
		}
		if w.Token == nil || hasToken(tokens, types.Token(key)) {
			dst = append(dst, key)
		}
	}
	return dst, nil
}

// singleKey is the key of the one partition that a WHERE clause names.
func singleKey(x *expr.Context, w *planner.Where) ([]byte, error) {
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
