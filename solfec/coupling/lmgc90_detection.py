"""LMGC90 as the collision handler of our own step (docs/coupling.md, LMGC90)."""

from __future__ import annotations

import numpy as np

from ..constraints.table import ConstraintKind
from ..kinds import BodyKind
from .buffer import Buffer
from .helper_process import HelperProcess
from .lmgc90 import CODE, DISTANCE, GAP, PIECE, SWEEPS, helper, size_of
from .open_step import OpenStep
from .own import SolfecCollisionHandler
from .rigid_blocks import blocks_of, move
from .roles import CollisionHandler

MOST_SLOTS = 4  # points of a pair of primitives


class LmgcCollisionHandler(CollisionHandler):
    """Contacts of rigid blocks by LMGC90.

    LMGC90 keeps nothing from step to step: every detection hands over all blocks at their present places, all of them held, and makes one
    step, whose contact points, normals and gaps become contacts of the model.

    Parameters
    ----------
    step : OpenStep
    distance : float, optional
        Gap up to which LMGC90 lists contacts [length]; default: a thousandth of the mean size of a block.
    process : HelperProcess, optional
    """

    def __init__(self, step: OpenStep, distance: float | None = None, process: HelperProcess | None = None):
        self.open_step, self.domain = step, step.domain
        self.process = process or helper()
        self._blocks, self._version, self._distance = None, -1, distance

    def detect(self) -> None:
        """Find the contacts at mid-step.

        Raises
        ------
        SolfecError
            The model has something that LMGC90 does not take; the process of LMGC90 ended or hung.
        """
        self.open_step.detect(self._find)

    def pull(self, buffer: Buffer) -> None:
        """Copy contacts and other constraints into the buffer."""
        SolfecCollisionHandler(self.open_step).pull(buffer)

    def _find(self) -> None:
        domain = self.domain
        if self._version != domain.geometry.version:
            self._blocks, self._version = blocks_of(domain, CODE, (PIECE, GAP)), domain.geometry.version
        self.open_step.move_shapes()
        move(self._blocks, domain)
        blocks = self._blocks
        distance = DISTANCE * size_of(blocks) if self._distance is None else self._distance
        self.process.call(
            "start", step=domain.step, theta=0.5, planes=1, law="IQS_CLB", friction=blocks.friction, alert=distance, density=blocks.density,
            fixed=np.ones(len(blocks.body), np.int64), centre=blocks.centre, vertex_ptr=blocks.vertex_ptr, vertex=blocks.vertex,
            triangle_ptr=blocks.triangle_ptr, triangle=blocks.triangle, times=np.zeros(1), force=np.zeros((1, len(blocks.body), 6)),
        )  # fmt: skip
        self._put(self.process.call("steps", count=1, maxiter=SWEEPS))

    def _put(self, found: dict) -> None:
        """Replace the contacts of the model; reactions of the last step stay with points of the same pair and place in the list."""
        domain, table = self.domain, self.domain.constraints
        bodies = domain.bodies
        primitive = self._blocks.primitive[found["bodies"] - 1]
        body = domain.geometry.primitives.view("body")[primitive]
        kept = ~(bodies.view("kind")[body] == BodyKind.OBSTACLE).all(axis=1)  # LMGC90 lists obstacles that touch one another
        primitive, body = primitive[kept], body[kept]
        point, normal, gap = (found[name][kept] for name in ("point", "normal", "gap"))
        turn = bodies.view("kind")[body[:, 0]] == BodyKind.OBSTACLE  # the reaction acts on the master, which moves
        primitive[turn], body[turn], normal[turn] = primitive[turn, ::-1], body[turn, ::-1], -normal[turn]
        surface = domain.geometry.faces.view("surface")[domain.geometry.primitives.view("face_ptr")[primitive]][:, ::-1]
        material = self._materials(surface)
        reach = np.where(domain.surface_materials.gap_aware[material] > 0.0, np.inf, domain.epsilon)
        primitive, body, point, normal, gap, surface, material = (
            values[gap <= reach] for values in (primitive, body, point, normal, gap, surface, material)
        )
        order = np.lexsort((primitive.max(axis=1), primitive.min(axis=1)))
        primitive, body, point, normal, gap, surface, material = (
            values[order] for values in (primitive, body, point, normal, gap, surface, material)
        )
        pair = primitive.min(axis=1) * domain.geometry.primitives.n + primitive.max(axis=1)
        first = np.flatnonzero(np.append(True, np.diff(pair) != 0)) if len(pair) else np.zeros(0, int)
        slot = np.arange(len(pair)) - np.repeat(first, np.diff(np.append(first, len(pair))))
        base = frames(normal)
        reaction = self._remembered(pair, slot, base)
        contacts = np.arange(table.n) >= table.user_count
        table.keep_marked(~contacts)
        if not len(pair):
            return
        conf, start, centre = bodies.configurations.conf, bodies.view("conf_ptr"), bodies.view("centre").T
        axes = np.stack([conf[:, start + k].T for k in range(3)], axis=2)
        referential = [np.einsum("nji,nj->ni", axes[rows], point - conf[:, start[rows] + 3].T) + centre[rows] for rows in body.T]
        table.append(
            len(pair), id=table.new_ids(len(pair)), kind=int(ConstraintKind.CONTACT), master=body[:, 0], slave=body[:, 1],
            master_primitive=primitive[:, 0], slave_primitive=primitive[:, 1], slot=slot % MOST_SLOTS, master_point=referential[0].T,
            slave_point=referential[1].T, point=point.T, other_point=point.T, base=base.transpose(1, 2, 0), gap=gap, surface=surface.T,
            material=material, birth=domain.step_number, R=reaction.T, carriers=0.5,  # it does not say whose face a normal belongs to
        )  # fmt: skip

    def _remembered(self, pair: np.ndarray, slot: np.ndarray, base: np.ndarray) -> np.ndarray:
        """Return the local reactions (n, 3) of the present contacts with the same pairs and slots, zero for others."""
        table = self.domain.constraints
        rows = np.arange(table.user_count, table.n)
        sides = np.stack([table.view(side)[rows] for side in ("master_primitive", "slave_primitive")], axis=1).astype(np.int64)
        count = self.domain.geometry.primitives.n
        known = (sides.min(axis=1, initial=count) * count + sides.max(axis=1, initial=-1)) * MOST_SLOTS + table.view("slot")[rows]
        _, new, old = np.intersect1d(pair * MOST_SLOTS + slot, known, return_indices=True)
        reaction = np.zeros((len(pair), 3))
        force = np.einsum("ijn,jn->ni", table.base[..., rows[old]], table.R[:, rows[old]])
        reaction[new] = np.einsum("nji,nj->ni", base[new], force)
        return reaction

    def _materials(self, surface: np.ndarray) -> np.ndarray:
        """Return the rows of surface materials of pairs of surfaces; all have the same friction and no other law (`blocks_of`)."""
        kinds, place = np.unique(surface, axis=0, return_inverse=True)
        return np.array([self.domain.surface_materials.row_of(*pair) for pair in kinds.tolist()])[place.ravel()]


def frames(normal: np.ndarray) -> np.ndarray:
    """Return local frames (n, 3, 3), columns t1, t2, n, as our own detection makes them from normals (n, 3)."""
    zero = np.zeros(len(normal))
    steep = np.hypot(normal[:, 1], normal[:, 2]) < 1e-6
    first = np.where(steep[:, None], np.stack([normal[:, 2], zero, -normal[:, 0]], axis=1), np.stack([zero, -normal[:, 2], normal[:, 1]], axis=1))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(first, normal), normal], axis=2)
