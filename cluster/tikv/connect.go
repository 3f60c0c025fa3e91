package tikv

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/util"
	pd "github.com/tikv/pd/client"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Address says where a cluster is.
type Address struct {
	PD []string // addresses of placement drivers, as host:port

	// Files in PEM for TLS; empty: the cluster speaks without it. The key is the certificate's.
	Authorities, Certificate, Key string
}

// Connect connects to a cluster. What client-go logs goes to log. Its settings are those of the process: all
// connections of a process use the same files for TLS.
func Connect(a Address, log zerolog.Logger) (*tikv.KVStore, error) {
	logTo(log)
	security := config.NewSecurity(a.Authorities, a.Certificate, a.Key, nil)
	if _, err := security.ToTLSConfig(); err != nil {
		return nil, fmt.Errorf("TLS to the cluster: %w", err)
	}
	config.UpdateGlobal(func(c *config.Config) { c.Security = security })
	placement, err := tikv.NewPDClient(a.PD)
	if err != nil {
		return nil, fmt.Errorf("connect to PD at %v: %w", a.PD, err)
	}
	codec := tikv.NewCodecPDClient(tikv.ModeTxn, util.InterceptedPDClient{Client: placement})
	rpc := tikv.NewRPCClient(tikv.WithSecurity(security), tikv.WithCodec(codec.GetCodec()))
	store, err := tikv.NewKVStore("cqld-"+uuid.NewString(), codec, pointInPD{codec}, rpc)
	if err != nil {
		placement.Close()
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return store, nil
}

// pointInPD tells client-go up to where versions were collected, so that it refuses to read below. PD knows.
type pointInPD struct{ pd pd.Client }

// safePointTimeout bounds the waiting for PD.
const safePointTimeout = 5 * time.Second

// Get returns the safe point, whatever key is asked for: client-go asks for nothing else.
func (p pointInPD) Get(string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), safePointTimeout)
	defer cancel()
	now, err := p.pd.UpdateGCSafePoint(ctx, 0) // it never goes back
	return strconv.FormatUint(now, 10), err
}

// Put does nothing: the collection tells PD itself.
func (pointInPD) Put(string, string) error { return nil }

// GetWithPrefix returns nothing: there are no other records.
func (pointInPD) GetWithPrefix(string) ([]*mvccpb.KeyValue, error) { return nil, nil }

// Close has nothing to close.
func (pointInPD) Close() error { return nil }
