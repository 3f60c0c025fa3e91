"""Types session.txt into a real cqlsh on a terminal and compares what it shows with transcript.txt.

    CQL_ADDR=HOST:PORT python transcript.py            compare
    CQL_ADDR=HOST:PORT python transcript.py --record   write transcript.txt; only from a real Cassandra

With CQLSH another program runs instead of cqlsh: cqld with that name, which is its own shell. See without_own.

With CQL_CA cqlsh connects through TLS, and shows the certificate of CQL_CERT and CQL_KEY if they are set.

<TAB> at the end of a line presses the tab key there: cqlsh completes the word, and the line is thrown
away. What differs from run to run is made equal first: see normalize.
"""

import difflib
import os
import pathlib
import re
import sys
import tempfile

import pexpect

HERE = pathlib.Path(__file__).parent
TRANSCRIPT = HERE / "transcript.txt"
KEYSPACE = "drivers_cqlsh"
PROMPT = r"(?:cqlsh(?::\w+)?> |\n +\.\.\. )"
MORE = r"---MORE---"
CLEAR_LINE = "\x15"


class Shell:
    """A cqlsh on a terminal of its own."""

    def __init__(self, addr, *options):
        host, port = addr.rsplit(":", 1)
        own = os.environ.get("CQLSH")
        cqlsh = own or pathlib.Path(sys.executable).parent / "cqlsh"
        self.home = tempfile.TemporaryDirectory()  # no cqlshrc
        arguments = [host, port, "--no-color", "--disable-history", *options]
        if os.environ.get("CQL_CA"):
            arguments += ["--ssl", f"--cqlshrc={self.write_cqlshrc()}"]
        env = {"HOME": self.home.name, "PATH": os.environ["PATH"], "TERM": "xterm" if own else "dumb", "LANG": "C.UTF-8", "TZ": "UTC"}
        self.child = pexpect.spawn(
            str(cqlsh), arguments, env=env, encoding="utf-8", timeout=30, dimensions=(200, 400)
        )

    def write_cqlshrc(self):
        """A configuration with the files of TLS."""
        path = pathlib.Path(self.home.name) / "cqlshrc"
        lines = ["[ssl]", f"certfile = {os.environ['CQL_CA']}", "validate = true"]
        if os.environ.get("CQL_CERT"):
            lines += [f"usercert = {os.environ['CQL_CERT']}", f"userkey = {os.environ['CQL_KEY']}"]
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
        path.chmod(0o600)
        return path

    def until_prompt(self):
        """What is shown up to and with the next prompt; pages are turned with the return key."""
        shown = ""
        while self.child.expect([PROMPT, MORE]) == 1:
            shown += self.child.before + self.child.after + "\n"
            self.child.send("\r")
        return shown + self.child.before + self.child.after

    def type(self, line):
        if not line.endswith("<TAB>"):
            self.child.send(line + "\r")
            return self.until_prompt()
        self.child.send(line.removesuffix("<TAB>") + "\t")
        shown = self.until_quiet()
        self.child.send(CLEAR_LINE + "\r")
        self.until_quiet()
        return shown

    def until_quiet(self):
        """What is shown until nothing has come for two seconds: a completion ends with no prompt."""
        shown = ""
        while self.child.expect([r".+", pexpect.TIMEOUT], timeout=2) == 0:
            shown += self.child.after
        return shown

    def close(self):
        self.child.sendline("EXIT")
        self.child.expect(pexpect.EOF)


