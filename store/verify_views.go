package store

import (
	"bytes"
	"fmt"

	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// viewsOf looks for the rows of views that belong to a row of a base.
func (v *verification) viewsOf(key, value []byte) error {
	views := v.viewsFrom(numberOf(key))
	if err := v.views.make(key, value); err != nil {
		return err
	}
	for i, x := range views {
		made := &v.views.made[i]
		if !x.Built || made.key == nil {
			continue
		}
		want, err := liveView(made.value, v.views.now)
		if err != nil {
			return err
		}
		if want == nil {
			continue
		}
		var got []byte
		what := "the view lacks the row"
		if _, err = v.src.Get(made.key, func(value []byte) (err error) {
			what = "the view has other values"
			got, err = liveView(value, v.views.now)
			if err != nil {
				got = nil // rowOfView reports it
			}
			return nil
		}); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			v.fault(Fault{Table: x.TableName(), Index: x.Label(), Key: v.where(x.Table, key), What: what})
		}
	}
	return nil
}

// viewsFrom returns the views of the table with a number, of which the writer of views then makes rows.
func (v *verification) viewsFrom(id uint32) []*index.Index {
	views, known := v.views.views[id]
	if !known {
		views = viewsAmong(v.state.indexes[id])
		v.views.views[id] = views
	}
	return views
}

// rowOfView looks for the row of the base that a row of a view belongs to.
func (v *verification) rowOfView(x *index.Index, key, value []byte) error {
	v.done.Entries++
	bad := func(what string) error {
		v.fault(Fault{Table: x.TableName(), Index: x.Label(), Key: fmt.Sprintf("%x", key), What: what})
		return nil
	}
	prefix := rows.PartitionPrefixLength(key)
	if prefix <= 0 || prefix == len(key) || key[prefix] != rows.KindRow || rows.IsTombstoneKey(key) || !v.atItsPlace(key) {
		return bad("the key is of no row of a view")
	}
	if err := v.maker.ReadKey(x.View, key, prefix); err != nil {
		return bad(err.Error())
	}
	live, err := liveView(value, v.views.now)
	if err != nil {
		return bad(err.Error())
	}
	if live == nil {
		v.done.Stale++
		return nil
	}
	_, v.row = x.BaseOf(v.row[:0], v.maker.Fields)
	views := v.viewsFrom(x.TableID)
	if err := v.views.load(v.row); err != nil {
		return err
	}
	if err := v.views.make(v.row, v.views.value); err != nil {
		return bad("the row of the base cannot be read")
	}
	for i, other := range views {
		if other.ID == x.ID && bytes.Equal(v.views.made[i].key, key) {
			return nil
		}
	}
	v.fault(Fault{
		Table: x.TableName(), Index: x.Label(), Key: v.where(x.Table, v.row),
		What: "the view has a row that the base does not give it",
	})
	return nil
}

// liveView returns the live part of a row of a view, or nil if the row is dead.
func liveView(value []byte, now int64) ([]byte, error) {
	var r rows.Reader
	if err := r.ReadHead(value); err != nil {
		return nil, err
	}
	alive := r.Marker.Live(rows.NoTimestamp, now)
	w := rows.Writer{Head: r.Head}
	w.Marker.Timestamp, w.Marker.Expiry.TTL = 0, 0 // reads do not show these
	for r.ReadCell() {
		if c := r.Cell; c.Live(rows.NoTimestamp, now) {
			w.WriteCell(&c)
		}
	}
	if r.Err != nil || !alive {
		return nil, r.Err
	}
	return w.Finish(), nil
}
