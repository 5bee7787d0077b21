"""Bodies that fall apart: fragments replace a body and inherit its state, loads and constraints.

Rigid and pseudo-rigid fragments continue the motion of the body, and nodes of finite elements keep their places and velocities; so mass, centre,
inertia and momenta are those of the body.  If a plane cuts through elements, masses of nodes change, and the fragments get
the one rigid motion that restores both momenta: the least change of nodal velocities that does so.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from . import crack_bonds, fragment_contacts
from .bodies import finite_elements
from .bodies.cracks import Crack
from .bodies.pressure import loaded_surface
from .bodies.table import REDUCED_FORMS, BodyKind, Form
from .body_cuts import Cut, Part, check_can_crack, crack_section, cut_body, triples_of
from .constraints import element_points
from .contact.geometry import PrimitiveKind
from .errors import SolfecError, SolfecWarning
from .kinds import LoadKind
from .lives import Cause
from .shapes.mesh import Mesh
from .shapes.mesh_split import listed_faces
from .shapes.plane_cut import along_faces
from .shapes.vectors import cross
from .tables import unique

KEPT = ("scheme", "rotation_disabled", "selfcontact", "damping", "enhanced", "conserving", "fracture_check")  # columns that fragments inherit
LOST = 1e-9  # relative difference of masses that is not rounding

# --- cracks ----------------------------------------------------------------------------------------------------


def add_crack(domain, identifier: int, crack: Crack) -> None:
    """Give a body a crack (docs/language-running.md, SIMPLIFIED_CRACK).

    Raises
    ------
    ValueError
        A body that cannot crack, a plane that misses its shape or, with `connected`, a point where there is no section.
    """
    check_can_crack(domain, identifier, crack.average)
    if cut_body(domain, identifier, crack) is None:
        where = "has no section at 'point'" if crack.connected else "misses the shape"
        raise ValueError(f"the plane {where} of {domain.bodies.name(identifier)}")
    domain.cracks.add(identifier, crack)


def opening_cracks(domain) -> list[tuple[int, int]]:
    """Return the bodies in which the tension across a crack exceeds its strength, and the number of the newest such crack of each, ascending."""
    return domain.cracks.open(domain.bodies, lambda body, plane: crack_section(domain, body, plane))


def open_cracks(domain, opening: list[tuple[int, int]] | None = None) -> None:
    """Split bodies along one crack each, in this order; `opening` lists bodies and numbers of cracks, by default those of `opening_cracks`."""
    for identifier, number in opening_cracks(domain) if opening is None else opening:
        crack = domain.cracks.of_body[identifier][number]
        cut = cut_body(domain, identifier, crack)
        if cut is None:
            raise SolfecError(f"{domain.bodies.name(identifier)} cracks at time {domain.time:g}, and the plane of the crack misses its shape")
        others = [other for other in domain.cracks.of_body[identifier] if other is not crack]
        children = replace(domain, identifier, cut, Cause.CRACK, crack)
        if crack.energy:
            crack_bonds.prepare(domain, children, crack)
        _copy_cracks(domain, others, children)
    domain.newborn.go_on(domain)


def _copy_cracks(domain, cracks: list[Crack], children: list[int]) -> None:
    """Copy cracks to the fragments that they still cut."""
    for child in children:
        for crack in cracks:
            if cut_body(domain, child, crack) is not None:
                domain.cracks.add(child, crack)


# --- splits along faces ----------------------------------------------------------------------------------------


def split_along(domain, identifier: int, surface, identifiers, labels, keep: bool) -> tuple[list[int], list[list[int]]]:
    """Split a meshed body along faces between elements (docs/language-running.md, RT_SPLIT).

    Parameters
    ----------
    surface : list of lists of 3 or 4 int
        Nodes of the faces; normals point to the second part.
    identifiers, labels : pairs
        Surface identifiers of new faces and labels of the parts.
    keep : bool
        Whether loads and constraints stay.

    Returns
    -------
    children : list of int
        One or two bodies.
    nodes : list of lists of int
        The old number of every node of each.

    Raises
    ------
    ValueError
        A body that cannot be split, faces that are none, a surface that opens nothing or makes more than two parts.
    """
    bodies, row = domain.bodies, domain.body_row(identifier)
    mesh, name = _only_mesh(domain, identifier), bodies.name(identifier)
    if not surface:
        raise ValueError("'surf' must list at least one face")
    cut, along, missing = listed_faces(mesh, surface, "surf")
    if missing:
        raise ValueError(f"item {missing[0]} of 'surf', {list(surface[missing[0]])}, is no face between two elements of {name}")
    pieces = _opened(mesh, cut, along, identifiers)
    if pieces is None:
        raise ValueError(f"the faces in 'surf' do not open {name}: all their nodes are on the front of the cut")
    if len(pieces) > 2:
        raise ValueError(f"the faces in 'surf' split {name} into {len(pieces)} parts; a split makes one or two")
    if len(pieces) == 2:
        second, between = _second_part(mesh, surface, cut, along, pieces)
        if not between.any():
            raise ValueError(f"{name} is in two parts already, and no face of 'surf' is between them")
        turned = np.where(between, ~second[mesh.topology.face_element], along)
        if (turned != along).any():
            pieces = _opened(mesh, cut, turned, identifiers)
        pieces.sort(key=lambda piece: bool(second[piece.elements[0]]))
    label = domain.body_labels.get(identifier)
    names = [labels[0] or label] if len(pieces) == 1 else labels
    conf, velo = (table[:, where].T for table, where in triples_of(bodies, row))
    parts = [Part([piece.mesh], k == 1, label=text) for k, (piece, text) in enumerate(zip(pieces, names))]
    if identifier in bodies.meshes:
        for part, piece in zip(parts, pieces):
            part.elements, part.conf, part.velo = piece.elements, conf[piece.nodes], velo[piece.nodes]
    cracks = list(domain.cracks.of_body.get(identifier, ()))
    children = replace(domain, identifier, Cut(parts), Cause.SPLIT, keep=keep)
    _copy_cracks(domain, cracks, children)
    return children, [piece.nodes.tolist() for piece in pieces]


def _opened(mesh: Mesh, cut: np.ndarray, along: np.ndarray, identifiers) -> list | None:
    """Open faces of a mesh, those with outward normals `along` the listed ones with the first identifier; None if nothing opens."""
    topology = mesh.topology
    faces = topology.face_surface.copy()
    faces[cut] = np.where(along[cut], *identifiers)
    second = np.zeros(topology.element_count, bool)
    second[topology.face_element[cut & ~along]] = True
    return along_faces(mesh, cut, faces, second)


def _second_part(mesh: Mesh, surface, cut: np.ndarray, along: np.ndarray, pieces: list) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the elements of the second of two parts (ne,), and of the cut faces between both parts (nf,).

    It is the one to which the first listed face between them points: as in Solfec-1.0 others may have their nodes in the other sense.
    """
    topology = mesh.topology
    part = np.zeros(topology.element_count, bool)
    part[pieces[1].elements] = True
    side = part[topology.face_element]
    between = cut & (side != side[topology.face_neighbour])
    ahead = between & ~along
    if side[ahead].any() and not side[ahead].all():
        ones = (listed_faces(mesh, [face], "surf")[0] for face in surface)
        ahead &= next(one for one in ones if (one & between).any())
    return part == side[ahead].any(), between


