package engine

// Writes buffers the operations of a Txn until the transaction ends. Keys and values are copied, except for those of
// Lend.
type Writes struct {
	Check func(*Op) error // refuses an operation
	Ops   []Op
	Err   error // the first refusal

	buffer []byte // of keys and values
}

// Buffers that are larger than this are not kept for the next transaction.
const (
	maxKeptBuffer = 64 << 10
	maxKeptOps    = 1 << 10
)

// Put sets the value of a key.
func (w *Writes) Put(key, value []byte) { w.write(Put, key, value) }

// Delete removes a key.
func (w *Writes) Delete(key []byte) { w.write(Delete, key, nil) }

// Merge folds a delta into the value of a key.
func (w *Writes) Merge(key, delta []byte) { w.write(Merge, key, delta) }

func (w *Writes) write(kind OpKind, key, value []byte) {
	at := len(w.buffer)
	w.buffer = append(append(w.buffer, key...), value...)
	middle, end := at+len(key), len(w.buffer)
	w.Lend(Op{Kind: kind, Key: w.buffer[at:middle:middle], Value: w.buffer[middle:end:end]})
}

// Lend writes an operation whose key and value are not changed until the transaction ends.
func (w *Writes) Lend(op Op) {
	if err := w.Check(&op); err != nil {
		if w.Err == nil {
			w.Err = err
		}
		return
	}
	w.Ops = append(w.Ops, op)
}

// Reset drops all operations, and keeps buffers of usual size.
func (w *Writes) Reset() {
	clear(w.Ops)
	w.Ops, w.buffer, w.Err = w.Ops[:0], w.buffer[:0], nil
	if cap(w.buffer) > maxKeptBuffer {
		w.buffer = nil
	}
	if cap(w.Ops) > maxKeptOps {
		w.Ops = nil
	}
}
