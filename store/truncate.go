package store

import (
	"bytes"
	"context"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Truncate removes all rows of a table. A user's table gets another number, and its old rows are removed
// in the background.
func (s *Store) Truncate(ctx context.Context, t *schema.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w := s.current().virtual[t.ID].writer; w != nil {
		return w.Truncate()
	}
	if schema.IsSystem(t.Keyspace) {
		return s.deleteRows(ctx, t)
	}
	return s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		current := c.Table(t.Keyspace, t.Name)
		if current == nil || current.ID != t.ID {
			return nil, noTable(t)
		}
		return c.WithTable(current.WithStoreID(0)), nil
	})
}

// deleteRows empties a system table, which keeps its number for ever. A read meanwhile sees some of its rows.
func (s *Store) deleteRows(ctx context.Context, t *schema.Table) error {
	id, err := s.current().writableID(t)
	if err != nil {
		return err
	}
	start := rows.AppendArea(nil, id, rows.AreaTombstones)
	end := rows.Successor(rows.AppendArea(nil, id, rows.AreaRows))
	for {
		var ops []engine.Op
		err := s.engine.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			ops = append(ops, engine.Op{Kind: engine.Delete, Key: bytes.Clone(key)})
			return len(ops) < min(1000, s.limits.CommitOps), ctx.Err()
		})
		if err != nil || len(ops) == 0 {
			return err
		}
		last := ops[len(ops)-1].Key
		if err := s.commit(ops); err != nil {
			return err
		}
		start = append(last, 0)
	}
}