def _only_mesh(domain, identifier: int) -> Mesh:
    """The mesh that is the shape of a body; ValueError where it is not."""
    bodies, row = domain.bodies, domain.body_row(identifier)
    name, held = bodies.name(identifier), bodies.meshes.get(identifier)
    if bodies.kind[row] == BodyKind.OBSTACLE:
        raise ValueError(f"{name} is an obstacle; obstacles do not fall apart")
    if Form(int(bodies.form[row])) in REDUCED_FORMS:
        raise ValueError(f"{name} is of a form whose base is of the whole body; it cannot be split")
    meshes = [] if held is not None and held.background is not None else domain.meshes_of(identifier)
    if len(meshes) != 1 or not (domain.geometry.kinds_of(domain.bodies, row) == PrimitiveKind.ELEMENT).all():
        raise ValueError(f"the shape of {name} is not a single MESH")
    return meshes[0]


# --- replacing a body by fragments ---------------------------------------------------------------------------


def replace(domain, identifier: int, cut: Cut, cause: Cause, plane: Crack | None = None, keep: bool = True) -> list[int]:
    """Put fragments in the place of a body; return their identifiers.

    Parameters
    ----------
    plane : Crack, optional
        The plane of the cut.
    keep : bool
        Whether fragments get the loads and the user's constraints.
    """
    domain.guard.refuse("split bodies")
    bodies, row = domain.bodies, domain.body_row(identifier)
    before = None if cut.exact else _momenta(domain, [identifier])
    children = [_insert(domain, row, part) for part in cut.parts]
    _share(domain, row, children)
    if len(children) == 1 and cause == Cause.CRACK and bodies.kind[row] != BodyKind.RIGID:
        bodies.selfcontact[domain.body_row(children[0])] = 1
    heirs = Heirs(domain, children, [part.above for part in cut.parts], plane)
    if keep:
        _hand_over_constraints(domain, row, heirs)
        _hand_over_loads(domain, row, heirs)
    exclude(domain, identifier, children)
    if (domain.settings.excluded_parts[::2] == identifier).any():
        text = f"parts of {bodies.name(identifier)} that CONTACT_EXCLUDE_OBJECTS names are parts of its fragments no more"
        warnings.warn(text, SolfecWarning, stacklevel=2)
    fragment_contacts.hand_over(domain, row, children)
    domain.remove_bodies(np.arange(bodies.n) == row)  # before the elements of fragments are compiled, so that these need not move up
    changed = 0.0 if before is None else _correct(domain, children, before)
    domain.initialise()
    domain.lives.split(identifier, children, cause, domain.time, domain.step_number, changed)
    return children


