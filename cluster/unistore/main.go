// Command unistore is a store that speaks TiKV's protocol, for tests: the one that TiDB's tests use, as a process of
// its own. It keeps its data on disk, has real locks and no Raft. It has a module of its own because it needs versions
// of others that do not fit client-go's.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/config"
	"github.com/pingcap/tidb/store/mockstore/unistore/pd"
	"github.com/pingcap/tidb/store/mockstore/unistore/server"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	placement := flag.String("pd", "", "the `address` of the placement driver")
	listen := flag.String("listen", "", "the `address` to serve at")
	data := flag.String("data", "", "the `folder` of the data")
	flag.Parse()
	if err := run(*placement, *listen, *data); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// run serves until it fails, or the process is killed.
func run(placement, listen, data string) error {
	if err := os.MkdirAll(filepath.Join(data, "kv"), 0o700); err != nil {
		return err
	}
	client, err := pd.NewClient([]string{placement}, "")
	if err != nil {
		return err
	}
	c := config.DefaultConf
	c.Server.PDAddr, c.Server.StoreAddr, c.Server.Raft = placement, listen, false
	c.Engine.DBPath, c.Engine.SyncWrite = data, true
	s, err := server.New(&c, client)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	g := grpc.NewServer()
	tikvpb.RegisterTikvServer(g, store{s})
	grpc_health_v1.RegisterHealthServer(g, health.NewServer()) // by which clients find out whether a store lives
	return g.Serve(l)
}

// store is unistore with records of locks. TiKV notes that a key was locked by a transaction which has committed, and
// refuses the lock to transactions that have begun before. Unistore notes only what is put or deleted. So here locks
// are puts.
type store struct{ *tikv.Server }

// KvPrewrite is the first phase of a commit.
func (s store) KvPrewrite(ctx context.Context, r *kvrpcpb.PrewriteRequest) (*kvrpcpb.PrewriteResponse, error) {
	putLocks(r)
	return s.Server.KvPrewrite(ctx, r)
}

// BatchCommands serves requests of all kinds on one stream.
func (s store) BatchCommands(stream tikvpb.Tikv_BatchCommandsServer) error {
	return s.Server.BatchCommands(batches{stream})
}

// batches is a stream of requests.
type batches struct {
	tikvpb.Tikv_BatchCommandsServer
}

// Recv receives the next requests.
func (b batches) Recv() (*tikvpb.BatchCommandsRequest, error) {
	all, err := b.Tikv_BatchCommandsServer.Recv()
	for _, r := range all.GetRequests() {
		if p := r.GetPrewrite(); p != nil {
			putLocks(p)
		}
	}
	return all, err
}

func putLocks(r *kvrpcpb.PrewriteRequest) {
	for _, m := range r.Mutations {
		if m.Op == kvrpcpb.Op_Lock {
			m.Op, m.Value = kvrpcpb.Op_Put, []byte{0}
		}
	}
}
