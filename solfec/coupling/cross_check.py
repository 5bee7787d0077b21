"""`solfec cross-check`: the first RUN of an input by our own engine and by other codes, and the differences as a table and a picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from math import ceil
from time import perf_counter

import numpy as np

from ..errors import SolfecError
from ..kinds import BodyKind
from ..live_state import Bodies
from ..results import plot
from ..simulation import Simulation
from .buffer import Buffer
from .helper_process import PATIENCE
from .open_step import OpenStep
from .own import SolfecCollisionHandler

TEXT = """\
Runs the first RUN of an input twice, by Solfec and by another code, in memory, and prints for every body how far the results differ:
mean displacement and rotation at the end, the largest distance of centres at any time, and the resultant of all contact reactions at the end.
A picture shows the distances over time.  Nothing else of the input is run after RUN.
"""
SAMPLES = 400  # instants at which paths are compared, at most
OURS = "solfec"
SICONOS_TOLERANCE = 1e-9  # of its solver, in its own measure
SHOWN = 3  # bodies of each code in the picture


@dataclass
class Path:
    """What a code has computed.

    Attributes
    ----------
    code : str
    centre, rotation : ndarray (t, n, 3), (t, n, 3, 3)
        Of all bodies at the sampled instants.
    resultant : ndarray (n, 3)
        Of contact reactions in the last step [force].
    contacts : int
        Number of contacts in the last step.
    seconds : float
        Wall time.
    unsolved : int
        Steps that the code's solver left unsolved, if it tells.
    """

    code: str
    centre: np.ndarray
    rotation: np.ndarray
    resultant: np.ndarray
    contacts: int
    seconds: float
    unsolved: int = 0


@dataclass
class Options:
    """Options of the command line: `codes` to compare with, `picture`, `tolerance`, `law` and `contacts` of LMGC90, `patience` with helper processes."""

    codes: list[str]
    picture: str = "cross-check.png"
    tolerance: float | None = None
    law: str = "IQS_CLB"
    contacts: str = "PLANES"
    patience: float = PATIENCE


def parse(words: list[str]) -> tuple[Options, list[str]]:
    """Return the options of a command line, and its remaining words: the input and its arguments."""
    parser = argparse.ArgumentParser(prog="solfec cross-check", description=TEXT, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="codes", action="append", choices=sorted(CODES), required=True, help="the other code; may be repeated")
    parser.add_argument("-o", dest="picture", metavar="FILE", default="cross-check.png", help="picture to write: .png, .svg or .pdf")
    parser.add_argument("--tolerance", type=float, metavar="D", help="status 1 if a centre ends farther away than this")
    parser.add_argument("--law", choices=("IQS_CLB", "IQS_CLB_g0"), help="contact law of LMGC90 (default: IQS_CLB)")
    parser.add_argument("--contacts", choices=("PLANES", "FACES"), help="how LMGC90 finds contacts (default: PLANES)")
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="S", help=f"seconds without a sign of life that count as hung (default: {PATIENCE:g})")
    parser.add_argument("input", nargs=argparse.REMAINDER, help="the input file and its arguments")
    found = vars(parser.parse_args(words))
    rest = found.pop("input")
    if not rest:
        parser.error("an input file is needed")
    for word in ("law", "contacts"):
        if found[word] is None:
            del found[word]
        elif "lmgc90" not in found["codes"]:
            parser.error(f"--{word} is for --with lmgc90")
    return Options(**found), rest


def compare(simulation, solver, duration: float, options: Options) -> int:
    """Run a model by Solfec and by other codes; print the table, draw the picture, and return the exit status."""
    domain = simulation.domain
    steps = ceil(duration / domain.step - 1e-6)
    every = max(1, steps // SAMPLES)
    prepared = [CODES[code](simulation, duration, options) for code in dict.fromkeys(options.codes)]  # before our run: they refuse what they cannot take
    ours = _own(simulation, solver, duration, every)
    others = [run(len(ours.centre) - 1, every) for run in prepared]
    moving = domain.bodies.view("kind") != BodyKind.OBSTACLE
    labels = [domain.bodies.name(k) for k in domain.bodies.view("id").tolist()]
    print("\n\n".join(_table(ours, other, moving, labels) for other in others))
    times = domain.time - domain.step * every * np.arange(len(ours.centre) - 1, -1, -1)
    short = [domain.body_labels.get(k, "")[:12] for k in domain.bodies.view("id").tolist()]
    short = [name if name and short.count(name) == 1 else f"body {k}" for name, k in zip(short, domain.bodies.view("id").tolist())]
    print(f"\n{_picture(ours, others, moving, short, times, options.picture)}")
    worst = max(_distance(ours, other)[-1, moving].max(initial=0.0) for other in others)
    return int(options.tolerance is not None and not worst <= options.tolerance)


def _own(simulation, solver, duration: float, every: int) -> Path:
    """Run our own engine."""
    domain, centre, rotation, began = simulation.domain, [], [], perf_counter()

    def sample() -> None:
        state = Bodies.of(domain.bodies)
        centre.append(state.centre)
        rotation.append(state.rotation)

    def advance() -> None:
        domain.advance(solver)
        if (domain.step_number - first) % every == 0:
            sample()

    first = domain.step_number
    sample()
    simulation.run(solver, duration, advance)
    seconds, buffer = perf_counter() - began, Buffer()
    if not len(centre) > 1:
        raise SolfecError("cross-check: the run has no step")
    SolfecCollisionHandler(OpenStep.of(simulation)).pull(buffer)
    found = buffer.interactions
    return Path(OURS, np.array(centre), np.array(rotation), found.resultants(domain.bodies.view("id")), int(found.contact.sum()), seconds)


def _lmgc90(simulation, duration: float, options: Options) -> Callable[[int, int], Path]:
    """Start LMGC90 with the blocks of a model; return the function that runs it."""
    from . import lmgc90

    modeler = lmgc90.LmgcModeler.of(simulation, duration, options.law, lmgc90.helper(patience=options.patience), options.contacts)
    start, identifiers = Bodies.of(simulation.domain.bodies), simulation.domain.bodies.view("id").copy()
    block = np.unique(modeler.row, return_index=True)[1]

    def run(samples: int, every: int) -> Path:
        began, buffer = perf_counter(), Buffer()
        with modeler.process:
            modeler.advance(samples * every)
        seconds = perf_counter() - began
        modeler.pull(buffer)
        centre = np.concatenate([start.centre[None], modeler.path[every - 1 :: every][:, block]])
        rotation = np.concatenate([start.rotation[None], modeler.turns[every - 1 :: every][:, block] @ start.rotation])
        found = buffer.interactions
        return Path("lmgc90", centre, rotation, found.resultants(identifiers), len(found.id), seconds, modeler.unsolved)

    return run


def _siconos(simulation, duration: float, options: Options) -> Callable[[int, int], Path]:
    """Prepare Siconos' kernel with a copy of a model; return the function that runs it."""
    from . import siconos_kernel

    copied = Simulation(simulation.domain.step, None, "WRITE", quiet=True)
    loads = simulation.domain.loads
    copied.domain = deepcopy(simulation.domain, {id(given): given for given in (loads.callbacks, loads.sources)})  # functions of the user are no copies
    other = siconos_kernel.SiconosSimulation.of(
        copied, siconos_kernel.SiconosInteractionSolver(tolerance=SICONOS_TOLERANCE, maxiter=100000), siconos_kernel.helper(patience=options.patience)
    )

    def run(samples: int, every: int) -> Path:
        began, states = perf_counter(), [Bodies.of(copied.domain.bodies)]
        with other.process:
            for _ in range(samples):
                for _ in range(every):
                    other.step()
                states.append(Bodies.of(copied.domain.bodies))
        seconds, buffer = perf_counter() - began, Buffer()
        other.handler.pull(buffer)
        found = buffer.interactions
        centre, rotation = (np.array([getattr(state, name) for state in states]) for name in ("centre", "rotation"))
        return Path("siconos", centre, rotation, found.resultants(copied.domain.bodies.view("id")), int(found.contact.sum()), seconds)

    return run