def _insert(domain, parent: int, part: Part) -> int:
    """Insert a fragment of the body in row `parent`, with its state."""
    bodies = domain.bodies
    kind, form = BodyKind(int(bodies.kind[parent])), Form(int(bodies.form[parent]))
    within = part.within
    if within is not None:  # elements carry their numbers, which identify nodes
        within = Mesh(within.nodes, within.topology, np.arange(within.topology.element_count, dtype=np.int32))
    material = domain.bulk_materials[int(bodies.material[parent])]
    child = domain.insert_body(kind, part.shapes, material, part.label, form, within)
    row = domain.body_row(child)
    for name in KEPT:
        getattr(bodies, name)[row] = getattr(bodies, name)[parent]
    if kind == BodyKind.FINITE_ELEMENT:
        if within is not None:
            _unmark(domain, child, part)
        _set_elements(domain, parent, child, part)
        return child
    conf, velo = (table[:, where] for table, where in triples_of(bodies, row))
    old_conf, old_velo = (table[:, where] for table, where in triples_of(bodies, parent))
    arm = bodies.centre[:, row] - bodies.centre[:, parent]
    conf[:], velo[:] = old_conf, old_velo
    if kind == BodyKind.PSEUDO_RIGID:  # triples are rows
        conf[:, 3] += old_conf[:, :3].T @ arm
        velo[:, 3] += old_velo[:, :3].T @ arm
    else:
        conf[:, 3] += old_conf[:, :3] @ arm
        velo[:, 1] += old_conf[:, :3] @ np.cross(old_velo[:, 0], arm)
    return child


def _unmark(domain, child: int, part: Part) -> None:
    """Find the fragment's elements of the mesh around the body, and restore their volume identifiers."""
    fitted, whole = domain.body_meshes[child][0], part.within
    part.elements = fitted.volume_ids.astype(int)
    sizes = np.diff(whole.topology.element_ptr)
    chosen = np.zeros(len(sizes), bool)
    chosen[part.elements] = True
    nodes = unique(whole.topology.element_nodes[np.repeat(chosen, sizes)])
    part.conf, part.velo = part.conf[nodes], part.velo[nodes]
    fitted.volume_ids = whole.volume_ids[part.elements]
    domain.bodies.meshes[child].volume_ids = fitted.volume_ids


def _set_elements(domain, parent: int, child: int, part: Part) -> None:
    """Set materials of elements, and places and velocities of nodes."""
    bodies, row = domain.bodies, domain.body_row(child)
    old, new = bodies.meshes[int(bodies.id[parent])], bodies.meshes[child]
    new.density = old.density
    for number, material in enumerate(old.materials):
        where = old.material[part.elements] == number
        if where.any():
            new.apply(material, where)
    bodies.configurations.conf[:, bodies.conf_slice(row)] = part.conf.T
    bodies.triples.velo[:, bodies.velo_slice(row)] = part.velo.T


