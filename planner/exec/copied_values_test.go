package exec

import (
	"bytes"
	"testing"
)

// Values that are copied stay where they are when there is room for no more, and long ones are not kept.
func TestValuesAreCopiedOnce(t *testing.T) {
	var v values
	var copies [][]byte
	for i := range 100 {
		copies = append(copies, v.copy(bytes.Repeat([]byte{byte(i)}, 1+i*100)))
		if cap(v.bytes) > keepValues {
			t.Fatalf("a block has %d bytes", cap(v.bytes))
		}
	}
	v.copy(make([]byte, 2*keepValues))
	for i, c := range copies {
		if !bytes.Equal(c, bytes.Repeat([]byte{byte(i)}, 1+i*100)) || cap(c) != len(c) {
			t.Errorf("value %d is not what was copied", i)
		}
	}
	v.clear()
	if cap(v.bytes) > keepValues {
		t.Errorf("%d bytes are kept", cap(v.bytes))
	}
}
