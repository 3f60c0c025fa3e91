package main

import (
	"context"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// view is the placement as it shows itself at one address.
type view struct {
	*placement
	listen    string
	announced string // where PD is said to be
	store     string // where all stores are said to be; empty: where they are
}

// GetMembers names the only placement driver there is.
func (v view) GetMembers(context.Context, *pdpb.GetMembersRequest) (*pdpb.GetMembersResponse, error) {
	urls := []string{"http://" + v.announced}
	m := &pdpb.Member{Name: "pd", MemberId: 1, ClientUrls: urls, PeerUrls: urls}
	return &pdpb.GetMembersResponse{Header: header(), Members: []*pdpb.Member{m}, Leader: m, EtcdLeader: m}, nil
}

// stores returns what stores have said of themselves, with the addresses of the view.
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
