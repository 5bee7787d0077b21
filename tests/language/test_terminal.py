"""What a user sees of a run on a real terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios

RUN = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/watched')
BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))
OUTPUT(solfec, 1E6)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 1E6)
"""


def watch(tmp_path, columns, text=RUN, press=True):
    """Start a run on a terminal, press Ctrl-C after some reports; return status and what was on the terminal."""
    (tmp_path / "input.py").write_text(text)
    process, terminal = pty.fork()
    if process == 0:
        try:
            os.chdir(tmp_path)
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
            os.execv(sys.executable, [sys.executable, "-m", "solfec.cli", "-i", "0.02", "input.py"])
        finally:
            os._exit(127)
    seen, pressed = "", False
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data.decode()
        if press and not pressed and seen.count("\r\033[K") > 3:
            os.write(terminal, b"\x03")
            pressed = True
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen


def test_reports_replace_one_another_within_the_width_of_the_terminal(tmp_path):
    status, seen = watch(tmp_path, 50)
    assert status == 130
    lines = seen.split("\r\n")
    assert lines[0].startswith("1 body") and lines[-1] == ""
    reports = lines[1].replace("^C", "").split("\r\033[K")[:-1]  # Ctrl-C's message cleared the line
    assert len(reports) > 3
    assert max(map(len, reports)) < 50, reports
    assert "Ctrl-C once more ends at once" in lines[2] + lines[3]
    assert re.match(r"stopped at time .* by Ctrl-C", lines[-3].split("\033[K")[-1]) and "took" in lines[-2]


TALK = RUN.replace(
    "RUN(",
    """
from time import sleep
def talk():
    sleep(0.03)  # so that a report stands there each time
    print('talked at %g' % solfec.time)
CALLBACK(solfec, 1E-3, (), talk)
RUN(""",
)


def test_what_a_callback_prints_has_a_line_of_its_own(tmp_path):
    status, seen = watch(tmp_path, 90, TALK)
    assert status == 130
    shown = [line.split("\r\033[K")[-1] for line in seen.split("\r\n")]  # what is left on a line when it ends
    talked = [line for line in shown if "talked" in line]
    assert len(talked) > 2 and all(re.fullmatch(r"talked at [\d.e-]+", line) for line in talked), talked


def test_an_error_does_not_begin_behind_a_report(tmp_path):
    status, seen = watch(tmp_path, 90, TALK.replace("print('talked", "if solfec.time > 0.0055: raise ValueError('talked"), press=False)
    assert status == 1
    assert "\r\ninput.py:9: ValueError: talked at 0.006\r\n" in seen
