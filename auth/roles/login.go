package roles

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/cqld/cqld/cql/cqlerr"
)

// passwords knows passwords that were right a short while ago, so that a client that opens many connections pays for
// one hash. It keeps a keyed digest of them.
type passwords struct {
	key     [sha256.Size]byte // random
	dummy   string            // the hash of a password that nobody has
	hashing chan struct{}     // has a place for each hash that may be computed at the same time

	mu    sync.Mutex
	known map[string]knownPassword // by role
}

// knownPassword is a password that was right.
type knownPassword struct {
	hash   string // that the role had
	digest [sha256.Size]byte
	until  time.Time
}

// The limits of known passwords. Cassandra keeps credentials as long.
const (
	passwordValidity   = 2 * time.Second
	mostKnownPasswords = 1000
)

func (p *passwords) init(cost int) (err error) {
	if _, err := rand.Read(p.key[:]); err != nil {
		return err
	}
	p.known = map[string]knownPassword{}
	p.hashing = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	p.dummy, err = hashPassword(rand.Text(), cost)
	return err
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
	if len(p.known) >= mostKnownPasswords {
		clear(p.known)
	}
	p.known[name] = knownPassword{hash: hash, digest: p.digest(password), until: time.Now().Add(passwordValidity)}
}

// longestPassword is how many bytes of a password bcrypt looks at.
const longestPassword = 72

// hashPassword makes the hash that is stored.
func hashPassword(password string, cost int) (string, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(password)[:min(len(password), longestPassword)], cost)
	return string(hash), err
}

// matches reports whether a password has a hash. It takes as long whether it has or not.
func matches(hash, password string) bool {
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
}

// mostCost is the highest cost of a hash that is compared with. One more doubles the time, which is seconds here.
const mostCost = 15

// checkHash refuses what is no hash that Cassandra can compare with, and hashes that would keep logins waiting.
func checkHash(hash string) error {
	cost, err := bcrypt.Cost([]byte(hash))
	if cost > mostCost {
		return cqlerr.Invalidf("Hashed passwords of a cost above %d are not supported by cqld", mostCost)
	}
	if err != nil || len(hash) != 60 || !strings.HasPrefix(hash, "$2a$") {
		return cqlerr.Invalidf("Invalid hashed password value. Please use jBcrypt.")
	}
	return nil
}

// Login checks the password of a role. An unknown role is told and takes as long as a wrong password.
func (k *Keeper) Login(ctx context.Context, name, password string) error {
	r, err := k.role(ctx, name)
	if err != nil {
		return err
	}
	right := r.hash != "" && k.passwords.isKnown(name, r.hash, password)
	if !right {
		if right, err = k.compare(ctx, r, password); err != nil {
			return err
		}
	}
	switch {
	case !right:
		return BadCredentials("Provided username " + name + " and/or password are incorrect")
	case !r.login:
		return BadCredentials(name + " is not permitted to log in")
	}
	return nil
}

// BadCredentials refuses a login.
func BadCredentials(text string) error {
	return &cqlerr.Error{Code: cqlerr.BadCredentials, Message: text}
}

// compare compares the password with the hash of a role, or with a hash that nobody has.
func (k *Keeper) compare(ctx context.Context, r role, password string) (bool, error) {
	select {
	case k.passwords.hashing <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-k.passwords.hashing }()
	hash := r.hash
	if checkHash(hash) != nil {
		hash = k.passwords.dummy
	}
	right := matches(hash, password) && hash == r.hash
	if right {
		k.passwords.remember(r.name, r.hash, password)
	}
	return right, nil
}

// Credentials are the role and the password of a SASL PLAIN token: parts with NUL between them, the first of which may
// be missing.
func Credentials(token []byte) (name, password string, err error) {
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
