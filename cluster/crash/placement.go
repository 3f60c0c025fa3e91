package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// placement stands in for a placement driver of one store. It answers what client-go and the store ask, and forgets
// everything when the process ends.
type placement struct {
	pdpb.UnimplementedPDServer
	url    string
	server *grpc.Server

	mu                sync.Mutex
	physical, logical int64 // of the last timestamp
	lastID            uint64
	stores            []*metapb.Store
	regions           []*pdpb.Region // sorted by their starts
	services          map[string]service
	safePoint         uint64
}

// service is who wants versions kept.
type service struct {
	safePoint uint64
	until     time.Time
}

// clusterID is what PD and its clients know the cluster by.
const clusterID = 1

// clockStep is how PD moves its clock by default.
const clockStep = 50 // milliseconds

// servePlacement serves at an address of this machine until it is closed.
func servePlacement() (*placement, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &placement{url: "http://" + l.Addr().String(), server: grpc.NewServer(), lastID: 1000, services: map[string]service{}}
	pdpb.RegisterPDServer(p.server, p)
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// close ends the server.
func (p *placement) close() { p.server.Stop() }

func header() *pdpb.ResponseHeader { return &pdpb.ResponseHeader{ClusterId: clusterID} }

// GetMembers names the only placement driver there is.
func (p *placement) GetMembers(context.Context, *pdpb.GetMembersRequest) (*pdpb.GetMembersResponse, error) {
	m := &pdpb.Member{Name: "pd", MemberId: 1, ClientUrls: []string{p.url}, PeerUrls: []string{p.url}}
	return &pdpb.GetMembersResponse{Header: header(), Members: []*pdpb.Member{m}, Leader: m, EtcdLeader: m}, nil
}

// GetClusterInfo says that timestamps come from here too.
func (p *placement) GetClusterInfo(context.Context, *pdpb.GetClusterInfoRequest) (*pdpb.GetClusterInfoResponse, error) {
	return &pdpb.GetClusterInfoResponse{Header: header(), ServiceModes: []pdpb.ServiceMode{pdpb.ServiceMode_PD_SVC_MODE}}, nil
}

// Tso gives timestamps until the client ends.
func (p *placement) Tso(stream pdpb.PD_TsoServer) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = stream.Send(&pdpb.TsoResponse{Header: header(), Count: r.Count, Timestamp: p.timestamps(int64(r.Count))})
		if err != nil {
			return err
		}
	}
}

// timestamps gives the last one of a number of timestamps.
func (p *placement) timestamps(count int64) *pdpb.Timestamp {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().UnixMilli()
	if now -= now % clockStep; now > p.physical {
		p.physical, p.logical = now, 0
	}
	p.logical += count
	return &pdpb.Timestamp{Physical: p.physical, Logical: p.logical}
}

// AllocID gives a number that was not given before.
func (p *placement) AllocID(context.Context, *pdpb.AllocIDRequest) (*pdpb.AllocIDResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	return &pdpb.AllocIDResponse{Header: header(), Id: p.lastID}, nil
}

// IsBootstrapped reports whether there is a store.
func (p *placement) IsBootstrapped(
	context.Context, *pdpb.IsBootstrappedRequest,
) (*pdpb.IsBootstrappedResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &pdpb.IsBootstrappedResponse{Header: header(), Bootstrapped: len(p.stores) > 0}, nil
}

// Bootstrap takes the first store and its region.
func (p *placement) Bootstrap(_ context.Context, r *pdpb.BootstrapRequest) (*pdpb.BootstrapResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putStore(r.Store)
	p.putRegion(r.Region, nil)
	return &pdpb.BootstrapResponse{Header: header()}, nil
}

// PutStore takes what a store says of itself.
func (p *placement) PutStore(_ context.Context, r *pdpb.PutStoreRequest) (*pdpb.PutStoreResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putStore(r.Store)
	return &pdpb.PutStoreResponse{Header: header()}, nil
}

