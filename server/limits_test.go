package server

import (
	"testing"
	"time"
)

func TestLimitsDefaults(t *testing.T) {
	l := Limits{Frame: 100, Connections: 7}.withDefaults()
	if l.Frame != 100 || l.Connections != 7 || l.ConnectionsPerIP != 0 || l.Handshake != time.Minute {
		t.Errorf("%+v", l)
	}
}
