"""Contents of output files: points or triangles with values, collected from the tables."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .kinds import LinkKind, ParticleKind
from .model import Model, OutputSet

SUFFIXES = {"SPH": "sp", "MESH": "", "RB": "rb", "CD": "cd", "SL": "sl", "ST": "st", "JT": "jt"}

@dataclass
class Block:
    """Points, or triangles with three points each, of one file.

    Attributes
    ----------
    points : ndarray (n, 3)
    triangles : bool
        Whether each three points are a triangle.
    of_points, of_cells : dict of str to ndarray
        Values, one row a point or triangle.
    """

    points: np.ndarray
    triangles: bool = False
    of_points: dict[str, np.ndarray] = field(default_factory=dict)
    of_cells: dict[str, np.ndarray] = field(default_factory=dict)

    def only(self, names: tuple[str, ...]) -> Block:
        """Return this block with the named values only; RADIUS is always kept."""
        keep = {"RADIUS", *names}
        of_points = {name: value for name, value in self.of_points.items() if name in keep}
        return Block(self.points, self.triangles, of_points, {name: value for name, value in self.of_cells.items() if name in keep})


def members(model: Model, sets: list[OutputSet]) -> list[np.ndarray]:
    """Return the particles of each set."""
    own = [one.particles for one in sets]
    taken = np.zeros(model.particles.n, bool)
    for numbers in own:
        if numbers is not None:
            taken[numbers] = True
    return [np.flatnonzero(~taken) if numbers is None else numbers for numbers in own]


def blocks(model: Model, particles: np.ndarray, one: OutputSet, first: bool) -> dict[str, Block]:
    """Return the blocks of a set by suffix of the files; the first set includes obstacles."""
    makers = {"SPH": spheres, "MESH": surfaces, "RB": rigid_bodies, "SL": springs, "ST": torsion_springs, "JT": joints, "CD": contacts}
    found = {}
    for mode in one.modes:
        block = makers[mode](model, particles)
        if mode == "MESH" and first and model.triangles.n:
            block = joined(block, obstacles(model))
        if block is not None and len(block.points):
            found[SUFFIXES[mode]] = block.only(one.entities)
    return found


def vectors(model: Model, particles: np.ndarray) -> dict[str, np.ndarray]:
    """Return vectors (n, 3) of particles."""
    columns = {"ANGVEL": "spin", "FORCE": "force", "TORQUE": "torque"}
    return {name: getattr(model.particles, column)[:, particles].T for name, column in columns.items()}


def motion(model: Model, particles: np.ndarray) -> dict[str, np.ndarray]:
    """Return displacements and velocities (n, 3) of mass centres."""
    table = model.particles
    return {"DISPL": (table.position - table.reference)[:, particles].T, "LINVEL": table.velocity[:, particles].T}


def rigid_bodies(model: Model, particles: np.ndarray) -> Block:
    """Return mass centres, with rotations column by column."""
    turns = model.particles.rotation[:, :, particles]
    values = {"NUMBER": particles, **motion(model, particles), **vectors(model, particles)}
    values["ORIENT"] = turns.transpose(2, 1, 0).reshape(-1, 9)
    values |= {f"ORIENT{i + 1}": turns[:, i].T for i in range(3)}
    return Block(model.particles.position[:, particles].T, of_points=values)


def spheres(model: Model, particles: np.ndarray) -> Block:
    """Return centres of spheres."""
    own = particles[model.particles.kind[particles] == ParticleKind.SPHERE]
    values = {"NUMBER": own, "COLOR": model.particles.colour[own], "RADIUS": model.particles.radius[own]}
    return Block(model.particles.position[:, own].T, of_points=values | motion(model, own) | vectors(model, own))


def surfaces(model: Model, particles: np.ndarray) -> Block | None:
    """Return triangles of meshes."""
    own = [number for number in particles.tolist() if number in model.surfaces]
    if not own:
        return None
    parts = [model.surfaces[number] for number in own]
    counts = [len(part.triangles) for part in parts]
    owner = np.repeat(own, counts)
    corner = np.repeat(owner, 3)
    reference = np.concatenate([part.points[part.triangles].reshape(-1, 3) for part in parts])
    table = model.particles
    arms = np.einsum("ijn,nj->ni", table.rotation[:, :, corner], reference - table.reference[:, corner].T)
    points = table.position[:, corner].T + arms
    of_points = {"DISPL": points - reference, "LINVEL": table.velocity[:, corner].T + np.cross(table.spin[:, corner].T, arms)}
    of_cells = {"NUMBER": owner, "COLOR": np.concatenate([part.colours for part in parts]), **vectors(model, owner)}
    return Block(points, True, of_points, of_cells)


def obstacles(model: Model) -> Block:
    """Return triangles of obstacles, whose NUMBER is -1."""
    table = model.triangles
    points, initial = (table.view(name).transpose(2, 1, 0).reshape(-1, 3) for name in ("corner", "initial"))
    row = table.view("obstacle")
    corner, moving = np.repeat(row, 3), model.obstacles
    arms = points - moving.point[:, corner].T
    velocity = moving.linear[:, corner].T + np.cross(moving.angular[:, corner].T, arms)
    nothing = np.zeros((len(row), 3))
    of_cells = {"NUMBER": np.full(len(row), -1), "COLOR": table.view("colour"), "ANGVEL": moving.angular[:, row].T, "FORCE": nothing, "TORQUE": nothing}
    return Block(points, True, {"DISPL": points - initial, "LINVEL": velocity}, of_cells)


def joined(one: Block | None, two: Block | None) -> Block | None:
    """Return the triangles of two blocks in one."""
    if one is None or two is None:
        return one or two
    parts = [{name: np.concatenate((a[name], b[name])) for name in a} for a, b in ((one.of_points, two.of_points), (one.of_cells, two.of_cells))]
    return Block(np.concatenate((one.points, two.points)), True, *parts)


def contacts(model: Model, particles: np.ndarray) -> Block:
    """Return contacts whose first particle is in the set; an obstacle's number is -1."""
    table = model.contacts
    mine = np.zeros(model.particles.n, bool)
    mine[particles] = True
    own = np.flatnonzero(mine[table.view("pair")[0]] & (table.view("alive") == 1))
    one, two = table.pair[:, own]
    sphere = two >= 0
    second = np.where(sphere, model.particles.colour[np.maximum(two, 0)], model.triangles.colour[np.where(sphere, 0, -1 - two)])
    values = {
        "PAIR": np.column_stack((one, np.maximum(two, -1))), "COLOR": np.column_stack((model.particles.colour[one], second)),
        "ORIENT": table.normal[:, own].T, "DISPL": table.depth[own], "F": table.force[:, own].T, "FN": table.normal_force[own],
        "FT": table.tangential[:, own].T,
    }  # fmt: skip
    return Block(table.point[:, own].T, of_points=values)


