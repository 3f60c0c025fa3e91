"""Compares what the Python driver makes of the definitions of cqld with what it makes of Cassandra's.

    CQL_ADDR=HOST:PORT CASSANDRA_ADDR=HOST:PORT python metadata.py

Every schema in compat_tests/schemas is made on both; the driver's own text of the keyspace and of each thing in it must be
the same. Schemas that cqld does not support yet are counted. Exits with 1 if any differ.
"""

import difflib
import os
import pathlib
import re
import sys

from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import WhiteListRoundRobinPolicy

SCHEMAS = pathlib.Path(__file__).parent / "../../schemas/testdata"
SIMPLE = " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


def connect(variable):
    host, port = os.environ[variable].rsplit(":", 1)
    profile = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([host]), request_timeout=120)
    cluster = Cluster([host], port=int(port), protocol_version=5, execution_profiles={EXEC_PROFILE_DEFAULT: profile},
                      schema_event_refresh_window=-1)
    return cluster, cluster.connect()


def schemas():
    """Yields the name and the statements of each schema."""
    for path in sorted(SCHEMAS.glob("*.txt")):
        for part in path.read_text().split("\n== ")[1:]:
            title, body = part.split("\n----\n")[0].split("\n", 1)
            body = re.sub(r"^(pending|not fed back): .*\n", "", body, flags=re.M)
            yield title.removesuffix(" internals"), [s.strip() for s in re.split(r"(?<=;)\n", body + "\n") if s.strip()]


def make(session, name, statements):
    """Makes a schema and reports whether the server supports it."""
    session.execute("DROP KEYSPACE IF EXISTS " + name)
    if not statements[0].startswith("CREATE KEYSPACE"):
        session.execute(f"CREATE KEYSPACE {name}{SIMPLE}")
        session.execute("USE " + name)
    for i, statement in enumerate(statements):
        try:
            session.execute(statement)
        except Exception as e:
            if "is not supported by cqld yet" in str(e):
                return False
            raise
        if i == 0:
            session.execute("USE " + name)
    return True


def texts(cluster, name):
    """The driver's texts of a keyspace, without what is drawn."""
    name = name[1:-1] if name.startswith('"') else name.lower()
    cluster.refresh_keyspace_metadata(name)
    k = cluster.metadata.keyspaces[name]
    all = [k.export_as_string(), k.as_cql_query(), k.replication_strategy.export_for_schema()]
    for kind in (k.user_types, k.tables, k.views, k.functions, k.aggregates):
        for key in sorted(kind):
            all.append(f"-- {key}")
            all.append(kind[key].as_cql_query(formatted=True))
    for key in sorted(k.tables):
        t = k.tables[key]
        all.append(f"-- {key}: {sorted(t.indexes)} {sorted(t.views)} {sorted(t.triggers)} {t.is_compact_storage} {t.virtual}")
        all += [f"{c.name}: {c.cql_type} {c.is_static} {c.is_reversed}" for c in t.columns.values()]
        all.append(repr(sorted((o, str(v)) for o, v in t.options.items() if o != "id")))
    return re.sub(r"ID = [0-9a-f-]{36}", "ID = *", "\n".join(all)).splitlines()


def main():
    ours, cassandra = connect("CQL_ADDR"), connect("CASSANDRA_ADDR")
    same = different = waiting = 0
    for name, statements in schemas():
        if not make(ours[1], name, statements):
            waiting += 1
            continue
        try:
            make(cassandra[1], name, statements)
            diff = list(difflib.unified_diff(texts(cassandra[0], name), texts(ours[0], name), "Cassandra", "cqld", n=0, lineterm=""))
        finally:
            cassandra[1].execute("DROP KEYSPACE IF EXISTS " + name)
        same, different = same + (not diff), different + bool(diff)
        if diff:
            print(name, *diff[:20], sep="\n")
    print(f"python: {same} schemas alike, {different} differ, {waiting} are not supported yet")
    sys.exit(1 if different else 0)


main()
