package wire

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/pace"
)

// brokenSocket is a socket whose writes panic.
type brokenSocket struct{ net.Conn }

func (brokenSocket) Write([]byte) (int, error) { panic("planted") }

// TestWriterPanics panics when answers are written, by a goroutine and by the reader: the output has failed and says
// so, and Close, which waits for the writer, returns.
func TestWriterPanics(t *testing.T) {
	for _, byReader := range []bool{false, true} {
		var log bytes.Buffer
		logger := zerolog.New(zerolog.SyncWriter(&log))
		failed := make(chan struct{})
		o := Output{Taken: func() {}, Failed: func() { close(failed) }, Log: &logger}
		o.Init(brokenSocket{}, &Answers{Room: pace.NewRoom(1 << 20), MaxUnread: 1 << 20})
		if byReader {
			o.Busy()
			o.AppendText("answer")
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the reader's panic is lost: its connection handles it")
					}
				}()
				o.Idle()
			}()
		} else {
			o.AppendText("answer")
		}
		<-failed
		o.Close()
		if n := o.UnreadEvents(); n != 0 {
			t.Errorf("%d bytes are unread", n)
		}
		if o.AppendText("late"); o.waiting+len(o.buf) != 0 {
			t.Error("bytes are kept that nobody writes")
		}
	}
}

// TestEncodingPanics panics while an answer is encoded: the answer is missing, and the output goes on.
func TestEncodingPanics(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	o := Output{Taken: func() {}, Failed: func() {}}
	o.Init(ours, &Answers{Room: pace.NewRoom(1 << 20), MaxUnread: 1 << 20})
	func() {
		defer func() { _ = recover() }()
		o.add(func() { panic("planted") })
	}()
	o.AppendText("answer")
	b := make([]byte, 16)
	if n, err := theirs.Read(b); err != nil || !strings.Contains(string(b[:n]), "answer") {
		t.Errorf("the client reads %q, %v", b[:n], err)
	}
	_ = ours.Close()
	o.Close()
}
