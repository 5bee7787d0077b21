"""`solfec profile`: where the time of an input's runs goes (docs/running.md, Profile).

Clocks stand around what a run consists of: steps with their phases, output, callbacks; every call of a kernel is timed within its phase.
"""

from __future__ import annotations

import html
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from time import perf_counter

import numpy as np

from .. import kernel_checks
from ..domain import Domain
from ..errors import SolfecError, shown
from ..kept_memory import largest_memory
from ..simulation import Simulation
from ..time_step import PHASES, Timings
from .report import STYLE, _grid

MEANING = {
    "TIMINT": "motion of bodies", "CONUPD": "update of constraints", "CONDET": "detection of contacts", "LOCDYN": "local dynamics",
    "CONSOL": "solution", "BETWEEN": "before and after phases",
}  # fmt: skip
COLOURS = {
    "input": "#9c9a92", "output": "#eda100", "callbacks": "#e87ba4", "rest": "#c9c7bf", "TIMINT": "#2a78d6", "CONUPD": "#6b4fbb", "CONDET": "#1baf7a",
    "LOCDYN": "#5fb4e5", "CONSOL": "#eb6834", "BETWEEN": "#b8860b",
}  # fmt: skip
PARTS = (*PHASES, "BETWEEN")  # of a step
MOST_KERNELS = 12  # in the table
MOST_BARS = 160  # of the picture of steps
PYTHON = "Python"
NAMED = ((0.9, "Nine tenths"), (0.75, "Three quarters"), (0.66, "Two thirds"), (0.5, "Half"), (0.33, "A third"), (0.25, "A quarter"))
LARGE, MANY_SWEEPS = 0.25, 100  # share of the time that gets advice; sweeps a step from which another solver may pay


