"""Calls every command, in WRITE and in READ mode, with arguments that were good until one was spoilt, and sets members to anything:
``python fuzz.py SEED CALLS [COMMAND...]`` in an empty directory; all commands unless some are named.

Prints one line per finding and ends with status 1 when there are any: an exception that is not documented, a call that takes
more than `PATIENCE` seconds, or a spoilt argument that was accepted although nothing can be meant by it.
"""

from __future__ import annotations

import os
import random
import sys
import warnings
from functools import partial

import numpy as np
from spoilt_calls import DOCUMENTED, Findings, Odd, raised_by

import solfec
from solfec.language import COMMANDS

PATIENCE = 30
CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]


MEANINGLESS = [Odd(), float("nan"), [float("nan")], (0, float("nan"), 0), {"a": 1}, b"bytes", 1j, [[[]]], NotImplemented]
DOUBTFUL = [
    None, True, 0, 1, -1, 3, 2**31, 2**63, 10**400, -(2**70), 0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, float("inf"), "", "x", "ON", "\0",
    "a" * 5000, "\udcff", (), [], [0], (0, 0, 0), (1, 0, 0), (1e308, 0, 0), [1, 2], list(range(50)), [None], [[1, 2], [3, 4]], ["a"],
    range(3), np.array([1.0, 2.0]), np.array(["a", "b"]), np.zeros((2, 2)), (1,) * 9, [0.0] * 24, lambda *a: None, lambda: 1 / 0, "/nonexistent/x", ".",
]  # fmt: skip


