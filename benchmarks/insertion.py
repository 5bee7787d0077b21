"""Costs of inserting a body into a model, of deleting one, and of making many.

    python benchmarks/insertion.py [--bodies N] [--repeat N] [case ...]

For every kind of body two tables.  The first one inserts a body into a model of N others and deletes one, the new one or one anywhere
among the others: milliseconds of the call, milliseconds by which the next step is longer than those that follow, and what the same takes among two bodies: the body's own cost
(`costs` says why both take turns).  The second one makes N bodies by BODY commands, with the first step after them.  All are medians of processor time.
"""

from __future__ import annotations

import os
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(library, "1")

import tempfile
from collections.abc import Callable

import models
import numpy as np
import words
from finite_elements import CUBE, SOFT

from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.shapes import hex_mesh, hull, sphere
from solfec.solvers.gauss_seidel import GaussSeidelSolver

APART = 3.0  # between bodies, which touch nothing but the floor
ANY_CHANGE = 1e6  # of reactions ends the sweeps, so every step makes one: how many more a body that lands asks of all the others is no cost of its insertion


def place(number: int) -> np.ndarray:
    """Return the place of body `number`, in rows of 32."""
    return APART * np.array([number % 32, number // 32, 0.0])


def ball(number: int) -> dict:
    return dict(kind=BodyKind.RIGID, shapes=[sphere.Sphere(place(number) + 0.5, 0.5, 1, 1)], material=SOFT)


def cube(number: int) -> dict:
    low = place(number)
    return dict(kind=BodyKind.RIGID, shapes=[models.box(low, low + 1)], material=SOFT)


def corners_of_stone(number: int) -> np.ndarray:
    """Corners of a cube, each moved by its own way: no two stones are alike."""
    unit = np.array([(i & 1, i >> 1 & 1, i >> 2) for i in range(8)])
    return (place(number) + 0.1 + unit + 0.1 * np.sin(number + np.arange(24.0).reshape(8, 3))).ravel()


def stone(number: int) -> dict:
    return dict(kind=BodyKind.RIGID, shapes=[hull.hull(corners_of_stone(number), 1, 1)], material=SOFT)


def elements(number: int, form: Form) -> dict:
    mesh = hex_mesh.hex_mesh((CUBE + place(number)).tolist(), 2, 2, 2, 1, [1] * 6)
    return dict(kind=BodyKind.FINITE_ELEMENT, shapes=[mesh], material=SOFT, form=form)


#: Arguments of Domain.insert_body of a body's number, and its scheme.
KINDS: dict[str, tuple[Callable[[int], dict], Scheme | None]] = {
    "spheres": (ball, None),
    "boxes": (cube, None),
    "cubes": (cube, None),
    "stones": (stone, None),
    "TL": (lambda number: elements(number, Form.TL), None),
    "BC implicit": (lambda number: elements(number, Form.BC), Scheme.DEF_LIM),
}

SCRIPTS = {  # of BODY commands, for body k at x, y
    "spheres": "BODY (solfec, 'RIGID', SPHERE ((x, y, 0.5), 0.5, 1, 1), bulk)",
    "boxes": "BODY (solfec, 'RIGID', BOX ((x, y, 0.5), (1, 1, 1), 1, 1), bulk)",
    "cubes": "BODY (solfec, 'RIGID', HULL ([x,y,0, x+1,y,0, x+1,y+1,0, x,y+1,0, x,y,1, x+1,y,1, x+1,y+1,1, x,y+1,1], 1, 1), bulk)",
    "stones": "BODY (solfec, 'RIGID', HULL (corners_of_stone (k).tolist (), 1, 1), bulk)",
    "TL": "BODY (solfec, 'FINITE_ELEMENT', HEX ([x,y,0, x+1,y,0, x+1,y+1,0, x,y+1,0, x,y,1, x+1,y,1, x+1,y+1,1, x,y+1,1], "
    "2, 2, 2, 1, [1]*6), bulk, form = 'TL')",
    "BC implicit": "BODY (solfec, 'FINITE_ELEMENT', HEX ([x,y,0, x+1,y,0, x+1,y+1,0, x,y+1,0, x,y,1, x+1,y,1, x+1,y+1,1, x,y+1,1], "
    "2, 2, 2, 1, [1]*6), bulk, form = 'BC').scheme = 'DEF_LIM'",
}
HEAD = """
solfec = SOLFEC ('DYNAMIC', 1E-4, {folder!r})
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.5)
bulk = BULK_MATERIAL (solfec, 'KIRCHHOFF', young = 1E6, poisson = 0.25, density = 1E3)
GRAVITY (solfec, (0, 0, -10))
"""


def model_of(kind: str, count: int) -> tuple[Domain, GaussSeidelSolver]:
    """Make a model of bodies of one kind on an obstacle, after some steps."""
    model, _ = models.domain(0.5, 1e-4)
    model.insert_body(BodyKind.OBSTACLE, [models.box((-2, -2, -1), (100, 110, 0))], SOFT)
    for number in range(count):
        insert(model, kind, KINDS[kind][0](number))
    solver = GaussSeidelSolver(ANY_CHANGE, 1)
    for _ in range(20):
        model.advance(solver)
    return model, solver


def insert(model: Domain, kind: str, body: dict) -> int:
    """Insert a body and return its identifier."""
    identifier = model.insert_body(**body)
    scheme = KINDS[kind][1]
    if scheme is not None:
        model.bodies.scheme[model.body_row(identifier)] = scheme
    return identifier


def timed(function: Callable, *arguments) -> tuple[float, object]:
    """Milliseconds of a call, and its result."""
    start = process_time()
    result = function(*arguments)
    return 1e3 * (process_time() - start), result


class Edits:
    """A model in which a body comes and goes, and the milliseconds of these calls, and by which the steps after them are longer than the three that follow with the same bodies."""

    def __init__(self, kind: str, count: int):
        self.kind, self.count = kind, count
        self.model, self.solver = model_of(kind, count)
        self.newest = 0
        self.steps: list[float] = []
        self.times: dict[str, list[float]] = {"insert": [], "after insert": [], "delete": [], "after delete": []}

    def time(self, what: str, function: Callable, *arguments):
        milliseconds, result = timed(function, *arguments)
        self.times[what].append(milliseconds)
        return result

    def step(self) -> None:
        """Make a step like most others."""
        self.steps.append(timed(self.model.advance, self.solver)[0])

    def step_after(self, edit: str) -> None:
        """Make the step after an edit; `compare` ends its measurement."""
        self.time(f"after {edit}", self.model.advance, self.solver)

    def compare(self, edit: str) -> None:
        """Compare the step after an edit with the last three."""
        self.times[f"after {edit}"][-1] -= float(np.median(self.steps[-3:]))

    def insert(self, number: int) -> None:
        self.newest = self.time("insert", insert, self.model, self.kind, KINDS[self.kind][0](self.count + number))

    def delete(self, number: int, total: int) -> None:
        victim = self.newest if number % 4 == 0 else int(self.model.bodies.id[1 + number * self.count // total])
        self.time("delete", self.model.delete_body, victim)

    def costs(self) -> dict[str, tuple[float, float]]:
        """Return the milliseconds of a call, and the extra milliseconds of the next step, for insertion and deletion of a body."""
        median = {name: float(np.median(values)) for name, values in self.times.items()}
        return {name: (median[name], median[f"after {name}"]) for name in ("insert", "delete")}


def costs(kind: str, count: int, repeat: int) -> tuple[dict, dict]:
    """Return what `Edits.costs` does for a body among `count` others, and for one among two.

    Both take turns: before anything is timed in the small model the large one makes a step, so that caches hold as little of the code and of the data of one as of the other.
    """
    large, small = Edits(kind, count), Edits(kind, 2)
    for number in range(repeat):
        for edit in ("insert", "delete"):
            arguments = (number,) if edit == "insert" else (number, repeat)
            getattr(large, edit)(*arguments)
            large.step_after(edit)
            getattr(small, edit)(*arguments)
            large.step()
            small.step_after(edit)
            for _ in range(3):
                large.step()
                small.step()
            large.compare(edit)
            small.compare(edit)
    return large.costs(), small.costs()


def excess(kind: str, count: int, repeat: int) -> dict[str, float]:
    """Milliseconds that insertion and deletion of a body cost beyond its own."""
    among, alone = costs(kind, count, repeat)
    return {name: sum(among[name]) - sum(alone[name]) for name in among}


def creation(kind: str, count: int) -> tuple[float, float]:
    """Return the seconds of processor time of many BODY commands, and of the first step after them."""
    from solfec import language

    with tempfile.TemporaryDirectory() as folder:
        names = {name: language.load(name) for name in ("SOLFEC", "SURFACE_MATERIAL", "BULK_MATERIAL", "GRAVITY", "BODY", "SPHERE", "BOX", "HULL", "HEX")}
        names["corners_of_stone"] = corners_of_stone
        exec(HEAD.format(folder=folder), names)
        lines = f"for k in range ({count}):\n    x, y = {APART} * (k % 32), {APART} * (k // 32)\n    {SCRIPTS[kind]}\n"
        made = timed(exec, compile(lines, "script", "exec"), names)[0]
        simulation = names["solfec"]._simulation
        step = timed(simulation.domain.advance, GaussSeidelSolver(1e-4, 100))[0]
    return 1e-3 * made, 1e-3 * step


def main() -> None:
    parser = words.parser(__doc__)
    parser.add_argument("--bodies", type=words.positive, default=1000)
    parser.add_argument("--repeat", type=words.positive, default=40)
    parser.add_argument("case", nargs="*", help="parts of names of kinds of bodies")
    options = parser.parse_args()
    names = words.chosen(parser, options.case, KINDS)
    for name in names:
        among, alone = costs(name, options.bodies, options.repeat)
        for what in among:
            call, step = among[what]
            print(f"{name:12s} {what}: call {call:.3f} ms, next step {step:+.3f}; alone {alone[what][0]:.3f} {alone[what][1]:+.3f}; "
                  f"beyond the body's own {sum(among[what]) - sum(alone[what]):.3f}", flush=True)
    for name in names:
        made, step = np.median([creation(name, options.bodies) for _ in range(5)], axis=0)
        print(f"{name:12s} {options.bodies} bodies: {made:.3f} s, {options.bodies / made:.0f} a second; first step {step:.3f} s", flush=True)


if __name__ == "__main__":
    main()
