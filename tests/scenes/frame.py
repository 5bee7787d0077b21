"""What a scene is made of: its set-up, its figures and the register of all scenes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import cos, sin

import solfec
from solfec.language import session

from . import options as settings

G = 9.81  # m/s2


@dataclass(frozen=True)
class Limit:
    """What a known limit of the model makes of a figure, and why."""

    value: float
    tolerance: float
    reason: str


@dataclass(frozen=True)
class Figure:
    """One measured number beside the number that theory tells.

    Attributes
    ----------
    name : str
    measured, theory, tolerance : float
        Theory is computed from its formula, never by the program; |measured - theory| <= tolerance is right.
    limits : dict
        Known limits of the model, by the name of the option set (or by (name of the option set, name of the solver)) that has them.
    """

    name: str
    measured: float
    theory: float
    tolerance: float
    limits: dict = field(default_factory=dict)

    def limit(self, setup: Setup) -> Limit | None:
        """The known limit that applies to a set-up, if any."""
        return self.limits.get((setup.options.name, setup.solver_name), self.limits.get(setup.options.name))

    def verdict(self, setup: Setup) -> str:
        """'right', 'limit' (as far off as the known limit says) or 'wrong'."""
        limit = self.limit(setup)
        value, tolerance = (self.theory, self.tolerance) if limit is None else (limit.value, limit.tolerance)
        if not abs(float(self.measured) - float(value)) <= tolerance:
            return "wrong"
        return "right" if limit is None else "limit"

    def __str__(self):
        return f"{self.name}: {float(self.measured):.6g}, theory {float(self.theory):.6g} +- {self.tolerance:.2g}"


def holds(name: str, fact: bool, expected: bool = True, limits: dict | None = None) -> Figure:
    """A figure that is true or false."""
    return Figure(name, bool(fact), expected, 0.0, limits or {})


class Setup:
    """Option set and solver of one run of a scene; makes models with them."""

    def __init__(self, options: settings.Options, solver: str) -> None:
        self.options, self.solver_name = options, solver
        self.solver = settings.SOLVERS[solver]()
        self.accuracy = settings.ACCURACY[solver]
        self.warned: list[str] = []

    @property
    def penalty(self) -> bool:
        """Whether contacts are springs."""
        return self.solver_name == "PENALTY"

    @property
    def manifold(self) -> bool:
        """Whether flush faces share several contact points."""
        return self.options.name == "MANIFOLD"

    def model(self, step: float, gravity=(0.0, 0.0, -G), analysis: str = "DYNAMIC", strict: bool = False):
        """A SOLFEC object with the options, in memory; `strict`: the solver's own error must not show."""
        model = solfec.SOLFEC(analysis, step, **self.options.arguments)
        model.verbose = "OFF"
        if analysis == "QUASI_STATIC" or strict:
            self.solver = settings.STRICT[self.solver_name]()
        solfec.GRAVITY(model, tuple(gravity))
        return model

    def surface(self, model, friction=0.0, restitution=0.0, *, pair=(), spring=1e7, dashpot=-1.0, **more):
        """Surface material of all contacts, or of a pair of surfaces; with PENALTY_SOLVER a critically damped spring."""
        arguments = dict(friction=friction, **more)
        if self.penalty:
            arguments.update(model="SPRING_DASHPOT", spring=spring, dashpot=dashpot)
        elif more.get("model") != "SPRING_DASHPOT":
            arguments.update(restitution=restitution)
        return solfec.SURFACE_MATERIAL(model, *pair, **arguments)

    def run(self, model, duration: float) -> None:
        """RUN with the set-up's solver."""
        solfec.RUN(model, self.solver, duration)

    def watch(self, model, duration: float, look: Callable[[], object], every: float | None = None) -> None:
        """RUN with `look` called after every step, or every `every` seconds; a False that it returns ends the run."""
        solfec.CALLBACK(model, 1e-6 * model.step if every is None else every, (), look)
        solfec.RUN(model, self.solver, duration)


@contextmanager
def opened(options: settings.Options, solver: str):
    """A set-up with a session of its own, so that process-wide settings of one scene do not reach the next."""
    before = session.begin(session.Session(quiet=True))
    setup = Setup(options, solver)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield setup
        setup.warned = [str(warning.message) for warning in caught]
    finally:
        session.current().close()
        session.begin(before)


# --- register ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Defect:
    """A combination that is wrong and not mended yet; tests expect it to fail until it is."""

    reason: str
    options: str | None = None
    solver: str | None = None
    case: dict = field(default_factory=dict)

    def meets(self, run: Run) -> bool:
        """Whether a run shows it."""
        same = all(run.case.get(key) == value for key, value in self.case.items())
        return same and self.options in (None, run.options.name) and self.solver in (None, run.solver)


