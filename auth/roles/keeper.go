package roles

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/store"
)

// Keeper has the roles of a store.
type Keeper struct {
	store     *store.Store
	log       zerolog.Logger
	cost      int
	inCluster func(datacenter string) bool

	version atomic.Uint64
	changes sync.Mutex // held from the check of a change until it is made

	mu    sync.RWMutex
	users map[string]*auth.User // by name, as of some version

	passwords passwords
}

// Options configure a Keeper. Only Store is required.
type Options struct {
	Store      *store.Store
	Log        zerolog.Logger
	Cost       int    // of bcrypt, the logarithm of its rounds, up to 12; 0: DefaultCost
	Datacenter string // ACCESS TO DATACENTERS may name it; "": datacenter1

	// HasDatacenter reports whether there is a datacenter; nil: Datacenter is the only one.
	HasDatacenter func(name string) bool
}

// DefaultCost is the cost of the hashes that Cassandra makes.
const DefaultCost = 10

// The superuser of a server that has no roles.
const (
	defaultSuperuser = "cassandra"
	defaultPassword  = "cassandra"
)

// Open returns the roles of a store. If it has none it gets the superuser cassandra, whose password is cassandra.
func Open(o Options) (*Keeper, error) {
	k := &Keeper{store: o.Store, log: o.Log, cost: o.Cost, inCluster: o.HasDatacenter, users: map[string]*auth.User{}}
	if k.cost == 0 {
		k.cost = DefaultCost
	}
	if k.cost > maxCost {
		return nil, fmt.Errorf("a bcrypt cost of %d is above %d", k.cost, maxCost)
	}
	if k.inCluster == nil {
		only := cmp.Or(o.Datacenter, "datacenter1")
		k.inCluster = func(name string) bool { return name == only }
	}
	k.version.Store(1)
	if err := k.passwords.init(k.cost); err != nil {
		return nil, err
	}
	ctx := context.Background()
	some, err := k.examineHashes(ctx)
	if err != nil {
		return nil, err
	}
	if !some {
		if err := k.createSuperuser(ctx); err != nil {
			return nil, err
		}
	}
	return k, k.warnOfDefault(ctx)
}

// examineHashes notes the highest cost of the hashes of roles, and warns about hashes that cannot be compared. It
// reports whether there are roles.
func (k *Keeper) examineHashes(ctx context.Context) (some bool, err error) {
	hash := k.table("roles").Column("salted_hash").Index
	err = k.read(ctx, store.Read{Table: k.table("roles")}, func(row *store.Row) {
		some = true
		if len(row.Values[hash]) == 0 {
			return
		}
		cost, err := costOf(string(row.Values[hash]))
		if err != nil {
			k.log.Warn().Bytes("role", row.Partition).Str("reason", err.Error()).Msg("a role cannot log in with its password")
		}
		k.passwords.seen(cost)
	})
	return some, err
}

// createSuperuser makes the first role. Its cells have the oldest timestamp, so that any earlier write to the role
// wins.
func (k *Keeper) createSuperuser(ctx context.Context) error {
	hash, err := hashPassword(defaultPassword, k.cost)
	if err != nil {
		return err
	}
	w := k.write()
	w.at = 0
	yes := true
	w.role(role{name: defaultSuperuser}, &yes, &yes, &hash, true)
	if err := w.apply(ctx); err != nil {
		return err
	}
	k.log.Info().Str("role", defaultSuperuser).Msg("created the default superuser")
	return nil
}

// warnOfDefault warns while the superuser has the default password.
func (k *Keeper) warnOfDefault(ctx context.Context) error {
	r, err := k.role(ctx, defaultSuperuser)
	if err == nil && r.login && r.super && matches(r.hash, defaultPassword) {
		k.log.Warn().Str("role", defaultSuperuser).
			Msg("the default superuser still has the default password: change it or make another superuser and drop this one")
	}
	return err
}

// Version is a number that changes with every change of roles and permissions.
func (k *Keeper) Version() uint64 {
	version := k.version.Load()
	if k.store.Cluster() != nil {
		version += uint64(time.Since(opened) / sharedFor) // other nodes may have changed something
	}
	return version
}

// opened is when the process began.
var opened = time.Now()

// sharedFor is how long a node of a cluster keeps a role that it has read: half of Cassandra's default.
const sharedFor = time.Second

// Changed makes a new version. It is called after rows of system_auth have changed.
func (k *Keeper) Changed() { k.version.Add(1) }

// User is a role as it is now, with all that it was granted.
func (k *Keeper) User(ctx context.Context, name string) (*auth.User, error) {
	version := k.Version()
	k.mu.RLock()
	u := k.users[name]
	k.mu.RUnlock()
	if u != nil && u.Version == version {
		return u, nil
	}
	u, err := k.load(ctx, name, version)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.users[name]; known == nil || known.Version < version {
		if len(k.users) >= maxUsers {
			clear(k.users)
		}
		k.users[name] = u
	}
	return u, nil
}

// maxUsers is how many users are kept.
const maxUsers = 10000

// load reads the roles and permissions of a user, as of a version or later.
func (k *Keeper) load(ctx context.Context, name string, version uint64) (*auth.User, error) {
	all, err := k.inherited(ctx, name, true)
	if err != nil {
		return nil, err
	}
	u := &auth.User{Name: name, Roles: map[string]bool{}, Granted: map[string]auth.Permissions{}, Version: version}
	for _, r := range all {
		u.Exists = u.Exists || r.name == name
		u.Super = u.Super || r.super
		u.Roles[r.name] = true
		if err := k.permissionsOf(ctx, r.name, "", func(resource string, p auth.Permissions) {
			u.Granted[resource] |= p
		}); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// inherited are a role and the roles that were granted to it: directly, or also indirectly. Roles that were dropped
// are left out.
func (k *Keeper) inherited(ctx context.Context, name string, indirectly bool) ([]role, error) {
	seen := map[string]bool{name: true}
	var all []role
	for next, first := []string{name}, true; len(next) > 0; first = false {
		var above []string
		for _, n := range next {
			r, err := k.role(ctx, n)
			if err != nil {
				return nil, err
			}
			if !r.exists {
				continue
			}
			all = append(all, r)
			for _, m := range r.memberOf {
				if (first || indirectly) && !seen[m] {
					seen[m] = true
					above = append(above, m)
				}
			}
		}
		next = above
	}
	return all, nil
}
