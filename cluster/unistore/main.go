// Command unistore runs unistore, the mock of TiKV in TiDB's tests, as a separate process. It speaks TiKV's protocol,
// keeps its data on disk and has real locks, but no Raft. It is a separate module, because its dependencies conflict
// with client-go's.
//
//	unistore -pd ADDRESS -listen ADDRESS -data FOLDER [-two-phases]
//
// The signals USR1 and USR2 pause and resume commits (waiting.go). The signal HUP turns on -two-phases: later commits
// keep their locks when the process is killed (locks.go).
package main

import (
	"flag"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/config"
	"github.com/pingcap/tidb/store/mockstore/unistore/pd"
	"github.com/pingcap/tidb/store/mockstore/unistore/server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	placement := flag.String("pd", "", "the `address` of the placement driver")
	listen := flag.String("listen", "", "the `address` to listen on")
	data := flag.String("data", "", "the `folder` of the data")
	twoPhases := flag.Bool("two-phases", false, "always commit in two phases, never with one request or asynchronously")
	flag.Parse()
	c := config.DefaultConf
	c.Server.PDAddr, c.Server.StoreAddr, c.Server.Raft = *placement, *listen, false
	c.Engine.DBPath, c.Engine.SyncWrite = *data, true
	if err := serve(&c, *twoPhases); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// serve serves until it fails.
func serve(c *config.Config, twoPhases bool) error {
	if err := os.MkdirAll(filepath.Join(c.Engine.DBPath, "kv"), 0o700); err != nil {
		return err
	}
	client, err := pd.NewClient([]string{c.Server.PDAddr}, "")
	if err != nil {
		return err
	}
	s, err := server.New(c, client)
	if err != nil {
		return err
	}
	locks, err := openLocks(filepath.Join(c.Engine.DBPath, "locks"), s, client)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.Server.StoreAddr)
	if err != nil {
		return err
	}
	served := &store{Server: s, commits: holdOnSignals(), locks: locks, underWay: newUnderWay()}
	served.twoPhases.Store(twoPhases)
	served.switchOnSignal()
	g := grpc.NewServer()
	tikvpb.RegisterTikvServer(g, served)
	grpc_health_v1.RegisterHealthServer(g, health.NewServer()) // clients probe it
	return g.Serve(l)
}