class World:
    """Objects of one small model, and good arguments for every command; every third is run and read back."""

    def __init__(self, number: int):
        self.build(number)
        if number // 25 % 3 == 2:
            solfec.RUN(self.solfec, self.solver, 0.002)
            self.build(number)
            assert self.solfec.mode == "READ"

    def build(self, number: int) -> None:
        s = solfec
        self.number = number
        self.solfec = s.SOLFEC("DYNAMIC", 1e-3, f"out/{number}", "AUTO")
        self.solfec.verbose = "OFF"
        self.material = s.BULK_MATERIAL(self.solfec, young=1e6)
        s.SURFACE_MATERIAL(self.solfec, friction=0.3)
        self.ground = s.BODY(self.solfec, "OBSTACLE", s.HULL([2 * x - 1 for x in CUBE], 1, 1), self.material)
        self.body = s.BODY(self.solfec, "RIGID", s.TRANSLATE(s.HULL(CUBE, 1, 1), (0, 0, 1)), self.material, label="B")
        self.other = s.BODY(self.solfec, "PSEUDO_RIGID", s.SPHERE((5, 5, 5), 1, 1, 1), self.material)
        self.elastic = s.BODY(self.solfec, "FINITE_ELEMENT", s.TRANSLATE(self.mesh(), (9, 0, 0)), self.material, form="TL")
        self.series = s.TIME_SERIES([0, 1, 1, 1])
        self.solver = s.GAUSS_SEIDEL_SOLVER(1e-3, 10)
        self.wheels = [s.BODY(self.solfec, "RIGID", s.SPHERE((5.0 * k, 30, 5), 1, 1, 1), self.material) for k in range(4)]
        self.hinges = [s.HINGE(wheel, None, (5.0 * k, 30, 5), (0, 0, 1)) for k, wheel in enumerate(self.wheels[:2])]
        self.slider = s.SLIDER(self.wheels[2], None, (10, 30, 5), (1, 0, 0))
        self.gone = s.BODY(self.solfec, "RIGID", s.SPHERE((20, 5, 5), 1, 1, 1), self.material)
        s.DELETE(self.solfec, self.gone)
        self.emptied = s.HULL(CUBE, 1, 1)
        s.BODY(self.solfec, "RIGID", self.emptied, self.material)

    def mesh(self):
        return solfec.HEX(CUBE, 1, 1, 1, 1, [1] * 6)

    def hull(self):
        return solfec.HULL(CUBE, 1, 1)

    def arguments(self, name: str) -> list | None:
        """Return good arguments; None for commands that are tested with doubtful ones only."""
        w, p = self, f"file{self.number}"
        body, point, x = w.body, (0.5, 0.5, 1.5), (1, 0, 0)
        e, v = w.elastic, w.series
        table = {
            "AUTO_SOLVER": [1e-4, 100, 3], "BACKWARD": [w.solfec, 1], "BARRIER": [], "BEND": [w.mesh(), (9, 0, 0), (0, 1, 0), 10.0],
            "BODY": [w.solfec, "RIGID", w.hull(), w.material, None, None, None, None], "BODY_CHARS": [body, 1.0, 1.0, point, [1, 0, 0, 0, 1, 0, 0, 0, 1]],
            "BODY_MM_EXPORT": [e, p, p + "k", "ON", "ON"], "BULK_MATERIAL": [w.solfec, "KIRCHHOFF", "m", 1e9, 0.2, 1e3, 0.0, [], 0.0],
            "BYLABEL": [w.solfec, "BODY", "B"], "CALLBACK": [w.solfec, 0.1, (1,), lambda *a: 1], "CONTACT_EXCLUDE_BODIES": [body, w.other],
            "CONTACT_EXCLUDE_OBJECTS": [body, point, w.other, (5.5, 5.5, 5.5)],
            "CONTACT_EXCLUDE_SURFACES": [w.solfec, 1, 2], "CONTACT_OPTIONS": [w.solfec, 0.01, "ON", "OFF"],
            "CONTACT_SPARSIFY": [w.solfec, 0.1, 0.0, 1e-6], "CONVEX": [CUBE, [4, 0, 3, 2, 1, 1, 4, 4, 5, 6, 7, 1, 4, 0, 1, 5, 4, 1,
            4, 1, 2, 6, 5, 1, 4, 2, 3, 7, 6, 1, 4, 3, 0, 4, 7, 1], 1], "CONVEX_READ": [p, 1, 1, "OFF", 0.1], "COPY": [w.hull()],
            "DELETE": [w.solfec, w.other], "DISPLACEMENT": [body, point], "DURATION": [w.solfec], "ELLIP": [point, (1, 2, 3), 1, 1],
            "ELLIP_MESH": [point, (1, 2, 3), 0.3, 1, 1], "ENERGY": [w.solfec, body], "EXTENTS": [w.solfec, (-9, -9, -9, 99, 99, 99)],
            "FIX_DIRECTION": [body, point, x, None, None], "FIX_POINT": [body, point, 1e9], "FORCE": [body, "SPATIAL", point, x, 1.0],
            "FORWARD": [w.solfec, 1], "GAUSS_SEIDEL_SOLVER": [1e-3, 10, 1.0, "CONTINUE", 1e-6, 10, "SEMISMOOTH_NEWTON"],
            "GEOMETRIC_EPSILON": [1e-6], "GRAVITY": [w.solfec, (0, 0, v)], "HERE": [w.solfec, body], "HEX": [CUBE, 1, 2, 1, 1, [1] * 6, [1], [1, 2], [1]],
            "HISTORY": [w.solfec, [(body, point, "CX")], 0.0, 1.0, 1], "HULL": [CUBE, 1, 1], "IMBALANCE_TOLERANCE": [w.solfec, 1.3, 1.0, 10],
            "INITIAL_VELOCITY": [body, x, x], "LOCDYN_DUMP": [w.solfec, p], "FCLIB_EXPORT": [w.solfec, p], "MASS_CENTER": [w.hull()],
            "MBFCP_EXPORT": [w.solfec, p], "MESH": [CUBE, [8, 0, 1, 2, 3, 4, 5, 6, 7, 1], 1], "MESH2CONVEX": [w.mesh()],
            "MESH_READ": [p, 1, 1], "MESH_SPLIT": [w.mesh(), [0, 1, 2, 3], None, 1, 2], "DISPLAY_POINT": [body, point, "a"], "NCPU": [w.solfec], "NEWTON_SOLVER": [1e-6, 10],
            "NON_SOLFEC_ARGV": [], "OUTPUT": [w.solfec, 0.1, "OFF"], "OVERLAPPING": [w.hull(), [w.hull()], None, 0.0], "PENALTY_SOLVER": ["IMPLICIT"],
            "PIPE": [point, x, 1.0, 0.2, 2, 4, 1, 1, [1] * 4], "PRESSURE": [e, 1, 1.0], "PUT_RIGID_LINK": [body, w.other, point, (5, 5, 5), 1e9],
            "PUT_SPRING": [body, point, w.other, (5, 5, 5), [-1, -1, 1, 1], (-1, 1)], "RANK": [], "REGISTER_CALLBACK": [lambda *a: 1, (1,)],
            "ROTATE": [w.hull(), point, x, 10.0], "ROUGH_HEX": [w.hull(), 1, 1, 1], "RUN": [w.solfec, w.solver, 0.002], "SCALE": [w.hull(), (1, 2, 3)],
            "SEEK": [w.solfec, 0.1], "SET_ACCELERATION": [body, point, x, v], "SET_DISPLACEMENT": [body, point, x, v],
            "SET_VELOCITY": [body, point, x, 1.0], "SET_VELOCITY3": [body, point, [1, 0, 0, 0, 1, 0, 0, 0, 1], [v, v, v]],
            "SET_DISPLACEMENT3": [body, point, [1, 0, 0, 0, 1, 0, 0, 0, 1], [v, v, v]], "SET_ACCELERATION3": [body, point, [1, 0, 0, 0, 1, 0, 0, 0, 1], [v, v, v]],
            "SOLFEC": ["DYNAMIC", 1e-3, f"out/{p}"], "SOLFEC_EXPORT": [w.solfec, 0.0, p + "d"], "SPHERE": [point, 1.0, 1, 1],
            "SPLIT": [w.hull(), (0.5, 0.5, 0.5), x, 1], "STRESS": [e, (9.5, 0.5, 0.5)], "SUBDIR": [], "TEST_SOLVER": [1e-6, 10], "SURFACE_MATERIAL": [w.solfec, 1, 2, "SIGNORINI_COULOMB", None, 0.1],
            "TIME_SERIES": [[0, 1, 1, 2]], "TIMING": [w.solfec, "TIMINT"], "TORQUE": [body, "SPATIAL", x, 1.0], "TRANSLATE": [w.hull(), x],
            "UNPHYSICAL_PENETRATION": [w.solfec, 0.1], "VELOCITY": [body, point], "VIEWER": [], "VTK_EXPORT": [w.solfec, 0.0, p],
            "WARNINGS": ["OFF"], "XDMF_EXPORT": [w.solfec, 0.0, p + "x"], "MODAL_ANALYSIS": [e, 2, p + "m"], "RIGID_DISPLACEMENTS": [e],
            "APPLY_BULKMAT": [w.solfec, e, 1, w.material], "COROTATED_DISPLACEMENTS": [w.solfec, [e], 0.1], "FIELD": [w.solfec, lambda *a: 1.0],
            "INITIALIZE_STATE": [w.solfec, f"out/{w.number}", 0.0, ["B"]], "RIGID_TO_FEM": [f"out/{w.number}", 0.0, w.solfec, ["B"]],
            "REGISTER_BASE": [w.solfec, ([1.0], [1.0] * 24), "base"], "POD_BASE": [e, [[0.1] * 24, [0.2] * 24], 1, 1e-8],
            "BALL": [body, w.other, point, "j", 1e9], "HINGE": [body, w.other, point, x, (-1, 1), 0.5, 1.0, 2.0, 3.0, 0.1, "j", 1e9],
            "SLIDER": [body, w.ground, point, x, (-1, 1), 0.5, 1.0, 2.0, 3.0, 0.1, "j", 1e9], "CYLINDRICAL": [body, None, point, x, "j", 1e9],
            "UNIVERSAL": [body, w.other, point, x, (0, 1, 0), "j", 1e9], "WELD": [body, w.other, point, "j", 1e9],
            "DISTANCE": [body, w.other, point, (5, 5, 5), "j", 1e9], "ROPE": [body, w.other, point, (5, 5, 5), 9.0, 0.5, "j", 1e9],
            "GEAR": [*w.hinges, -2.0, "j"], "RACK": [w.hinges[0], w.slider, 0.5, "j"], "MOTOR": [w.hinges[0], "RATE", 1.0, 5.0, "ANGLE", None],
            "SET_ROTATION": [w.ground, point, x, v, "RATE"],
            "TETRAHEDRALIZE": [w.mesh(), p + "t", 0.1, 1.5, 1, 1], "SICONOS_SOLVER": [1e-4, 100, "OFF"],
            "BODY_SWITCH": [e, "RIGID", "TL", None],
        }  # fmt: skip
        return table.get(name)


    def objects(self) -> list:
        """Return objects with members."""
        s = solfec
        shapes = [self.hull(), self.mesh(), s.SPHERE((0, 0, 0), 1, 1, 1), s.ELLIP((0, 0, 0), (1, 2, 3), 1, 1), self.emptied]
        solvers = [self.solver, s.NEWTON_SOLVER(), s.AUTO_SOLVER(), s.PENALTY_SOLVER()]
        materials = [self.material, s.BYLABEL(self.solfec, "SURFACE_MATERIAL", "DEFAULT")]
        bodies = [self.ground, self.body, self.other, self.elastic, self.gone]
        joints = [*self.hinges, self.slider, s.ROPE(self.wheels[3], None, (15, 30, 5), (15, 30, 9))]
        return [self.solfec, self.series, *bodies, *shapes, *solvers, *materials, *joints, *self.solfec.constraints[:1]]


