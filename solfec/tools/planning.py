"""`solfec plan`: what several processes would make of a model."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..divided import Divided, Requests, reach_of, sweeps_by_colours
from ..errors import SolfecError
from ..parallel.communicator import Alone
from ..parallel.machine import Machine
from ..parallel.part import least_reach, speeds
from ..parallel.partition import Balance
from ..parallel.prediction import Forecast, Measured, bytes_of, divided, forecast, moving, shares, told_by
from ..solvers.gauss_seidel import GaussSeidelSolver
from ..solvers.local_dynamics import COLOURED_FROM

TEXT = """\
Makes some steps of an input's first RUN in one process, by colours, without results and callbacks; divides the model as it is then among several
processes, counts what each of them does in a step, and predicts time and memory (docs/parallel.md, Plans).
"""
STEPS = 10
MOST = 1 << 14  # processes
SUBSTITUTE = "GAUSS_SEIDEL_SOLVER (1E-4, 1000)"


@dataclass
class Options:
    """Options of the command line.

    Attributes
    ----------
    processes : list of int
    steps : int
    machine : Machine
        Prices.
    as_json : bool
    """

    processes: list[int]
    steps: int
    machine: Machine
    as_json: bool


def parse(words: list[str]) -> tuple[Options, list[str]]:
    """Return the options of a command line, and its remaining words: the input and its arguments."""
    parser = argparse.ArgumentParser(prog="solfec plan", description=TEXT, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", dest="processes", type=_numbers, default=[1, 2, 4, 8], metavar="N,N...", help="numbers of processes (default: 1,2,4,8)")
    parser.add_argument("--steps", type=int, default=STEPS, metavar="K", help=f"steps to make before, so that bodies touch (default: {STEPS})")
    parser.add_argument("--machine", metavar="FILE", help="prices that benchmarks/scaling.py has measured on some machine (default: those of this one)")
    parser.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    parser.add_argument("input", nargs=argparse.REMAINDER, help="the input file and its arguments")
    found = vars(parser.parse_args(words))
    rest = found.pop("input")
    if not rest:
        parser.error("an input file is needed")
    if found["steps"] < 1:
        parser.error(f"--steps must be 1 or more, not {found['steps']}")
    try:
        found["machine"] = Machine.here() if found["machine"] is None else Machine.of_file(found["machine"])
    except SolfecError as error:
        parser.error(f"--machine {error}")
    return Options(**found), ["-t", "1", *rest]  # processes share the cores


def _numbers(text: str) -> list[int]:
    """Return the numbers of processes in a text."""
    words = text.split(",")
    if not all(word.strip().isdecimal() and 1 <= int(word) <= MOST for word in words):
        raise argparse.ArgumentTypeError(f"{text!r} must be numbers of processes from 1 to {MOST}, such as 1,8,64")
    return [int(word) for word in words]


def plan(simulation, solver, duration: float, options: Options) -> int:
    """Print what several processes would make of a model; return the exit status.

    Raises
    ------
    SolfecError
        Process 0 would solve for all reactions: QUASI_STATIC, bodies of scheme 'DEF_LIM' or of reduced bases.
    """
    machine, domain, balance, notes = options.machine, simulation.domain, simulation.balancing, []
    steps = max(1, min(options.steps, round(duration / domain.step)))  # no more than RUN makes
    if not sweeps_by_colours(solver):
        notes.append(f"the input has {solver.command}; predicted are sweeps of {SUBSTITUTE}, which several processes share")
        solver = GaussSeidelSolver(1e-4, 1000)
    elif solver.variant != "FULL" or solver.innerloops != 1:
        notes.append(f"predicted are sweeps of variant 'FULL', not {solver.variant!r} with {solver.innerloops} inner loops")
        solver.variant, solver.innerloops = "FULL", 1
    by_choice, solver.colouring = solver.colouring == "ON", "ON"
    domain.initialise()
    measured, reach, driven = _measure(domain, solver, balance, steps)
    measured.spread = simulation.spreading.asked
    if not by_choice and domain.constraints.n <= COLOURED_FROM:
        notes.append(
            f"so few constraints (at most {COLOURED_FROM}) are not swept by colours, as planned here, in a run of one process, which is two to four times "
            "as fast in these sweeps: several processes do not pay for such a model"
        )
    if driven:
        notes.append("messages about constraints that act on obstacles are not counted")
    alone = shares(domain, np.zeros(domain.bodies.n, np.int32), reach, 1)
    found = [forecast(shares(domain, divided(domain, reach, n, balance), reach, n), measured, alone, machine) for n in options.processes]
    heading = (
        f"{len(moving(domain))} moving bodies, {domain.constraints.n} constraints in {alone.colours} colours, {measured.sweeps:g} sweeps a step after {steps} steps; "
        f"one process here: {1e3 * measured.seconds:.4g} ms a step, {1e3 * measured.sweeping:.4g} of them sweeps"
    )
    facts = [_facts(one, measured) for one in found]
    if options.as_json:
        print(json.dumps({"model": heading, "prices": machine.source, "notes": notes, "plans": facts}, indent=1))
    else:
        print("\n".join([heading, f"prices of messages: {machine.source}", *notes, "", *_table(facts)]))
    return 0


def _measure(domain, solver: GaussSeidelSolver, balance: Balance, steps: int) -> tuple[Measured, float, bool]:
    """Make steps; return what a step costs, the reach of parts, and whether constraints act on obstacles."""
    course = Divided(domain, Alone(), solver, balance, Requests(lambda: None, lambda: False))
    if course.part is None:
        raise SolfecError("RUN: process 0 solves for all reactions of QUASI_STATIC analyses, of bodies of scheme 'DEF_LIM' and of reduced bases: no plan is built for them")
    taken = []
    for _ in range(steps):
        began, before = perf_counter(), domain.timings["GSRUN"]
        course.advance()
        taken.append((perf_counter() - began, domain.timings["GSRUN"] - before, domain.report.iterations))
    seconds, sweeping, sweeps = np.median(taken[len(taken) // 2 :], axis=0).tolist()
    domain.states.update_shapes()
    rows = moving(domain)
    reach = reach_of(domain, least_reach(domain), domain.bodies.extents[:, rows], speeds(domain.bodies)[rows])
    return Measured(seconds, sweeping, sweeps, bytes_of(domain), told_by(domain)), reach, bool(course.part.driven.size)


def _facts(one: Forecast, measured: Measured) -> dict:
    """Return a plan as types of JSON; figures of processes are those of the one that has most."""
    counted = one.shares
    messages, sent = counted.of_step(measured.sweeps)
    return {
        "processes": one.processes,
        "milliseconds": 1e3 * one.seconds,
        "milliseconds of messages": 1e3 * one.messaging,
        "speed-up": measured.seconds / one.seconds,
        "memory [MB]": one.memory / 1e6,
        "bodies": int(counted.bodies.max()),
        "held": int(counted.held.max()),
        "rows": int(counted.rows.max()),
        "messages per sweep": int(counted.messages.max()),
        "messages": int(messages.max()),
        "sent [MB]": float(sent.max()) / 1e6,
    }


def _table(facts: list[dict]) -> list[str]:
    """Return lines of a table."""
    heads = ("processes", "ms/step", "messages", "speed-up", "memory", "bodies", "held", "rows", "msgs/sweep", "msgs/step", "MB/step")
    formats = ("d", ".4g", ".4g", ".3g", ".4g", "d", "d", "d", "d", "d", ".4g")
    lines = ["".join(f"{head:>11}" for head in heads)]
    for one in facts:
        lines.append("".join(f"{value:>11{form}}" for value, form in zip(one.values(), formats, strict=True)))
    return [*lines, "times in ms, memory in MB; all but the speed-up of the process that has most"]
