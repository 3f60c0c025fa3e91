"""Logs in with a real cqlsh on a terminal, and compares what it shows with login_transcript.txt.

    CQL_ADDR=HOST:PORT python login.py            compare
    CQL_ADDR=HOST:PORT python login.py --record   write login_transcript.txt; only from a real Cassandra

The server asks for passwords and has the role cassandra with its first password. First cqlsh starts in vain, without a
password and with a wrong one; then it asks for the password itself, and login_session.txt is typed.
"""

import pathlib

import pexpect
from transcript import Shell, clean, compare_or_record, normalize, release

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


def first_release(addr):
    """What the server says it is to its first role."""
    from cassandra.auth import PlainTextAuthProvider

    return release(addr, PlainTextAuthProvider("cassandra", "cassandra"))


def main():
    compare_or_record(TRANSCRIPT, "cqlsh 6.2.2 login", run, first_release)


if __name__ == "__main__":
    main()