def _share(domain, parent: int, children: list[int]) -> None:
    """Share the body's mass, and its energies in proportion to volumes; kinetic and internal energies follow from states."""
    bodies = domain.bodies
    rows = [domain.body_row(child) for child in children]
    volume, mass = bodies.volume[rows].sum(), bodies.mass[rows].sum()
    ratio = bodies.mass[parent] / mass
    if abs(ratio - 1.0) > LOST:
        warnings.warn(
            f"the mass of {bodies.name(int(bodies.id[parent]))}, {bodies.mass[parent]:g}, is not its volume times its density; its fragments "
            "share it by volume",
            SolfecWarning, stacklevel=2,
        )  # fmt: skip
        bodies.mass[rows] *= ratio
        bodies.tensor[:, :, rows] *= ratio
    for row in rows:
        bodies.energy[:, row] = bodies.energy[:, parent] * (bodies.volume[row] / volume)


@dataclass
class Momenta:
    """Mass properties of some bodies: mass, centre (3,), linear and (about that centre) angular momentum (3,), kinetic energy, inertia (3, 3)."""

    mass: float
    centre: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    kinetic: float
    inertia: np.ndarray


def _momenta(domain, identifiers: list[int]) -> Momenta:
    """Return momenta at the present state; a body without finite elements counts as one point mass."""
    bodies = domain.bodies
    points, velocities, masses, spin = [], [], [], 0.0
    for identifier in identifiers:
        row = domain.body_row(identifier)
        conf, velo = (table[:, where] for table, where in triples_of(bodies, row))
        if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            fe = finite_elements.compiled(bodies)
            k = fe.number(row)
            points.append(bodies.meshes[identifier].nodes.T + conf)
            velocities.append(velo)
            masses.append(fe.mass[fe.first[k] : fe.first[k + 1]])
            continue
        soft = bodies.kind[row] == BodyKind.PSEUDO_RIGID
        points.append(conf[:, 3:4])
        velocities.append(velo[:, 3:4] if soft else velo[:, 1:2])
        masses.append(bodies.mass[row : row + 1])
        tensor = bodies.tensor[:, :, row]
        spin += 0.5 * (np.einsum("ik,ij,jk->", velo[:, :3], tensor, velo[:, :3]) if soft else velo[:, 0] @ tensor @ velo[:, 0])
    x, v = (np.ascontiguousarray(np.concatenate(parts, axis=1)) for parts in (points, velocities))
    m = np.concatenate(masses)
    total, push = m.sum(), m * v
    centre = np.einsum("n,in->i", m, x) / total  # not by BLAS, whose sums depend on the number of threads
    arm = x - centre[:, None]
    second, moment = np.einsum("in,jn->ij", m * arm, arm), np.einsum("in,jn->ij", arm, push)  # sums of m x x^T and m x v^T
    angular = np.array([moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2], moment[0, 1] - moment[1, 0]])
    return Momenta(total, centre, push.sum(1), angular, spin + 0.5 * np.einsum("in,in->", push, v), np.trace(second) * np.eye(3) - second)


def _correct(domain, children: list[int], before: Momenta) -> float:
    """Add the rigid motion to all nodes that restores both momenta; return the change of kinetic energy."""
    bodies = domain.bodies
    now = _momenta(domain, children)
    missing = before.angular + np.cross(before.centre - now.centre, before.linear) - now.angular
    linear, turn = (before.linear - now.linear) / now.mass, np.linalg.solve(now.inertia, missing)
    for child in children:
        row = domain.body_row(child)
        conf, velo = (table[:, where] for table, where in triples_of(bodies, row))
        arm = bodies.meshes[child].nodes + conf.T - now.centre
        velo += (linear + cross(turn, arm)).T
    gained = linear @ (now.linear + 0.5 * now.mass * linear) + turn @ (now.angular + 0.5 * now.inertia @ turn)
    return now.kinetic + gained - before.kinetic


# --- inheritance -----------------------------------------------------------------------------------------


class Heirs:
    """The fragments of a body, and the fragment that inherits a point."""

    def __init__(self, domain, children: list[int], above: list[bool], plane: Crack | None):
        self.domain, self.children, self.above, self.plane = domain, children, above, plane

    def of(self, point: np.ndarray) -> tuple[int, float]:
        """Return the first fragment that holds a referential point; else the nearest one on the point's side of the plane.

        The second number is the distance from the fragment's finite elements, if any, within which the point belongs to it.
        """
        domain = self.domain
        for child in self.children:
            if _holds(domain, child, point):
                return child, domain.epsilon
        chosen = self.children
        if self.plane is not None:
            side = (np.asarray(point) - self.plane.point) @ np.array(self.plane.normal) > 0.0
            chosen = [child for child, above in zip(self.children, self.above) if above == side] or chosen
        body, reference = domain.geometry.vertices.view("body"), domain.geometry.vertices.view("reference")
        away = [
            float(((reference[:, body == domain.body_row(child)] - np.asarray(point)[:, None]) ** 2).sum(0).min()) for child in chosen
        ]
        child = chosen[int(np.argmin(away))]
        mesh = domain.bodies.meshes.get(child)
        return child, domain.epsilon if mesh is None else mesh.extent


