package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/protocol"
)

// TestMutator changes a request again and again: each time something else comes of it, mostly with a true length, and
// the request itself stays.
func TestMutator(t *testing.T) {
	m := &mutator{Rand: rand.New(rand.NewPCG(1, 2)), texts: []string{"SELECT * FROM {ks}.t WHERE k = 1;"}}
	enc := protocol.Encoder{Version: protocol.V4}
	whole := enc.AppendRequest(nil, 1, 0, nil, &protocol.Query{Query: m.text("ks1")})
	kept := bytes.Clone(whole)
	same, fit := 0, 0
	const times = 1000
	for range times {
		b := m.envelope(whole)
		if bytes.Equal(b, whole) {
			same++
		}
		if len(b) >= protocol.HeaderSize && int(protocol.ParseHeader(b).Length) == len(b)-protocol.HeaderSize {
			fit++
		}
	}
	if same > times/10 || fit < times/3 || fit > times*9/10 {
		t.Errorf("of %d, %d are the same and %d have a true length", times, same, fit)
	}
	if !bytes.Equal(whole, kept) {
		t.Error("the argument was modified")
	}
}

// TestStatements finds the statements of the scripts, and none that would lock everybody out.
func TestStatements(t *testing.T) {
	texts, err := statements("../scripts")
	if err != nil || len(texts) < 1000 {
		t.Fatalf("%d statements, %v", len(texts), err)
	}
	for _, text := range texts {
		lower := strings.ToLower(text)
		if strings.Contains(lower, superuser) || strings.Contains(lower, "truncate system_auth.roles") {
			t.Errorf("%q", text)
		}
	}
}

// TestRun attacks each of the servers for a moment.
func TestRun(t *testing.T) {
	r := run{seed: 3, workers: 4, time: time.Second, scripts: "../scripts"}
	if os.Getenv("TEST_CQLD_FULL") != "" {
		r.time *= 4
	}
	if err := r.all(t.Context()); err != nil {
		t.Error(err)
	}
}