CODES = {"lmgc90": _lmgc90, "siconos": _siconos}


def _distance(one: Path, other: Path) -> np.ndarray:
    """Return distances (t, n) of centres."""
    return np.linalg.norm(one.centre - other.centre, axis=2)


def _angle(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the angles (n,) between rotations."""
    return 2.0 * np.arcsin(np.minimum(np.linalg.norm(one - other, axis=(1, 2)) / np.sqrt(8.0), 1.0))


def _table(ours: Path, other: Path, moving: np.ndarray, labels: list[str]) -> str:
    """Return the table of the differences of bodies that move."""
    distance, turned = _distance(ours, other), _angle(ours.rotation[-1], other.rotation[-1])
    moved = np.linalg.norm(ours.centre[-1] - ours.centre[0], axis=1)
    weight = np.linalg.norm(ours.resultant, axis=1)
    scale = weight[moving].max(initial=0.0) or 1.0
    off = np.linalg.norm(ours.resultant - other.resultant, axis=1)
    lines = [
        f"{OURS} {ours.contacts} contacts, {ours.seconds:.2f} s; {other.code} {other.contacts} contacts, {other.seconds:.2f} s",
        f"{'body':24} {'moved':>11} {'differ':>9} {'at most':>9} {'turned':>9} {'reactions':>11} {'differ':>9}",
    ]
    if other.unsolved:
        lines.insert(1, f"{other.code} left {other.unsolved} steps unsolved")
    for k in np.flatnonzero(moving):
        lines.append(
            f"{labels[k]:24.24} {moved[k]:11.6g} {distance[-1, k]:9.1e} {distance[:, k].max():9.1e} {turned[k]:9.1e} {weight[k]:11.6g} {off[k] / (weight[k] or scale):8.3%}"
        )
    lines.append(
        f"{'largest':24} {moved[moving].max():11.6g} {distance[-1, moving].max():9.1e} {distance[:, moving].max():9.1e} {turned[moving].max():9.1e}"
        f" {weight[moving].max():11.6g} {(off / np.where(weight > 0, weight, scale))[moving].max():8.3%}"
    )
    return "\n".join(lines)


def _picture(ours: Path, others: list[Path], moving: np.ndarray, labels: list[str], times: np.ndarray, name: str) -> str:
    """Draw distances of centres over time, those of the worst bodies of every code; return the file's name."""
    top = max(_distance(ours, other)[:, moving].max(initial=0.0) for other in others)
    power = int(np.floor(np.log10(top))) if top > 0.0 else 0
    curves, titles = {}, []
    for other in others:
        distance = _distance(ours, other) / 10.0**power
        worst = [k for k in np.argsort(-distance.max(axis=0), kind="stable") if moving[k]][:SHOWN]
        for k in worst:
            curves[f"{labels[k]}, {other.code}"] = distance[:, k]
            titles.append(f"distance of centres, 1E{power}")
    return plot.save(plot.draw_items(times, curves, titles, "cross-check"), name)
