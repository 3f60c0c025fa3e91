// Command placement replaces a placement driver (PD) with a single store in tests. It answers the requests of
// client-go and of the store, but does not schedule anything.
//
//	placement -listen ADDRESS -data FILE [-view LISTEN,ANNOUNCED,STORE ...] [-transfers INTERVAL] [-lag TIME]
//
// Its state is in a file, so that it can be killed and restarted: stores, regions, safe points, and an upper bound of
// its timestamps.
//
// With -transfers it changes the leader of its clock again and again, as a rolling upgrade of PD does (package tso).
//
// A view is a further address to listen on. Clients there get ANNOUNCED as the address of PD and STORE as the address
// of the store. Proxies at these two addresses can delay or cut off one client.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"

	"github.com/pingcap/kvproto/pkg/pdpb"
	"google.golang.org/grpc"
)

func main() {
	listen := flag.String("listen", "", "the `address` to listen on")
	data := flag.String("data", "", "the `file` of the state")
	var views []view
	flag.Func("view", "`addresses` separated by commas: one to listen on, and the announced ones of PD and the store",
		func(text string) error {
			parts := strings.Split(text, ",")
			if len(parts) != 3 {
				return fmt.Errorf("want three addresses, not %d", len(parts))
			}
			views = append(views, view{listen: parts[0], announced: parts[1], store: parts[2]})
			return nil
		})
	every := flag.Duration("transfers", 0, "change the leader in this `interval`, without a pause; 0: never")
	lag := flag.Duration("lag", 0, "give timestamps that are this `time` behind, like an overloaded PD")
	flag.Parse()
	if err := serve(append(views, view{listen: *listen, announced: *listen}), *data, *every, *lag); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// serve serves until it fails.
func serve(views []view, data string, transfers, lag time.Duration) error {
	p, err := open(data)
	if err != nil {
		return err
	}
	p.clock.Lag = lag
	if transfers > 0 {
		go p.transfers(transfers)
	}
	ended := make(chan error, len(views))
	for _, v := range views {
		l, err := net.Listen("tcp", v.listen)
		if err != nil {
			return err
		}
		v.placement = p
		s := grpc.NewServer()
		pdpb.RegisterPDServer(s, v)
		go func() { ended <- s.Serve(l) }()
	}
	return <-ended
}
