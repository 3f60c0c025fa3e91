package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// clusterID identifies the cluster.
const clusterID = 1

// header returns the header of a response.
func header() *pdpb.ResponseHeader { return &pdpb.ResponseHeader{ClusterId: clusterID} }

// GetClusterInfo tells that PD also serves timestamps.
func (p *placement) GetClusterInfo(context.Context, *pdpb.GetClusterInfoRequest) (*pdpb.GetClusterInfoResponse, error) {
	return &pdpb.GetClusterInfoResponse{Header: header(), ServiceModes: []pdpb.ServiceMode{pdpb.ServiceMode_PD_SVC_MODE}}, nil
}

// Tso serves timestamps.
func (p *placement) Tso(stream pdpb.PD_TsoServer) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		last, err := p.timestamps(int64(r.Count))
		if err != nil {
			return err
		}
		if err = stream.Send(&pdpb.TsoResponse{Header: header(), Count: r.Count, Timestamp: last}); err != nil {
			return err
		}
	}
}

// AllocID returns a unique number.
func (p *placement) AllocID(context.Context, *pdpb.AllocIDRequest) (*pdpb.AllocIDResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored.LastID++
	return &pdpb.AllocIDResponse{Header: header(), Id: p.stored.LastID}, p.save()
}

// IsBootstrapped reports whether there is a store.
func (p *placement) IsBootstrapped(
	context.Context, *pdpb.IsBootstrappedRequest,
) (*pdpb.IsBootstrappedResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &pdpb.IsBootstrappedResponse{Header: header(), Bootstrapped: len(p.stored.Stores) > 0}, nil
}

// Bootstrap stores the first store and its region.
func (p *placement) Bootstrap(_ context.Context, r *pdpb.BootstrapRequest) (*pdpb.BootstrapResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putStore(r.Store)
	p.putRegion(r.Region, nil)
	return &pdpb.BootstrapResponse{Header: header()}, p.save()
}

// PutStore stores a store.
func (p *placement) PutStore(_ context.Context, r *pdpb.PutStoreRequest) (*pdpb.PutStoreResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putStore(r.Store)
	return &pdpb.PutStoreResponse{Header: header()}, p.save()
}

func (p *placement) putStore(s *metapb.Store) {
	p.stored.Stores = slices.DeleteFunc(p.stored.Stores, func(o *metapb.Store) bool { return o.Id == s.Id })
	p.stored.Stores = append(p.stored.Stores, s)
}

// StoreHeartbeat does nothing.
func (p *placement) StoreHeartbeat(
	context.Context, *pdpb.StoreHeartbeatRequest,
) (*pdpb.StoreHeartbeatResponse, error) {
	return &pdpb.StoreHeartbeatResponse{Header: header()}, nil
}

// GetClusterConfig returns a configuration with one replica.
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
	return &pdpb.GetGCSafePointResponse{Header: header(), SafePoint: p.stored.SafePoint}, nil
}

// UpdateGCSafePoint moves the safe point forward.
func (p *placement) UpdateGCSafePoint(
	_ context.Context, r *pdpb.UpdateGCSafePointRequest,
) (*pdpb.UpdateGCSafePointResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored.SafePoint = max(p.stored.SafePoint, r.SafePoint)
	return &pdpb.UpdateGCSafePointResponse{Header: header(), NewSafePoint: p.stored.SafePoint}, p.save()
}

// UpdateServiceGCSafePoint sets the safe point of a service and returns the minimum of all.
func (p *placement) UpdateServiceGCSafePoint(
	_ context.Context, r *pdpb.UpdateServiceGCSafePointRequest,
) (*pdpb.UpdateServiceGCSafePointResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	minimum, err := p.stored.Services.Update(string(r.ServiceId), r.TTL, r.SafePoint, time.Now())
	if err != nil {
		return nil, err
	}
	return &pdpb.UpdateServiceGCSafePointResponse{
		Header: header(), ServiceId: r.ServiceId, TTL: r.TTL, MinSafePoint: minimum,
	}, p.save()
}

// view serves one address.
type view struct {
	*placement
	listen    string
	announced string // announced address of PD
	store     string // announced address of all stores; "": their own
}

// GetMembers returns the only placement driver.
func (v view) GetMembers(context.Context, *pdpb.GetMembersRequest) (*pdpb.GetMembersResponse, error) {
	urls := []string{"http://" + v.announced}
	m := &pdpb.Member{Name: "pd", MemberId: 1, ClientUrls: urls, PeerUrls: urls}
	return &pdpb.GetMembersResponse{Header: header(), Members: []*pdpb.Member{m}, Leader: m, EtcdLeader: m}, nil
}

// stores returns the stores with their announced addresses.
func (v view) stores() (all []*metapb.Store) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.stored.Stores {
		if v.store != "" {
			shown := *s
			shown.Address, s = v.store, &shown
		}
		all = append(all, s)
	}
	return all
}

// GetStore returns a store.
func (v view) GetStore(_ context.Context, r *pdpb.GetStoreRequest) (*pdpb.GetStoreResponse, error) {
	for _, s := range v.stores() {
		if s.Id == r.StoreId {
			return &pdpb.GetStoreResponse{Header: header(), Store: s}, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no store %d", r.StoreId)
}

// GetAllStores returns all stores.
func (v view) GetAllStores(context.Context, *pdpb.GetAllStoresRequest) (*pdpb.GetAllStoresResponse, error) {
	return &pdpb.GetAllStoresResponse{Header: header(), Stores: v.stores()}, nil
}
