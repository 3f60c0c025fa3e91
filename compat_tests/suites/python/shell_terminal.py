"""A plugin of pytest that runs cqlsh's tests with the shell of cqld.

cqlsh edits lines with readline, which prints only what Tab adds to the line. The shell's editor prints the whole line
again for each key, in colours. This finds the completed line in that output, and gives the tests what
readline would have printed; what is completed and offered is not changed.

Terminals are read in whole characters, which the tests do not care for.
"""

import codecs
import os
import re

from cqlshlib.test import run_cqlsh, test_cqlsh_completion

START = run_cqlsh.ProcRunner.start_proc
LINES = run_cqlsh.ProcRunner.read_lines
COMPLETION = test_cqlsh_completion.CqlshCompletionCase

# The editor draws a line after the prompt for each key: it moves there, erases the rest, and draws up to the cursor.
DRAWN = re.compile(r"\x1b\[\d+G((?:(?!\x1b\[\d+G)[^\r\n])*)\x1b\[0K\x1b\[\d+G")
DRAWS = re.compile(r"(?:\x1b\[\d+G[^\r\n]*)?" + DRAWN.pattern)
EMPTY = r"\x1b\[\d+G(\x1b\[0m)?\x1b\[0K\x1b\[\d+G(\x1b\[0m)?"  # after the prompt
COLORS = re.compile(r"\x1b\[[\d;]*m")


def start_proc(self):
    self.decoder = codecs.getincrementaldecoder("utf-8")()
    START(self)


def read_tty(self, blksize, timeout=None):
    while True:
        chunk = os.read(self.childpty, blksize)
        text = self.decoder.decode(chunk, final=not chunk)
        if text or not chunk:
            return text


def as_readline(output):
    """Returns an output with each line as the editor drew it last."""
    found = DRAWS.search(output)
    if not found:
        return output
    drawn, rest = found.group(1), output[found.end():]
    if rest.startswith(drawn):
        rest = rest[len(drawn):]
    return output[:found.start()] + COLORS.sub("", drawn) + as_readline(rest)


def read_to_next_prompt(self, timeout=10.0):
    drawn = "" if self.env["TERM"] in ("", "dumb") else EMPTY
    return as_readline(self.read_until(self.prompt + drawn, timeout=timeout))


def read_lines(self, *args, **kwargs):
    return [as_readline(each) for each in LINES(self, *args, **kwargs)]


def get_completions(self, inputstring, split_completed_lines=True):
    self.cqlsh.send(inputstring + test_cqlsh_completion.TAB)
    output = self.cqlsh.read_up_to_timeout(test_cqlsh_completion.COMPLETION_RESPONSE_TIME)
    drawn = DRAWN.findall(output)
    line = COLORS.sub("", drawn[-1]) if drawn else inputstring
    if line != inputstring:
        same = len(os.path.commonprefix([line, inputstring]))
        return "\b" * (len(inputstring) - same) + line[same:]
    self.cqlsh.send(test_cqlsh_completion.TAB)
    output = self.cqlsh.read_up_to_timeout(test_cqlsh_completion.COMPLETION_RESPONSE_TIME)
    self.cqlsh.send(test_cqlsh_completion.CTRL_C)
    self.cqlsh.read_to_next_prompt()
    if "\n" not in output:
        return set() if split_completed_lines else []
    lines = [each.strip() for each in output.splitlines()[1:-1]]
    lines = [each for each in lines if each]
    return set(" ".join(lines).split()) if split_completed_lines else lines


run_cqlsh.ProcRunner.start_proc = start_proc
run_cqlsh.ProcRunner.read_tty = read_tty
run_cqlsh.ProcRunner.read_lines = read_lines
run_cqlsh.CqlshRunner.read_to_next_prompt = read_to_next_prompt
COMPLETION._get_completions = get_completions