func (p *placement) putStore(s *metapb.Store) {
	p.stores = slices.DeleteFunc(p.stores, func(o *metapb.Store) bool { return o.Id == s.Id })
	p.stores = append(p.stores, s)
}

// putRegion takes a region in place of older ones with the same keys.
func (p *placement) putRegion(r *metapb.Region, leader *metapb.Peer) {
	if leader == nil && len(r.Peers) > 0 {
		leader = r.Peers[0]
	}
	for _, o := range p.regions {
		if o.Region.Id == r.Id && o.Region.RegionEpoch.Version > r.RegionEpoch.Version {
			return
		}
	}
	p.regions = slices.DeleteFunc(p.regions, func(o *pdpb.Region) bool {
		return o.Region.Id == r.Id ||
			bytes.Compare(o.Region.StartKey, r.StartKey) >= 0 && ends(r, o.Region.EndKey)
	})
	p.regions = append(p.regions, &pdpb.Region{Region: r, Leader: leader})
	slices.SortFunc(p.regions, func(a, b *pdpb.Region) int { return bytes.Compare(a.Region.StartKey, b.Region.StartKey) })
}

// ends reports whether a region has all keys up to an end, which is that of all keys if it is empty.
func ends(r *metapb.Region, end []byte) bool {
	return len(r.EndKey) == 0 || len(end) > 0 && bytes.Compare(end, r.EndKey) <= 0
}

// GetStore returns what a store has said of itself.
func (p *placement) GetStore(_ context.Context, r *pdpb.GetStoreRequest) (*pdpb.GetStoreResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stores {
		if s.Id == r.StoreId {
			return &pdpb.GetStoreResponse{Header: header(), Store: s}, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no store %d", r.StoreId)
}

// GetAllStores returns all stores.
func (p *placement) GetAllStores(context.Context, *pdpb.GetAllStoresRequest) (*pdpb.GetAllStoresResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &pdpb.GetAllStoresResponse{Header: header(), Stores: slices.Clone(p.stores)}, nil
}

// StoreHeartbeat notes nothing.
func (p *placement) StoreHeartbeat(
	context.Context, *pdpb.StoreHeartbeatRequest,
) (*pdpb.StoreHeartbeatResponse, error) {
	return &pdpb.StoreHeartbeatResponse{Header: header()}, nil
}

// RegionHeartbeat takes what the store says of its regions, and orders nothing.
func (p *placement) RegionHeartbeat(stream pdpb.PD_RegionHeartbeatServer) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.mu.Lock()
		p.putRegion(r.Region, r.Leader)
		p.mu.Unlock()
	}
}

// region returns the answer with a region that is wanted, or with none.
func (p *placement) region(wanted func(r *metapb.Region) bool) (*pdpb.GetRegionResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := &pdpb.GetRegionResponse{Header: header()}
	if i := slices.IndexFunc(p.regions, func(r *pdpb.Region) bool { return wanted(r.Region) }); i >= 0 {
		answer.Region, answer.Leader = p.regions[i].Region, p.regions[i].Leader
	}
	return answer, nil
}

// GetRegion returns the region of a key.
func (p *placement) GetRegion(_ context.Context, r *pdpb.GetRegionRequest) (*pdpb.GetRegionResponse, error) {
	return p.region(func(o *metapb.Region) bool {
		return bytes.Compare(o.StartKey, r.RegionKey) <= 0 &&
			(len(o.EndKey) == 0 || bytes.Compare(r.RegionKey, o.EndKey) < 0)
	})
}

// GetPrevRegion returns the region before that of a key.
func (p *placement) GetPrevRegion(_ context.Context, r *pdpb.GetRegionRequest) (*pdpb.GetRegionResponse, error) {
	return p.region(func(o *metapb.Region) bool {
		return len(o.EndKey) > 0 && bytes.Compare(o.StartKey, r.RegionKey) < 0 &&
			bytes.Compare(o.EndKey, r.RegionKey) >= 0
	})
}

