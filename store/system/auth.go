package system

// authTables are the tables of keyspace system_auth, which are stored.
var authTables = []declaration{
	{
		name: "cidr_groups", comment: "cidr groups to cidrs mapping",
		key:     "cidr_group text",
		columns: "cidrs frozen<set<frozen<tuple<inet, smallint>>>>",
	},
	{
		name: "cidr_permissions", comment: "user cidr permissions",
		key:     "role text",
		columns: "cidr_groups frozen<set<text>>",
	},
	{
		name: "identity_to_role", comment: "mtls authorized identities lookup table",
		key:     "identity text",
		columns: "role text",
	},
	{
		name: "network_permissions", comment: "user network permissions",
		key:     "role text",
		columns: "dcs frozen<set<text>>",
	},
	{
		name: "resource_role_permissons_index", comment: "index of db roles with permissions granted on a resource",
		key: "resource text", clustering: "role text",
	},
	{
		name: "role_members", comment: "role memberships lookup table",
		key: "role text", clustering: "member text",
	},
	{
		name: "role_permissions", comment: "permissions granted to db roles",
		key: "role text", clustering: "resource text",
		columns: "permissions set<text>",
	},
	{
		name: "roles", comment: "role definitions",
		key:     "role text",
		columns: "can_login boolean, is_superuser boolean, member_of set<text>, salted_hash text",
	},
}