class Unsolved(Defect):
    """A combination that the solver need not solve, if it says so: it is right, or a warning tells that it is not solved."""


@dataclass(frozen=True)
class Scene:
    """A registered scene: a function of a set-up and of its case's arguments, that returns figures."""

    subject: str
    name: str
    build: Callable
    cases: tuple[dict, ...]
    solvers: tuple[str, ...]
    slow: bool
    defects: tuple[Defect, ...]
    unsolved: tuple[Unsolved, ...]

    def runs(self) -> Iterator[Run]:
        """All combinations of cases, option sets and solvers."""
        for case in self.cases:
            for options in settings.ALL:
                for solver in self.solvers:
                    yield Run(self, case, options, solver)


@dataclass(frozen=True)
class Run:
    """One combination of a scene."""

    scene: Scene
    case: dict
    options: settings.Options
    solver: str

    @property
    def title(self) -> str:
        """Subject, scene and case."""
        told = ",".join(f"{key}={value}" for key, value in self.case.items())
        return "-".join(filter(None, (self.scene.subject, self.scene.name, told)))

    def __str__(self):
        return f"{self.title}-{self.options.name}-{self.solver}"

    @property
    def slow(self) -> bool:
        """Whether it is not for the gate, which runs the first case of quick scenes."""
        return self.scene.slow or self.case is not self.scene.cases[0]

    @property
    def defect(self) -> Defect | None:
        """The known defect that it shows, if any."""
        return next((defect for defect in self.scene.defects if defect.meets(self)), None)

    def figures(self) -> tuple[list[tuple[Figure, str]], list[str]]:
        """Figures with their verdicts, and warnings."""
        with opened(self.options, self.solver) as setup:
            figures = self.scene.build(setup, **self.case)
            figures = [figures] if isinstance(figures, Figure) else list(figures)
            judged = [(figure, figure.verdict(setup)) for figure in figures]
        if any("did not reach its accuracy" in warning for warning in setup.warned):
            if any(unsolved.meets(self) for unsolved in self.scene.unsolved):
                judged = [(figure, "unsolved" if verdict == "wrong" else verdict) for figure, verdict in judged]
        return judged, setup.warned


SCENES: list[Scene] = []


def scene(*, solvers=settings.IMPLICIT, cases=({},), slow=False, defects=(), unsolved=()):
    """Register a function as a scene; its module tells the subject, its name the scene."""

    def register(build: Callable) -> Callable:
        subject = build.__module__.rpartition(".")[2]
        SCENES.append(Scene(subject, build.__name__, build, tuple(cases), tuple(solvers), slow, tuple(defects), tuple(unsolved)))
        return build

    return register


WITH_PENALTY = (*settings.IMPLICIT, "PENALTY")


# --- shapes ------------------------------------------------------------------------------------------------


def box(lower, upper, surface: int = 1):
    """An axis-parallel box as a convex hull."""
    (x, y, z), (X, Y, Z) = lower, upper
    return solfec.HULL([c for k in (z, Z) for j in (y, Y) for i in (x, X) for c in (i, j, k)], surface, surface)


def centred(centre, sizes, surface: int = 1):
    """An axis-parallel box round a centre."""
    return box([c - s / 2 for c, s in zip(centre, sizes)], [c + s / 2 for c, s in zip(centre, sizes)], surface)


def floor(model, material, size: float = 5.0, surface: int = 1):
    """An obstacle whose top is the plane z = 0."""
    return solfec.BODY(model, "OBSTACLE", box((-size, -size, -1), (size, size, 0), surface), material)


def floored(setup, step: float, gravity=(0.0, 0.0, -G), **surface):
    """A model with a floor, whose top is the plane z = 0, and its material; `surface` are members of the material of all surfaces."""
    model = setup.model(step, gravity=gravity)
    setup.surface(model, **surface)
    bulk = solfec.BULK_MATERIAL(model)
    floor(model, bulk)
    return model, bulk


def slope(angle: float) -> tuple[float, float, float]:
    """Gravity on a floor that falls by an angle along x."""
    return G * sin(angle), 0, -G * cos(angle)


def ball(model, material, centre, radius, velocity=(0, 0, 0), spin=(0, 0, 0), surface: int = 1):
    """A rigid sphere that moves."""
    body = solfec.BODY(model, "RIGID", solfec.SPHERE(tuple(centre), radius, surface, surface), material)
    solfec.INITIAL_VELOCITY(body, tuple(velocity), tuple(spin))
    return body


def place(body):
    """Present mass centre of a rigid or pseudo-rigid body."""
    return body.conf[9:12]


def speed(body):
    """Present velocity of the mass centre of a rigid body."""
    return body.velo[3:6]
