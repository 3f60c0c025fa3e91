// Command cqld-cluster is cqld with its data in a TiKV cluster. It has the same commands; serve wants --pd and has no
// folder of its own. Several servers of a prefix are nodes of one cluster.
package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/command"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

// version is set when a release is linked.
var version = ""

// flags are what serve has beside the flags of cqld.
type flags struct {
	pd      string
	address tikv.Address
	options tikv.Options
	node    cluster.Options
}

func (s *flags) add(f *flag.FlagSet) {
	f.StringVar(&s.pd, "pd", "", "the `addresses` of the cluster's placement drivers, with commas between them")
	f.StringVar(&s.options.Prefix, "prefix", "cqld", "the `name` of the data in the cluster")
	f.StringVar(&s.address.Authorities, "cluster-ca", "", "a `file` in PEM with the authorities of the cluster's "+
		"certificates; empty: the cluster is spoken to without TLS")
	f.StringVar(&s.address.Certificate, "cluster-cert", "", "a `file` in PEM with the certificate that the cluster is shown")
	f.StringVar(&s.address.Key, "cluster-key", "", "a `file` in PEM with its key")
	f.IntVar(&s.options.MaxKey, "max-key", 5000, "how many `bytes` a key may have, with the partition key and the clustering "+
		"columns; TiKV's storage.max-key-size has to be a third more")
	f.BoolVar(&s.options.KeepVersions, "keep-versions", false, "leave the collection of old versions to others, like TiDB")
	f.DurationVar(&s.options.ClockInterval, "clock-interval", 50*time.Millisecond, "PD's `setting` "+
		"tso-update-physical-interval")
	command.NodeFlags(f, &s.node)
}

// open connects to the cluster.
func (s *flags) open(fold engine.Fold, log zerolog.Logger) (engine.Engine, error) {
	for address := range strings.SplitSeq(s.pd, ",") {
		if address = strings.TrimSpace(address); address != "" {
			s.address.PD = append(s.address.PD, address)
		}
	}
	switch {
	case len(s.address.PD) == 0:
		return nil, errors.New("--pd names no placement driver of a cluster")
	case s.options.MaxKey < 1024:
		return nil, fmt.Errorf("--max-key %d: want 1024 at least", s.options.MaxKey)
	case s.options.ClockInterval < time.Millisecond || s.options.ClockInterval > 10*time.Second:
		return nil, fmt.Errorf("--clock-interval %v: want a time from 1ms to 10s, as PD does", s.options.ClockInterval)
	}
	connection, err := tikv.Connect(s.address, log)
	if err != nil {
		return nil, err
	}
	s.options.Log = log
	e, err := tikv.Open(connection, s.options, fold)
	if err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return e, nil
}

func main() {
	var s flags
	command.Main(version, &command.Engine{Flags: s.add, Open: s.open, Shared: &s.node})
}