@dataclass
class Profile:
    """Seconds of an input and its runs.

    Attributes
    ----------
    total : float
        Wall time of everything, s.
    run, output, callbacks : float
        Wall time within RUN, s; of its frames; of its callbacks.
    frames, calls : int
        Numbers of frames, and of calls of callbacks.
    steps : list of dict, one of each step
        Seconds by names of `PARTS`; 'time', the model's at the end of the step; numbers 'iterations', 'constraints', 'contacts' (those among them) and 'residual'; 'solver', its name.
    kernels : dict of dict
        By phase and by name of the kernel: [number of calls, seconds].
    megabytes, peak : float
        Written by frames, MB (10^6 bytes); largest memory of the process, MB.
    """

    total: float = 0.0
    run: float = 0.0
    output: float = 0.0
    callbacks: float = 0.0
    frames: int = 0
    calls: int = 0
    steps: list = field(default_factory=list)
    kernels: dict = field(default_factory=dict)
    megabytes: float = 0.0
    peak: float = 0.0

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of all steps by names of `PARTS`."""
        return {part: sum(step[part] for step in self.steps) for part in PARTS}

    @property
    def stepping(self) -> float:
        """Seconds of steps."""
        return sum(self.phases.values())

    @property
    def rest(self) -> float:
        """Seconds of RUN that belong to none of its parts."""
        return max(self.run - self.stepping - self.output - self.callbacks, 0.0)

    @property
    def compiled(self) -> float:
        """Seconds of kernels within steps."""
        return sum(seconds for phase, listed in self.kernels.items() if phase in PARTS for _, seconds in listed.values())

    def facts(self) -> dict:
        """Return the profile as types of JSON."""
        listed = {phase: {name: {"calls": calls, "seconds": seconds} for name, (calls, seconds) in found.items()} for phase, found in self.kernels.items()}
        return {
            "seconds": {"all": self.total, "input": self.total - self.run, "run": self.run, "steps": self.stepping, **self.phases, "output": self.output,
                        "callbacks": self.callbacks, "rest": self.rest},
            "steps": len(self.steps), "frames": self.frames, "calls of callbacks": self.calls, "iterations": [step["iterations"] for step in self.steps],
            "constraints": [step["constraints"] for step in self.steps], "contacts": [step["contacts"] for step in self.steps],
            "residuals": [step["residual"] for step in self.steps], "kernels": listed, "megabytes of results": self.megabytes,
            "megabytes of memory": self.peak, "advice": advice(self),
        }  # fmt: skip


class Clocks:
    """Clocks around a run's parts; they fill a Profile."""

    def __init__(self):
        self.profile = Profile()
        self._pending: dict[str, list] = {}  # calls and seconds of kernels since the last phase ended
        self._step: dict | None = None
        self._within: list[str] = []

    def kernel(self, kernel: Callable, name: str) -> Callable:
        """Return a kernel whose calls and wall time are counted under its name."""

        def call(*arguments, **keywords):
            start = perf_counter()
            try:
                return kernel(*arguments, **keywords)
            finally:
                spent = self._pending.setdefault(name, [0, 0.0])
                spent[0] += 1
                spent[1] += perf_counter() - start

        return call

    def _flush(self, phase: str) -> None:
        """Attribute calls and seconds of kernels since the last call to a phase."""
        listed = self.profile.kernels.setdefault(phase, {})
        for name, (calls, seconds) in self._pending.items():
            spent = listed.setdefault(name, [0, 0.0])
            spent[0] += calls
            spent[1] += seconds
        self._pending.clear()

    def _part(self, name: str, seconds: float) -> None:
        """Add seconds to an attribute of the profile; what is not within RUN, as in a loop over steps, counts as RUN."""
        setattr(self.profile, name, getattr(self.profile, name) + seconds)
        if not self._within:
            self.profile.run += seconds

    def run(self, original: Callable) -> Callable:
        """Return RUN whose seconds are added to the profile; a RUN within another one counts once."""

        @wraps(original)
        def call(*arguments, **keywords):
            self._flush("input")
            start = perf_counter()
            self._within.append("run")
            try:
                return original(*arguments, **keywords)
            finally:
                self._within.pop()
                self.profile.run += 0.0 if self._within else perf_counter() - start

        return call

    def part(self, name: str, count: str, original: Callable) -> Callable:
        """Wrap a method whose time is an attribute of the profile, and which another attribute counts."""

        @wraps(original)
        def call(simulation, *arguments):
            self._flush("rest")
            before, start = written(simulation), perf_counter()
            try:
                return original(simulation, *arguments)
            finally:
                self._part(name, perf_counter() - start)
                setattr(self.profile, count, getattr(self.profile, count) + 1)
                self.profile.megabytes += max(written(simulation) - before, 0) / 1e6 if name == "output" else 0.0
                self._flush(name)

        return call

    def advance(self, original: Callable) -> Callable:
        """Return a step of a domain that appends its seconds by part, and what it solved, to the profile's steps."""

        @wraps(original)
        def call(domain, solver, *arguments):
            self._flush("rest")
            step = self._step = dict.fromkeys(PARTS, 0.0)
            start = perf_counter()
            try:
                return original(domain, solver, *arguments)
            finally:
                taken = perf_counter() - start
                self._step = None
                step["BETWEEN"] = max(taken - sum(step.values()), 0.0)
                report = domain.report
                step |= {"time": domain.time, "constraints": domain.constraints.n, "contacts": domain.constraints.n - domain.constraints.user_count, "iterations": report.iterations if report else 0}
                step["residual"] = float(report.residual) if report else 0.0
                step["solver"] = report.solver if report else ""
                self.profile.steps.append(step)
                self.profile.run += 0.0 if self._within else taken
                self._flush("BETWEEN")

        return call

    def phase_begins(self, original: Callable) -> Callable:
        """Return the start of a phase, before which kernels belong to no phase."""

        def call(timings):
            self._flush("BETWEEN" if self._step is not None else "rest")
            original(timings)

        return call

    def phase_ends(self, original: Callable) -> Callable:
        """Return the end of a phase, which adds its seconds to the current step and takes the kernels since its start."""

        def call(timings, phase):
            before = timings[phase]
            original(timings, phase)
            if self._step is not None and phase in self._step:
                self._step[phase] += timings[phase] - before
                self._flush(phase)

        return call


def written(simulation: Simulation) -> int:
    """Return the bytes of a simulation's files of results."""
    path = simulation.outpath
    if path is None:
        return 0
    try:
        return sum(entry.stat().st_size for entry in os.scandir(path) if ".h5" in entry.name)
    except OSError:
        return 0


