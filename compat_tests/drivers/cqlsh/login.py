"""Logs in with a real cqlsh on a terminal, and compares what it shows with login_transcript.txt.

    CQL_ADDR=HOST:PORT python login.py            compare
    CQL_ADDR=HOST:PORT python login.py --record   write login_transcript.txt; only from a real Cassandra

The server asks for passwords and has the role cassandra with its first password. First cqlsh starts in vain, without a
password and with a wrong one; then it asks for the password itself, and login_session.txt is typed.
"""

import difflib
import os
import pathlib
import sys

import pexpect
from transcript import Shell, clean, normalize

HERE = pathlib.Path(__file__).parent
TRANSCRIPT = HERE / "login_transcript.txt"
PASSWORD_PROMPT = "[Pp]assword: ?"


def refused(addr, *options):
    """What a cqlsh shows that cannot log in."""
    shell = Shell(addr, *options)
    shell.child.expect(pexpect.EOF)
    return normalize("", clean(shell.child.before))


def run(addr):
    lines = ["== without a password", *refused(addr)]
    lines += ["== with a wrong password", *refused(addr, "-u", "cassandra", "-p", "wrong")]
    lines += ["== with a role that does not exist", *refused(addr, "-u", "nobody", "-p", "wrong")]
    shell = Shell(addr, "-u", "cassandra")
    shell.child.expect(PASSWORD_PROMPT)
    shell.child.send("cassandra\r")
    lines += ["== with the password", *normalize("", clean(shell.until_prompt()))]
    for line in (HERE / "login_session.txt").read_text(encoding="utf-8").splitlines():
        lines += normalize(line, clean(shell.type(line)))
    shell.close()
    return lines


def main():
    addr = os.environ["CQL_ADDR"]
    if "--record" in sys.argv:
        from cassandra.auth import PlainTextAuthProvider
        from cassandra.cluster import Cluster

        host, port = addr.rsplit(":", 1)
        provider = PlainTextAuthProvider("cassandra", "cassandra")
        with Cluster([host], port=int(port), auth_provider=provider) as cluster:
            session = cluster.connect()
            session.execute("SELECT name FROM system_views.thread_pools WHERE name = 'MutationStage'").one().name
            release = session.execute("SELECT release_version FROM system.local").one().release_version
        stamp = f"# recorded from: Cassandra {release}"
        TRANSCRIPT.write_text("\n".join([stamp, *run(addr), ""]), encoding="utf-8")
        print("recorded", TRANSCRIPT)
        return
    want = TRANSCRIPT.read_text(encoding="utf-8").splitlines()[1:]
    differences = list(difflib.unified_diff(want, run(addr), "Cassandra", addr, lineterm="", n=3))
    if differences:
        print("\n".join(differences))
        sys.exit("cqlsh 6.2.2: the login differs from Cassandra's")
    print("cqlsh 6.2.2 login: ok")


if __name__ == "__main__":
    main()
