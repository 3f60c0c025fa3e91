"""Runs the scripts of protocol/client/shell/testdata in a real cqlsh, and compares what it prints with the .txt files.

    CQL_ADDR=HOST:PORT python scripts.py            compare
    CQL_ADDR=HOST:PORT python scripts.py --record   write the .txt files; only from a real Cassandra

The tests of that package run the same scripts in cqld's shell and compare them with the same files.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from transcript import release

FOLDER = pathlib.Path(__file__).parents[3] / "protocol/client/shell/testdata"


def run(addr, script):
    """What cqlsh prints: the output, the errors and the exit code."""
    host, port = addr.rsplit(":", 1)
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONWARNINGS": "ignore"}
        cqlsh = pathlib.Path(sys.executable).parent / "cqlsh"
        done = subprocess.run(
            [str(cqlsh), host, port, "-f", script.name],
            cwd=FOLDER, env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=300, check=False,
        )
    return normalize(done.stdout) + ["== errors"] + normalize(done.stderr) + [f"== exit {done.returncode}"]


def normalize(text):
    """Leaves out what differs from server to server: addresses, tokens, times, and a warning of cqlsh about itself."""
    lines = []
    text = re.sub(r"(?m)^(Processed: .*\n\n)*(Processed: .*\n)", "", text.replace("\r", "\n"))
    for line in text.splitlines():
        if line.startswith("WARNING: cqlsh was built against") or "DateOverFlowWarning" in line:
            continue
        if re.match(r" +-?\d+  \[|Using \d+ child processes|Processed: ", line):
            continue
        line = re.sub(r" in \d.* seconds", " in N seconds", line)
        line = re.sub(r"\[cqlsh \S+ \|", "[cqlsh VERSION |", line)
        lines.append(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", line))
    return lines


def main():
    addr = os.environ["CQL_ADDR"]
    failed = False
    for script in sorted(FOLDER.glob("*.cql")):
        path = script.with_suffix(".txt")
        if "--record" in sys.argv:
            stamp = f"# recorded from: cqlsh 6.2.2, Cassandra {release(addr)}"
            path.write_text("\n".join([stamp, *run(addr, script), ""]), encoding="utf-8")
            print("recorded", path.name)
            continue
        want = path.read_text(encoding="utf-8").splitlines()[1:]
        differences = list(difflib.unified_diff(want, run(addr, script), "Cassandra", addr, lineterm="", n=3))
        print("\n".join(differences) if differences else f"{script.name}: ok")
        failed = failed or bool(differences)
    if failed:
        sys.exit("cqlsh 6.2.2: scripts print something else than on Cassandra")


if __name__ == "__main__":
    main()
