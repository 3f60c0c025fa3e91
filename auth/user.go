package auth

import "github.com/cqld/cqld/cql/cqlerr"

// User is a role that has logged in, with the permissions that it was granted.
type User struct {
	Name    string
	Super   bool            // the role, or one granted to it, is a superuser
	Exists  bool            // the role was not dropped since
	Roles   map[string]bool // the role itself and all that were granted to it, also indirectly
	Version uint64          // of all roles and permissions, when they were looked at

	// Granted are the permissions by the names of their resources.
	Granted map[string]Permissions
}

// IsSuper reports whether the user may do everything: superusers may, and all clients where there are no logins.
func (u *User) IsSuper() bool { return u == nil || u.Super }

// Has reports whether the user has a permission on a resource or one above it.
func (u *User) Has(p Permissions, r Resource) bool {
	if u.IsSuper() {
		return true
	}
	for _, one := range r.Above() {
		if u.Granted[one.name]&p != 0 {
			return true
		}
	}
	return false
}

// Holds reports whether the user has a permission on just this resource.
func (u *User) Holds(p Permissions, r Resource) bool { return u.IsSuper() || u.Granted[r.name]&p != 0 }

// Check refuses a need that the user has no permission for.
func (u *User) Check(n *Need) error {
	if u.IsSuper() || n.free {
		return nil
	}
	for _, name := range n.granted {
		if u.Granted[name]&n.Permission != 0 {
			return nil
		}
	}
	return cqlerr.Unauthorizedf("User %s has no %s permission on %s or any of its parents", u.Name, n.Permission, n.Resource)
}

// CheckAll refuses a statement for the first of its needs that the user lacks.
func (u *User) CheckAll(needs []Need) error {
	if u.IsSuper() {
		return nil
	}
	for i := range needs {
		if err := u.Check(&needs[i]); err != nil {
			return err
		}
	}
	return nil
}
