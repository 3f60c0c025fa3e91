package roles

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/internal/panics"
)

// passwords knows passwords that were right a short while ago, so that a client that opens many connections pays for
// one hash. It keeps a keyed digest of them.
type passwords struct {
	key     [sha256.Size]byte // random
	dummy   string            // the hash of a random password, without its prefix
	highest atomic.Int64      // the highest cost of the hashes of roles, as far as they were seen
	queue   hashQueue

	mu       sync.Mutex
	known    map[string]knownPassword // by role
	checking map[attempt]*check
}

// knownPassword is a password that was right.
type knownPassword struct {
	hash   string // that the role had
	digest [sha256.Size]byte
	until  time.Time
}

// The limits of known passwords. Cassandra keeps credentials as long.
const (
	passwordValidity  = 2 * time.Second
	maxKnownPasswords = 1000
)

// attempt is a password that clients of one network send for a role, which has a hash.
type attempt struct {
	from       netip.Prefix
	name, hash string
	digest     [sha256.Size]byte
}

// check is a comparison that all concurrent attempts with the same password share.
type check struct {
	done  chan struct{} // is closed when the following is known
	right bool
	err   error
}

func (p *passwords) init(cost int) error {
	if _, err := rand.Read(p.key[:]); err != nil {
		return err
	}
	p.known, p.checking = map[string]knownPassword{}, map[attempt]*check{}
	p.queue.init()
	p.highest.Store(int64(cost))
	dummy, err := hashPassword(rand.Text(), bcrypt.MinCost)
	p.dummy = strings.TrimPrefix(dummy, fmt.Sprintf(hashPrefix, bcrypt.MinCost))
	return err
}

// hashPrefix is the prefix of hashes, with their cost.
const hashPrefix = "$2a$%02d"

// seen notes the cost of the hash that a role has.
func (p *passwords) seen(cost int) {
	for old := p.highest.Load(); old < int64(cost) && !p.highest.CompareAndSwap(old, int64(cost)); old = p.highest.Load() {
	}
}

func (p *passwords) digest(password string) (d [sha256.Size]byte) {
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write([]byte(password))
	mac.Sum(d[:0])
	return d
}

// isKnown reports whether the password of a role with a hash was right a short while ago.
func (p *passwords) isKnown(name, hash, password string) bool {
	p.mu.Lock()
	k, ok := p.known[name]
	p.mu.Unlock()
	d := p.digest(password)
	return ok && k.hash == hash && time.Now().Before(k.until) && subtle.ConstantTimeCompare(k.digest[:], d[:]) == 1
}

func (p *passwords) remember(name, hash, password string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxKnownPasswords {
		clear(p.known)
	}
	p.known[name] = knownPassword{hash: hash, digest: p.digest(password), until: time.Now().Add(passwordValidity)}
}

// maxPassword is how many bytes of a password bcrypt uses.
const maxPassword = 72

// hashPassword makes the hash that is stored.
func hashPassword(password string, cost int) (string, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(password)[:min(len(password), maxPassword)], cost)
	return string(hash), err
}

// matches reports whether a password has a hash. It takes as long whether it has or not.
func matches(hash, password string) bool {
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
}

// maxCost is the highest cost of a hash that passwords are compared with: it takes four times as long as Cassandra's
// default. Each refused login takes as long as the costliest hash of a role.
const maxCost = 12

// checkHash refuses a text that is no hash of Cassandra, and hashes that would delay logins.
func checkHash(hash string) error {
	_, err := costOf(hash)
	return err
}

// costOf is the cost of a hash that passwords can be compared with.
func costOf(hash string) (int, error) {
	cost, err := bcrypt.Cost([]byte(hash))
	if cost > maxCost {
		return 0, cqlerr.Invalidf("Hashed passwords of a cost above %d are not supported by cqld", maxCost)
	}
	if err != nil || len(hash) != 60 || !strings.HasPrefix(hash, "$2a$") {
		return 0, cqlerr.Invalidf("Invalid hashed password value. Please use jBcrypt.")
	}
	return cost, nil
}

// Login checks the password of a role for a client. A refused login takes the same time for every role, also for an
// unknown one and for one without a password.
func (k *Keeper) Login(ctx context.Context, client netip.Addr, name, password string) error {
	_, err := k.Begin(ctx, client, name, password)
	return err
}

// Session is a login that goes on without the password: a session of the console opens a connection for each page.
type Session struct{ Role, hash string }

