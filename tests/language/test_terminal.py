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


def watch(tmp_path, columns):
    """Start a run on a terminal, press Ctrl-C after some reports; return status and what was on the terminal."""
    (tmp_path / "input.py").write_text(RUN)
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
        if not pressed and seen.count("\r\033[K") > 3:
            os.write(terminal, b"\x03")
            pressed = True
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen


def test_reports_replace_one_another_within_the_width_of_the_terminal(tmp_path):
    status, seen = watch(tmp_path, 50)
    assert status == 130
    lines = seen.split("\r\n")
    assert len(lines) == 3 and lines[2] == ""  # the model, one line of reports, nothing
    reports = re.split(r"(?:\^C)?\r\033\[K", lines[1])
    assert len(reports) > 4
    assert max(map(len, reports[:-1])) < 50, reports
    assert "took" in reports[-1]
