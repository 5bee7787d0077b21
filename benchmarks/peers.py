"""Compares with other codes, in ratios of one run: python benchmarks/peers.py [--json FILE] [case ...].

Cases are scenes with a theory (hold, slide, stack) and times of a step (boxes) against MuJoCo (pip install mujoco), with its defaults and with what its manual
advises against slip: elliptic cones, impratio 100, ten iterations without slip; and time and difference of the four
scenes of inp/cross-check against LMGC90 and Siconos. What is not installed is named and skipped. Times are those of one thread: of
the processor for boxes, of the wall clock in the four scenes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from math import cos, radians, sin
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import words

import solfec as s

G = 9.81
INPUTS = Path(__file__).resolve().parent.parent / "inp"
STEP = 2e-3
DEFAULT, ADVISED = "", '<option cone="elliptic" impratio="100" noslip_iterations="10"/>'
Row = tuple[str, str, float, float]  # what, the other code, ours, its figure

Boxes = list[tuple[tuple[float, float, float], float]]  # places of the middles and edges of cubes


def ours(boxes: Boxes, friction: float, gravity: tuple, speed: float = 0.0):
    """Return a model of cubes on the ground, and its cubes."""
    model = s.SOLFEC("DYNAMIC", STEP, contacts="MANIFOLD")
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=friction)
    stone = s.BULK_MATERIAL(model, density=1000)
    s.GRAVITY(model, gravity)
    s.BODY(model, "OBSTACLE", s.PLANE((0, 0, 0), (0, 0, 1), 200), stone)
    bodies = [s.BODY(model, "RIGID", s.BOX(place, (edge,) * 3), stone) for place, edge in boxes]
    for body in bodies:
        s.INITIAL_VELOCITY(body, (speed, 0, 0), (0, 0, 0))
    return model, bodies


def mujoco_model(boxes: Boxes, friction: float, gravity: tuple, option: str, speed: float = 0.0):
    """Return the same model, and its data, of MuJoCo."""
    import mujoco

    bodies = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="box" size="{edge / 2} {edge / 2} {edge / 2}" density="1000"/></body>' for (x, y, z), edge in boxes
    )
    text = (
        f'<mujoco><option timestep="{STEP}" gravity="{gravity[0]} {gravity[1]} {gravity[2]}"/>{option}'
        f'<default><geom friction="{friction} 0 0" condim="3"/></default>'
        f'<worldbody><geom type="plane" size="100 100 1"/>{bodies}</worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for k in range(len(boxes)):
        data.qvel[6 * k] = speed
    return model, data


def mujoco_run(model, data, steps: int) -> np.ndarray:
    """Make steps; return places of bodies (n, 3)."""
    import mujoco

    for _ in range(steps):
        mujoco.mj_step(model, data)
    return data.qpos.reshape(-1, 7)[:, :3].copy()


def hold() -> list[Row]:
    """A block on a slope of 20 degrees with a friction of 0.5 stays: how far does it creep in 5 s?"""
    gravity, boxes = (G * sin(radians(20)), 0, -G * cos(radians(20))), [((0, 0, 0.5), 1.0)]
    model, (block,) = ours(boxes, 0.5, gravity)
    s.RUN(model, s.AUTO_SOLVER(), 5.0)
    mine = abs(block.conf[9])
    return [
        (f"hold: creep of a block on a slope in 5 s [mm] ({name})", "mujoco", 1e3 * mine, 1e3 * abs(mujoco_run(*mujoco_model(boxes, 0.5, gravity, option), 2500)[0, 0]))
        for name, option in (("default", DEFAULT), ("advised", ADVISED))
    ]


def slide() -> list[Row]:
    """A block slides v^2 / (2 mu g): by how much is it wrong?"""
    boxes, speed, friction = [((0, 0, 0.5), 1.0)], 4.0, 0.4
    theory = speed**2 / (2 * friction * G)
    model, (block,) = ours(boxes, friction, (0, 0, -G), speed)
    s.RUN(model, s.AUTO_SOLVER(), 1.5)
    mine = abs(block.conf[9] / theory - 1)
    return [
        (f"slide: error of the way of a braking block [%] ({name})", "mujoco", 100 * mine,
         100 * abs(mujoco_run(*mujoco_model(boxes, friction, (0, 0, -G), option, speed), 750)[0, 0] / theory - 1))
        for name, option in (("default", DEFAULT), ("advised", ADVISED))
    ]  # fmt: skip


def stack() -> list[Row]:
    """Ten cubes of 1 m on one another: how far does the top sink in 2 s?"""
    boxes = [((0, 0, k + 0.5), 1.0) for k in range(10)]
    model, blocks = ours(boxes, 0.5, (0, 0, -G))
    s.RUN(model, s.AUTO_SOLVER(), 2.0)
    mine = 9.5 - blocks[-1].conf[11]
    return [
        (f"stack: sinking of the top of ten cubes in 2 s [mm] ({name})", "mujoco", 1e3 * mine, 1e3 * (9.5 - mujoco_run(*mujoco_model(boxes, 0.5, (0, 0, -G), option), 1000)[-1, 2]))
        for name, option in (("default", DEFAULT), ("advised", ADVISED))
    ]


def boxes() -> list[Row]:
    """Processor time of a step of 200 cubes that fall in columns of ten, first to rest and then at rest."""
    places = [((2.0 * i, 2.0 * j, 1.02 * k + 0.51), 1.0) for i in range(5) for j in range(4) for k in range(10)]
    rows = []
    model, _ = ours(places, 0.5, (0, 0, -G))
    solver = s.AUTO_SOLVER(1e-4)
    mine = []
    for steps in (100, 200):
        began = process_time()
        s.RUN(model, solver, steps * STEP)
        mine.append(1e3 * (process_time() - began) / steps)
    for name, option in (("default", DEFAULT), ("advised", ADVISED)):
        other = mujoco_model(places, 0.5, (0, 0, -G), option)
        for phase, own, steps in zip(("falling", "at rest"), mine, (100, 200)):
            began = process_time()
            mujoco_run(*other, steps)
            rows.append((f"boxes: step of 200 cubes {phase} [ms] ({name})", "mujoco", own, 1e3 * (process_time() - began) / steps))
    return rows


def cross_checks() -> list[Row]:
    """Seconds of 500 steps of four scenes, and the largest distance of centres at the end."""
    rows = []
    codes = [code for code, there in (("lmgc90", bool(find_spec("compas_lmgc90"))), ("siconos", siconos_there())) if there]
    with TemporaryDirectory() as directory:
        for scene in ("sliding-block", "two-blocks", "arch", "wall") if codes else ():
            others = [word for code in codes for word in ("--with", code)]
            done = subprocess.run(
                [sys.executable, "-m", "solfec", "cross-check", *others, str(INPUTS / "cross-check" / f"{scene}.py")], cwd=directory, capture_output=True, text=True
            )
            if done.returncode:
                print(f"{scene}: {done.stderr.strip()}", file=sys.stderr)
            found = re.findall(r"solfec \d+ contacts, ([\d.]+) s; (\w+) \d+ contacts, ([\d.]+) s.*?^largest +\S+ +(\S+)", done.stdout, re.M | re.S)
            for mine, code, seconds, distance in found:
                rows.append((f"{scene}: 500 steps [s]; centres differ by {distance} m", code, float(mine), float(seconds)))
    return rows


def siconos_there() -> bool:
    """Is Siconos' kernel installed in the Python of the system, or the one that SOLFEC_SICONOS_PYTHON names?"""
    python = os.environ.get("SOLFEC_SICONOS_PYTHON", "/usr/bin/python3")
    try:
        return subprocess.run([python, "-c", "import siconos.kernel"], capture_output=True).returncode == 0
    except OSError:
        return False


