package tikv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/tikv/client-go/v2/config"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/util"
	pd "github.com/tikv/pd/client"
	"github.com/tikv/pd/client/opt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// Address says where a cluster is.
type Address struct {
	PD []string // addresses of placement drivers, as host:port

	// Files in PEM for TLS; empty: the cluster speaks without it. The key is the certificate's.
	Authorities, Certificate, Key string
}

// The times of waiting for a cluster: between attempts, for an attempt to read, and between lines in the log.
const (
	attemptAfter = 500 * time.Millisecond
	readIn       = 3 * time.Second
	tellEvery    = 10 * time.Second
)

// Connect connects to a cluster, and waits until its PD answers or ctx ends. What client-go logs goes to log. Its
// settings are those of the process: all connections of a process use the same files for TLS.
func Connect(ctx context.Context, a Address, log zerolog.Logger) (store *tikv.KVStore, err error) {
	logTo(log)
	security := config.NewSecurity(a.Authorities, a.Certificate, a.Key, nil)
	if _, err := security.ToTLSConfig(); err != nil {
		return nil, fmt.Errorf("TLS to the cluster: %w", err)
	}
	config.UpdateGlobal(func(c *config.Config) { c.Security = security })
	shortenPauses()
	return store, attempt(ctx, log, func() error {
		store, err = connect(ctx, a)
		return err
	})
}

// connect tries once to connect.
func connect(ctx context.Context, a Address) (*tikv.KVStore, error) {
	c := config.GetGlobalConfig()
	// The connection outlives ctx, unless that ends before it is made.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)()
	placement, err := pd.NewClientWithContext(life, a.PD, pd.SecurityOption{
		CAPath: c.Security.ClusterSSLCA, CertPath: c.Security.ClusterSSLCert, KeyPath: c.Security.ClusterSSLKey,
	}, opt.WithGRPCDialOptions(grpc.WithKeepaliveParams(keepalive.ClientParameters{
		Time: time.Duration(c.TiKVClient.GrpcKeepAliveTime) * time.Second, Timeout: c.TiKVClient.GetGrpcKeepAliveTimeout(),
	})), opt.WithCustomTimeoutOption(time.Duration(c.PDClient.PDServerTimeout)*time.Second), opt.WithMaxErrorRetry(1))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("connect to PD at %v: %w", a.PD, err)
	}
	codec := tikv.NewCodecPDClient(tikv.ModeTxn, util.InterceptedPDClient{Client: placement})
	rpc := tikv.NewRPCClient(tikv.WithSecurity(c.Security), tikv.WithCodec(codec.GetCodec()))
	store, err := tikv.NewKVStore("cqld-"+uuid.NewString(), codec, pointInPD{codec}, rpc)
	if err != nil {
		placement.Close()
		return nil, errors.Join(fmt.Errorf("connect to the cluster: %w", err), rpc.Close())
	}
	return store, nil
}

// AwaitStores waits until a store answers, or ctx ends.
func (e *Engine) AwaitStores(ctx context.Context) error {
	return attempt(ctx, e.options.Log, func() error {
		ctx, cancel := context.WithTimeout(ctx, readIn)
		defer cancel()
		_, err := e.cluster.GetSnapshot(math.MaxUint64).Get(ctx, leaseKey)
		if err != nil && !tikverr.IsErrNotFound(err) {
			return fmt.Errorf("read from the cluster: %w", err)
		}
		return nil
	})
}

// attempt calls try until it succeeds or ctx ends, and logs what is waited for.
func attempt(ctx context.Context, log zerolog.Logger, try func() error) error {
	var told time.Time
	began := time.Now()
	for {
		err := try()
		switch {
		case err == nil && !told.IsZero():
			log.Info().Dur("after", time.Since(began)).Msg("the cluster answers")
			return nil
		case err == nil || ctx.Err() != nil:
			return err
		case time.Since(told) >= tellEvery:
			told = time.Now()
			log.Warn().Err(err).Msg("waiting for the cluster")
		}
		sleep(ctx, attemptAfter)
	}
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
