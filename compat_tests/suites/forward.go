package main

import (
	"context"
	"io"
	"net"
	"sync"
)

// usualPort is the port that clients dial if they cannot be configured.
const usualPort = "127.0.0.1:9042"

// forward lets clients reach a server on the usual port until the context ends. The channel is closed when all
// connections are.
func forward(ctx context.Context, addr string) (<-chan struct{}, error) {
	l, err := net.Listen("tcp", usualPort)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		var open sync.WaitGroup
		defer open.Wait()
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { join(ctx, client, addr) })
		}
	}()
	return done, nil
}

// join carries bytes both ways until one side closes or the context ends.
func join(ctx context.Context, client net.Conn, addr string) {
	defer client.Close()
	var d net.Dialer
	server, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return // the client sees its connection closed
	}
	end := func() {
		client.Close()
		server.Close()
	}
	defer context.AfterFunc(ctx, end)()
	var ways sync.WaitGroup
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // the end of one direction ends the other too
		end()
	}
	ways.Go(func() { carry(server, client) })
	ways.Go(func() { carry(client, server) })
	ways.Wait()
}

// onUsualPort runs a suite whose clients dial the usual port only; it gets the address without the port.
func onUsualPort(s suite) suite {
	run := s.run
	s.run = func(ctx context.Context, e *environment) ([]outcome, error) {
		ctx, cancel := context.WithCancel(ctx)
		done, err := forward(ctx, e.addr)
		if err != nil {
			cancel()
			return nil, err
		}
		defer func() {
			cancel()
			<-done
		}()
		usual := *e
		usual.addr, _, _ = net.SplitHostPort(usualPort)
		return run(ctx, &usual)
	}
	return s
}
