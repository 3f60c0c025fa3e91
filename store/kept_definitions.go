package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/snapshot"
)

// On an engine.Keeper the definitions are stored twice, because one damaged block with them would put all rows out of
// reach. The second copy is written before a definition is committed, with the records as they will be and those that
// the commit changes as they were, because after a kill either may be stored. After the commit it is written without
// the latter. Anything else is damage, and a repair stores what the copy has.

// keptDefinitions is the content of the copy: values by their keys. A value without bytes is that of a key that is not
// stored.
type keptDefinitions struct{ records, before map[string][]byte }

// isDefinition reports whether a key is in the copy: the first record, and all definitions.
func isDefinition(key []byte) bool {
	return bytes.Equal(key, snapshot.MetaKey) || bytes.HasPrefix(key, definitionKeys)
}

// storedDefinitions reads what the copy should have.
func storedDefinitions(r engine.Reader) (map[string][]byte, error) {
	records := map[string][]byte{}
	add := func(key, value []byte) { records[string(key)] = bytes.Clone(value) }
	_, err := r.Get(snapshot.MetaKey, func(value []byte) error {
		add(snapshot.MetaKey, value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	end := rows.Successor(bytes.Clone(definitionKeys))
	err = r.Scan(definitionKeys, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		add(key, value)
		return true, nil
	})
	return records, err
}

// keepDefinitions replaces the copy before ops are committed, or after the commit, without ops. The definition goes on
// if that fails, because one that frees space must.
func (s *definer) keepDefinitions(ops []engine.Op) error {
	keeper, ok := s.engine.(engine.Keeper)
	if !ok {
		return nil
	}
	records, err := storedDefinitions(s.engine)
	if err != nil {
		return fmt.Errorf("keep a copy of the definitions: %w", err)
	}
	k := keptDefinitions{records, map[string][]byte{}}
	for _, op := range ops {
		if !isDefinition(op.Key) {
			continue
		}
		key := string(op.Key)
		if _, twice := k.before[key]; !twice {
			k.before[key] = records[key]
		}
		if k.records[key] = op.Value; op.Kind == engine.Delete {
			delete(k.records, key)
		}
	}
	content := k.encode()
	if kept, err := keeper.Kept(); err == nil && bytes.Equal(kept, content) {
		return nil
	}
	if err := keeper.Keep(content); err != nil {
		s.log.Warn().Err(err).Msg("the definitions have no second copy until the next one: it cannot be written")
	}
	return nil
}

// encode is { <count> { <length> <key> <length> <value> } } for the records, and those before.
func (k *keptDefinitions) encode() (b []byte) {
	for _, records := range []map[string][]byte{k.records, k.before} {
		b = binary.AppendUvarint(b, uint64(len(records)))
		for _, key := range slices.Sorted(maps.Keys(records)) {
			b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
			b = append(binary.AppendUvarint(b, uint64(len(records[key]))), records[key]...)
		}
	}
	return b
}

var errKept = errors.New("the copy of the definitions cannot be read")

func decodeKept(b []byte) (k keptDefinitions, err error) {
	number := func() int {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)) {
			err = errKept
			return 0
		}
		b = b[size:]
		return int(n)
	}
	text := func() []byte {
		n := number()
		if n > len(b) {
			err = errKept
			return nil
		}
		text := b[:n:n]
		b = b[n:]
		return text
	}
	for _, records := range []*map[string][]byte{&k.records, &k.before} {
		*records = map[string][]byte{}
		for count := number(); count > 0 && err == nil; count-- {
			key := string(text())
			(*records)[key] = text()
		}
	}
	return k, err
}

// fits reports whether a stored value is one that the copy has. value is nil if the key is not stored.
func (k *keptDefinitions) fits(key string, value []byte) bool {
	before, changed := k.before[key]
	return bytes.Equal(value, k.records[key]) || changed && bytes.Equal(value, before)
}

// isOther reports whether the copy is of other data, or older than the stored definitions, whose first record is meta.
func (k *keptDefinitions) isOther(meta []byte) bool {
	kept := k.records[string(snapshot.MetaKey)]
	return len(meta) == metaSize && len(kept) == metaSize &&
		(!bytes.Equal(meta[:20], kept[:20]) || binary.BigEndian.Uint32(meta[20:]) > binary.BigEndian.Uint32(kept[20:]))
}

// compareKept compares the stored definitions with their copy, and stores the copy's if the engine is being repaired.
// sound reports whether there is a copy that the definitions agree with.
func (s *definer) compareKept() (sound bool, err error) {
	keeper, ok := s.engine.(engine.Keeper)
	if !ok {
		return false, nil
	}
	content, err := keeper.Kept()
	if err == nil && content == nil {
		return false, nil // the folder is new, or the copy could not be written
	}
	var k keptDefinitions
	if err == nil {
		k, err = decodeKept(content)
	}
	if errors.Is(err, engine.ErrDamaged) || errors.Is(err, errKept) {
		s.log.Warn().Msg("the copy of the definitions was damaged: it is made again")
		return false, nil
	}
	if err != nil {
		return false, err
	}
	stored, err := storedDefinitions(s.engine)
	if err != nil {
		return false, err
	}
	if k.isOther(stored[string(snapshot.MetaKey)]) {
		s.log.Warn().Msg("the copy of the definitions is of other data, or too old: it is made again")
		return false, nil
	}
	repair, err := keeper.Repaired()
	if err != nil {
		return false, err
	}
	all := maps.Clone(stored)
	maps.Copy(all, k.records)
	maps.Copy(all, k.before)
	var ops []engine.Op
	for _, key := range slices.Sorted(maps.Keys(all)) {
		// It is lost, or was not committed. With the first record, no other table gets the number of one that was not.
		lost := repair != nil && k.records[key] != nil && (stored[key] == nil || key == string(snapshot.MetaKey))
		if k.fits(key, stored[key]) && !(lost && !bytes.Equal(stored[key], k.records[key])) {
			continue
		}
		op := engine.Op{Key: []byte(key), Value: k.records[key]}
		if len(op.Value) == 0 {
			op.Kind = engine.Delete
		}
		ops = append(ops, op)
	}
	if len(ops) == 0 {
		return true, nil
	}
	if repair == nil {
		return false, fmt.Errorf("%w: %d definitions are not stored as their copy has them", engine.ErrDamaged, len(ops))
	}
	s.log.Warn().Int("definitions", len(ops)).Msg("damaged definitions are replaced by their copies")
	return true, s.commit(ops)
}