def springs(model: Model, particles: np.ndarray) -> Block:
    """Return linear springs whose first particle is in the set, at the middle of their points."""
    links = model.links
    own = owned(model, links, particles)
    points = np.array([ends(model, own, side) for side in range(2)])
    columns = {"LENGTH": "length", "F": "total", "SF": "elastic", "FF": "friction", "SS": "status", "DISPL": "stroke"}
    values = {"NUMBER": own, **{name: getattr(links, column)[own] for name, column in columns.items()}}
    values["ORIENT"] = axes(model, own, points)
    return Block(points.mean(axis=0), of_points=values)


def ends(model: Model, own: np.ndarray, side: int) -> np.ndarray:
    """Return present points (n, 3) of springs on one side."""
    number, arm, table = model.links.particle[side, own], model.links.lever[:, side, own].T, model.particles
    if not table.n:
        return arm
    at = np.maximum(number, 0)
    moved = table.position[:, at].T + np.einsum("ijn,nj->ni", table.rotation[:, :, at], arm)
    return np.where((number < 0)[:, None], arm, moved)


def axes(model: Model, own: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return present directions (n, 3) of springs, zero if there is none."""
    links, table = model.links, model.particles
    kind, given, between = links.kind[own], links.direction[:, own].T, points[1] - points[0]
    second = links.particle[1, own]
    turned = np.einsum("ijn,nj->ni", table.rotation[:, :, np.maximum(second, 0)], given)
    given = np.where(((kind == LinkKind.PLANE) & (second >= 0))[:, None], turned, given)
    across = between - (between * given).sum(1)[:, None] * given
    between = np.where((kind == LinkKind.PLANAR)[:, None], across, between)
    length = np.linalg.norm(between, axis=1)[:, None]
    along = np.divide(between, length, out=np.zeros_like(between), where=length > 0)
    return np.where(((kind == LinkKind.CONSTANT) | (kind == LinkKind.PLANE))[:, None], given, along)


def torsion_springs(model: Model, particles: np.ndarray) -> Block:
    """Return torsion springs whose first particle is in the set, at their points; torques are spatial vectors."""
    table, bodies = model.torsions, model.particles
    own = owned(model, table, particles)
    first = table.particle[0, own]
    turn = bodies.rotation[:, :, first]
    x, z = (np.einsum("ijn,jn->ni", turn, column[:, own]) for column in (table.x, table.z))
    frame = np.stack((x, np.cross(z, x), z), axis=1)  # (n, 3, 3): axes of roll, pitch and yaw
    columns = {"TRQROT": table.angle, "TRQTOT": table.total, "TRQSPR": table.elastic}
    values = {name: np.einsum("nij,in->nj", frame, column[:, own]) for name, column in columns.items()}
    points = bodies.position[:, first].T + np.einsum("ijn,jn->ni", turn, table.arm[:, own])
    return Block(points, of_points={"NUMBER": own, "XDIR": x, "YDIR": frame[:, 1], "ZDIR": z, **values})


def joints(model: Model, particles: np.ndarray) -> Block:
    """Return ball joints whose first particle is in the set, with the forces on it."""
    table, bodies = model.joints, model.particles
    own = owned(model, table, particles)
    first = table.particle[0, own]
    points = bodies.position[:, first].T + np.einsum("ijn,jn->ni", bodies.rotation[:, :, first], table.arm[:, 0, own])
    return Block(points, of_points={"NUMBER": own, "JREAC": table.reaction[:, own].T})


def owned(model: Model, table, particles: np.ndarray) -> np.ndarray:
    """Return rows of a table whose first particle is in `particles`."""
    mine = np.zeros(model.particles.n, bool)
    mine[particles] = True
    return np.flatnonzero(mine[table.particle[0, : table.n]])
