"""What fuzzers of commands and files share: processes of their own, calls with a time limit, and what counts as a finding."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from solfec.errors import NotBuiltYet, SolfecError
from solfec.language.checks import BadArgument

DOCUMENTED = (BadArgument, SolfecError, NotBuiltYet)


class Odd:
    """Something that no command can use."""

    def __repr__(self) -> str:
        return "Odd()"


def campaign(quick: int, seeds, count: int, timeout: int = 2000):
    """Parametrize a test by `seed` and `count`: few of seed 1 among the default tests, and many of other seeds in the slow tier."""
    slow = [pytest.mark.slow, pytest.mark.timeout(timeout)]
    return pytest.mark.parametrize(("seed", "count"), [(1, quick), *(pytest.param(seed, count, marks=slow) for seed in seeds)])


def run(program: Path, seed: int, count: int, directory: Path, *words: str) -> subprocess.CompletedProcess:
    """Run a fuzzer in a process of its own, which must not crash; it ends with status 1 and prints a line per finding."""
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parent))
    command = [sys.executable, str(program), str(seed), str(count), *words]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done


def raised_by(action, patience: int) -> BaseException | None:
    """Call a function that has so many seconds; return the exception that it raises."""

    def expire(number, frame):
        raise TimeoutError(f"more than {patience} s")

    signal.signal(signal.SIGALRM, expire)
    signal.alarm(patience)
    try:
        action()
    except (Exception, SystemExit) as error:
        return error
    finally:
        signal.alarm(0)
    return None


class Findings(set):
    """What calls have done wrong."""

    def judge(self, name: str, shown: str, error: BaseException | None, meaningless: bool, allowed: bool) -> None:
        """Add a call that took a meaningless argument, or raised an exception that is not documented or does not name the command."""
        if error is None:
            if meaningless:
                self.add(f"accepted: {shown}")
        elif not allowed:
            self.add(f"{type(error).__name__}: {error}: {shown}")
        elif isinstance(error, BadArgument) and not str(error).startswith(name):
            self.add(f"does not name its command: {error}: {shown}")

    def report(self) -> int:
        """Print them; return the status of the process."""
        for finding in sorted(self):
            print(finding.encode("ascii", "backslashreplace").decode())
        return 1 if self else 0