@contextmanager
def measured() -> Iterator[Profile]:
    """Measure what runs within this context."""
    clocks = Clocks()
    places = (
        (Simulation, "run", clocks.run), (Simulation, "_write", lambda method: clocks.part("output", "frames", method)),
        (Simulation, "_call_back", lambda method: clocks.part("callbacks", "calls", method)), (Domain, "advance", clocks.advance),
        (Timings, "start", clocks.phase_begins), (Timings, "end", clocks.phase_ends),
    )  # fmt: skip
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    kernels = kernel_checks.wrap(clocks.kernel)
    for owner, name, wrapper in places:
        setattr(owner, name, wrapper(getattr(owner, name)))
    start = perf_counter()
    try:
        yield clocks.profile
    finally:
        clocks.profile.total = perf_counter() - start
        clocks.profile.peak = largest_memory() / 1e6
        for owner, name, method in originals:
            setattr(owner, name, method)
        kernel_checks.unwrap(kernels)


# --- words -------------------------------------------------------------------------------------------------


def advice(profile: Profile) -> list[str]:
    """Return what stands out, and what may help."""
    if not profile.steps:
        return ["The input made no step."]
    found, phases, large = [], profile.phases, []
    share = lambda seconds: seconds / profile.total if profile.total > 0.0 else 0.0  # noqa: E731
    steps, sweeps = len(profile.steps), np.array([step["iterations"] for step in profile.steps])

    def tell(seconds: float, what: str) -> None:
        named = next((words for least, words in NAMED if share(seconds) >= least - 0.01), None)
        if named is not None:
            large.append((seconds, f"{named} of the time is {what}"))

    tell(profile.output, f"output: {profile.frames} frames in {steps} steps, {1e3 * profile.output / max(profile.frames, 1):.2g} ms each. "
         "OUTPUT with a longer interval saves it.")  # fmt: skip
    tell(profile.callbacks, f"callbacks: {profile.calls} calls of {1e3 * profile.callbacks / max(profile.calls, 1):.2g} ms. A longer interval of CALLBACK saves it.")
    tell(profile.total - profile.run, "the input itself, before and between runs: making shapes and bodies, files, imports.")
    advised = "" if sweeps.mean() < MANY_SWEEPS else SWEEPING.get(profile.steps[-1]["solver"], "")
    tell(phases["CONSOL"], f"solution: {sweeps.mean():.3g} iterations a step on average, {sweeps.max()} at most.{advised}")
    tell(phases["CONDET"], "detection of contacts. Coarser surfaces, CONTACT_EXCLUDE_BODIES for pairs that never meet, and smaller steps in which boxes overlap less, lower it.")
    tell(phases["LOCDYN"], "local dynamics, that is W: fewer contact points (CONTACT_SPARSIFY, patch), and explicit bodies where accuracy allows, lower it.")
    tell(phases["TIMINT"], "motion of bodies. Of deformable ones `solfec check` names the element that limits the step; coarser meshes, form 'BC' and scheme 'DEF_LIM' lower it.")
    tell(phases["CONUPD"], "update of known contacts and constraints, which grows with their number.")
    found += [text for _, text in sorted(large, reverse=True)]
    if profile.stepping > 0.0 and (python := 1.0 - profile.compiled / profile.stepping) > 0.5:
        found.append(f"{100 * python:.0f} % of steps is the program's own Python, {1e3 * python * profile.stepping / steps:.2g} ms a step, which hardly grows with the model: "
                     "this model is small, so several runs at once use the machine better than threads.")  # fmt: skip
    each = np.sort([sum(step[part] for part in PARTS) for step in profile.steps])[::-1]
    few = max(1, steps // 100)
    if steps >= 100 and each[:few].sum() > LARGE * each.sum():
        slowest = max(profile.steps, key=lambda step: sum(step[part] for part in PARTS))
        found.append(f"The slowest hundredth of steps takes {100 * each[:few].sum() / each.sum():.0f} % of the time of all; the slowest one, {1e3 * each[0]:.3g} ms, ends at time {slowest['time']:g}.")
    return found or ["Nothing stands out."]


SWEEPING = {
    "GAUSS_SEIDEL": " AUTO_SOLVER and NEWTON_SOLVER may need fewer, and a larger epsilon does.",
    "AUTO": " Sweeps that stagnate come from redundant contacts, or stiff bodies beside soft ones: a larger epsilon, MANIFOLD contacts, or a smaller step may help.",
    "NEWTON": " A smaller step, or AUTO_SOLVER, may need fewer.",
}


def rows(profile: Profile) -> list[list[str]]:
    """Return the table of parts, its head first: part, seconds, share of the whole, milliseconds a step, share of kernels in the part."""
    steps, phases = max(len(profile.steps), 1), profile.phases
    listed = [
        ("all", profile.total), ("  input", profile.total - profile.run), ("  RUN", profile.run), ("    steps", profile.stepping),
        *((f"      {part:<8} {MEANING[part]}", phases[part]) for part in PARTS),
        ("    output", profile.output), ("    callbacks", profile.callbacks), ("    rest", profile.rest),
    ]  # fmt: skip
    table = [["part", "seconds", "share", "ms a step", "kernels"]]
    for name, seconds in listed:
        phase = name.split()[0]
        compiled = sum(spent for _, spent in profile.kernels.get(phase, {}).values())
        share = f"{100 * seconds / profile.total:.1f} %" if profile.total > 0.0 else ""
        inside = f"{100 * min(compiled / seconds, 1.0):.0f} %" if phase in PARTS and seconds > 0.0 else ""
        table.append([name, f"{seconds:.4g}", share, f"{1e3 * seconds / steps:.4g}" if name.startswith("    ") else "", inside])
    return table


def kernel_rows(profile: Profile) -> list[list[str]]:
    """Return the table of the `MOST_KERNELS` kernels that take most, its head first: kernel, part, calls, seconds, share of the whole."""
    listed = [(seconds, calls, phase, name) for phase, found in profile.kernels.items() for name, (calls, seconds) in found.items()]
    table = [["kernel", "part", "calls", "seconds", "share"]]
    for seconds, calls, phase, name in sorted(listed, reverse=True)[:MOST_KERNELS]:
        table.append([name, phase, str(calls), f"{seconds:.4g}", f"{100 * seconds / profile.total:.1f} %"])
    return table


def summary(profile: Profile) -> list[str]:
    """Return lines about steps, sweeps and bytes."""
    lines = []
    if profile.steps:
        constraints, sweeps = (np.array([step[name] for step in profile.steps]) for name in ("constraints", "iterations"))
        lines.append(f"{len(profile.steps)} steps; a step has {constraints.mean():.4g} constraints (at most {constraints.max()}) "
                     f"and {sweeps.mean():.4g} iterations (at most {sweeps.max()})")  # fmt: skip
    each = f", {1e3 * profile.megabytes / profile.frames:.3g} kB each" if profile.frames and profile.megabytes else ""
    lines.append(f"{profile.frames} frames, {profile.megabytes:.4g} MB{each}; largest memory of the process {profile.peak:.4g} MB")
    return lines


def text(name: str, profile: Profile) -> str:
    """Return the profile for a terminal."""
    lines = [f"profile of {shown(name)}", *(f"  {line}" for line in summary(profile)), ""]
    for table in (rows(profile), kernel_rows(profile)):
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        left = 1 if table[0][0] == "part" else 2
        lines += ["  " + "  ".join(cell.ljust(width) if k < left else cell.rjust(width) for k, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in table] + [""]
    return "\n".join([*lines, *advice(profile)])


# --- pictures ----------------------------------------------------------------------------------------------


def bars(profile: Profile) -> list[list[tuple[str, str, float]]]:
    """Return the floors of the picture of parts, top first: name, part that gives the colour, seconds; '' is a gap."""
    phases = profile.phases
    outside = profile.total - profile.run
    run = [("output", profile.output), ("callbacks", profile.callbacks), ("rest", profile.rest)]
    third, fourth = [("", "", outside)], [("", "", outside)]
    for part in PARTS:
        third.append((part, part, phases[part]))
        kernels = sorted(((seconds, name) for name, (_, seconds) in profile.kernels.get(part, {}).items()), reverse=True)
        fourth += [(name, part, seconds) for seconds, name in kernels]
        fourth.append((PYTHON, "rest", max(phases[part] - sum(seconds for seconds, _ in kernels), 0.0)))
    return [
        [("all", "rest", profile.total)], [("input", "input", outside), ("RUN", "rest", profile.run)],
        [("", "", outside), ("steps", "rest", profile.stepping), *((name, name, seconds) for name, seconds in run)], third, fourth,
    ]  # fmt: skip


def flame(profile: Profile) -> str:
    """Return an SVG of parts: each floor divides what is above it, and widths are seconds."""
    width, height, scale = 1000.0, 26.0, 1000.0 / max(profile.total, 1e-9)
    drawn, floors = [], bars(profile)
    for floor, listed in enumerate(floors):
        x = 0.0
        for name, part, seconds in listed:
            wide = seconds * scale
            if name and wide > 0.3:
                label = html.escape(name)
                told = f"{label}: {seconds:.4g} s, {100 * seconds / profile.total:.1f} %"
                words = f"<text x='{x + 4:.1f}' y='{floor * height + 17:.1f}'>{label}</text>" if wide > 8.0 * len(name) else ""
                drawn.append(f"<g><title>{told}</title><rect x='{x:.2f}' y='{floor * height:.1f}' width='{max(wide - 0.5, 0.3):.2f}' height='{height - 2:.1f}' "
                             f"fill='{COLOURS[part]}'/>{words}</g>")  # fmt: skip
            x += wide
    return f"<svg viewBox='0 0 {width:g} {len(floors) * height:g}' font-size='13' font-family='system-ui, sans-serif'>{''.join(drawn)}</svg>"


def course(profile: Profile) -> str:
    """Return an SVG of the run: phases of its steps, stacked, and iterations as a line; each bar is the mean of some steps."""
    width, height, low = 1000.0, 220.0, 20.0
    groups = np.array_split(np.arange(len(profile.steps)), min(len(profile.steps), MOST_BARS))
    means = np.array([[np.mean([profile.steps[k][part] for k in group]) for part in PARTS] for group in groups])
    sweeps = np.array([np.mean([profile.steps[k]["iterations"] for k in group]) for group in groups])
    tallest, most = means.sum(1).max(), max(sweeps.max(), 1.0)
    wide, drawn = width / len(groups), []
    for number, (group, mean) in enumerate(zip(groups, means)):
        y = height
        ends = f"steps {group[0] + 1} to {group[-1] + 1}, time {profile.steps[group[-1]]['time']:g}, {sweeps[number]:.3g} iterations"
        drawn.append("<g><title>" + f"{ends}: " + ", ".join(f"{part} {1e3 * seconds:.3g} ms" for part, seconds in zip(PARTS, mean)) + "</title>")
        for part, seconds in zip(PARTS, mean):
            tall = (height - low) * seconds / tallest
            y -= tall
            drawn.append(f"<rect x='{number * wide:.2f}' y='{y:.2f}' width='{wide:.2f}' height='{tall:.2f}' fill='{COLOURS[part]}'/>")
        drawn.append("</g>")
    line = " ".join(f"{(number + 0.5) * wide:.2f},{height - (height - low) * value / most:.2f}" for number, value in enumerate(sweeps))
    return (f"<svg viewBox='0 0 {width:g} {height:g}' font-size='13' font-family='system-ui, sans-serif'>{''.join(drawn)}"
            f"<polyline points='{line}' fill='none' stroke='#0b0b0b' stroke-width='1.5'/>"
            f"<text x='4' y='13'>{1e3 * tallest:.3g} ms a step at most; line: iterations, {most:.4g} at most</text></svg>")  # fmt: skip


def page(name: str, profile: Profile) -> str:
    """Return a page of HTML, which holds its pictures."""
    title = html.escape(f"Profile of {name}")
    legend = " ".join(f"<span style='background:{COLOURS[part]}; padding: 0 0.6em'>&nbsp;</span> {part}, {MEANING[part]};" for part in PARTS)
    table = [[row[0].replace("  ", "\u2003"), *row[1:]] for row in rows(profile)]  # spaces that browsers keep
    parts = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{title}</title>"
        f"<style>{STYLE} svg {{ width: 100%; height: auto }}</style></head><body><h1>{title}</h1>",
        *(f"<p>{html.escape(line)}</p>" for line in summary(profile)), "<h2>In words</h2>",
        *(f"<p class='warning'>{html.escape(line)}</p>" for line in advice(profile)), "<h2>Parts of the time</h2>", flame(profile), _grid(table),
    ]  # fmt: skip
    if profile.steps:
        parts += ["<h2>From step to step</h2>", course(profile), f"<p>{legend}</p>"]
    return "\n".join([*parts, "<h2>Kernels</h2>", _grid(kernel_rows(profile)), "</body></html>\n"])


def write(name: str, profile: Profile, path: str) -> None:
    """Write the page; SolfecError if that is impossible."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page(name, profile))
    except OSError as error:
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from error


def tell(name: str, profile: Profile, as_json: bool, path: str | None) -> int:
    """Print a profile, and write its page if a path is given; return the exit status."""
    print(json.dumps(profile.facts(), indent=1) if as_json else text(name, profile))
    if path is not None:
        write(name, profile, path)
        print(path, file=sys.stderr)
    return 0