// GetRegionByID returns a region by its number.
func (p *placement) GetRegionByID(_ context.Context, r *pdpb.GetRegionByIDRequest) (*pdpb.GetRegionResponse, error) {
	return p.region(func(o *metapb.Region) bool { return o.Id == r.RegionId })
}

// scan returns the regions of a range.
func (p *placement) scan(start, end []byte, limit int32) (all []*pdpb.Region) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.regions {
		before := len(r.Region.EndKey) > 0 && bytes.Compare(r.Region.EndKey, start) <= 0
		behind := len(end) > 0 && bytes.Compare(r.Region.StartKey, end) >= 0
		if !before && !behind && (limit <= 0 || len(all) < int(limit)) {
			all = append(all, r)
		}
	}
	return all
}

// ScanRegions returns the regions of a range.
func (p *placement) ScanRegions(_ context.Context, r *pdpb.ScanRegionsRequest) (*pdpb.ScanRegionsResponse, error) {
	answer := &pdpb.ScanRegionsResponse{Header: header(), Regions: p.scan(r.StartKey, r.EndKey, r.Limit)}
	for _, o := range answer.Regions {
		answer.RegionMetas, answer.Leaders = append(answer.RegionMetas, o.Region), append(answer.Leaders, o.Leader)
	}
	return answer, nil
}

// BatchScanRegions returns the regions of several ranges.
func (p *placement) BatchScanRegions(
	_ context.Context, r *pdpb.BatchScanRegionsRequest,
) (*pdpb.BatchScanRegionsResponse, error) {
	answer := &pdpb.BatchScanRegionsResponse{Header: header()}
	for _, keys := range r.Ranges {
		for _, o := range p.scan(keys.StartKey, keys.EndKey, r.Limit) {
			if !slices.Contains(answer.Regions, o) {
				answer.Regions = append(answer.Regions, o)
			}
		}
	}
	return answer, nil
}

// GetClusterConfig says what the cluster is.
func (p *placement) GetClusterConfig(
	context.Context, *pdpb.GetClusterConfigRequest,
) (*pdpb.GetClusterConfigResponse, error) {
	cluster := &metapb.Cluster{Id: clusterID, MaxPeerCount: 1}
	return &pdpb.GetClusterConfigResponse{Header: header(), Cluster: cluster}, nil
}

// GetGCSafePoint returns the safe point.
func (p *placement) GetGCSafePoint(
	context.Context, *pdpb.GetGCSafePointRequest,
) (*pdpb.GetGCSafePointResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &pdpb.GetGCSafePointResponse{Header: header(), SafePoint: p.safePoint}, nil
}

// UpdateGCSafePoint moves the safe point, which never goes back.
func (p *placement) UpdateGCSafePoint(
	_ context.Context, r *pdpb.UpdateGCSafePointRequest,
) (*pdpb.UpdateGCSafePointResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.safePoint = max(p.safePoint, r.SafePoint)
	return &pdpb.UpdateGCSafePointResponse{Header: header(), NewSafePoint: p.safePoint}, nil
}

// UpdateServiceGCSafePoint notes which versions somebody wants kept, and returns the least that anybody wants.
func (p *placement) UpdateServiceGCSafePoint(
	_ context.Context, r *pdpb.UpdateServiceGCSafePointRequest,
) (*pdpb.UpdateServiceGCSafePointResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.services[string(r.ServiceId)] = service{r.SafePoint, now.Add(time.Duration(r.TTL) * time.Second)}
	least := uint64(math.MaxUint64)
	for id, s := range p.services {
		if !now.Before(s.until) {
			delete(p.services, id)
			continue
		}
		least = min(least, s.safePoint)
	}
	return &pdpb.UpdateServiceGCSafePointResponse{
		Header: header(), ServiceId: r.ServiceId, TTL: r.TTL, MinSafePoint: least,
	}, nil
}

// address is where it serves.
func (p *placement) address() string { return strings.TrimPrefix(p.url, "http://") }
