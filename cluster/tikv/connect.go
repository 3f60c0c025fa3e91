package tikv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/pingcap/log"
	"github.com/rs/zerolog"
	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/config/retry"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/util"
	pd "github.com/tikv/pd/client"
	"github.com/tikv/pd/client/opt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/keepalive"
)

// Address is the address of a cluster.
type Address struct {
	PD []string // HOST:PORT of its placement drivers

	// PEM files for TLS. Without them, connections are not encrypted.
	Authorities, Certificate, Key string
}

// The times of waiting for a cluster.
const (
	attemptInterval = 500 * time.Millisecond
	readTimeout     = 3 * time.Second
	waitLogInterval = 10 * time.Second
)

// Connect connects to a cluster. It waits until PD answers or ctx ends. client-go logs to log. It has one
// configuration per process, so all connections of a process use the same TLS files.
func Connect(ctx context.Context, a Address, log zerolog.Logger) (store *tikv.KVStore, err error) {
	logTo(log)
	security := config.NewSecurity(a.Authorities, a.Certificate, a.Key, nil)
	if _, err := security.ToTLSConfig(); err != nil {
		return nil, fmt.Errorf("TLS to the cluster: %w", err)
	}
	config.UpdateGlobal(func(c *config.Config) { c.Security = security })
	shortenBackoff()
	return store, attempt(ctx, log, func() error {
		store, err = connect(ctx, a)
		return err
	})
}

// connect tries once to connect.
func connect(ctx context.Context, a Address) (*tikv.KVStore, error) {
	c := config.GetGlobalConfig()
	// Once connected, the connection outlives ctx.
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
	store, err := tikv.NewKVStore("cqld-"+uuid.NewString(), codec, safePointInPD{codec}, rpc)
	if err != nil {
		placement.Close()
		return nil, errors.Join(fmt.Errorf("connect to the cluster: %w", err), rpc.Close())
	}
	return store, nil
}

// AwaitStores waits until a store answers or ctx ends.
func (e *Engine) AwaitStores(ctx context.Context) error {
	return attempt(ctx, e.options.Log, func() error {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		_, err := e.cluster.GetSnapshot(math.MaxUint64).Get(ctx, leaseKey)
		if err != nil && !tikverr.IsErrNotFound(err) {
			return fmt.Errorf("read from the cluster: %w", err)
		}
		return nil
	})
}

// attempt calls try until it succeeds or ctx ends, and logs why it waits.
func attempt(ctx context.Context, log zerolog.Logger, try func() error) error {
	var logged time.Time
	began := time.Now()
	for {
		err := try()
		switch {
		case err == nil && !logged.IsZero():
			log.Info().Dur("after", time.Since(began)).Msg("the cluster answers")
			return nil
		case err == nil || ctx.Err() != nil:
			return err
		case time.Since(logged) >= waitLogInterval:
			logged = time.Now()
			log.Warn().Err(err).Msg("waiting for the cluster")
		}
		sleep(ctx, attemptInterval)
	}
}

// safePointInPD gives client-go the safe point, so that it refuses reads of collected versions. PD has it.
type safePointInPD struct{ pd pd.Client }

// safePointTimeout limits the wait for PD.
const safePointTimeout = 5 * time.Second

// Get returns the safe point, the only key that client-go reads.
func (p safePointInPD) Get(string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), safePointTimeout)
	defer cancel()
	now, err := p.pd.UpdateGCSafePoint(ctx, 0) // reads it: PD never moves it back
	return strconv.FormatUint(now, 10), err
}

// Put does nothing: the garbage collection updates PD itself.
func (safePointInPD) Put(string, string) error { return nil }

// GetWithPrefix returns nothing: there are no other records.
func (safePointInPD) GetWithPrefix(string) ([]*mvccpb.KeyValue, error) { return nil, nil }

// Close does nothing.
func (safePointInPD) Close() error { return nil }

// The backoff of client-go, in milliseconds. By default client-go and PD's client back off for up to ten seconds. CQL
// clients give up after about two, so the end of an outage must be noticed sooner.
const (
	minBackoff  = 50
	maxBackoff  = 500
	busyBackoff = 2000 // the maximum for a busy store
)

// shortenBackoff shortens the backoff of client-go in the whole process. The total time of its retries stays the same,
// because client-go limits the sum of the pauses.
var shortenBackoff = sync.OnceFunc(func() {
	retry.BoPDRPC.SetBackoffFnCfg(retry.NewBackoffFnCfg(minBackoff, maxBackoff, retry.EqualJitter))
	retry.BoTiKVRPC.SetBackoffFnCfg(retry.NewBackoffFnCfg(minBackoff, maxBackoff, retry.EqualJitter))
	retry.BoTiKVServerBusy.SetBackoffFnCfg(retry.NewBackoffFnCfg(maxBackoff, busyBackoff, retry.EqualJitter))
})

// reconnectInterval is how often a lost connection to PD is retried. PD's client backs off for up to 3.6 s.
const reconnectInterval = 500 * time.Millisecond

// reconnect retries lost connections to PD until ctx ends.
func reconnect(ctx context.Context, cluster *tikv.KVStore) {
	discovery := cluster.GetPDClient().GetServiceDiscovery()
	if discovery == nil {
		return // a cluster inside this process
	}
	for ctx.Err() == nil {
		sleep(ctx, reconnectInterval)
		discovery.GetClientConns().Range(func(_, c any) bool {
			if conn, ok := c.(*grpc.ClientConn); ok && conn.GetState() == connectivity.TransientFailure {
				conn.ResetConnectBackoff()
			}
			return true
		})
	}
}

// logTo redirects the log of client-go and of PD's client to a logger, one level lower: most of their warnings are
// about errors that they retry.
func logTo(to zerolog.Logger) {
	core := logCore{to: to.With().Str("from", "client-go").Logger()}
	log.ReplaceGlobals(zap.New(core), &log.ZapProperties{Core: core, Level: zap.NewAtomicLevelAt(zapcore.WarnLevel)})
}

// logCore writes zap's entries to zerolog.
type logCore struct{ to zerolog.Logger }

// level maps a level of zap to ours.
func level(l zapcore.Level) zerolog.Level {
	switch {
	case l >= zapcore.DPanicLevel:
		return zerolog.ErrorLevel
	case l >= zapcore.ErrorLevel:
		return zerolog.WarnLevel
	case l >= zapcore.WarnLevel:
		return zerolog.DebugLevel
	}
	return zerolog.TraceLevel
}

// Enabled implements zapcore.Core.
func (c logCore) Enabled(l zapcore.Level) bool {
	return level(l) >= c.to.GetLevel() && level(l) > zerolog.TraceLevel
}

// With implements zapcore.Core.
func (c logCore) With(fields []zapcore.Field) zapcore.Core {
	return logCore{to: c.to.With().Fields(values(fields)).Logger()}
}

// Check implements zapcore.Core.
func (c logCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

// Write implements zapcore.Core.
func (c logCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	c.to.WithLevel(level(e.Level)).Fields(values(fields)).Msg(e.Message)
	return nil
}

// Sync implements zapcore.Core.
func (logCore) Sync() error { return nil }

// values maps the names of fields to their values.
func values(fields []zapcore.Field) map[string]any {
	encoded := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(encoded)
	}
	for name, v := range encoded.Fields {
		if err, ok := v.(error); ok {
			encoded.Fields[name] = fmt.Sprint(err)
		}
	}
	return encoded.Fields
}
