package main

import (
	"context"
	"crypto/tls"
	"math/rand/v2"
	"net"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// How many connections attackers open, and how many where each is expensive.
const (
	idlers     = 5000
	crowd      = 2000
	handshakes = 1000
)

// nothing is the baseline.
func nothing(ctx context.Context, _ *siege) error {
	hold(ctx)
	return nil
}

// idle starts connections and leaves them alone.
func idle(ctx context.Context, s *siege) error {
	s.each(ctx, s.size.clients(idlers), v4, func(int, *peer) {
		s.count("connected")
		hold(ctx)
	})
	return nil
}

// tlsIdle does so through TLS. It does not check the certificate.
func tlsIdle(ctx context.Context, s *siege) error {
	o := v4
	o.TLS = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	s.each(ctx, s.size.clients(crowd), o, func(int, *peer) {
		s.count("connected")
		hold(ctx)
	})
	return nil
}

// halfHandshakes announces a long record of a handshake, sends some bytes of it, and stops.
func halfHandshakes(ctx context.Context, s *siege) error {
	s.eachSocket(ctx, s.size.clients(handshakes), func(_ int, sock net.Conn) {
		for sock != nil && ctx.Err() == nil && s.write(sock, []byte{0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc, 3, 3}) {
			_, err := sock.Read(make([]byte, 1)) // waits until the server closes it
			s.count("ended:" + brief(err))
			_ = sock.Close()
			wait(ctx, 100*time.Millisecond)
			sock = s.socket(ctx)
		}
	})
	return nil
}

// silent does not even start them.
func silent(ctx context.Context, s *siege) error {
	s.eachSocket(ctx, s.size.clients(crowd), func(int, net.Conn) {
		s.count("connected")
		hold(ctx)
	})
	return nil
}

// garbage sends random bytes until the server closes the connection, half of the time after a valid STARTUP.
func garbage(ctx context.Context, s *siege) error {
	startup := &protocol.Startup{Options: []protocol.Option{{Key: protocol.OptionCQLVersion, Value: "3.0.0"}}}
	s.eachSocket(ctx, s.size.clients(50), func(i int, sock net.Conn) {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		for n := 0; ctx.Err() == nil && sock != nil; n++ {
			var bytes []byte
			if n%2 > 0 {
				bytes = protocol.AppendRequest(nil, protocol.Header{Version: protocol.V4}, nil, startup)
			}
			for range 1000 {
				bytes = append(bytes, byte(random.Uint32()))
			}
			if _, err := sock.Write(bytes); err == nil {
				_ = sock.SetReadDeadline(time.Now().Add(50 * time.Millisecond)) // the server may wait for more
				_, _ = sock.Read(bytes)
			}
			_ = sock.Close()
			s.count("sent")
			sock = s.socket(ctx)
		}
	})
	return nil
}

// slowWriters send a request byte by byte.
func slowWriters(ctx context.Context, s *siege) error {
	s.each(ctx, s.size.clients(200), v4, func(_ int, p *peer) {
		frame := p.enc.AppendRequest(nil, frameStream, 0, nil, query("SELECT key FROM system.local"))
		last := len(frame) - 1
		for i := range last {
			if !p.write(frame[i:i+1]) || !wait(ctx, 100*time.Millisecond) {
				return
			}
		}
		if p.sendFrame(frameStream, frame[last:]) {
			p.read(1)
		}
	})
	return nil
}

// reconnect is a client without a pool. It pauses between connections, because each occupies a port for a while.
func reconnect(ctx context.Context, s *siege) error {
	s.eachSocket(ctx, 8, func(int, net.Conn) {
		for wait(ctx, 5*time.Millisecond) {
			p := s.connect(ctx, client.Options{Version: protocol.V4})
			if p == nil {
				continue
			}
			if p.send(1, query("SELECT key FROM system.local")) {
				p.read(1)
			}
			_ = p.conn.Close()
		}
	})
	return nil
}
