// Command cqld-cluster is cqld with its data in a TiKV cluster. It has the same commands; serve needs --pd instead of
// a data folder. Servers with the same prefix are nodes of one Cassandra cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/command"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

// version is set when a release is linked.
var version = ""

// flags are the additional flags of serve and restore.
type flags struct {
	pd      string
	address tikv.Address
	options tikv.Options
	node    cluster.Options
	wait    time.Duration
}

// addReach adds the flags for the connection to the cluster.
func (s *flags) addReach(f *pflag.FlagSet) {
	f.StringVar(&s.pd, "pd", "", "`ADDRESSES` of the cluster's placement drivers, separated by commas (required)")
	f.StringVar(&s.options.Prefix, "prefix", "cqld", "`NAME` of the data in the cluster; servers with the same one are nodes "+
		"of one Cassandra cluster")
	f.StringVar(&s.address.Authorities, "cluster-ca", "", "connect to the cluster with TLS, trusting the authorities in "+
		"`FILE` (PEM)")
	f.StringVar(&s.address.Certificate, "cluster-cert", "", "present the certificate in `FILE` (PEM) to the cluster")
	f.StringVar(&s.address.Key, "cluster-key", "", "private key of --cluster-cert, in `FILE` (PEM)")
	f.IntVar(&s.options.MaxKey, "max-key", 5000, "refuse keys (partition key and clustering columns) longer than `BYTES`; "+
		"TiKV's storage.max-key-size must be a third larger")
	f.BoolVar(&s.options.KeepVersions, "keep-versions", false, "leave garbage collection of old versions to others, such as "+
		"TiDB")
	f.DurationVar(&s.wait, "wait", 2*time.Minute, "at the start, wait at most this long for the cluster")
}

// addServe adds the flags of serve alone.
func (s *flags) addServe(f *pflag.FlagSet) {
	f.IntVar(&s.options.Split, "split", 8, "split a new table into `N` regions, so that more than one store takes its load; "+
		"1 leaves splitting to TiKV")
	command.NodeFlags(f, &s.node)
}

// maxSplit limits --split: TiKV easily splits a region into that many.
const maxSplit = 1024

// open connects to the cluster.
func (s *flags) open(ctx context.Context, fold engine.Fold, log zerolog.Logger) (engine.Engine, error) {
	for address := range strings.SplitSeq(s.pd, ",") {
		if address = strings.TrimSpace(address); address != "" {
			s.address.PD = append(s.address.PD, address)
		}
	}
	switch {
	case len(s.address.PD) == 0:
		return nil, errors.New("--pd ADDRESSES is required: the cluster's placement drivers")
	case s.options.MaxKey < 1024:
		return nil, fmt.Errorf("--max-key %d: want 1024 or more", s.options.MaxKey)
	case s.options.Split < 1 || s.options.Split > maxSplit:
		return nil, fmt.Errorf("--split %d: want a number from 1 to %d", s.options.Split, maxSplit)
	case s.wait < time.Second:
		return nil, fmt.Errorf("--wait %v: want a duration from 1s on", s.wait)
	}
	ctx, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	connection, err := tikv.Connect(ctx, s.address, log)
	if err != nil {
		return nil, s.waited(ctx, err)
	}
	s.options.Log = log
	e, err := tikv.Open(connection, s.options, fold)
	if err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	if err := e.AwaitStores(ctx); err != nil {
		return nil, errors.Join(s.waited(ctx, err), e.Close())
	}
	return e, nil
}

// waited adds the waiting time to an error if it caused the error.
func (s *flags) waited(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("the cluster does not answer within %v (--wait): %w", s.wait, err)
}

// engine returns the engine for the commands of cqld.
func (s *flags) engine() *command.Engine {
	return &command.Engine{
		Program: "cqld-cluster",
		About: "cqld-cluster answers CQL clients as a node of an Apache Cassandra 5.0 cluster, and keeps the data in TiKV. " +
			"Servers with the same prefix are nodes of one cluster.",
		Example: `serve --pd pd1:2379,pd2:2379 --prefix shop --listen 192.0.2.11:9042
serve --pd pd1:2379 --listen 0.0.0.0:9042 --advertise 192.0.2.11 --rack rack1`,
		Reach: s.addReach, Flags: s.addServe, Open: s.open, Shared: &s.node,
	}
}

func main() { command.Main(version, new(flags).engine()) }