// Begin is Login for a client that will return.
func (k *Keeper) Begin(ctx context.Context, client netip.Addr, name, password string) (Session, error) {
	r, err := k.role(ctx, name)
	if err != nil {
		return Session{}, err
	}
	right := r.hash != "" && k.passwords.isKnown(name, r.hash, password)
	if !right {
		if right, err = k.passwords.check(ctx, NetworkOf(client), name, r.hash, password); err != nil {
			return Session{}, err
		}
	}
	if !right {
		return Session{}, BadCredentials("Provided username " + name + " and/or password are incorrect")
	}
	return Session{name, r.hash}, mayLogIn(&r)
}

// Resume refuses a session whose role has another password since, or may not log in any more.
func (k *Keeper) Resume(ctx context.Context, s Session) error {
	r, err := k.role(ctx, s.Role)
	switch {
	case err != nil:
		return err
	case r.hash != s.hash:
		return BadCredentials("The password of " + s.Role + " has changed")
	}
	return mayLogIn(&r)
}

func mayLogIn(r *role) error {
	if !r.login {
		return BadCredentials(r.name + " is not permitted to log in")
	}
	return nil
}

// BadCredentials refuses a login.
func BadCredentials(text string) error {
	return &cqlerr.Error{Code: cqlerr.BadCredentials, Message: text}
}

// check compares a password with the hash of a role. Clients of one network that send the same wait for one
// comparison.
func (p *passwords) check(ctx context.Context, from netip.Prefix, name, hash, password string) (bool, error) {
	a := attempt{from, name, hash, p.digest(password)}
	for {
		p.mu.Lock()
		c := p.checking[a]
		if c == nil {
			c = &check{done: make(chan struct{})}
			p.checking[a] = c
			p.mu.Unlock()
			c.err = panics.Call(func() (err error) {
				c.right, err = p.compareInTurn(ctx, a, password)
				return err
			})
			p.mu.Lock()
			delete(p.checking, a)
			p.mu.Unlock()
			close(c.done)
			return c.right, c.err
		}
		p.mu.Unlock()
		select {
		case <-c.done:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if !errors.Is(c.err, context.Canceled) { // the client that began it has hung up
			return c.right, c.err
		}
	}
}

// compareInTurn waits for the turn of a network and compares a password.
func (p *passwords) compareInTurn(ctx context.Context, a attempt, password string) (bool, error) {
	n, err := p.queue.enter(ctx, a.from)
	if err != nil {
		return false, err
	}
	defer p.queue.leave(n)
	if p.isKnown(a.name, a.hash, password) { // from another network, meanwhile
		return true, nil
	}
	right := p.compare(a.hash, password)
	if right {
		p.remember(a.name, a.hash, password)
	}
	return right, nil
}

// compare compares a password with a hash, which may be missing. A wrong password always takes as long as the
// costliest hash: after the hash it is compared with a dummy of the same cost, of the next one and so on, each of
// which doubles the time.
func (p *passwords) compare(hash, password string) bool {
	cost, err := costOf(hash)
	switch {
	case err != nil:
		matches(p.dummyOf(int(p.highest.Load())), password)
		return false
	case matches(hash, password):
		return true
	}
	p.seen(cost)
	for ; int64(cost) < p.highest.Load(); cost++ {
		matches(p.dummyOf(cost), password)
	}
	return false
}

// dummyOf is a hash of a cost that no password has.
func (p *passwords) dummyOf(cost int) string { return fmt.Sprintf(hashPrefix, cost) + p.dummy }

// maxToken is how many bytes of a token are looked at: more than any role's name and password.
const maxToken = 128 << 10

// Credentials are the role and the password of a SASL PLAIN token: parts with NUL between them, the first of which may
// be missing.
func Credentials(token []byte) (name, password string, err error) {
	if len(token) > maxToken {
		return "", "", BadCredentials("Provided username and/or password are incorrect")
	}
	parts := strings.Split(string(token), "\x00")
	n := len(parts)
	missing := ""
	switch {
	case n > 3:
		missing = `Credential format error: username or password is empty or contains NUL(\0) character`
	case n == 1 || parts[n-1] == "":
		missing = "Password must not be null"
	case n == 2 || parts[n-2] == "":
		missing = "Authentication ID must not be null"
	}
	if missing != "" {
		return "", "", BadCredentials(missing)
	}
	return validText(parts[n-2]), validText(parts[n-1]), nil
}

// validText has a replacement character for each byte that is no part of a character, as Java reads texts.
func validText(s string) string { return string([]rune(s)) }

// LoginByIdentity returns the role of an identity, which has to be one that may log in.
func (k *Keeper) LoginByIdentity(ctx context.Context, identity string) (name string, err error) {
	if name, err = k.roleOf(ctx, identity); err != nil {
		return "", err
	}
	if name == "" {
		return "", BadCredentials("Certificate identity '" + identity + "' not authorized")
	}
	r, err := k.role(ctx, name)
	if err == nil && !r.login {
		err = BadCredentials(name + " is not permitted to log in")
	}
	return name, err
}
