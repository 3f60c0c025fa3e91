package command

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store/cluster"
)

// shared reports whether this server is a node of a cluster.
func (s *settings) shared() bool { return s.engine != nil && s.engine.Shared != nil }

// checkShared checks the flags of a node of a cluster.
func (s *settings) checkShared() error {
	switch {
	case !s.shared():
	case s.given.ring != "":
		return badFlag("ring", s.given.ring, "the nodes of the cluster are the ring")
	case s.strict:
		return badFlag("strict-replicas", "true", "each node of this cluster has all rows")
	case s.controls:
		return badFlag("test-controls", "true", "the nodes of this cluster share a clock, and clients cannot move it")
	case s.engine.Shared.Lease < minLease || s.engine.Shared.Lease > maxLease:
		return badFlag("lease", s.engine.Shared.Lease.String(), fmt.Sprintf("want a duration from %v to %v", minLease, maxLease))
	case s.engine.Shared.DownAfter < s.engine.Shared.Lease:
		return badFlag("down-after", s.engine.Shared.DownAfter.String(), "want a duration not shorter than --lease")
	case s.engine.Shared.ForgetAfter < s.engine.Shared.DownAfter:
		return badFlag("forget-after", s.engine.Shared.ForgetAfter.String(), "want a duration not shorter than --down-after")
	}
	return nil
}

// joinAt sets the address of a node: --advertise, or else the address that it listens on.
func (s *settings) joinAt(listening net.Addr) error {
	if !s.shared() {
		return nil
	}
	own, err := netip.ParseAddrPort(listening.String())
	if err != nil {
		return err
	}
	own = netip.AddrPortFrom(own.Addr().Unmap(), own.Port())
	switch {
	case !s.advertise.IsValid() && own.Addr().IsUnspecified():
		return badFlag("listen", s.listen, "this stands for all addresses of the machine: set --advertise to the one that "+
			"clients of other nodes can connect to")
	case !s.advertise.IsValid():
		s.advertise = own
	case s.advertise.Addr().IsUnspecified():
		return badFlag("advertise", s.given.advertise, "want an address that clients can connect to")
	case s.advertise.Port() == 0:
		s.advertise = netip.AddrPortFrom(s.advertise.Addr(), own.Port())
	}
	return nil
}

// node returns the options of this node of a cluster, or nil if the engine is not shared.
func (s *settings) node(log zerolog.Logger) *cluster.Options {
	if !s.shared() {
		return nil
	}
	o := *s.engine.Shared
	o.Address, o.Datacenter, o.Rack, o.Release = s.advertise, s.datacenter, s.rack, s.release
	o.Tokens, o.Log = server.ClusterTokens, log
	return &o
}

// NodeFlags adds the flags for the times of a node.
func NodeFlags(f *pflag.FlagSet, o *cluster.Options) {
	f.DurationVar(&o.Lease, "lease", time.Second, "how long this server serves without hearing from the cluster; the same "+
		"for all servers of a prefix")
	f.DurationVar(&o.DownAfter, "down-after", 5*time.Second, "after how long without a heartbeat a server is down")
	f.DurationVar(&o.ForgetAfter, "forget-after", 10*time.Minute, "after how long a server that is down is removed from the cluster")
}

// The range of --lease. A schema change waits for the lease of a node that has died.
const (
	minLease = 100 * time.Millisecond
	maxLease = time.Minute
)
