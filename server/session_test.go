package server

import (
	"testing"

	"github.com/cqld/cqld/auth"
)

// Where nobody logs in everybody is a superuser.
func TestSuperuser(t *testing.T) {
	for _, test := range []struct {
		user *auth.User
		want bool
	}{
		{nil, true},
		{&auth.User{Super: true}, true},
		{&auth.User{}, false},
	} {
		var s session
		s.user.Store(test.user)
		if got := s.superuser(); got != test.want {
			t.Errorf("%+v: %t", test.user, got)
		}
	}
}
