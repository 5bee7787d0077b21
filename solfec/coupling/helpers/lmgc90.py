"""LMGC90 in a process of its own, through the low-level module of compas_lmgc90: rigid polyhedra, one contact law, a theta scheme.

LMGC90 keeps one simulation per process, and ends the process on errors.

The Python class of compas_lmgc90 finds contacts of faces with parallel faces only ('STO', explicit), once and for all in the first step, and has no
option for others.  So `Library` calls the same routines of LMGC90 that it calls, or lets LMGC90 find contacts by Cundall's common planes, in every
step: these take vertices and edges, too.
"""

from __future__ import annotations

import ctypes
import sys
from importlib.metadata import version
from time import monotonic

import channel
import numpy as np

VERSION = "0.1.11"  # of compas_lmgc90: names of routines and places in records are those of its LMGC90
CONSTANT = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]  # a driven value v(t) = (v0 + v1 cos (v2 t + v3)) min (1, v4 + v5 t)
BEAT = 1.0  # seconds between signs of life

INNER = 50  # sweeps of a block, between which convergence is tested
TOLERANCE, RELAXATION, NORM = 1.666e-4, 0.1, b"QM/16"  # all four as in compas_lmgc90
CUNDALL = 200  # iterations at most towards a common plane
PARALLEL = 1e-3  # faces are parallel if the cosine of the angle between their normals is farther from -1 by no more than this
ROOM = 10  # contacts for which LMGC90 has room, over pairs of bodies

state: dict = {}

CONTACT = np.dtype(  # what lmgc90_get_all_inters fills for each contact
    {
        "names": ["cd", "an", "point", "axes", "force", "gap"],
        "formats": ["i4", "i4", ("f8", 3), ("f8", (3, 3)), ("f8", 3), "f8"],
        "offsets": [20, 32, 80, 104, 176, 224],
        "itemsize": 392,
    }
)
BODY = np.dtype([("centre", "f8", 3), ("frame", "f8", (3, 3))])  # likewise of lmgc90_get_all_bodies


def pointer(values, kind) -> ctypes.c_void_p:
    """Return a pointer to numbers of a kind, which keeps them alive."""
    array = np.ascontiguousarray(values, dtype=kind)
    made = ctypes.c_void_p(array.ctypes.data)
    made.array = array
    return made


