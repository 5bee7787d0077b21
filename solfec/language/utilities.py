"""RANK, DELETE, BYLABEL, CONTACT_SPARSIFY and other utilities that are not about shapes (docs/language-running.md, Utilities)."""

from __future__ import annotations

import os
from typing import Literal

from ..errors import SolfecError
from ..lives import Cause, Event
from ..parallel import communicator, kept_rows
from ..solvers import dump, fclib
from ..solvers.local_dynamics import LocalDynamics
from ..step_guard import BROKEN_OFF
from . import checks, session
from .bodies import BODY, CONSTRAINT, body_of
from .checks import BadType, BadValue, command
from .constraints import point_on
from .fields import FIELD
from .handles import simulation_of
from .hints import Switch, Vector
from .materials import BULK_MATERIAL, SURFACE_MATERIAL, bulk_by_label
from .mechanisms import JOINT
from .model import SOLFEC
from .written import writing


@command("IMBALANCE_TOLERANCE")
def IMBALANCE_TOLERANCE(solfec: SOLFEC, tolerance: float, weightfactor: float = 1.0, updatefreq: int = 10) -> bool:
    """Set the tolerance of the balance between processes; one process has none.

    Parameters
    ----------
    solfec : SOLFEC
    tolerance : float
        Positive ratio of the largest to the least load, above which bodies are divided anew.
    weightfactor : float
        Weight of local dynamics relative to bodies, in [0, 1].
    updatefreq : int
        Steps between checks of the balance, at least 1.

    Returns
    -------
    bool
        True.
    """
    simulation = simulation_of(solfec)
    tolerance = checks.positive(tolerance, "tolerance")
    weightfactor = checks.between(weightfactor, "weightfactor", 0.0, 1.0)
    updatefreq = checks.integer(updatefreq, "updatefreq", minimum=1)
    simulation.balance(tolerance, weightfactor, updatefreq)
    return True


@command("RANK")
def RANK() -> int:
    """Return the rank of this process among those of a parallel run; 0 in a serial one.

    Returns
    -------
    int
    """
    return communicator.world().rank


@command("BARRIER")
def BARRIER() -> bool:
    """Wait until all processes have come to this command; a serial run has one.

    Returns
    -------
    bool
        True.

    Raises
    ------
    SolfecError
        Another process is at another command.
    """
    world, place = communicator.world(), "BARRIER"
    for rank, other in enumerate(world.meet(place)):
        if other != place:
            raise SolfecError(f"BARRIER: process {world.rank} waits here, and process {rank} is at {other}; all must call the same commands")
    return True


@command("NCPU")
def NCPU(solfec: SOLFEC | None = None) -> int:
    """Return the number of processes.

    Parameters
    ----------
    solfec : SOLFEC, optional

    Returns
    -------
    int
    """
    if solfec is not None:
        simulation_of(solfec)
    return communicator.world().size


@command("HERE")
def HERE(solfec: SOLFEC, object: BODY | CONSTRAINT) -> bool:
    """Whether this process moves a body, or has a constraint; always, in a serial run.

    In parallel runs it tells where they are since the last division; exactly one process has each of them.

    Parameters
    ----------
    solfec : SOLFEC
    object : BODY or CONSTRAINT

    Returns
    -------
    bool
    """
    simulation = simulation_of(solfec)
    if not isinstance(object, (BODY, CONSTRAINT)):
        raise BadType(f"'object' must be a BODY or CONSTRAINT object, not {checks.kind_of(object)}")
    if object._simulation is not simulation:
        raise BadValue("'object' belongs to another SOLFEC object")
    return simulation.owner(object._id, isinstance(object, CONSTRAINT)) == communicator.world().rank


@command("VIEWER")
def VIEWER() -> bool:
    """Whether the viewer is on (-v).

    Returns
    -------
    bool
    """
    now = session.current()
    return now.viewed is not None or now.viewer is not None


@command("SUBDIR")
def SUBDIR() -> str | None:
    """Sub-directory given by the switch -s, or None.

    Returns
    -------
    str or None
    """
    return session.current().subdirectory


@command("NON_SOLFEC_ARGV")
def NON_SOLFEC_ARGV() -> list[str] | None:
    """The user's own arguments of the command line, None when there are none.

    Returns
    -------
    list of str or None
    """
    arguments = session.current().arguments
    return list(arguments) if arguments else None


@command("DELETE")
def DELETE(solfec: SOLFEC, object: BODY | CONSTRAINT) -> None:
    """Delete a body, with its constraints, or a constraint; an object that no longer exists is ignored.

    Parameters
    ----------
    solfec : SOLFEC
    object : BODY or CONSTRAINT
    """
    simulation = simulation_of(solfec)
    if not isinstance(object, (BODY, CONSTRAINT)):
        raise BadType(f"'object' must be a BODY or CONSTRAINT object, not {checks.kind_of(object)}")
    if object._simulation is not simulation:
        raise BadValue("'object' belongs to another SOLFEC object")
    if isinstance(object, BODY):
        domain, identifier = simulation.domain, body_of(object, "object")._id
        domain.delete_body(identifier)
        if domain.step_number:
            domain.lives.note(Event(identifier, False, Cause.USER, 0, domain.time, domain.step_number))
    else:
        simulation.domain.joints.delete_constraint(object._id)


