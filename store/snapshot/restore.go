package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Head is the first block of a snapshot.
type Head struct {
	Format uint32    `json:"format"` // of keys and values: Format
	Host   string    `json:"host_id"`
	Taken  time.Time `json:"taken"`
	Bytes  int64     `json:"bytes"` // of the tables' keys and values, estimated
}

// MetaKey is the key of the first record of a store. Its value begins with the Format, in four bytes.
var MetaKey = append(rows.AppendArea(nil, 0, rows.AreaRows), "meta"...)

// Format is the version of the stored keys and values (see package rows). Data of another version is refused.
const Format = 6

// Incomplete is in place of the Format while a restore is under way, and after one that was killed. No store opens such
// data: it has only a part of what the snapshot has.
const Incomplete = 0

// ErrIncomplete is the error of a store that opens such data.
var ErrIncomplete = errors.New("the data is a part of a snapshot, whose restore is under way or was interrupted: " +
	"restore the snapshot again")

// BlockSize is about how many bytes of keys and values a block has.
const BlockSize = 1 << 20

// Restored counts the restored data.
type Restored struct {
	Head  Head
	Keys  int64
	Bytes int64 // of keys and values
}

// errBlock says that a block of a snapshot is malformed.
var errBlock = errors.New("the snapshot has a block that cannot be read")

// errNotEmpty refuses to mix a snapshot with other data.
var errNotEmpty = errors.New("there are data already")

// Restore reads the file of a snapshot into an engine that is empty, or has a part of a restore that was interrupted.
// A damaged or torn file is an error. The first record of the store is written last, so no store opens a part of the
// data. If the restore fails, it deletes the keys it wrote, as far as the engine lets it. Members of a cluster are left
// out: the servers that use the restored data join as new ones.
func Restore(
	ctx context.Context, src io.Reader, open func(engine.Fold) (engine.Engine, error), progress func(Restored),
) (done Restored, err error) {
	r, err := newReader(src)
	if err != nil {
		return done, err
	}
	head, err := r.next()
	if err != nil {
		return done, err
	}
	if err := json.Unmarshal(head, &done.Head); err != nil {
		return done, errBlock
	}
	if done.Head.Format != Format {
		return done, fmt.Errorf("the snapshot was taken by another version of cqld: its format is %d, "+
			"this cqld reads format %d", done.Head.Format, Format)
	}
	e, err := open(rows.Fold)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	interrupted, err := claim(ctx, e)
	if err != nil {
		return done, err
	}
	if interrupted {
		if err := deleteRest(e); err != nil {
			return done, err
		}
	}
	w := newRestoreWriter(e)
	for err == nil {
		var block []byte
		if block, err = r.next(); err == nil {
			err = errors.Join(ctx.Err(), w.write(block, &done))
			progress(done)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, w.wait()); err == nil {
		err = w.complete()
	}
	if err != nil {
		err = errors.Join(err, unclaim(e))
	}
	return done, err
}

// claim marks the data as incomplete, and reports whether a restore before had done so. It refuses other data.
func claim(ctx context.Context, e engine.Engine) (interrupted bool, err error) {
	err = engine.Update(ctx, e, MetaKey, func(txn engine.Txn) error {
		interrupted = false
		_, err := txn.Get(MetaKey, func(value []byte) error {
			interrupted = len(value) == 4 && binary.BigEndian.Uint32(value) == Incomplete
			return nil
		})
		if err != nil || interrupted {
			return err
		}
		empty := true
		err = txn.Scan(nil, nil, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
			empty = false
			return false, nil
		})
		if err != nil {
			return err
		}
		if !empty {
			return errNotEmpty
		}
		txn.Put(MetaKey, binary.BigEndian.AppendUint32(nil, Incomplete))
		return nil
	})
	return interrupted, err
}

// deleteRest deletes all keys except the mark of claim.
func deleteRest(e engine.Engine) error {
	return errors.Join(e.DeleteRange(nil, MetaKey), e.DeleteRange(append(slices.Clone(MetaKey), 0), nil))
}

// unclaim deletes what a failed restore has written. The mark goes last, when nothing else is left.
func unclaim(e engine.Engine) error {
	if err := deleteRest(e); err != nil {
		return err
	}
	return commitOne(e, engine.Op{Kind: engine.Delete, Key: MetaKey})
}

func commitOne(e engine.Engine, op engine.Op) error {
	result := make(chan error, 1)
	e.Commit([]engine.Op{op}, func(err error) { result <- err })
	return <-result
}

// restoreCommits is how many commits of a restore are under way at a time.
const restoreCommits = 16

// restoreWriter commits keys and values, with many commits under way.
type restoreWriter struct {
	engine engine.Engine
	limits engine.Limits
	slots  chan struct{} // one per commit under way
	meta   []byte        // the first record, which is written last

	mu     sync.Mutex
	failed error // the first one
}

func newRestoreWriter(e engine.Engine) *restoreWriter {
	return &restoreWriter{engine: e, limits: e.Limits(), slots: make(chan struct{}, restoreCommits)}
}

// commit commits ops, which belong to the engine from here on. It waits while too many commits are under way.
func (w *restoreWriter) commit(ops []engine.Op) {
	if len(ops) == 0 {
		return
	}
	w.slots <- struct{}{}
	w.engine.Commit(ops, func(err error) {
		w.mu.Lock()
		w.failed = cmp.Or(w.failed, err)
		w.mu.Unlock()
		<-w.slots
	})
}

func (w *restoreWriter) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *restoreWriter) wait() error {
	for range restoreCommits {
		w.slots <- struct{}{}
	}
	return w.err()
}

// complete writes the first record when everything else is on disk.
func (w *restoreWriter) complete() error {
	if w.meta == nil {
		return errBlock
	}
	if err := w.engine.Sync(); err != nil {
		return err
	}
	if err := commitOne(w.engine, engine.Op{Kind: engine.Put, Key: MetaKey, Value: w.meta}); err != nil {
		return err
	}
	return w.engine.Sync()
}

// write commits the keys and values of a block and counts them.
func (w *restoreWriter) write(block []byte, done *Restored) error {
	block = slices.Clone(block) // commits outlast the block
	var ops []engine.Op
	size := 0
	cut := func() ([]byte, bool) {
		n, used := binary.Uvarint(block)
		if used <= 0 || n > uint64(len(block)-used) {
			return nil, false
		}
		part := block[used : used+int(n) : used+int(n)]
		block = block[used+int(n):]
		return part, true
	}
	for len(block) > 0 {
		key, whole := cut()
		value, valued := cut()
		if !whole || !valued || len(value) == 0 {
			return errBlock
		}
		if cluster.IsMember(key) {
			continue
		}
		if n := len(key) + len(value); size+n > w.limits.CommitBytes/2 || len(ops) >= w.limits.CommitOps/2 {
			w.commit(ops)
			ops, size = nil, 0
		}
		done.Keys++
		done.Bytes += int64(len(key) + len(value))
		if bytes.Equal(key, MetaKey) {
			w.meta = value
			continue
		}
		ops = append(ops, engine.Op{Kind: engine.Put, Key: key, Value: value})
		size += len(key) + len(value)
	}
	w.commit(ops)
	return w.err()
}
