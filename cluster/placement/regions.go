package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
)

// region is a region and its leader.
type region struct {
	Region *metapb.Region
	Leader *metapb.Peer
}

// message returns the region as a message for clients.
func (r *region) message() *pdpb.Region { return &pdpb.Region{Region: r.Region, Leader: r.Leader} }

// putRegion stores a region. It replaces older ones with the same keys.
func (p *placement) putRegion(r *metapb.Region, leader *metapb.Peer) {
	if leader == nil && len(r.Peers) > 0 {
		leader = r.Peers[0]
	}
	for _, o := range p.stored.Regions {
		if o.Region.Id == r.Id && o.Region.RegionEpoch.Version > r.RegionEpoch.Version {
			return
		}
	}
	p.stored.Regions = slices.DeleteFunc(p.stored.Regions, func(o *region) bool {
		return o.Region.Id == r.Id ||
			bytes.Compare(o.Region.StartKey, r.StartKey) >= 0 && ends(r, o.Region.EndKey)
	})
	p.stored.Regions = append(p.stored.Regions, &region{r, leader})
	slices.SortFunc(p.stored.Regions, func(a, b *region) int { return bytes.Compare(a.Region.StartKey, b.Region.StartKey) })
}

// ends reports whether a region extends up to end, or to the last key if end is empty.
func ends(r *metapb.Region, end []byte) bool {
	return len(r.EndKey) == 0 || len(end) > 0 && bytes.Compare(end, r.EndKey) <= 0
}

// RegionHeartbeat stores the regions that the store reports.
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
		err = p.save()
		p.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// region returns the first wanted region, or none.
func (p *placement) region(wanted func(r *metapb.Region) bool) (*pdpb.GetRegionResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := &pdpb.GetRegionResponse{Header: header()}
	if i := slices.IndexFunc(p.stored.Regions, func(r *region) bool { return wanted(r.Region) }); i >= 0 {
		answer.Region, answer.Leader = p.stored.Regions[i].Region, p.stored.Regions[i].Leader
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
func (p *placement) scan(start, end []byte, limit int32) (all []*region) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.stored.Regions {
		before := len(r.Region.EndKey) > 0 && bytes.Compare(r.Region.EndKey, start) <= 0
		after := len(end) > 0 && bytes.Compare(r.Region.StartKey, end) >= 0
		if !before && !after && (limit <= 0 || len(all) < int(limit)) {
			all = append(all, r)
		}
	}
	return all
}

// ScanRegions returns the regions of a range.
func (p *placement) ScanRegions(_ context.Context, r *pdpb.ScanRegionsRequest) (*pdpb.ScanRegionsResponse, error) {
	answer := &pdpb.ScanRegionsResponse{Header: header()}
	for _, o := range p.scan(r.StartKey, r.EndKey, r.Limit) {
		answer.Regions = append(answer.Regions, o.message())
		answer.RegionMetas, answer.Leaders = append(answer.RegionMetas, o.Region), append(answer.Leaders, o.Leader)
	}
	return answer, nil
}

// BatchScanRegions returns the regions of several ranges.
func (p *placement) BatchScanRegions(
	_ context.Context, r *pdpb.BatchScanRegionsRequest,
) (*pdpb.BatchScanRegionsResponse, error) {
	answer := &pdpb.BatchScanRegionsResponse{Header: header()}
	var last *region
	for _, keys := range r.Ranges { // in order
		for _, o := range p.scan(keys.StartKey, keys.EndKey, r.Limit) {
			if o != last {
				answer.Regions = append(answer.Regions, o.message())
			}
			last = o
		}
	}
	return answer, nil
}