#: Arguments into which a user may put anything at all.
ANYTHING = {("CALLBACK", 2), ("REGISTER_CALLBACK", 1), ("FORCE", 5), ("GAUSS_SEIDEL_SOLVER", 7), ("FIELD", 3), ("BODY", 7), ("MOTOR", 5)}


def set_member(thing, member: str, value) -> None:
    """Read a member, and set it if possible."""
    getattr(thing, member)
    setattr(thing, member, value)


def members(thing) -> list[str]:
    """Return the members of an object other than methods."""
    return [name for kind in type(thing).__mro__ for name, member in vars(kind).items() if isinstance(member, property) and name[0] != "_"]


def spoil(world: World, name: str, chance: random.Random) -> tuple[list, bool]:
    """Return arguments for a call, and whether one of them is meaningless."""
    arguments = world.arguments(name)
    if arguments is None or chance.random() < 0.1:
        return [chance.choice(DOUBTFUL + MEANINGLESS) for _ in range(chance.randrange(6))], False
    if not arguments or chance.random() < 0.05:
        return arguments + [chance.choice(DOUBTFUL)] * chance.randrange(4), False
    place = chance.randrange(len(arguments))
    if chance.random() < 0.4:
        arguments[place] = chance.choice([*MEANINGLESS, world.gone, world.emptied])
        return arguments, (name, place) not in ANYTHING and not (name in ("DELETE", "HERE") and arguments[place] is world.gone)
    arguments[place] = chance.choice(DOUBTFUL)
    if name == "RUN":
        arguments[2] = min(arguments[2], 0.01) if isinstance(arguments[2], (int, float)) else arguments[2]  # it may be long
    return arguments, False