def clean(text):
    """A terminal's output as lines."""
    return [as_drawn(line).rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def as_drawn(line):
    """A line as the terminal shows it, after an editor has drawn it again and again behind the prompt: ESC [ n G moves
    to a column, and ESC [ K erases the rest. Other sequences are left out.
    """
    cells, at, moved = [], 0, False
    for move, erase, other, character in re.findall(r"\x1b\[(\d*)G|(\x1b\[0?K)|(\x1b\[[0-9;?]*[A-Za-z])|(.)", line, re.DOTALL):
        if character:
            cells[at:at + 1] = [" "] * (at - len(cells)) + [character]
            at += 1
        elif erase:
            del cells[at:]
        elif not other:
            moved, at = True, int(move or 1) - 1
    return "".join(cells).lstrip() if moved else "".join(cells)


def normalize(line, shown):
    """Make equal what may differ: addresses, trace ids and times, and other people's keyspaces."""
    shown = [re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", s) for s in shown]
    if line == "DESCRIBE KEYSPACES":
        words = [w for s in shown[1:-1] for w in s.split()]
        kept = sorted(w for w in words if w.startswith("system") or w == KEYSPACE)
        return [shown[0], *kept, shown[-1]]
    at = next((i for i, s in enumerate(shown) if s.startswith("Tracing session: ")), None)
    if at is not None:
        shown = shown[:at] + normalize_trace(shown[at:-1]) + shown[-1:]
    return shown


def normalize_trace(shown):
    """A trace keeps its header and the two activities that every trace has, without times and widths.

    The steps between them are the server's own.
    """
    kept = ["Tracing session: ID"]
    for s in shown[1:]:
        columns = [c.strip() for c in s.split(" | ")]
        if len(columns) != 5:
            continue
        if columns[0] in ("Execute CQL3 query", "Request complete"):
            columns[1] = re.sub(r"\d", "0", columns[1])
            columns[3] = "--" if columns[3] == "--" else str(int(columns[3]) * 0)
        elif columns[0] != "activity":
            continue
        kept.append(" | ".join(columns))
    return kept


def run(addr):
    shell = Shell(addr)
    lines = normalize("", clean(shell.until_prompt()))
    shell.child.send(f"DROP KEYSPACE IF EXISTS {KEYSPACE};\r")
    shell.until_prompt()
    for line in (HERE / "session.txt").read_text(encoding="utf-8").splitlines():
        lines += normalize(line, clean(shell.type(line)))
    shell.close()
    return lines


def release(addr, provider=None):
    """What the server says it is; a table that only Cassandra fills tells it from others."""
    from cassandra.cluster import Cluster

    host, port = addr.rsplit(":", 1)
    with Cluster([host], port=int(port), auth_provider=provider) as cluster:
        session = cluster.connect()
        session.execute("SELECT name FROM system_views.thread_pools WHERE name = 'MutationStage'").one().name
        return session.execute("SELECT release_version FROM system.local").one().release_version


def compare_or_record(path, what, run, release):
    """Compares what run shows with the transcript at path, or with --record writes it."""
    addr = os.environ["CQL_ADDR"]
    if "--record" in sys.argv:
        stamp = f"# recorded from: Cassandra {release(addr)}"
        path.write_text("\n".join([stamp, *run(addr), ""]), encoding="utf-8")
        print("recorded", path)
        return
    want = path.read_text(encoding="utf-8").splitlines()[1:]
    got = run(addr)
    if os.environ.get("CQLSH"):
        want, got = without_own(want), without_own(got)
    differences = list(difflib.unified_diff(want, got, "Cassandra", addr, lineterm="", n=3))
    if differences:
        print("\n".join(differences))
        sys.exit(f"{what}: the transcript differs from Cassandra's")
    print(f"{what}: ok")


def without_own(lines):
    """Leaves out what cqlsh says about itself, its spaces before empty maps, how a line is drawn again, and the statement
    below a syntax error."""
    kept = []
    for line in lines:
        if line.startswith("WARNING: cqlsh was built against") or re.fullmatch(r"  +\^+", line):
            continue
        if kept and kept[-1].startswith("SyntaxException") and re.match(r"  \S", line):
            continue
        line = re.sub(r" +\{\}", " {}", re.sub(r"^\[cqlsh \S+ ", "[cqlsh ", line))
        kept.append(re.sub(r"^.+cqlsh:\w+> (?=\S)", "", line))
    return kept


def main():
    compare_or_record(TRANSCRIPT, "cqlsh 6.2.2", run, release)


if __name__ == "__main__":
    main()