class Library:
    """Routines of LMGC90 as they are in the extension module: Fortran procedures of its modules, and functions for C of its wrapper."""

    def __init__(self, path: str):
        self.library = ctypes.CDLL(path)
        self.planes, self.unsolved = None, 0
        self.kind = self.call("parameters", "get_interaction_id_from_name", b"PRPRx", length=5)
        self.iterations = 0

    def call(self, module: str, routine: str, *arguments, length: int | None = None) -> int:
        """Call a Fortran procedure of a module; numbers go by reference, None is an absent optional argument, `length` is that of the text."""
        reference = {bool: ctypes.c_int, int: ctypes.c_int, float: ctypes.c_double}
        passed = [ctypes.byref(reference[type(value)](value)) if type(value) in reference else value for value in arguments]
        if length is not None:
            passed.append(ctypes.c_size_t(length))
        return self.library[f"__{module}_MOD_{routine}"](*passed)

    def begin(self, step: float, theta: float, planes: bool) -> None:
        """Begin a new model; all models of a process find contacts in the same way, since LMGC90 does not forget that of faces."""
        if self.planes not in (None, planes):
            raise ValueError("this process has found contacts in the other way (PLANES, FACES) before; take another process")
        self.planes = planes
        self.library.lmgc90_finalize()
        self.call("utilities", "disable_logmes")
        self.call("nlgs_3d", "active_diagonal_resolution")
        if planes:
            self.call("prprx", "set_cundall_iteration_prprx", CUNDALL)
            self.call("prprx", "set_clipper_parameters", 0.0, 0.0, 0.0)
        else:
            self.call("prprx", "set_f2f_tol_prprx", PARALLEL)
            self.call("prprx", "sto_set_explicit_detection_prprx", True)
            self.call("prprx", "sto_set_decompression_prprx", -1.0)  # contact points at the corners of the polygon that faces share
        self.call("prprx", "set_size_factor_polyr_prprx", ROOM)
        self.call("overall", "init_dimension", b"3D        ", length=10)
        self.call("overall", "set_time_step", step, False)
        self.call("overall", "init_theta_integrator", theta, True)
        self.call("tact_behaviour", "open_tact_behav_ll")
        self.fresh, self.find = True, "wcp_compute_contact_prprx" if planes else "sto_compute_contact_prprx"

    def contact_law(self, law: str, friction: float, alert: float) -> None:
        """Define the law of all contacts, and the gap up to which contacts are listed."""
        self.library.lmgc90_add_one_tact_behav(b"iqsc0", law.encode().ljust(30), 1, ctypes.byref(ctypes.c_double(friction)))
        self.library.lmgc90_set_see_tables(ctypes.c_double(alert))

    def materials(self, density: np.ndarray) -> None:
        """Define materials s0001, s0002, ... of these densities."""
        self.library.lmgc90_set_materials(len(density), pointer(density, float))

    def polyhedron(self, material: bytes, centre, triangle, vertex, driven: int, loaded: int) -> None:
        """Add a body of triangles, counted from 1, with room for driven components."""
        triangle, vertex = (np.ascontiguousarray(values) for values in (triangle, vertex))
        self.library.lmgc90_set_one_polyr(
            material, pointer(centre, float), pointer(triangle, np.int32), len(triangle), pointer(vertex, float), len(vertex), driven, loaded
        )

    def drive(self, body: int, component: int, values, velocity: bool, evolution: bool) -> None:
        """Drive a velocity or a force, counted from 1."""
        self.library.lmgc90_set_drvdof(body, component, pointer(values, float), len(values), ctypes.c_bool(velocity), ctypes.c_bool(evolution))

    def detect(self) -> None:
        """Find the contacts at mid-step."""
        self.call("overall", "init_entitylist")
        self.call("overall", "set_run_contactor", 1)
        if self.fresh:
            self.call("prprx", "compute_box_prprx")
            self.fresh = False
        self.call("prprx", "coor_prediction_prprx")
        self.call("prprx", "creation_tab_visu_prprx")
        self.call("prprx", self.find, None)
        self.call("inter_meca_handler_3d", "recup_rloc", self.kind)

    def solve(self, maxiter: int, alive) -> None:
        """Compute the reactions by sweeps (nonlinear Gauss-Seidel), at most `maxiter`; call `alive` after each."""
        self.call("nlgs_3d", "set_nlgs_parameter", NORM, TOLERANCE, RELAXATION, length=5)
        self.call("nlgs_3d", "prep_nlgs", True)
        converged = ctypes.c_int(1)
        for _ in range(-(-maxiter // INNER) if self.library.lmgc90_get_nb_inters() else 0):  # without contacts it would never count as converged
            for _ in range(INNER):
                self.call("nlgs_3d", "solve_nlgs", 1)
                alive()
            self.iterations += INNER
            self.library["__nlgs_3d_MOD_prep_check_nlgs"](ctypes.byref(converged))
            self.call("nlgs_3d", "solve_nlgs", 2)
            self.library["__nlgs_3d_MOD_comp_check_nlgs"](ctypes.byref(converged))
            if converged.value == 0:
                break
        else:
            self.unsolved += self.library.lmgc90_get_nb_inters() > 0
        self.call("nlgs_3d", "rnodhrloc_nlgs", None, None)
        self.call("nlgs_3d", "solve_nlgs", 3)
        self.call("nlgs_3d", "nullify_entitylist_nlgs")
        self.call("nlgs_3d", "update_tact_behav_nlgs")
        self.call("inter_meca_handler_3d", "stock_rloc", self.kind)

    def step(self, maxiter: int, alive) -> None:
        """Make a step."""
        for module, routine in (
            ("overall", "clean_writing_flags"), ("overall", "time_increment"), ("rbdy3", "increment_rbdy3"), ("rbdy3", "comp_fext_rbdy3"),
            ("rbdy3", "comp_fint_rbdy3"), ("rbdy3", "comp_free_vlocy_rbdy3"),
        ):  # fmt: skip
            self.call(module, routine)
        self.detect()
        self.solve(maxiter, alive)
        for module, routine in (("rbdy3", "comp_dof_rbdy3"), ("overall", "updt_time_begin"), ("rbdy3", "update_dof_rbdy3")):
            self.call(module, routine)

    def bodies(self) -> np.ndarray:
        """Return centres and frames (n,) of type BODY."""
        found = np.zeros(self.library.lmgc90_get_nb_bodies(), BODY)
        self.library.lmgc90_get_all_bodies(ctypes.c_void_p(found.ctypes.data), len(found))
        return found

    def contacts(self) -> np.ndarray:
        """Return contacts (n,) of type CONTACT."""
        found = np.zeros(self.library.lmgc90_get_nb_inters(), CONTACT)
        self.library.lmgc90_get_all_inters(ctypes.c_void_p(found.ctypes.data), len(found))
        return found


def hello(request: dict, beat) -> dict:
    """Import LMGC90."""
    from compas_lmgc90 import _lmgc90

    if version("compas_lmgc90") != VERSION:
        raise ImportError(f"compas_lmgc90 {version('compas_lmgc90')} is another version than {VERSION}")

    return {"name": _lmgc90.__name__}


def start(request: dict, beat) -> dict:
    """Make a simulation of blocks; return their centres and frames.

    The request has `step`, `theta`, `planes`, `law`, `friction`, `alert`, `density` (n,), `fixed` (n,), `centre` (n, 3), `vertex_ptr` (n + 1,),
    `vertex` (m, 3) relative to centres, `triangle_ptr` (n + 1,), `triangle` (k, 3) counted from 0 in each block, and `times` (t,), `force` (t, n, 6).
    """
    library = state.get("library")
    if library is None:
        hello(request, beat)
        from compas_lmgc90 import _lmgc90

        library = state["library"] = Library(_lmgc90.__file__)
    library.begin(request["step"], request["theta"], bool(request["planes"]))
    library.contact_law(request["law"], request["friction"], request["alert"])
    densities, kind = np.unique(request["density"], return_inverse=True)
    library.materials(densities)
    count = len(request["centre"])
    library.library.lmgc90_set_nb_bodies(count)
    force, times, fixed = request["force"], request["times"], request["fixed"]
    said = monotonic()
    loaded = (force != 0.0).any(axis=0) & ~fixed.astype(bool)[:, None]
    for k in range(count):
        vertex = request["vertex"][request["vertex_ptr"][k] : request["vertex_ptr"][k + 1]]
        triangle = request["triangle"][request["triangle_ptr"][k] : request["triangle_ptr"][k + 1]] + 1
        driven = 6 if fixed[k] else 0
        library.polyhedron(b"s%04d" % (kind[k] + 1), request["centre"][k], triangle, vertex, driven, int(loaded[k].sum()))
        for component in range(1, driven + 1):
            library.drive(k + 1, component, np.zeros(6), True, False)
        for component in np.flatnonzero(loaded[k]):
            values = force[:, k, component]
            if len(times) == 1:
                library.drive(k + 1, int(component) + 1, [values[0], *CONSTANT[1:]], False, False)
            else:
                library.drive(k + 1, int(component) + 1, np.concatenate([times, values]), False, True)
        if monotonic() - said > BEAT:
            said = monotonic()
            beat()
    library.library.lmgc90_close_before_computing()
    first = library.bodies()
    return {"centre": first["centre"].copy(), "frame": first["frame"].copy()}


def steps(request: dict, beat) -> dict:
    """Make `count` steps of at most `maxiter` sweeps; return centres and frames after each, the interactions of the last one, and the numbers of sweeps and of steps that they left unsolved."""
    library, centres, frames, said = state["library"], [], [], monotonic()
    before, failed = library.iterations, library.unsolved

    def alive() -> None:
        nonlocal said
        if monotonic() - said > BEAT:
            said = monotonic()
            beat()

    for _ in range(request["count"]):
        library.step(request["maxiter"], alive)
        bodies = library.bodies()
        centres.append(bodies["centre"])
        frames.append(bodies["frame"])
        alive()
    found = library.contacts()
    return {
        "centre": np.array(centres), "frame": np.array(frames), "iterations": library.iterations - before,
        "unsolved": library.unsolved - failed,
        "bodies": np.stack([found["cd"], found["an"]], axis=1).astype(np.int64), "point": found["point"].copy(),
        "normal": found["axes"][:, 1].copy(), "gap": found["gap"].copy(), "force": np.einsum("na,nai->ni", found["force"], found["axes"]),
    }  # fmt: skip


if __name__ == "__main__":
    channel.serve(int(sys.argv[1]), int(sys.argv[2]), {"hello": hello, "start": start, "steps": steps})
