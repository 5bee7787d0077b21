"""INITIALIZE_STATE, RIGID_TO_FEM, MED_FIELD and BODY_SWITCH (docs/language-running.md): states of bodies from elsewhere, and of another kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from ..bodies.table import BodyKind, Form
from ..errors import SolfecError
from ..results import ResultsReader, med, results_file
from ..results.states import initialise
from ..switching import switch
from . import checks, session
from .bodies import BODY, FORMS, body_of
from .checks import BadValue, command
from .handles import simulation_of
from .model import SOLFEC
from .shapes import MESH, reported, shape_of


@command("INITIALIZE_STATE")
def INITIALIZE_STATE(solfec: SOLFEC, path: str, time: float, subset: str | Sequence[str] | None = None) -> None:
    """Set bodies to their state in other results; ignored, with a warning, in READ mode.

    Configurations, velocities and energies are set; time, constraints and reactions are not.

    Parameters
    ----------
    solfec : SOLFEC
    path : str
        Output directory of the other results.
    time : float
        The nearest stored state is used.
    subset : str or list of str, optional
        POSIX basic regular expressions: bodies with matching labels are initialised by their labels.  By default all
        bodies are initialised by their identifiers.
    """
    _initialise(simulation_of(solfec), "INITIALIZE_STATE", path, time, subset, False)


@command("RIGID_TO_FEM")
def RIGID_TO_FEM(path: str, time: float, solfec: SOLFEC, subset: str | Sequence[str] | None = None) -> None:
    """Initialise states as INITIALIZE_STATE does, but let finite element bodies take states of rigid ones; note the order of arguments.

    Their nodes move and turn with the rigid body; constraints made afterwards still use referential points.

    Parameters
    ----------
    path : str
        Output directory of the other results.
    time : float
        The nearest stored state is used.
    solfec : SOLFEC
    subset : str or list of str, optional
        See INITIALIZE_STATE.
    """
    _initialise(simulation_of(solfec), "RIGID_TO_FEM", path, time, subset, True)


@command("BODY_SWITCH")
def BODY_SWITCH(
    body: BODY, kind: Literal["RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT"], form: Literal["TL", "BC"] | None = None, mesh: MESH | None = None
) -> float:
    """Make a body another kind of body, also during a run (from a CALLBACK), and keep its momenta.  Not in Solfec-1.0.

    Parameters
    ----------
    body : BODY
        Rigid, pseudo-rigid, or of finite elements of form 'TL' or 'BC'.  Afterwards the object refers to the new body, which has another identifier.
    kind : str
        Its new kind.
    form : str, optional
        For finite elements; 'TL' by default.
    mesh : MESH, optional
        For a body that gets elements: a mesh round a shape of CONVEX objects, in the referential placement; not emptied.

    Returns
    -------
    float
        Energy, kinetic and internal, that is lost; negative: gained.
    """
    body = body_of(body, "body")
    kind = checks.choice(kind, "kind", ("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT"))
    if form is not None:
        form = checks.choice(form, "form", FORMS)
    if mesh is not None:
        mesh = shape_of(mesh, "mesh", MESH)._content.copy()
    simulation = body._simulation
    if simulation.mode == "READ":
        session.warn("BODY_SWITCH is ignored in READ mode")
        return 0.0
    if kind != "FINITE_ELEMENT" and form not in (None, "TL"):
        session.warn(f"BODY_SWITCH: 'form' is for finite element bodies; {form!r} means nothing to one of kind {kind!r}")
    formulation = Form[(form or "TL").replace("-", "_")] if kind == "FINITE_ELEMENT" else Form.NONE
    try:
        with reported():
            _, lost = switch(simulation.domain, body.id, BodyKind[kind], formulation, mesh)
    except ValueError as error:
        raise BadValue(str(error)) from None
    body._row  # noqa: B018  (the handle follows)
    return lost


@command("MED_FIELD")
def MED_FIELD(path: str, name: str, step: int = -1, body: BODY | None = None) -> list[float]:
    """Read a field at nodes from a MED file of any program, for BODY.conf, BODY.velo or POD_BASE; needs the package medcoupling.  Not in Solfec-1.0.

    Parameters
    ----------
    path : str
    name : str
        Name of the field; blanks and underscores at its end do not count.
    step : int
        From 0; -1 is the last.
    body : BODY, optional
        With a mesh: values at its nodes, in their order.  The file's mesh must have a node at each of them; if it has the group BODY_n
        of elements, n the body's identifier, only these are searched.

    Returns
    -------
    list
        Values node by node, in the order of the file without `body`.
    """
    from scipy.spatial import cKDTree  # slow to import

    path, name, step = checks.path(path, "path"), checks.string(name, "name"), checks.integer(step, "step")
    if not os.path.isfile(path):
        raise BadValue(f"'path' names the file '{path}', which does not exist")
    body = None if body is None else body_of(body, "body")
    try:
        field = med.read_field(path, name, step, None if body is None else body.id)
    except (ValueError, SolfecError) as error:
        raise BadValue(str(error)) from None
    if body is None:
        return field.values.ravel().tolist()
    domain = body._simulation.domain
    meshes = domain.meshes_of(body.id)
    if len(meshes) != 1:
        raise BadValue(f"'body' {body.id} has {len(meshes)} meshes; the nodes of one are needed")
    away, rows = cKDTree(field.places).query(meshes[0].nodes)
    far = int(np.argmax(away))
    if not away[far] <= domain.epsilon:
        raise BadValue(
            f"'{path}' has no node at node {far} of body {body.id}, {tuple(meshes[0].nodes[far].tolist())}: the nearest is {away[far]:g} away, more "
            f"than GEOMETRIC_EPSILON ({domain.epsilon:g})"
        )
    return field.values[rows].ravel().tolist()


def _initialise(simulation, name: str, path, time, subset, rigid_to_elements: bool) -> None:
    path = checks.path(path, "path")
    time = checks.nonnegative(time, "time")
    chosen = _label_filter(subset)
    if simulation.mode == "READ":
        session.warn(f"{name} is ignored in READ mode")
        return
    if simulation.outpath is not None and os.path.realpath(path) == os.path.realpath(simulation.outpath):
        raise BadValue(f"'path' {path!r} is where this simulation writes; take the results of another run")
    if not os.path.isfile(results_file(path)):
        raise BadValue(f"'path': there are no results in {path!r} (no file {results_file(path)})")
    with ResultsReader(path) as reader:
        number = reader.nearest(time)
        found, step = float(reader.times[number]), float(reader.steps["step"][number])
        if abs(found - time) > 1e-6 * step:
            session.warn(f"{name}: {path!r} holds no state at time {time:g}; that of time {found:g} is taken")
        matched = initialise(reader, simulation.domain, number, chosen, rigid_to_elements)
    if not matched:
        how = "matches 'subset' in both" if subset is not None else "has an identifier that occurs in both"
        raise BadValue(f"no body was initialised: none {how}")


def _label_filter(subset) -> Callable[[str], bool] | None:
    """Return a function that tests whether a label matches a pattern; None without patterns."""
    if subset is None:
        return None
    if checks.is_sequence(subset):
        patterns = [checks.pattern(item, f"subset[{i}]") for i, item in enumerate(subset)]
        if not patterns:
            raise BadValue("'subset' must hold at least one pattern")
    else:
        patterns = [checks.pattern(subset, "subset")]
    return lambda label: any(pattern.search(label) for pattern in patterns)