def main(seed: int, calls: int, only: list[str]) -> int:
    warnings.simplefilter("ignore")
    chance = random.Random(seed)
    names = only or sorted(name for name in COMMANDS if name != "CONSTRAINT")
    findings = Findings()
    world = None
    for number in range(calls):
        if number % 25 == 0:
            world = World(number)
        if chance.random() < 0.2:
            thing = chance.choice(world.objects())
            member, value = chance.choice([*members(thing), "nothing"]), chance.choice(DOUBTFUL + MEANINGLESS)
            name = f"{type(thing).__name__}.{member}"
            meaningless, shown = any(value is x for x in MEANINGLESS), f"{name} = {value!r}"[:90]
            error = raised_by(partial(set_member, thing, member, value), PATIENCE)
            allowed = (*DOCUMENTED, AttributeError, ValueError)  # no such member; of a body or constraint that is gone
            if isinstance(error, AttributeError) and member != "nothing":
                allowed = DOCUMENTED
        else:
            name, allowed = chance.choice(names), DOCUMENTED
            arguments, meaningless = spoil(world, name, chance)
            shown = f"{name} ({', '.join(repr(a)[:60] for a in arguments)})"
            error = raised_by(partial(getattr(solfec, name), *arguments), PATIENCE)
        findings.judge(name, shown, error, meaningless, isinstance(error, allowed))
    return findings.report()


if __name__ == "__main__":
    os.makedirs("out", exist_ok=True)
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