CASES: dict[str, Callable[[], list[Row]]] = {"hold": hold, "slide": slide, "stack": stack, "boxes": boxes, "cross-check": cross_checks}


def main(given: list[str]) -> int:
    """Run the cases, print the table, and write it as JSON if asked to."""
    made = words.parser(__doc__)
    made.add_argument("--json", metavar="FILE")
    made.add_argument("case", nargs="*", help=", ".join(CASES))
    options = made.parse_args(given)
    chosen = words.chosen(made, options.case, CASES)
    missing = [code for code, there in (("mujoco", find_spec("mujoco")), ("lmgc90", find_spec("compas_lmgc90")), ("siconos", siconos_there())) if not there]
    if missing:
        print(f"not installed, skipped: {', '.join(missing)}")
    rows = []
    for name in chosen:
        if name == "cross-check" or "mujoco" not in missing:
            rows += CASES[name]()
    print(f"{'':72} {'Solfec':>10} {'other':>10} {'other/ours':>11}")
    for what, code, mine, other in rows:
        print(f"{what:63.63} {code:8} {mine:10.3g} {other:10.3g} {other / mine if mine else float('inf'):11.3g}")
    if options.json:
        Path(options.json).write_text(json.dumps([dict(zip(("what", "code", "ours", "other"), row)) for row in rows], indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
