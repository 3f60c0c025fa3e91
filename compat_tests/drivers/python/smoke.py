"""What an application does with the Python driver, against the server named by CQL_ADDR: connect, define,
prepare, write 10,000 rows, page through them, see a schema event, USE, and get errors by their class.

With CQL_CA it connects through TLS, and shows the certificate of CQL_CERT and CQL_KEY if they are set."""

import os
import ssl
import time

from cassandra import AlreadyExists, InvalidRequest
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.policies import RoundRobinPolicy
from cassandra.protocol import SyntaxException

KEYSPACE = "driver_python"
ROWS = 10_000
PARTITIONS = 10


def tls():
    """What the driver needs to speak TLS; None: it does not."""
    if not os.environ.get("CQL_CA"):
        return None
    context = ssl.create_default_context(cafile=os.environ["CQL_CA"])
    if os.environ.get("CQL_CERT"):
        context.load_cert_chain(os.environ["CQL_CERT"], os.environ["CQL_KEY"])
    return context


def connect(addr, version, compression):
    host, port = addr.rsplit(":", 1)
    cluster = Cluster(
        [host],
        port=int(port),
        protocol_version=version,
        compression=compression,
        ssl_context=tls(),
        ssl_options={"server_hostname": host} if tls() else None,
        schema_event_refresh_window=0,
        execution_profiles={
            EXEC_PROFILE_DEFAULT: ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), request_timeout=30)
        },
    )
    return cluster, cluster.connect()


def define(session):
    session.execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}")
    session.execute(
        f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
    )
    session.execute(f"CREATE TABLE {KEYSPACE}.rows (p int, c int, v text, PRIMARY KEY (p, c))")


def write_rows(session):
    insert = session.prepare(f"INSERT INTO {KEYSPACE}.rows (p, c, v) VALUES (?, ?, ?)")
    rows = [(i % PARTITIONS, i // PARTITIONS, f"value {i}") for i in range(ROWS)]
    execute_concurrent_with_args(session, insert, rows, concurrency=100)


def read_rows(session):
    select = session.prepare(f"SELECT p, c, v FROM {KEYSPACE}.rows")
    select.fetch_size = 100
    result = session.execute(select)
    assert len(result.current_rows) == 100, f"{len(result.current_rows)} rows on the first page"
    seen = set()
    for row in result:
        i = row.c * PARTITIONS + row.p
        assert row.v == f"value {i}", row
        assert i not in seen, f"{row} came twice"
        seen.add(i)
    assert len(seen) == ROWS, f"{len(seen)} rows came"


def schema_event(addr, version, compression, cluster):
    other, session = connect(addr, version, compression)
    session.execute(f"CREATE TABLE {KEYSPACE}.seen (k int PRIMARY KEY, v text)")
    other.shutdown()
    deadline = time.monotonic() + 10
    while "seen" not in cluster.metadata.keyspaces[KEYSPACE].tables:
        assert time.monotonic() < deadline, "no schema event in 10 s"
        time.sleep(0.02)
    assert list(cluster.metadata.keyspaces[KEYSPACE].tables["seen"].columns) == ["k", "v"]


def use(session):
    session.execute(f"USE {KEYSPACE}")
    assert session.keyspace == KEYSPACE
    select = "SELECT v FROM rows WHERE p = 3 AND c = 7"
    assert session.execute(select).one().v == "value 73"
    assert session.execute(session.prepare(select)).one().v == "value 73"


def expect(kind, session, cql):
    try:
        session.execute(cql)
    except kind as error:
        return error
    raise AssertionError(f"{cql}: expected {kind}")


def errors(session):
    expect(SyntaxException, session, "SELEC * FROM rows")
    expect(InvalidRequest, session, "SELECT nope FROM rows")
    exists = expect(AlreadyExists, session, "CREATE TABLE rows (k int PRIMARY KEY)")
    assert (exists.keyspace, exists.table) == (KEYSPACE, "rows"), exists


def smoke(addr, version, compression):
    cluster, session = connect(addr, version, compression)
    define(session)
    write_rows(session)
    read_rows(session)
    schema_event(addr, version, compression, cluster)
    use(session)
    errors(session)
    session.execute(f"DROP KEYSPACE {KEYSPACE}")
    assert cluster.protocol_version == version
    cluster.shutdown()
    print(f"python cassandra-driver 3.30.1 v{version} {compression or 'none'}: ok", flush=True)


if __name__ == "__main__":
    for version, compression in [(3, False), (4, False), (4, "lz4"), (5, False), (5, "lz4")]:
        smoke(os.environ["CQL_ADDR"], version, compression)
