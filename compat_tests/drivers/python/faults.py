"""Has statements meet each fault of ../faults.json, and checks that the driver raises its own exception with the right
fields, and that what was to be applied is applied. CQL_ADDR is a cqld with --test-controls."""

import json
import os
import struct
import time
from pathlib import Path

from cassandra import (
    ConsistencyLevel,
    InvalidRequest,
    OperationTimedOut,
    ReadFailure,
    ReadTimeout,
    Unauthorized,
    Unavailable,
    WriteFailure,
    WriteTimeout,
    WriteType,
)
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.connection import ConnectionShutdown
from cassandra.policies import ConstantReconnectionPolicy, FallthroughRetryPolicy, RoundRobinPolicy
from cassandra.protocol import (
    ConfigurationException,
    ErrorMessage,
    IsBootstrappingErrorMessage,
    OverloadedErrorMessage,
    ServerError,
    SyntaxException,
    TruncateError,
)
from cassandra.query import SimpleStatement

# Exceptions that have no field but their text.
PLAIN = {
    OverloadedErrorMessage: "overloaded",
    IsBootstrappingErrorMessage: "is_bootstrapping",
    TruncateError: "truncate_error",
    ServerError: "server_error",
    InvalidRequest: "invalid",
    SyntaxException: "syntax_error",
    Unauthorized: "unauthorized",
    ConfigurationException: "config_error",
    OperationTimedOut: "timeout",
    ConnectionShutdown: "closed",
}

# The names of the table's fields and those of the driver's attributes.
ATTRIBUTES = {
    "required": "required_replicas",
    "alive": "alive_replicas",
    "received": "received_responses",
    "block_for": "required_responses",
    "data_present": "data_retrieved",
    "failures": "failures",
    "reasons": "error_code_map",
}

FIELDS = {
    Unavailable: ("unavailable", ["required", "alive"]),
    ReadTimeout: ("read_timeout", ["received", "block_for", "data_present"]),
    WriteTimeout: ("write_timeout", ["received", "block_for"]),
    ReadFailure: ("read_failure", ["received", "block_for", "data_present", "failures", "reasons"]),
    WriteFailure: ("write_failure", ["received", "block_for", "failures", "reasons"]),
}

CAS_WRITE_UNKNOWN = 0x1700  # has no class: the driver raises an ErrorMessage with the code and without the fields


def describe(error):
    """Returns an exception in the words of the table."""
    if isinstance(error, NoHostAvailable):  # the driver has looked for other nodes
        error = next(iter(error.errors.values()))
    if type(error) in FIELDS:
        kind, names = FIELDS[type(error)]
        described = {"kind": kind, "level": ConsistencyLevel.value_to_name[error.consistency]}
        described |= {name: getattr(error, ATTRIBUTES[name]) for name in names}
        if hasattr(error, "write_type"):
            described["write_type"] = WriteType.value_to_name[error.write_type]
        return described
    if type(error) in PLAIN:
        return {"kind": PLAIN[type(error)], "message": getattr(error, "message", str(error))}
    if type(error) is ErrorMessage and error.code == CAS_WRITE_UNKNOWN:
        return {"kind": "cas_write_unknown"}
    if isinstance(error, struct.error):  # of the driver's reader
        return {"kind": "malformed"}
    return {"kind": f"{type(error).__name__}: {error}"}


def expected(error):
    """Returns what describe is to return for an error of the table."""
    if error and error["kind"] == "cas_write_unknown":
        return {"kind": "cas_write_unknown"}
    return error


def reconnect(session):
    """Waits until the driver has connected again."""
    for _ in range(2000):
        try:
            return session.execute("SELECT key FROM system.local")
        except Exception:
            time.sleep(0.01)
    raise AssertionError("the driver does not connect again")


def meet(session, case, number, prepared):
    """Has a statement meet a fault, and returns what is wrong."""
    text = case["statement"].replace("$id", str(number))
    statement = session.prepare(text) if prepared else SimpleStatement(text)
    rule = json.dumps({"name": "python", "keyspace_name": "faults_python", **case["fault"]})
    session.execute("INSERT INTO cqld_control.faults JSON '" + rule + "' DEFAULT UNSET")
    error, began = None, time.monotonic()
    try:
        session.execute(statement, timeout=1 if case.get("error", {}).get("kind") == "timeout" else 30)
    except Exception as e:
        error = describe(e)
    took = 1000 * (time.monotonic() - began)
    reconnect(session)
    want = expected(case.get("error"))
    if error and "message" in error and "message" not in want:
        del error["message"]
    if error and "message" in error and want["message"] in error["message"]:
        error["message"] = want["message"]
    wrong = [] if error == want else [f"the error is {error}, want {want}"]
    acted = session.execute("SELECT acted FROM cqld_control.faults WHERE name = 'python'").one().acted
    if acted < 1 and (prepared or case["fault"].get("act") != "unprepared"):
        wrong.append("the rule has not acted")
    session.execute("DELETE FROM cqld_control.faults WHERE name = 'python'")
    if took < case.get("takes", 0):
        wrong.append(f"it took {took} ms")
    applied = session.execute(f"SELECT id FROM t WHERE id = {number}").one() is not None
    if "applied" in case and applied != case["applied"]:
        wrong.append(f"applied: {applied}")
    return wrong


def main():
    host, port = os.environ["CQL_ADDR"].rsplit(":", 1)
    table = json.loads((Path(__file__).parent.parent / "faults.json").read_text())
    profile = ExecutionProfile(
        load_balancing_policy=RoundRobinPolicy(),
        retry_policy=FallthroughRetryPolicy(),
        consistency_level=ConsistencyLevel.LOCAL_QUORUM,
    )
    cluster = Cluster(
        [host],
        port=int(port),
        protocol_version=5,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        reconnection_policy=ConstantReconnectionPolicy(0.01, None),
    )
    session = cluster.connect()
    session.execute("DROP KEYSPACE IF EXISTS faults_python")
    session.execute(
        "CREATE KEYSPACE faults_python WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.set_keyspace("faults_python")
    session.execute("CREATE TABLE t (id int PRIMARY KEY)")
    failed = 0
    for i, case in enumerate(table):
        for prepared in (False, True):
            for wrong in meet(session, case, 2 * i + prepared, prepared):
                failed += 1
                print(f"{case['fault']}, prepared {prepared}: {wrong}")
    cluster.shutdown()
    if failed:
        raise SystemExit(1)
    print(f"python: {len(table)} faults, ok")


if __name__ == "__main__":
    main()
