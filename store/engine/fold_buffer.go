package engine

// FoldBuffer is memory that one value after another is folded in.
type FoldBuffer struct{ memory []byte }

// Fold folds a delta into a value. The result is valid until the next call.
func (b *FoldBuffer) Fold(fold Fold, key, existing, delta []byte) ([]byte, error) {
	value, err := fold(b.memory[:0], key, existing, delta)
	if err == nil && cap(value) <= maxKeptBuffer {
		b.memory = value
	}
	return value, err
}
