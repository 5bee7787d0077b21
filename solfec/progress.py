"""Output of a run: progress, rate and remaining time, on a terminal, in a notebook or in a log file; and the file STATE."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress
from time import localtime, monotonic, strftime

from .bodies.table import BodyKind
from .domain import Domain
from .notebook import progress_bar
from .parallel.statistics import Statistics
from .terminal import REWRITE, Printed, discard
from .time_step import CLOCKS, PHASES

KIND_NAMES = {
    BodyKind.OBSTACLE: ("obstacle", "obstacles"),
    BodyKind.RIGID: ("rigid", "rigid"),
    BodyKind.PSEUDO_RIGID: ("pseudo-rigid", "pseudo-rigid"),
    BodyKind.FINITE_ELEMENT: ("finite element", "finite element"),
}


class Progress:
    """Reports on a run.

    Parameters
    ----------
    verbose : str
        'ON', 'OFF', '%' (percentage rewritten in place) or '%\\n' (a percentage per line) (docs/language-objects.md, SOLFEC.verbose).
    interval : float
        Seconds of wall time between reports (command line, -i).
    directory : str or None
        Directory of the file STATE.
    quiet : bool
        Print nothing, not even notes.
    """

    def __init__(self, verbose: str, interval: float, directory: str | None, quiet: bool = False):
        self.verbose = verbose
        self.interval = interval
        self.directory = directory
        self.stream = None if quiet else sys.stdout
        self.terminal = self.stream is not None and self.stream.isatty()
        self.seconds = dict.fromkeys(CLOCKS, 0.0)  # that clocks have shown up to the last stored frame
        self._line_open = False
        self._bar = progress_bar(self.stream)

    @property
    def replaces(self) -> bool:
        """Whether a report replaces the former one."""
        return self.terminal or self._bar is not None

    def begin(self, domain: Domain, duration: float, totals: tuple[dict, int] | None = None) -> None:
        """Begin the reports of a RUN; `totals` are numbers of bodies by their kind, and of degrees of freedom, if `domain` does not hold all bodies."""
        self._start_time = domain.time
        self._start_step = domain.step_number
        self._duration = duration
        self._started = self._reported = monotonic()
        if self.verbose == "ON" and domain.step_number == 0:
            numbers, degrees = totals or ({kind: int((domain.bodies.view("kind") == kind).sum()) for kind in KIND_NAMES}, 3 * domain.bodies.triples.n)
            listed = ", ".join(counted(numbers[kind], *names) for kind, names in KIND_NAMES.items() if numbers[kind])
            bodies = counted(sum(numbers.values()), "body", "bodies")
            self._print(f"{bodies}{listed and f' ({listed})'}; {degrees} degrees of freedom; step {domain.step:g}")

    def after_step(self, domain: Domain, constraints: int | None = None, statistics: Statistics | None = None) -> None:
        """Print a report after a step if the interval has passed.

        `constraints` is their number, if `domain` does not hold all; `statistics` are counts of several processes.
        """
        now = monotonic()
        if now - self._reported >= self.interval:
            self._reported = now
            self.report(domain, constraints=constraints, statistics=statistics)

    def report(self, domain: Domain, last: bool = False, constraints: int | None = None, statistics: Statistics | None = None) -> None:
        """Print one report and rewrite STATE."""
        constraints = domain.constraints.n if constraints is None else constraints
        elapsed = monotonic() - self._started
        done = min(1.0, (domain.time - self._start_time) / self._duration) if self._duration > 0.0 else 1.0
        left = elapsed * (1.0 - done) / done if done > 0.0 else 0.0
        rate = (domain.step_number - self._start_step) / elapsed if elapsed > 0.0 else 0.0
        if self.verbose == "ON":
            solver = ""
            if domain.report is not None and domain.report.iterations:
                solver = ", " + counted(domain.report.iterations, "iteration", "iterations")
            listed = counted(constraints, "constraint", "constraints")
            self._print_share(
                done,
                f"{100 * done:5.1f} %  time {domain.time:.6g}  {listed}{solver}  "
                f"{rate:.4g} steps/s  {'took ' + clock_text(elapsed) if last else clock_text(left) + ' left'}",
                last,
            )
        elif self.verbose == "%":
            self._print_share(done, f"{100 * done:3.0f} %", last)
        elif self.verbose == "%\n":
            self._print(f"{100 * done:3.0f} %")
        several = statistics is not None and statistics.processes > 1
        if several and last and self.verbose == "ON":
            self._print("\n".join(statistics.table()))
        self._write_state(domain, left, constraints, statistics if several else None)

    def end(self, domain: Domain, statistics: Statistics | None = None) -> None:
        """End the reports of a RUN with the last one, on a separate line, and with counts of several processes."""
        self.report(domain, last=True, statistics=statistics)

    def note(self, text: str) -> None:
        """Print a line for any value of `verbose`."""
        self._print(text)

    @contextmanager
    def among_prints(self):
        """Let output of the user's callbacks replace the report on a terminal; an error gets a new line."""
        if not self.terminal:
            yield
            return
        before = sys.stdout, sys.stderr
        ours = tuple(Printed(stream, self.make_room) if stream is not None and stream.isatty() else stream for stream in before)
        sys.stdout, sys.stderr = ours
        try:
            yield
        finally:
            sys.stdout, sys.stderr = (old if new is mine else new for old, mine, new in zip(before, ours, (sys.stdout, sys.stderr)))
            self.make_room("\n")

    def make_room(self, text: str = REWRITE) -> None:
        """Clear a report from the terminal, or end its line."""
        if self._line_open and self.stream is not None:
            self._line_open = False
            self._write(text)

    def _print_share(self, share: float, text: str, last: bool) -> None:
        """Print how much is done; the next such report replaces this one, unless it is the last."""
        if self._bar is None:
            self._print(text, rewrite=not last)
        elif self.stream is not None:
            self._bar.show(share, text)

    def _print(self, text: str, rewrite: bool = False) -> None:
        """On a terminal reports replace one another in place; in a file each has its own line.

        Reports end, and the run continues, if the output is closed (a closed pipe, a full disk).
        """
        if self.stream is None:
            return
        start, end = ("", "\n")
        if self.terminal:
            start, end = REWRITE if self._line_open else "", "" if rewrite else "\n"
            if rewrite:  # a line that wraps could not be rewritten
                text = text[: self._width() - 1]
            self._line_open = rewrite
        self._write(start + text + end)

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) == errno.EPIPE:  # the reader has closed the pipe: later output of the input is discarded, too
                discard(self.stream)
            self.stream = None

    def _width(self) -> int:
        """Columns of the terminal at present."""
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or 80
        except (OSError, ValueError):  # a terminal without a size
            return 80

    def _write_state(self, domain: Domain, left: float, constraints: int, statistics: Statistics | None) -> None:
        """Replace STATE as a whole, so that a reader never sees a part of it; failures never stop a run.  `statistics`: counts of several processes."""
        if self.directory is None:
            return
        seconds = {phase: self.seconds[phase] + domain.timings[phase] for phase in (*PHASES, "PARBAL")}
        total = sum(seconds.values()) or 1.0
        bodies, boxes = statistics.total[:2].tolist() if statistics else (domain.bodies.n, domain.geometry.primitives.n)
        lines = [
            f"DATE: {strftime('%Y-%m-%d %H:%M:%S', localtime())}",
            f"ESTIMATED TIME LEFT: {clock_text(left)}",
            f"TIME: {domain.time:.9g}",
            f"STEP: {domain.step:.9g}",
            f"BODIES: {bodies}",
            f"BOXES: {boxes}",
            f"CONSTRAINTS: {constraints}",
            f"SPARSIFIED: {domain.sparsified}",
            *(f"{phase}: {100 * spent / total:.1f} %" for phase, spent in seconds.items()),
            *(statistics.table() if statistics else ()),
        ]
        temporary = os.path.join(self.directory, "STATE.new")
        try:
            with suppress(FileNotFoundError):
                os.unlink(temporary)  # it may be a link to another file
            with open(temporary, "x") as file:
                file.write("\n".join(lines) + "\n")
            os.replace(temporary, os.path.join(self.directory, "STATE"))
        except OSError:
            return


class Percentage:
    """Progress of a long operation in per cent: rewritten in place on a terminal, elsewhere only at its end."""

    def __init__(self, what: str):
        self._what = what
        self._lines = Progress("%", 0.0, None)

    def __call__(self, share: float) -> None:
        """Print a share; the last one is 1."""
        if share >= 1.0 or self._lines.replaces:
            self._lines._print_share(share, f"{self._what}: {100 * share:3.0f} %", share >= 1.0)


def counted(number: int, one: str, several: str) -> str:
    """Return a number with the singular or plural of a word."""
    return f"{number} {one if number == 1 else several}"


def clock_text(seconds: float) -> str:
    """A duration in days, hours, minutes and seconds."""
    if not seconds < 3.2e9:
        return "over 100 years"
    seconds = int(round(seconds))
    days, seconds = divmod(seconds, 86400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    text = f"{hours}:{minutes:02d}:{seconds:02d}"
    return f"{days} d {text}" if days else text
