package main

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
)

// TestPatience has a server answer every third request with an error: those whose write has timed out are sent again if
// the client is patient, and no other request is.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		name    string
		code    uint32
		patient bool
		works   bool
	}{
		{"patient", codeWriteTimeout, true, true},
		{"impatient", codeWriteTimeout, false, false},
		{"another error", 0x1001, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			written := make(chan []uint64, 1)
			go func() { written <- refuseEveryThird(listener, test.code) }()
			client, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			const depth, least = 4, 100
			var numbers atomic.Int64
			p := pipeline{opcode: opExecute, numbers: &numbers}
			p.body = func(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }
			if test.patient {
				p.asked = make([]int64, depth)
			}
			err = p.run(client, depth, func() bool { return numbers.Load() >= least })
			client.Close()
			all := <-written
			if (err == nil) != test.works {
				t.Fatal(err)
			}
			if !test.works {
				return
			}
			slices.Sort(all)
			for i, n := range all {
				if n != uint64(i) {
					t.Fatalf("written: %v", all)
				}
			}
			if len(all) < least {
				t.Errorf("%d are written", len(all))
			}
		})
	}
}

// refuseEveryThird answers the requests of a client until it disconnects, and returns the numbers of the accepted ones.
func refuseEveryThird(listener net.Listener, code uint32) (written []uint64) {
	conn, err := listener.Accept()
	if err != nil {
		return nil
	}
	defer conn.Close()
	request := make([]byte, 9+8)
	for i := 1; ; i++ {
		if _, err := io.ReadFull(conn, request); err != nil {
			return written
		}
		answer := []byte{0x84, 0, request[2], request[3], opResult, 0, 0, 0, 4, 0, 0, 0, 1}
		if i%3 == 0 {
			answer[4] = opError
			binary.BigEndian.PutUint32(answer[9:], code)
		} else {
			written = append(written, binary.BigEndian.Uint64(request[9:]))
		}
		if _, err := conn.Write(answer); err != nil {
			return written
		}
	}
}
