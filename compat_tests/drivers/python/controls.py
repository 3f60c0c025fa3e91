"""What a test of an application in Python does with a server of its own: it starts cqld, the binary that CQLD names,
moves the clock over a TTL, has requests fail in every way, and goes back to a snapshot."""

import os
import socket
import subprocess
import time

from cassandra import (
    ConsistencyLevel,
    OperationTimedOut,
    ReadFailure,
    ReadTimeout,
    Unavailable,
    WriteFailure,
    WriteTimeout,
)
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.policies import FallthroughRetryPolicy, RoundRobinPolicy
from cassandra.protocol import IsBootstrappingErrorMessage, OverloadedErrorMessage, ServerError, TruncateError
from cassandra.query import SimpleStatement


def start():
    """Starts cqld on a free port, and returns the process and the port once it answers."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    binary, address = os.environ["CQLD"], f"127.0.0.1:{port}"
    server = subprocess.Popen(
        [binary, "serve", "--memory", "--test-controls", "--log-level", "error", "--listen", address]
    )
    while subprocess.run([binary, "ping", address], capture_output=True).returncode != 0:
        assert server.poll() is None, "cqld has ended"
        time.sleep(0.01)
    return server, port


def expire(session):
    """Moves the clock over the TTL of a row."""
    session.execute("INSERT INTO shop.carts (id, item) VALUES (1, 'tea') USING TTL 3600")
    assert session.execute("SELECT item FROM shop.carts WHERE id = 1").one().item == "tea"
    session.execute("UPDATE cqld_control.clock SET advance = 61m WHERE key = 'local'")
    assert session.execute("SELECT item FROM shop.carts WHERE id = 1").one() is None
    session.execute("DELETE FROM cqld_control.clock WHERE key = 'local'")


# What a fault is made of, the statement that meets it, and the exception with its fields.
FAULTS = [
    (
        {"act": "unavailable", "level": "EACH_QUORUM", "required": 4, "alive": 1},
        "SELECT * FROM shop.carts WHERE id = 1",
        Unavailable,
        {"consistency": ConsistencyLevel.EACH_QUORUM, "required_replicas": 4, "alive_replicas": 1},
    ),
    (
        {"act": "read_timeout", "block_for": 2, "received": 1, "data_present": True},
        "SELECT * FROM shop.carts WHERE id = 1",
        ReadTimeout,
        {
            "consistency": ConsistencyLevel.LOCAL_ONE,
            "required_responses": 2,
            "received_responses": 1,
            "data_retrieved": True,
        },
    ),
    (
        {"act": "write_timeout", "block_for": 3, "received": 2, "write_type": "BATCH_LOG"},
        "INSERT INTO shop.carts (id) VALUES (2)",
        WriteTimeout,
        {"required_responses": 3, "received_responses": 2, "write_type": 4},
    ),
    (
        {"act": "read_failure", "block_for": 2, "received": 1, "reasons": {"127.0.0.2": 1}},
        "SELECT * FROM shop.carts WHERE id = 1",
        ReadFailure,
        {"required_responses": 2, "received_responses": 1, "failures": 1, "error_code_map": {"127.0.0.2": 1}},
    ),
    (
        {"act": "write_failure", "reasons": {"127.0.0.2": 0, "127.0.0.3": 2}},
        "INSERT INTO shop.carts (id) VALUES (2)",
        WriteFailure,
        {"failures": 2, "error_code_map": {"127.0.0.2": 0, "127.0.0.3": 2}, "write_type": 0},
    ),
    ({"act": "overloaded"}, "SELECT * FROM shop.carts", OverloadedErrorMessage, {"code": 0x1001}),
    ({"act": "is_bootstrapping"}, "SELECT * FROM shop.carts", IsBootstrappingErrorMessage, {"code": 0x1002}),
    ({"act": "truncate_error", "kind": "truncate"}, "TRUNCATE shop.carts", TruncateError, {"code": 0x1003}),
    ({"act": "server_error", "message": "disk on fire"}, "SELECT * FROM shop.carts", ServerError, {}),
    ({"delay": "30s"}, "SELECT * FROM shop.carts", OperationTimedOut, {}),
]


def insert_fault(session, columns):
    """Puts a rule in force for the tables of keyspace shop."""
    columns = {"name": "fault", "keyspace_name": "shop", **columns}
    text = ", ".join(columns)
    duration = {"delay"}  # is written as a literal: the driver's own type for it needs no string
    values = ", ".join(columns[c] if c in duration else "%s" for c in columns)
    session.execute(
        f"INSERT INTO cqld_control.faults ({text}) VALUES ({values})",
        [v for c, v in columns.items() if c not in duration],
    )


def fail(session):
    """Has a statement meet each fault."""
    for columns, statement, kind, fields in FAULTS:
        insert_fault(session, columns)
        try:
            session.execute(SimpleStatement(statement), timeout=0.5)
            raise AssertionError(f"{columns}: no error")
        except NoHostAvailable as e:  # the driver has tried the other nodes, which there are not
            error = next(iter(e.errors.values()))
        except Exception as e:
            error = e
        assert isinstance(error, kind), f"{columns}: {type(error).__name__} {error}"
        for name, value in fields.items():
            assert getattr(error, name) == value, f"{columns}: {name} is {getattr(error, name)}, want {value}"
        rule = session.execute("SELECT matched, acted FROM cqld_control.faults WHERE name = 'fault'").one()
        assert rule.acted >= 1, f"{columns}: {rule}"
        session.execute("TRUNCATE cqld_control.faults")


def lost(session):
    """Has a write be applied whose answer is lost, as the client sees when it reads."""
    insert_fault(session, {"act": "write_timeout", "kind": "insert", "after_applying": True, "times": 1})
    try:
        session.execute("INSERT INTO shop.carts (id, item) VALUES (3, 'milk')")
        raise AssertionError("no error")
    except WriteTimeout:
        pass
    assert session.execute("SELECT item FROM shop.carts WHERE id = 3").one().item == "milk"
    session.execute("DELETE FROM cqld_control.faults WHERE name = 'fault'")


def go_back(session):
    """Takes a snapshot and restores it; a statement that was prepared before stays so."""
    insert = session.prepare("INSERT INTO shop.carts (id, item) VALUES (?, ?)")
    session.execute("INSERT INTO cqld_control.snapshots (name) VALUES ('start')")
    before = len(list(session.execute("SELECT id FROM shop.carts")))
    for i in range(100, 110):
        session.execute(insert, (i, "tea"))
    restore = session.prepare("UPDATE cqld_control.snapshots SET restore = true WHERE name = ?")
    session.execute(restore, ("start",))
    assert len(list(session.execute("SELECT id FROM shop.carts"))) == before
    session.execute(insert, (100, "tea"))


def see(session):
    """Sees what has run."""
    session.execute("TRUNCATE cqld_control.statements")
    session.execute("SELECT item FROM shop.carts")
    rows = list(session.execute("SELECT statement, full_scan FROM cqld_control.statements"))
    assert ("SELECT item FROM shop.carts", True) in [(r.statement, r.full_scan) for r in rows], rows


def main():
    server, port = start()
    try:
        profile = ExecutionProfile(
            load_balancing_policy=RoundRobinPolicy(), retry_policy=FallthroughRetryPolicy(), request_timeout=30
        )
        cluster = Cluster(
            ["127.0.0.1"], port=port, protocol_version=5, execution_profiles={EXEC_PROFILE_DEFAULT: profile}
        )
        session = cluster.connect()
        session.execute(
            "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
        )
        session.execute("CREATE TABLE shop.carts (id int PRIMARY KEY, item text)")
        for step in (expire, fail, lost, go_back, see):
            step(session)
        cluster.shutdown()
    finally:
        server.terminate()
        server.wait()
    print("python with controls: ok")


if __name__ == "__main__":
    main()