def _holds(domain, identifier: int, point) -> bool:
    mesh = domain.bodies.meshes.get(identifier)
    if mesh is None or mesh.background is not None:
        return domain.points.contains(identifier, point)
    return finite_elements.held_by(domain.bodies, domain.body_row(identifier), point, domain.epsilon) is not None


def _hand_over_constraints(domain, parent: int, heirs: Heirs) -> None:
    """Attach the user's constraints to the fragments that hold their points; they keep their identifiers and reactions."""
    table, bodies = domain.constraints, domain.bodies
    for row in range(table.user_count):
        tolerance = domain.epsilon
        for side in ("master", "slave"):
            if getattr(table, side)[row] != parent:
                continue
            point = getattr(table, side + "_point")[:, row].copy()
            child, reach = heirs.of(point)
            getattr(table, side)[row] = domain.body_row(child)
            tolerance = max(tolerance, reach)
        element_points.attach(table, bodies, row, tolerance)


def _hand_over_loads(domain, parent: int, heirs: Heirs) -> None:
    """Move point loads to the fragments that hold their points, and pressures to all faces with their identifiers."""
    loads, bodies = domain.loads, domain.bodies
    name = bodies.name(int(bodies.id[parent]))
    table = loads.table
    for k in np.flatnonzero(table.view("body") == parent).tolist():
        torque = table.kind[k] in (LoadKind.SPATIAL_TORQUE, LoadKind.CONVECTED_TORQUE)
        point = table.point[:, k].copy()
        greatest = max(heirs.children, key=lambda body: bodies.mass[domain.body_row(body)])
        child, reach = (greatest, 0.0) if torque else heirs.of(point)
        row = domain.body_row(child)
        table.body[k] = row
        if torque:
            warnings.warn(f"a torque on {name} acts on its greatest fragment, body {child}", SolfecWarning, stacklevel=2)
        elif bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            found = finite_elements.find(bodies, row, point, reach)
            table.element[k], table.natural[:, k], table.weights[:, k] = found
    if loads.callbacks.on(parent):
        warnings.warn(
            f"{name} has fallen apart; the force that a function gave it acts no longer, for its size was that of the whole body",
            SolfecWarning, stacklevel=2,
        )  # fmt: skip
    pressures = loads.pressures
    for k in np.flatnonzero(pressures.table.view("body") == parent).tolist():
        surface, value, series = (getattr(pressures.table, column)[k] for column in ("surface", "value", "series"))
        for child in heirs.children:
            found = loaded_surface(domain.meshes_of(child)[0], int(surface), child in bodies.meshes)
            if found is not None:
                pressures.add(domain.body_row(child), *found, float(value), int(series), int(surface))


def exclude(domain, identifier: int, children: list[int]) -> None:
    """Exclude contact of fragments with the bodies excluded for the parent."""
    for one, two in domain.settings.excluded_bodies.T.tolist():
        if identifier not in (one, two):
            continue
        other = two if one == identifier else one
        for child in children:
            for partner in children if other == identifier else [other]:
                domain.settings.exclude_bodies(*sorted((child, partner)))


def inherited_points(domain, identifier: int, points: dict[int, list]) -> list:
    """Return labelled points of a body: its own, and points of its ancestors that it is the first fragment to hold.

    `points` lists (label, referential point) by body.
    """
    parents = domain.lives.parents
    result, line, child = [], [], identifier
    while (parent := parents.get(child)) is not None:
        line.append(parent)
        child = parent
    for body in (*reversed(line), identifier):
        for label, point in points.get(body, ()):
            if body == identifier or _first_holder(domain, body, point) == identifier:
                result.append((label, point))
    return result


def _first_holder(domain, ancestor: int, point) -> int | None:
    """Return the first existing fragment of a body, or of its fragments, that holds a referential point."""
    for child in domain.lives.fragments.get(ancestor, ()):
        if child in domain.lives.fragments:
            found = _first_holder(domain, child, point)
        else:
            found = child if domain.is_alive(child) and _holds(domain, child, np.asarray(point, float)) else None
        if found is not None:
            return found
    return None
