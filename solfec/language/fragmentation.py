"""SIMPLIFIED_CRACK, RT_SPLIT and FRACTURE_EXPORT_YAFFEMS: bodies that crack and fall apart (docs/language-running.md, Fragmentation)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from .. import fragments
from ..bodies.cracks import Crack
from ..results import fractures
from . import checks, session
from .bodies import BODY, body_of
from .checks import BadValue, command
from .hints import Integers, Switch, Vector
from .shapes import reported
from .written import writing


@command("SIMPLIFIED_CRACK")
def SIMPLIFIED_CRACK(
    body: BODY,
    point: Vector,
    normal: Vector,
    surfid: Sequence[int],
    criterion: Literal["TENSILE"],
    topoadj: Switch = "OFF",
    ft: float = 0.0,
    Gf: float = 0.0,
    average: float | None = None,
) -> None:
    """Prescribe a plane along which a body cracks once a criterion is met.

    Parameters
    ----------
    body : BODY
        Rigid, pseudo-rigid, or of finite elements of form 'TL' or 'BC'; its shape is made of CONVEX and MESH objects.
    point, normal : tuple of 3
        The plane, referential.
    surfid : tuple of 2 int
        Surface identifiers of the new faces: those with the normal's direction, and those opposite to it.
    criterion : str
        'TENSILE': the tension across the plane, n . sigma n, exceeds `ft` at some point of the section.
    topoadj : 'ON' or 'OFF'
        'ON': only the part of the section connected with `point` opens; the body may stay in one piece.
    ft : float
        Tensile strength [pressure].
    Gf : float
        Fracture energy [energy / area] of bonds on the new faces, of strength `ft`; 0: the crack is brittle.  Needs contacts = 'MANIFOLD'.
    average : float
        For rigid bodies, which need it: time T over which the tension is averaged, with weights exp (-age/T) [time]; 0: the mean of each step.
    """
    body = body_of(body, "body")
    point, normal = checks.vector(point, "point"), checks.direction(normal, "normal")
    surfaces = checks.sequence(surfid, "surfid")
    if len(surfaces) != 2:
        raise BadValue(f"'surfid' must hold 2 surface identifiers, it holds {len(surfaces)}")
    surfaces = tuple(checks.identifier(s, f"surfid[{i}]") for i, s in enumerate(surfaces))
    checks.choice(criterion, "criterion", ("TENSILE",))
    topoadj = checks.switch(topoadj, "topoadj")
    strength, energy = checks.nonnegative(ft, "ft"), checks.nonnegative(Gf, "Gf")
    average = None if average is None else checks.nonnegative(average, "average")
    if energy and not strength:
        raise BadValue("'Gf' needs a strength 'ft' above zero, from which the traction of the new faces falls")
    if energy and not body._simulation.domain.manifold_contacts:
        session.warn("SIMPLIFIED_CRACK: 'Gf' needs SOLFEC (..., contacts = 'MANIFOLD'); the body breaks without spending energy")
        energy = 0.0
    length = math.sqrt(sum(x * x for x in normal))
    crack = Crack(point, tuple(x / length for x in normal), surfaces, topoadj, strength, energy, average)
    try:
        fragments.add_crack(body._simulation.domain, body._id, crack)
    except ValueError as error:
        raise BadValue(str(error)) from None


@command("RT_SPLIT")
def RT_SPLIT(
    body1: BODY, surf: Sequence[Integers], sid1: int = 0, sid2: int = 0, label1: str | None = None, label2: str | None = None, keep: Switch = "OFF"
) -> tuple[BODY | None, list[int], list[int] | None]:
    """Split a meshed body along faces between its elements, also during a run (from a CALLBACK).

    Parameters
    ----------
    body1 : BODY
        Its shape is a single MESH.  Afterwards the object refers to the body on the negative side, which has a new identifier.
    surf : list of lists of 3 or 4 int
        Nodes of the faces to open, numbered from 0 as in `BODY.mesh`, counter-clockwise seen from the positive side, the side of `body2`.
    sid1, sid2 : int
        Surface identifiers of new faces: of `body1`, with the direction of the normals, and of `body2`.
    label1 : str, optional
        Label of `body1`; by default a body in one piece keeps its label, and a part has none.
    label2 : str, optional
        Label of `body2`.
    keep : 'ON' or 'OFF'
        'ON': loads and constraints are moved to the parts that hold their points; 'OFF' deletes them, as Solfec-1.0 does.

    Returns
    -------
    body2 : BODY or None
        None if the body stays in one piece, with doubled nodes behind the front of the cut.
    lst1, lst2 : lists of int
        The old number of every node of `body1` and of `body2`; `lst2` is None without `body2`.
    """
    body1 = body_of(body1, "body1")
    surf = [checks.integers(face, f"surf[{i}]") for i, face in enumerate(checks.sequence(surf, "surf"))]
    sids = checks.identifier(sid1, "sid1"), checks.identifier(sid2, "sid2")
    labels = [None if label is None else checks.string(label, name) for label, name in ((label1, "label1"), (label2, "label2"))]
    keep = checks.switch(keep, "keep")
    simulation = body1._simulation
    try:
        children, nodes = fragments.split_along(simulation.domain, body1._id, surf, sids, labels, keep)
    except ValueError as error:
        raise BadValue(str(error)) from None
    simulation.labels.update(label for label in labels if label)
    body1._row  # noqa: B018  (the handle follows)
    if len(children) == 1:
        return None, nodes[0], None
    return BODY._of(simulation, children[1]), nodes[0], nodes[1]


@command("FRACTURE_EXPORT_YAFFEMS")
def FRACTURE_EXPORT_YAFFEMS(body: BODY, path: str, volume: float = math.inf, quality: float = 1.3) -> int:
    """Write the states that BODY.fracturecheck has recorded of a body as tetrahedra in a VTK file; needs the package tetgen.

    Parameters
    ----------
    body : BODY
        A body of results in READ mode; it need not exist in the present frame.
    path : str
        File path without its ending '.vtk'.  The k-th state has the vectors displacement_k and force_k at nodes.
    volume : float
        Greatest volume of a tetrahedron.
    quality : float
        Greatest ratio of circumradius to shortest edge of a tetrahedron, above 1.

    Returns
    -------
    int
        Number of states; 0 in WRITE mode and without states, when no file is written.
    """
    checks.instance(body, "body", BODY)
    path = checks.path(path, "path")
    volume, quality = checks.positive(volume, "volume", infinite=True), checks.number(quality, "quality")
    if not quality > 1.0:
        raise BadValue(f"'quality' must be greater than 1, it is {quality:g}")
    simulation = body._simulation
    if simulation.mode == "WRITE" or session.current().checked is not None:
        return 0
    with writing(path), reported():
        return fractures.export(simulation.reader, body._id, path, None if math.isinf(volume) else volume, quality)
