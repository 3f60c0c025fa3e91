package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
)

// clusterID is what PD and its clients know the cluster by.
const clusterID = 1

// header begins every answer.
func header() *pdpb.ResponseHeader { return &pdpb.ResponseHeader{ClusterId: clusterID} }

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
		last, err := p.timestamps(int64(r.Count))
		if err != nil {
			return err
		}
		if err = stream.Send(&pdpb.TsoResponse{Header: header(), Count: r.Count, Timestamp: last}); err != nil {
			return err
		}
	}
}

// AllocID gives a number that was not given before.
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

// Bootstrap takes the first store and its region.
func (p *placement) Bootstrap(_ context.Context, r *pdpb.BootstrapRequest) (*pdpb.BootstrapResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putStore(r.Store)
	p.putRegion(r.Region, nil)
	return &pdpb.BootstrapResponse{Header: header()}, p.save()
}

// PutStore takes what a store says of itself.
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

// StoreHeartbeat notes nothing.
func (p *placement) StoreHeartbeat(
	context.Context, *pdpb.StoreHeartbeatRequest,
) (*pdpb.StoreHeartbeatResponse, error) {
	return &pdpb.StoreHeartbeatResponse{Header: header()}, nil
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
	return &pdpb.GetGCSafePointResponse{Header: header(), SafePoint: p.stored.SafePoint}, nil
}

// UpdateGCSafePoint moves the safe point, which never goes back.
func (p *placement) UpdateGCSafePoint(
	_ context.Context, r *pdpb.UpdateGCSafePointRequest,
) (*pdpb.UpdateGCSafePointResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored.SafePoint = max(p.stored.SafePoint, r.SafePoint)
	return &pdpb.UpdateGCSafePointResponse{Header: header(), NewSafePoint: p.stored.SafePoint}, p.save()
}

// UpdateServiceGCSafePoint notes which versions somebody wants kept, and returns the least that anybody wants.
func (p *placement) UpdateServiceGCSafePoint(
	_ context.Context, r *pdpb.UpdateServiceGCSafePointRequest,
) (*pdpb.UpdateServiceGCSafePointResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	least, err := p.stored.Services.Update(string(r.ServiceId), r.TTL, r.SafePoint, time.Now())
	if err != nil {
		return nil, err
	}
	return &pdpb.UpdateServiceGCSafePointResponse{
		Header: header(), ServiceId: r.ServiceId, TTL: r.TTL, MinSafePoint: least,
	}, p.save()
}
