// Package tikvtest is a TiKV cluster inside the test process: client-go's own mock. Its regions split, leaders move
// and stores stop. It has no Raft, and supports neither commits with one request nor asynchronous ones: client-go
// falls back to two phases.
package tikvtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pingcap/failpoint"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"github.com/pingcap/log"
	"github.com/tikv/client-go/v2/testutils"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/util"
	"github.com/tikv/client-go/v2/util/async"
	"github.com/tikv/client-go/v2/util/codec"
	pd "github.com/tikv/pd/client"
	pdtso "github.com/tikv/pd/client/clients/tso"
	"github.com/tikv/pd/client/opt"
	"go.uber.org/zap"

	"github.com/cqld/cqld/cluster/safepoint"
	"github.com/cqld/cqld/internal/tso"
)

// client-go cannot probe the stores of the mock, so it assumes that they live. Its log is off.
func init() {
	log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{Level: zap.NewAtomicLevelAt(zap.FatalLevel)})
	util.EnableFailpoints()
	if err := failpoint.Enable("tikvclient/injectLiveness", `return("reachable")`); err != nil {
		panic(err)
	}
}

// Cluster is a cluster in this process.
type Cluster struct {
	Requests   atomic.Int64 // to stores
	Timestamps atomic.Int64 // requests for timestamps

	Clock   tso.Oracle // stands in for PD's: a test can change its leader
	failing atomic.Bool

	keeping  sync.Mutex // protects services
	services safepoint.Services

	perStore sync.Map   // requests by address of the store: *atomic.Int64
	mu       sync.Mutex // held by changes of the cluster
	mock     *testutils.MockCluster
	client   *testutils.MockClient
	pd       pd.Client
	stores   []uint64
	regions  []uint64

	scattered int                 // regions
	leaders   map[uint64][]uint64 // the peers of each region
}

