// Command unistore is a store that speaks TiKV's protocol, for tests: the one that TiDB's tests use, as a process of
// its own. It keeps its data on disk, has real locks and no Raft. It has a module of its own because it needs versions
// of others that do not fit client-go's.
//
//	unistore -pd ADDRESS -listen ADDRESS -data FOLDER [-two-phases]
//
// The signal USR1 has it hold commits back, USR2 has it go on with them (hold.go). The signal HUP is -two-phases for
// what comes later: from then on a kill loses no lock (locks.go).
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
	listen := flag.String("listen", "", "the `address` to serve at")
	data := flag.String("data", "", "the `folder` of the data")
	twoPhases := flag.Bool("two-phases", false, "commit in two phases always, never with one request or asynchronously")
	flag.Parse()
	c := config.DefaultConf
	c.Server.PDAddr, c.Server.StoreAddr, c.Server.Raft = *placement, *listen, false
	c.Engine.DBPath, c.Engine.SyncWrite = *data, true
	if err := run(&c, *twoPhases); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// run serves until it fails, or the process is killed.
func run(c *config.Config, twoPhases bool) error {
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
	grpc_health_v1.RegisterHealthServer(g, health.NewServer()) // by which clients find out whether a store lives
	return g.Serve(l)
}
