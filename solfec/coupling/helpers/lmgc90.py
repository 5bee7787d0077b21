"""LMGC90 in a process of its own, through the low-level module of compas_lmgc90: rigid polyhedra, one contact law, a theta scheme.

LMGC90 keeps one simulation per process, and ends the process on errors.
"""

from __future__ import annotations

import sys
from time import monotonic

import channel
import numpy as np

CONSTANT = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]  # a driven value v(t) = (v0 + v1 cos (v2 t + v3)) min (1, v4 + v5 t)
BEAT = 1.0  # seconds between signs of life

state: dict = {}


def hello(request: dict, beat) -> dict:
    """Import LMGC90."""
    from compas_lmgc90 import _lmgc90

    return {"name": _lmgc90.__name__}


def start(request: dict, beat) -> dict:
    """Make a simulation of blocks; return their centres and frames.

    The request has `step`, `theta`, `law`, `friction`, `alert`, `density` (n,), `fixed` (n,), `centre` (n, 3), `vertex_ptr` (n + 1,),
    `vertex` (m, 3) relative to centres, `triangle_ptr` (n + 1,), `triangle` (k, 3) counted from 0 in each block, and `times` (t,), `force` (t, n, 6).
    """
    from compas_lmgc90 import _lmgc90

    solver = _lmgc90.LMGC90Solver()
    solver.initialize(request["step"], request["theta"], False)
    solver.add_one_tact_behav("iqsc0", request["law"], [request["friction"]])
    densities, kind = np.unique(request["density"], return_inverse=True)
    solver.set_materials(densities.tolist())
    solver.set_see_tables(request["alert"])
    count = len(request["centre"])
    solver.set_nb_bodies(count)
    force, times, fixed = request["force"], request["times"], request["fixed"]
    loaded = (force != 0.0).any(axis=0) & ~fixed.astype(bool)[:, None]
    for k in range(count):
        vertex = request["vertex"][request["vertex_ptr"][k] : request["vertex_ptr"][k + 1]]
        triangle = request["triangle"][request["triangle_ptr"][k] : request["triangle_ptr"][k + 1]] + 1
        driven = 6 if fixed[k] else 0
        solver.set_one_polyr(
            f"s{kind[k] + 1:0>4}", request["centre"][k].tolist(), triangle.ravel().tolist(), vertex.ravel().tolist(), driven, int(loaded[k].sum())
        )
        for component in range(1, driven + 1):
            solver.set_drvdof(k + 1, component, [0.0] * 6, True, False)
        for component in np.flatnonzero(loaded[k]):
            values = force[:, k, component]
            if len(times) == 1:
                solver.set_drvdof(k + 1, int(component) + 1, [values[0], *CONSTANT[1:]], False, False)
            else:
                solver.set_drvdof(k + 1, int(component) + 1, np.concatenate([times, values]).tolist(), False, True)
        beat()
    solver.close_before_computing()
    first = solver.get_initial_state()
    state["solver"] = solver
    return {"centre": np.array(first.init_bodies), "frame": np.array(first.init_body_frames).reshape(-1, 3, 3)}


def steps(request: dict, beat) -> dict:
    """Make `count` steps; return centres and frames after each, and the interactions of the last one."""
    solver, centres, frames, said, found = state["solver"], [], [], monotonic(), None
    for _ in range(request["count"]):
        found = solver.compute_one_step()
        centres.append(np.array(found.bodies))
        frames.append(np.array(found.body_frames).reshape(-1, 3, 3))
        if monotonic() - said > BEAT:
            said = monotonic()
            beat()
    return {
        "centre": np.array(centres), "frame": np.array(frames),
        "bodies": np.array(found.interaction_bodies, dtype=np.int64).reshape(-1, 2),
        "point": np.array(found.interaction_coords, dtype=float).reshape(-1, 3),
        "normal": np.array(found.interaction_normals, dtype=float).reshape(-1, 3),
        "gap": np.array(found.interaction_gap, dtype=float),
        "force": np.array(found.interaction_force_global, dtype=float).reshape(-1, 3),
    }  # fmt: skip


if __name__ == "__main__":
    channel.serve(int(sys.argv[1]), int(sys.argv[2]), {"hello": hello, "start": start, "steps": steps})