@command("BYLABEL")
def BYLABEL(
    solfec: SOLFEC, kind: Literal["SURFACE_MATERIAL", "BULK_MATERIAL", "FIELD", "BODY", "JOINT"], label: str
) -> SURFACE_MATERIAL | BULK_MATERIAL | FIELD | BODY | JOINT | None:
    """Find a labelled object: the first one that has the label, or None.

    Parameters
    ----------
    solfec : SOLFEC
    kind : str
        'SURFACE_MATERIAL', 'BULK_MATERIAL', 'FIELD', 'BODY' or 'JOINT'.
    label : str

    Returns
    -------
    object or None
    """
    simulation = simulation_of(solfec)
    domain = simulation.domain
    kind = checks.choice(kind, "kind", ("SURFACE_MATERIAL", "BULK_MATERIAL", "FIELD", "BODY", "JOINT"))
    label = checks.string(label, "label")
    if kind == "FIELD":
        return FIELD._of(simulation, label) if label in simulation.fields else None
    if kind == "JOINT":
        return JOINT._labelled(simulation, label)
    if kind == "BODY":
        found = [identifier for identifier, known in domain.body_labels.items() if known == label]
        return BODY._of(simulation, min(found)) if found else None
    if kind == "BULK_MATERIAL":
        material = bulk_by_label(domain, label)
        return None if material is None else BULK_MATERIAL._of(simulation, domain.bulk_materials.row_of(material))
    if label in domain.surface_labels:
        return SURFACE_MATERIAL._of(simulation, domain.surface_labels.index(label))
    return None


@command("CONTACT_EXCLUDE_BODIES")
def CONTACT_EXCLUDE_BODIES(body1: BODY, body2: BODY) -> None:
    """Disable contact detection between two bodies.

    Parameters
    ----------
    body1, body2 : BODY
        Of one SOLFEC object; the same body twice: no contacts within it.
    """
    one, two = body_of(body1, "body1"), body_of(body2, "body2")
    if one._simulation is not two._simulation:
        raise BadValue("'body1' and 'body2' belong to different SOLFEC objects")
    one._simulation.domain.settings.exclude_bodies(one._id, two._id)


@command("CONTACT_EXCLUDE_SURFACES")
def CONTACT_EXCLUDE_SURFACES(solfec: SOLFEC, surf1: int, surf2: int) -> None:
    """Disable contact detection between two surfaces.

    Parameters
    ----------
    solfec : SOLFEC
    surf1, surf2 : int
        Surface identifiers.
    """
    simulation = simulation_of(solfec)
    one, two = checks.identifier(surf1, "surf1"), checks.identifier(surf2, "surf2")
    simulation.domain.settings.exclude_surfaces(one, two)


@command("CONTACT_EXCLUDE_OBJECTS")
def CONTACT_EXCLUDE_OBJECTS(body1: BODY, point1: Vector, body2: BODY, point2: Vector) -> None:
    """Disable contact detection between two parts of bodies: convexes, mesh elements, spheres, ellipsoids.

    Solfec-1.0's manual lists the command without a description; arguments are those of earlier manuals.

    Parameters
    ----------
    body1, body2 : BODY
        Of one SOLFEC object; the same body twice: parts of a body with self-contact.
    point1, point2 : tuple of 3
        Referential points inside the parts; the first one of several parts that share a point.
    """
    one, two = body_of(body1, "body1"), body_of(body2, "body2")
    if one._simulation is not two._simulation:
        raise BadValue("'body1' and 'body2' belong to different SOLFEC objects")
    parts = (one._id, _part_at(one, point1, "point1")), (two._id, _part_at(two, point2, "point2"))
    if parts[0] == parts[1]:
        raise BadValue("'point1' and 'point2' are in one part of the body, which never touches itself")
    one._simulation.domain.settings.exclude_parts(*parts)


def _part_at(body: BODY, point: Vector, name: str) -> int:
    """Return the number of the body's part that holds a referential point."""
    point = point_on(body, point, name)
    part = body._simulation.domain.points.part_at(body._id, point)
    if part is None:
        raise BadValue(f"{name!r} must be in an element with a free face, not in an inner one, which touches no other body")
    return part


