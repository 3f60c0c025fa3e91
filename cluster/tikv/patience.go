package tikv

import (
	"context"
	"sync"
	"time"

	"github.com/tikv/client-go/v2/config/retry"
	"github.com/tikv/client-go/v2/tikv"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// client-go and the client of PD wait longer and longer between attempts while the cluster does not answer, for up to
// ten seconds. Clients of CQL give up after two or so: what comes back has to be noticed in less.

// The pauses between attempts that fail, in milliseconds: the first one and the longest.
const (
	firstPause = 50
	lastPause  = 500
	busyPause  = 2000 // the longest where a store says that it is busy
)

// shortenPauses makes client-go pause for less between attempts, in the whole process. It tries for as long as it would
// otherwise: that is bounded by the sum of its pauses.
var shortenPauses = sync.OnceFunc(func() {
	retry.BoPDRPC.SetBackoffFnCfg(retry.NewBackoffFnCfg(firstPause, lastPause, retry.EqualJitter))
	retry.BoTiKVRPC.SetBackoffFnCfg(retry.NewBackoffFnCfg(firstPause, lastPause, retry.EqualJitter))
	retry.BoTiKVServerBusy.SetBackoffFnCfg(retry.NewBackoffFnCfg(lastPause, busyPause, retry.EqualJitter))
})

// reconnectEvery is how often a connection to PD is tried that was lost. Its client waits for up to 3.6 s.
const reconnectEvery = 500 * time.Millisecond

// reconnect has lost connections to PD tried again, until ctx ends.
func reconnect(ctx context.Context, cluster *tikv.KVStore) {
	discovery := cluster.GetPDClient().GetServiceDiscovery()
	if discovery == nil {
		return // a cluster in this process
	}
	for ctx.Err() == nil {
		sleep(ctx, reconnectEvery)
		discovery.GetClientConns().Range(func(_, c any) bool {
			if conn, ok := c.(*grpc.ClientConn); ok && conn.GetState() == connectivity.TransientFailure {
				conn.ResetConnectBackoff()
			}
			return true
		})
	}
}
