// Command placement stands in for a placement driver (PD) of a single store, for tests. It answers what client-go and
// the store ask, and orders nothing.
//
//	placement -listen ADDRESS -data FILE [-view LISTEN,ANNOUNCED,STORE ...]
//
// What it has to remember is in a file, so that it can be killed and started again: stores, regions, safe points, and
// a bound of the timestamps that it gives.
//
// A view is another address that it serves at. Whoever asks there is told to find PD at the second address and the
// store at the third one. Proxies at these two can then delay or cut off one client.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"strings"

	"github.com/pingcap/kvproto/pkg/pdpb"
	"google.golang.org/grpc"
)

func main() {
	listen := flag.String("listen", "", "the `address` to serve at")
	data := flag.String("data", "", "the `file` of what is remembered")
	var views []view
	flag.Func("view", "`addresses` with commas: one more to serve at, and those of PD and the store that are told there",
		func(text string) error {
			parts := strings.Split(text, ",")
			if len(parts) != 3 {
				return fmt.Errorf("want three addresses, not %d", len(parts))
			}
			views = append(views, view{listen: parts[0], announced: parts[1], store: parts[2]})
			return nil
		})
	flag.Parse()
	if err := run(append(views, view{listen: *listen, announced: *listen}), *data); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// run serves until it fails, or the process is killed.
func run(views []view, data string) error {
	p, err := open(data)
	if err != nil {
		return err
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