@command("CONTACT_SPARSIFY")
def CONTACT_SPARSIFY(
    solfec: SOLFEC, threshold: float = 0.01, minarea: float = 0.0, mindist: float | None = None, symmetric: Switch | None = None
) -> None:
    """Filter contact points (docs/language-running.md, CONTACT_SPARSIFY; docs/contact-points.md, Sparsification).

    Parameters
    ----------
    solfec : SOLFEC
    threshold : float
        Ratio of areas in [0, 1] below which the smaller of adjacent contacts is removed; 0: none.
    minarea : float
        Contacts with a smaller area are removed.
    mindist : float
        Distance between distinct contact points (default: geometric epsilon).
    symmetric : str
        'ON' (default with SOLFEC (..., contacts = 'MANIFOLD')): both bodies are treated alike; 'OFF' (default): as in Solfec-1.0.
        Not in Solfec-1.0.
    """
    simulation = simulation_of(solfec)
    threshold = checks.between(threshold, "threshold", 0.0, 1.0)
    minarea = checks.nonnegative(minarea, "minarea")
    mindist = session.current().epsilon if mindist is None else checks.nonnegative(mindist, "mindist")
    settings = simulation.domain.settings
    symmetric = simulation.domain.manifold_contacts if symmetric is None else checks.switch(symmetric, "symmetric")
    settings.threshold, settings.min_area, settings.min_distance = threshold, minarea, mindist
    settings.symmetric = symmetric


@command("CONTACT_OPTIONS")
def CONTACT_OPTIONS(
    solfec: SOLFEC, margin: float | None = None, patch: Switch | None = None, seams: Switch | None = None
) -> None:
    """Choose richer contacts than Solfec-1.0's.  Not in Solfec-1.0.

    Parameters
    ----------
    solfec : SOLFEC
    margin : float
        Bodies nearer than this length are in contact, too, with a positive gap; 0 (default): once they overlap.  With
        SOLFEC (..., contacts = 'MANIFOLD') the default is a part of the smaller primitive of a pair.
    patch : str
        'ON' (default with 'MANIFOLD'): faces that lie on each other share up to four contact points; 'OFF' (default): one.
    seams : str
        'OFF' (default with 'MANIFOLD'): faces that lie wholly against other convexes of their body do not belong to the surface; 'ON'
        (default): they do.  Applies to bodies made after the command.
    """
    simulation = simulation_of(solfec)
    settings = simulation.domain.settings
    manifold = simulation.domain.manifold_contacts
    asked = 0.0 if margin is None else checks.nonnegative(margin, "margin")
    patch = manifold if patch is None else checks.switch(patch, "patch")
    seams = not manifold if seams is None else checks.switch(seams, "seams")
    settings.asked_margin, settings.patch, settings.manifold, settings.seams = asked, patch, manifold and patch, seams
    settings.widen(simulation.domain.surface_materials.reaches)


@command("LOCDYN_DUMP")
def LOCDYN_DUMP(solfec: SOLFEC, path: str) -> None:
    """Write the local dynamics of the last step to a text file (docs/language-running.md, LOCDYN_DUMP); `solfec compare A B` compares two.

    Parameters
    ----------
    solfec : SOLFEC
    path : str
        File path.
    """
    path = checks.path(path, "path")
    if (local := _last_step(solfec, "LOCDYN_DUMP", path)) is not None:
        with writing(path):
            dump.dump(local, path)


@command("FCLIB_EXPORT")
def FCLIB_EXPORT(solfec: SOLFEC, path: str) -> None:
    """Write the contact problem of the last step to a file in the FCLIB format.  Not in Solfec-1.0.

    Parameters
    ----------
    solfec : SOLFEC
    path : str
        File path, which usually ends in .hdf5.
    """
    path, simulation = checks.path(path, "path"), simulation_of(solfec)
    if (local := _last_step(solfec, "FCLIB_EXPORT", path)) is not None:
        with writing(path):
            name = os.path.basename(simulation.outpath or "model")
            fclib.write_step(path, local, f"{name}, time {simulation.domain.time:g}")


def _last_step(solfec: SOLFEC, command: str, path: str) -> LocalDynamics | None:
    """Return the local dynamics of the last step, or of the present step in a solver's callback, for a command that writes them.

    None in `solfec check`, and in all processes but the first, which gets the rows of all.
    """
    domain, world = simulation_of(solfec).domain, communicator.world()
    if session.current().checked is not None:
        return None
    if world.size == 1:
        local = domain.local_dynamics if domain.local_dynamics.stands and domain.guard.standing != BROKEN_OFF else None
    else:
        if domain.spread:
            raise SolfecError(f"{command}: no process can have all constraints of a model with SOLFEC.spread = 'ON'; run it without, or in one process")
        _meet(world, command, f"{command} ('{path}')"[: communicator.SAID])
        local = kept_rows.together(domain.kept_rows, domain, world)
    if local is None and world.rank == 0:
        raise BadValue("there is no step of this run whose local dynamics still stand: call it after RUN or from a CALLBACK")
    return local


def _meet(world: communicator.Communicator, command: str, place: str) -> None:
    """Wait for the other processes; raise SolfecError if one is at another place."""
    for rank, other in enumerate(world.meet(place)):
        if not place.startswith(other):
            raise SolfecError(f"{command}: process {world.rank} is at {place}, and process {rank} is at {other}; all must call the same commands")
