package roles

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
)

// writeRole writes a role that may log in, as a superuser can write it to system_auth.roles.
func writeRole(t *testing.T, k *Keeper, name, hash string, login bool) {
	t.Helper()
	w := k.write()
	w.role(role{name: name}, nil, &login, &hash, true)
	if err := w.apply(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// waitUntil waits for a condition.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s never comes true", what)
		}
	}
}

// hold takes all places for hashes until the function that it returns is called.
func (q *hashQueue) hold() (free func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	held := q.free
	q.free = 0
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.free += held
		q.grant()
	}
}

// waiters is how many hashes wait.
func (q *hashQueue) waiters() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.networks {
		n += len(one.waiting)
	}
	return n
}

// Nobody can give a role a hash that makes logins wait. One that is stored already is not compared with, and a line in
// the log says so.
func TestCostlyHashes(t *testing.T) {
	const behindCost = "$JSJEMFm6GeaW9XxT5JIheuEtPvat6i7uKbnTcxX3c1wshIIsGyUtG"
	folder := t.TempDir()
	st, k, _ := open(t, folder)
	alice := &auth.User{Name: "alice", Exists: true, Roles: map[string]bool{"alice": true}}
	for _, cost := range []string{"13", "15", "31"} {
		hash := "$2a$" + cost + behindCost
		own := &cql.AlterRole{Role: "alice", Options: []cql.RoleOption{&cql.RolePassword{Text: hash, Hashed: true}}}
		_, err := k.Run(t.Context(), alice, &auth.Statement{Statement: own})
		if e, ok := cqlerr.As(err); !ok || e.Message != "Hashed passwords of a cost above 12 are not supported by cqld" {
			t.Errorf("cost %s: %v", cost, err)
		}
		writeRole(t, k, "costly"+cost, hash, true)
	}
	began := time.Now()
	for range 100 { // each would take seconds or hours
		if err := k.Login(t.Context(), local, "costly31", "x"); err == nil {
			t.Error("a login is right")
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the logins took %v", took)
	}
	if k.passwords.highest.Load() != int64(bcrypt.MinCost) {
		t.Errorf("refused logins have the cost %d", k.passwords.highest.Load())
	}
	run(t, k, &cql.CreateRole{Role: "strong", Options: []cql.RoleOption{
		&cql.RolePassword{Text: "$2a$12" + behindCost, Hashed: true},
	}})
	if k.passwords.highest.Load() != 12 {
		t.Errorf("with a role whose hash has the cost 12, refused logins have %d", k.passwords.highest.Load())
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, _, logged := open(t, folder)
	defer st.Close()
	if n := strings.Count(logged.String(), "a role cannot log in with its password"); n != 3 {
		t.Errorf("logged %d times: %s", n, logged)
	}
}

// All logins that are refused take as long: those of unknown roles, of roles without a password, of roles that may not
// log in, and of roles whose hashes are cheap or costly.
func TestRefusedLoginsTakeAsLong(t *testing.T) {
	st, k, _ := open(t, t.TempDir())
	defer st.Close()
	roles := []string{"nobody", "none", "cheap", "costly", "no login"}
	const costliest = 7
	for i, cost := range []int{0, 4, costliest, 5} {
		hash := ""
		if cost > 0 {
			var err error
			if hash, err = hashPassword("secret", cost); err != nil {
				t.Fatal(err)
			}
		}
		writeRole(t, k, roles[1+i], hash, roles[1+i] != "no login")
	}
	if _, err := k.examineHashes(t.Context()); err != nil { // as when the roles are opened
		t.Fatal(err)
	}
	least := make([]time.Duration, len(roles))
	waitUntil(t, "that refusals take as long", func() bool {
		shortest, longest := time.Hour, time.Duration(0)
		for i, name := range roles {
			began := time.Now()
			if err := k.Login(t.Context(), local, name, "wrong"); err == nil {
				t.Errorf("%s: a wrong password is right", name)
			}
			if took := time.Since(began); least[i] == 0 || took < least[i] {
				least[i] = took
			}
			shortest, longest = min(shortest, least[i]), max(longest, least[i])
		}
		return longest < shortest*3/2
	})
	if err := k.Login(t.Context(), local, "cheap", "secret"); err != nil {
		t.Error(err)
	}
	if err := k.Login(t.Context(), local, "no login", "secret"); err == nil ||
		!strings.Contains(err.Error(), "no login is not permitted to log in") {
		t.Error(err)
	}
}

// A costly hash that was written to system_auth.roles makes all refusals take as long once it was compared with.
func TestCostIsNoticed(t *testing.T) {
	st, k, _ := open(t, t.TempDir())
	defer st.Close()
	hash, err := hashPassword("secret", 6)
	if err != nil {
		t.Fatal(err)
	}
	writeRole(t, k, "costly", hash, true)
	if err := k.Login(t.Context(), local, "costly", "wrong"); err == nil || k.passwords.highest.Load() != 6 {
		t.Errorf("%v, and refusals have the cost %d", err, k.passwords.highest.Load())
	}
}

// Clients that send the right password at once wait for one hash.
func TestManyLoginsAtOnce(t *testing.T) {
	st, k, _ := open(t, t.TempDir())
	defer st.Close()
	free := k.passwords.queue.hold()
	var logins sync.WaitGroup
	for range 300 {
		logins.Go(func() {
			if err := k.Login(t.Context(), local, defaultSuperuser, defaultPassword); err != nil {
				t.Error(err)
			}
		})
	}
	waitUntil(t, "that one hash waits", func() bool { return k.passwords.queue.waiters() > 0 })
	if n := k.passwords.queue.waiters(); n != 1 {
		t.Errorf("%d hashes wait", n)
	}
	free()
	logins.Wait()
	if n := len(k.passwords.queue.networks) + len(k.passwords.checking); n != 0 {
		t.Errorf("%d networks or attempts are remembered", n)
	}
}

// Wrong passwords from one address do not delay right ones from others, and beyond a number they are refused.
func TestGuessesDelayNoOthers(t *testing.T) {
	st, k, _ := open(t, t.TempDir())
	defer st.Close()
	free := k.passwords.queue.hold()
	guesser := netip.MustParseAddr("2001:db8::1")
	var guesses sync.WaitGroup
	guess := func(from netip.Addr, i int) error {
		return k.Login(t.Context(), from, defaultSuperuser, fmt.Sprint("guess ", i))
	}
	for i := range maxWaiting {
		guesses.Go(func() {
			if err := guess(guesser, i); err == nil {
				t.Error("a guess is right")
			}
		})
	}
	waitUntil(t, "that all guesses wait", func() bool { return k.passwords.queue.waiters() == maxWaiting })
	sibling := netip.MustParseAddr("2001:db8::2") // whoever has the one has the other
	if err := guess(sibling, -1); !errors.Is(err, errManyLogins) {
		t.Errorf("a guess beyond the limit: %v", err)
	}
	right := make(chan int, 1)
	guesses.Go(func() {
		if err := k.Login(t.Context(), local, defaultSuperuser, defaultPassword); err != nil {
			t.Error(err)
		}
		right <- k.passwords.queue.waiters()
	})
	waitUntil(t, "that the right password waits", func() bool { return k.passwords.queue.waiters() == maxWaiting+1 })
	free()
	if n := <-right; n < maxWaiting/2 {
		t.Errorf("only %d guesses waited when the right password was compared", n)
	}
	guesses.Wait()
}

// Networks take turns, each with one hash at a time.
func TestTurnsOfNetworks(t *testing.T) {
	var q hashQueue
	q.init()
	q.free = 2
	type turn struct {
		n    *network
		come chan struct{}
	}
	var turns []turn
	for _, from := range []string{"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.2"} {
		n, come := q.wait(NetworkOf(netip.MustParseAddr(from)))
		turns = append(turns, turn{n, come})
	}
	came := func() (all string) {
		for _, one := range turns {
			select {
			case <-one.come:
				all += "x"
			default:
				all += "-"
			}
		}
		return all
	}
	for i, step := range []struct {
		leaves int
		want   string
	}{{-1, "x--x--"}, {0, "x--xx-"}, {3, "xx-xx-"}, {4, "xx-xxx"}, {1, "xxxxxx"}} {
		if step.leaves >= 0 {
			q.leave(turns[step.leaves].n)
		}
		if got := came(); got != step.want {
			t.Errorf("step %d: the turns are %s, not %s", i, got, step.want)
		}
	}
	q.leave(turns[2].n)
	q.leave(turns[5].n)
	if q.free != 2 || len(q.networks) != 0 || len(q.turns) != 0 {
		t.Errorf("in the end: %+v", &q)
	}
}

// The password of an unknown role waits for its turn like any other, until its client hangs up.
func TestHangingUpBeforeTheTurn(t *testing.T) {
	st, k, _ := open(t, t.TempDir())
	defer st.Close()
	defer k.passwords.queue.hold()()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"nobody", defaultSuperuser} {
		if err := k.Login(ctx, local, name, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s did not wait for the turn to hash: %v", name, err)
		}
	}
	if n := len(k.passwords.queue.networks); n != 0 {
		t.Errorf("%d networks are remembered", n)
	}
}

// A login whose twin has hung up is compared all the same.
func TestTwinsOfWhoHangsUp(t *testing.T) {
	st, k, _ := open(t, t.TempDir())
	defer st.Close()
	free := k.passwords.queue.hold()
	ctx, cancel := context.WithCancel(t.Context())
	outcomes := make(chan error, 2)
	login := func(ctx context.Context) { outcomes <- k.Login(ctx, local, defaultSuperuser, defaultPassword) }
	go login(ctx)
	waitUntil(t, "that the first login waits", func() bool { return k.passwords.queue.waiters() == 1 })
	go login(t.Context())
	cancel()
	if err := <-outcomes; !errors.Is(err, context.Canceled) {
		t.Errorf("the first login: %v", err)
	}
	free()
	if err := <-outcomes; err != nil {
		t.Errorf("the second login: %v", err)
	}
}

// Tokens that are longer than any name and password are refused as they are.
func TestLongTokens(t *testing.T) {
	for _, n := range []int{1000, maxToken} {
		_, _, err := Credentials([]byte("\x00" + strings.Repeat("n", n) + "\x00p"))
		if long := n == maxToken; (err != nil) != long {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestNetworkOf(t *testing.T) {
	for address, want := range map[string]string{
		"10.1.2.3": "10.1.2.3/32", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "::1": "::/64",
	} {
		if got := NetworkOf(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s is in %s, not %s", address, got, want)
		}
	}
	if p := NetworkOf(netip.Addr{}); p != (netip.Prefix{}) {
		t.Errorf("no address is in %v", p)
	}
}