// New starts a cluster with a number of stores and one region, which ends with the test.
func New(t testing.TB, stores int) *Cluster {
	t.Helper()
	c, err := Open(stores)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.client.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Open starts a cluster with a number of stores and one region, which ends with the process.
func Open(stores int) (*Cluster, error) {
	client, mock, placement, err := testutils.NewMockTiKV("", nil)
	if err != nil {
		return nil, err
	}
	c := &Cluster{mock: mock, client: client, pd: placement, leaders: map[uint64][]uint64{}, services: safepoint.Services{}}
	ids, peers, region, _ := testutils.BootstrapWithMultiStores(mock, stores)
	c.stores, c.regions, c.leaders[region] = ids, []uint64{region}, peers
	return c, nil
}

// Between intercepts requests of a client to the stores. It may send a request or not. If it returns an error, the
// client gets only that.
type Between func(r *tikvrpc.Request, send func() error) error

// Connect connects to the cluster as a separate process would. The caller closes the connection.
func (c *Cluster) Connect(t testing.TB) *tikv.KVStore {
	t.Helper()
	return c.ConnectThrough(t, nil)
}

// ConnectThrough is Connect with an interceptor.
func (c *Cluster) ConnectThrough(t testing.TB, between Between) *tikv.KVStore {
	t.Helper()
	s, err := c.Dial(between)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Dial is ConnectThrough without a test; between may be nil.
func (c *Cluster) Dial(between Between) (*tikv.KVStore, error) {
	return tikv.NewTestTiKVStore(c.client, c.pd,
		func(inner tikv.Client) tikv.Client { return &connection{Client: inner, cluster: c, between: between} },
		func(inner pd.Client) pd.Client { return placement{inner, c} }, 0)
}

// SplitAt splits a region at a key.
func (c *Cluster) SplitAt(key []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := codec.EncodeBytes(nil, key)
	region, _, _, _ := c.mock.GetRegionByKey(at)
	if region == nil || string(region.StartKey) == string(at) {
		return
	}
	id, peers := c.mock.AllocID(), c.mock.AllocIDs(len(c.stores))
	c.mock.Split(region.Id, id, key, peers, peers[0])
	c.regions, c.leaders[id] = append(c.regions, id), peers
}

// MoveLeader moves the leader of a random region.
func (c *Cluster) MoveLeader(random *rand.Rand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	region := c.regions[random.IntN(len(c.regions))]
	c.mock.ChangeLeader(region, c.leaders[region][random.IntN(len(c.stores))])
}

// StopForAMoment stops one of the stores and starts it again.
func (c *Cluster) StopForAMoment(random *rand.Rand, d time.Duration) {
	n := random.IntN(len(c.stores))
	c.Stop(n)
	time.Sleep(d)
	c.Start(n)
}

// Stop stops a store.
func (c *Cluster) Stop(n int) { c.mock.StopStore(c.stores[n]) }

// Start starts a store that was stopped.
func (c *Cluster) Start(n int) { c.mock.StartStore(c.stores[n]) }

// RequestsPerStore returns the number of requests by address of the store.
func (c *Cluster) RequestsPerStore() map[string]int64 {
	all := map[string]int64{}
	c.perStore.Range(func(addr, n any) bool {
		all[addr.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	return all
}

// RegionStarts returns the first key of each region, in order.
func (c *Cluster) RegionStarts() (all [][]byte) {
	for _, r := range c.mock.ScanRegions(nil, nil, 0) {
		if len(r.Meta.StartKey) == 0 {
			all = append(all, nil)
		} else if _, key, err := codec.DecodeBytes(r.Meta.StartKey, nil); err == nil {
			all = append(all, key)
		}
	}
	return all
}

// FailTimestamps makes requests for timestamps fail or succeed.
func (c *Cluster) FailTimestamps(fail bool) { c.failing.Store(fail) }

var errNoTimestamp = errors.New("PD gives no timestamps")

// connection counts the requests of one client.
type connection struct {
	tikv.Client
	cluster *Cluster
	between Between
}

// SendRequest sends a request through the interceptor.
func (c *connection) SendRequest(
	ctx context.Context, addr string, r *tikvrpc.Request, timeout time.Duration,
) (answer *tikvrpc.Response, err error) {
	c.cluster.Requests.Add(1)
	n, _ := c.cluster.perStore.LoadOrStore(addr, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	send := func() (err error) {
		answer, err = c.Client.SendRequest(ctx, addr, r, timeout)
		return err
	}
	if c.between == nil {
		err = send()
		return answer, err
	}
	if err := c.between(r, send); err != nil {
		return nil, err
	}
	return answer, nil
}

// SendRequestAsync sends a request in the background.
func (c *connection) SendRequestAsync(
	ctx context.Context, addr string, r *tikvrpc.Request, done async.Callback[*tikvrpc.Response],
) {
	go func() { done.Schedule(c.SendRequest(ctx, addr, r, time.Minute)) }()
}

// Close leaves the stores open for other connections.
func (*connection) Close() error { return nil }

// placement counts requests for timestamps and takes them of the cluster's clock. It has PD's service safe points.
type placement struct {
	pd.Client
	cluster *Cluster
}

// GetTS gets a timestamp.
func (p placement) GetTS(ctx context.Context) (physical, logical int64, err error) {
	c := p.cluster
	c.Timestamps.Add(1)
	if c.failing.Load() {
		return 0, 0, errNoTimestamp
	}
	physical, logical = c.Clock.Next(1)
	return physical, logical, ctx.Err()
}

// UpdateServiceGCSafePoint sets a service safe point and returns the minimum of all.
func (p placement) UpdateServiceGCSafePoint(_ context.Context, name string, ttl int64, point uint64) (uint64, error) {
	p.cluster.keeping.Lock()
	defer p.cluster.keeping.Unlock()
	return p.cluster.services.Update(name, ttl, point, time.Now())
}

// GetTSAsync asks for a timestamp.
func (p placement) GetTSAsync(ctx context.Context) pdtso.TSFuture {
	physical, logical, err := p.GetTS(ctx)
	return future{physical, logical, err}
}

// future is a requested timestamp.
type future struct {
	physical, logical int64
	err               error
}

// Wait returns the timestamp.
func (f future) Wait() (physical, logical int64, err error) { return f.physical, f.logical, f.err }

// ScatterRegions moves the leaders of regions to different stores. PD would move whole regions.
func (p placement) ScatterRegions(
	_ context.Context, regions []uint64, _ ...opt.RegionsOption,
) (*pdpb.ScatterRegionResponse, error) {
	p.cluster.mu.Lock()
	defer p.cluster.mu.Unlock()
	for _, id := range regions {
		r, _ := p.cluster.mock.GetRegion(id)
		p.cluster.scattered++
		p.cluster.mock.ChangeLeader(id, r.Peers[p.cluster.scattered%len(r.Peers)].Id)
	}
	return &pdpb.ScatterRegionResponse{FinishedPercentage: 100}, nil
}

// Close leaves PD open for other connections.
func (placement) Close() {}
