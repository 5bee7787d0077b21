"""Random systems of bodies and constraints without geometry, with W, B and V computed a second time from masses and places."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from coulomb import frame, pseudo_rigid_inverse_mass, pseudo_rigid_operator, rigid_inverse_mass, rigid_operator, turn, worst

from solfec.bodies.table import BodyKind, BodyTable
from solfec.constraints import user
from solfec.constraints.table import ConstraintKind, ConstraintTable, SurfaceMaterialTable
from solfec.solvers import siconos_process
from solfec.solvers.auto import AcceleratedGaussSeidel, AutoSolver
from solfec.solvers.contact_problem import Method
from solfec.solvers.gauss_seidel import DiagonalSolver, GaussSeidelSolver
from solfec.solvers.local_dynamics import LocalDynamics
from solfec.solvers.newton import NewtonSolver
from solfec.solvers.siconos import SiconosSolver

UP = np.array([0.0, 0.0, 1.0])


@dataclass
class Body:
    """Data of a body for its contribution to W, in plain arrays."""

    kind: BodyKind
    mass: float
    centre: np.ndarray
    tensor: np.ndarray
    conf: np.ndarray  # rotation, or gradient, 3x3
    place: np.ndarray
    before: np.ndarray  # generalised velocity at the start of the step
    free: np.ndarray  # and without reactions

    def operator(self, base, point, contact=True) -> np.ndarray:
        """From the generalised velocity to the local one of a referential point."""
        arm = np.asarray(point, float) - self.centre
        if self.kind == BodyKind.PSEUDO_RIGID:
            return pseudo_rigid_operator(base, arm)
        return rigid_operator(base, self.conf, arm)

    def inverse_mass(self) -> np.ndarray:
        if self.kind == BodyKind.PSEUDO_RIGID:
            return pseudo_rigid_inverse_mass(self.mass, self.tensor)
        return rigid_inverse_mass(self.mass, self.tensor)

    def spatial(self, point) -> np.ndarray:
        return self.place + self.conf @ (np.asarray(point, float) - self.centre)


PRESCRIBED = (ConstraintKind.VELODIR, ConstraintKind.VELODIR3)


@dataclass
class Row:
    """One constraint."""

    kind: ConstraintKind
    master: int
    slave: int
    points: tuple  # referential, of master and slave
    base: np.ndarray
    mu: float = 0.0
    restitution: float = 0.0
    cohesion: float = 0.0  # force
    gap: float = 0.0
    value: np.ndarray = field(default_factory=lambda: np.zeros(3))


class System:
    """Bodies and rows, both in plain arrays and in the program's tables."""

    def __init__(self, step=0.01, dynamic=True, seed=0):
        self.step, self.dynamic = step, dynamic
        self.random = np.random.default_rng(seed)
        self.bodies: list[Body] = []
        self.rows: list[Row] = []
        self.table = BodyTable()
        self.constraints = ConstraintTable()
        self.materials = SurfaceMaterialTable()
        self.local = LocalDynamics()

    # --- making it

    def body(self, kind=BodyKind.RIGID, mass=1.0, tensor=None, centre=(0, 0, 0), conf=None, place=None, before=None, free=None) -> int:
        tensor = np.eye(3) if tensor is None else np.asarray(tensor, float)
        centre = np.asarray(centre, float)
        conf = np.eye(3) if conf is None else np.asarray(conf, float)
        place = centre if place is None else np.asarray(place, float)
        count = 12 if kind == BodyKind.PSEUDO_RIGID else 6
        before = np.zeros(count) if before is None else np.asarray(before, float)
        free = before if free is None else np.asarray(free, float)
        self.bodies.append(Body(kind, mass, centre, tensor, conf, place, before, free))
        row = self.table.add(kind, mass=mass, centre=centre, tensor=tensor)
        triples, where, conf_where = self.table.triples, self.table.velo_slice(row), self.table.conf_slice(row)
        triples.inverse_inertia[..., where] = np.linalg.inv(tensor)[..., None]
        triples.inverse_inertia[..., where.stop - 1] = np.eye(3) / mass
        triples.velo_prev[:, where] = before.reshape(-1, 3).T
        triples.velo[:, where] = free.reshape(-1, 3).T
        columns = conf.T if kind == BodyKind.PSEUDO_RIGID else conf  # rows of the gradient, columns of the rotation
        self.table.configurations.conf[:, conf_where] = np.column_stack([columns, place])
        return row

    def random_body(self, kind=BodyKind.RIGID, still=False) -> int:
        random = self.random
        axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
        tensor = axes @ np.diag(random.uniform(0.5, 1.0, 3)) @ axes.T
        mass = 10.0 ** random.uniform(-0.5, 0.5)
        conf = turn(random.normal(size=3))
        if kind == BodyKind.PSEUDO_RIGID:
            conf = conf + 0.1 * random.normal(size=(3, 3))
        count = 12 if kind == BodyKind.PSEUDO_RIGID else 6
        before = np.zeros(count) if still or kind == BodyKind.OBSTACLE else random.normal(size=count)
        free = before + (0.0 if kind == BodyKind.OBSTACLE else 0.1 * random.normal(size=count))
        return self.body(kind, mass, mass * tensor, random.normal(size=3), conf, random.normal(size=3), before, free)

    def contact(self, master, slave, normal=UP, points=None, mu=0.0, restitution=0.0, cohesion=0.0, gap=-1e-9, gap_aware=0.0) -> int:
        normal = np.asarray(normal, float) / np.linalg.norm(normal)
        points = points or tuple(self.bodies[k].centre for k in (master, slave))
        points = tuple(np.asarray(p, float) for p in points)
        row = Row(ConstraintKind.CONTACT, master, slave, points, frame(normal), mu, restitution, cohesion, gap)
        self.rows.append(row)
        material = self.materials.append(friction=mu, restitution=restitution, gap_aware=gap_aware, cohesion=cohesion)
        return self.constraints.append(
            id=self.constraints.n + 1, master=master, slave=slave, master_point=points[0][:, None], slave_point=points[1][:, None],
            point=self.bodies[master].spatial(points[0])[:, None], base=row.base[..., None], material=material, birth=0, gap=gap,
            area=1.0, cohesion=cohesion,
        )  # fmt: skip

    def joint(self, kind: str, master, slave=-1, points=None, normal=UP, value=(0, 0, 0)) -> int:
        """FIXPNT, FIXDIR, VELODIR or VELODIR3; before the first contact."""
        kind = ConstraintKind[kind]
        points = points or tuple(self.bodies[k].centre if k >= 0 else np.zeros(3) for k in (master, slave))
        base = np.eye(3) if kind == ConstraintKind.FIXPNT else frame(np.asarray(normal, float) / np.linalg.norm(normal))
        value = np.asarray(value, float)
        if kind == ConstraintKind.VELODIR:
            value = np.array([value[2], 0.0, 0.0])
        self.rows.append(Row(kind, master, slave, tuple(np.asarray(p, float) for p in points), base, value=value))
        row = self.constraints.append(
            id=self.constraints.n + 1, kind=int(kind), master=master, slave=slave, base=base[..., None],
            direction=base[:, 2:], update=1, master_point=np.asarray(points[0], float)[:, None],
            slave_point=np.asarray(points[1], float)[:, None], value=value[:, None],
        )  # fmt: skip
        self.constraints.user_count += 1
        return row

    # --- what the program makes of it

    def assemble(self, stored=None, colouring="OFF") -> LocalDynamics:
        user.update(self.constraints, self.table, self.step, self.step)
        self.local.assemble(self.constraints, self.table, self.materials, self.step, self.dynamic, stored=stored, colouring=colouring)
        return self.local

    def solve(self, solver, stored=None):
        """Report, R and U (rows, 3) in the order of `rows`."""
        if stored is None:
            stored = getattr(solver, "stored_form", None)
        self.assemble(stored, getattr(solver, "colouring", "OFF"))
        report = solver.solve(self.local)
        self.local.apply_reactions()
        n = len(self.rows)
        return report, self.constraints.R[:, :n].T.copy(), self.constraints.U[:, :n].T.copy()

    # --- and a second time

    def jacobian(self) -> tuple[np.ndarray, np.ndarray]:
        """H of all rows and bodies, signs included, without and with obstacles that contacts do not move."""
        first = np.cumsum([0, *(len(body.before) for body in self.bodies)])
        whole = np.zeros((3 * len(self.rows), first[-1]))
        for i, row in enumerate(self.rows):
            sides = [(row.master, row.points[0], 1.0)]
            if row.slave >= 0:
                point = row.points[1]
                sides.append((row.slave, point, -1.0))
                if row.kind == ConstraintKind.FIXDIR:  # acts at the slave's point on both
                    master = self.bodies[row.master]
                    spatial = self.bodies[row.slave].spatial(point)
                    sides[0] = row.master, master.centre + np.linalg.solve(master.conf, spatial - master.place), 1.0
            for k, point, sign in sides:
                whole[3 * i : 3 * i + 3, first[k] : first[k + 1]] += sign * self.bodies[k].operator(row.base, point)
        moved = whole.copy()
        for i, row in enumerate(self.rows):
            for k, body in enumerate(self.bodies):
                if row.kind == ConstraintKind.CONTACT and body.kind == BodyKind.OBSTACLE:
                    moved[3 * i : 3 * i + 3, first[k] : first[k + 1]] = 0.0
        return whole, moved

    def inverse_mass(self) -> np.ndarray:
        blocks = [body.inverse_mass() for body in self.bodies]
        size = sum(len(b) for b in blocks)
        whole, at = np.zeros((size, size)), 0
        for b in blocks:
            whole[at : at + len(b), at : at + len(b)] = b
            at += len(b)
        return whole

    def delassus(self) -> np.ndarray:
        """W = h H M^-1 H^T in the order of `rows`."""
        _, moved = self.jacobian()
        return self.step * moved @ self.inverse_mass() @ moved.T

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """B and V (rows, 3): contacts feel obstacles through their velocity."""
        whole, _ = self.jacobian()
        free, before = (np.concatenate([getattr(b, name) for b in self.bodies]) for name in ("free", "before"))
        return (whole @ free).reshape(-1, 3), (whole @ before).reshape(-1, 3)

    def in_order(self, values) -> np.ndarray:
        """Columns of the row table (3, rows) in the order of `rows`."""
        order = self.local.rows.order[: len(self.rows)]
        result = np.empty((len(self.rows), 3))
        result[order] = values[:, : len(self.rows)].T
        return result

    def matrix(self) -> np.ndarray:
        """The program's W in the order of `rows`."""
        n = len(self.rows)
        order = np.argsort(self.local.rows.order[:n])
        return self.local.matrix().reshape(n, 3, n, 3)[order][:, :, order].reshape(3 * n, 3 * n)

    def shift(self, row: Row, v) -> float | None:
        """Return the number that the law adds to U_N; None: the contact is open, without reaction (docs/materials.md, Surface materials)."""
        if self.dynamic:
            return None if row.gap > 0.0 else row.restitution * min(v[2], 0.0)
        return max(row.gap, 0.0) / self.step

    def bend(self, row: Row) -> np.ndarray:
        """Velocity, local, that the rotation of its master adds to that of a row's point until the end of the step."""
        body = self.bodies[row.master]
        if body.kind == BodyKind.PSEUDO_RIGID or not self.dynamic:
            return np.zeros(3)
        spin = body.conf @ body.free[:3]
        turned = np.sinc(0.5 * self.step * np.linalg.norm(spin) / np.pi)  # sin a/a: within the turn a of half a step
        return 0.5 * self.step * turned * row.base.T @ np.cross(spin, np.cross(spin, body.spatial(row.points[0]) - body.place))

    def law_violation(self, R, U) -> float:
        """The largest violation of any row's law, over the scales of forces and velocities of the problem."""
        b, v = self.velocities()
        w = self.delassus()
        velocity = max(np.abs(b).max(), np.abs(v).max(), 1e-100)
        force = max(np.abs(R).max(), velocity / np.abs(w).max())
        found = np.abs(b.ravel() + w @ np.ravel(R) - np.ravel(U)).max() / velocity
        for i, row in enumerate(self.rows):
            if row.kind == ConstraintKind.CONTACT:
                shift = self.shift(row, v[i])
                if shift is None:
                    found = max(found, np.abs(R[i]).max() / force)
                else:
                    found = max(found, worst(row.mu, row.cohesion, shift, R[i], U[i], force, velocity))
                continue
            unmet = U[i] - wanted(row, v[i], self.dynamic) + (self.bend(row) if row.kind in PRESCRIBED else 0.0)
            if row.kind in (ConstraintKind.FIXDIR, ConstraintKind.VELODIR):
                found = max(found, abs(unmet[2]) / velocity, np.abs(R[i][:2]).max() / force)
            else:
                found = max(found, np.abs(unmet).max() / velocity)
        return found


def wanted(row: Row, v, dynamic=True) -> np.ndarray:
    """The velocity prescribed by a joint (docs/theory.md, Joints): no motion over the step, or the prescribed value at its end."""
    if row.kind == ConstraintKind.VELODIR:
        return np.array([0.0, 0.0, row.value[0]])
    if row.kind == ConstraintKind.VELODIR3:
        return row.value
    return -v if dynamic else np.zeros(3)


def accelerated(epsilon) -> AcceleratedGaussSeidel:
    solver = AcceleratedGaussSeidel(epsilon, 20000)
    solver.anderson = True
    return solver


def reversing(epsilon) -> GaussSeidelSolver:
    solver = GaussSeidelSolver(epsilon, 20000)
    solver.reverse = True
    return solver


def by_islands(epsilon) -> AcceleratedGaussSeidel:
    solver = AcceleratedGaussSeidel(epsilon, 20000)
    solver.islands = True
    return solver


#: Makers of solvers of (8.1) to (8.3), by a relative accuracy.
SOLVERS = {
    **{f"GS {name}": lambda e, name=name: GaussSeidelSolver(e, 20000, diagepsilon=1e-13, diagmaxiter=5000, diagsolver=name) for name in DiagonalSolver.__members__},
    "GS with merit": lambda e: GaussSeidelSolver(e, 20000, meritval=1e-12),
    "GS reverse": reversing,
    "GS anderson": accelerated,
    "GS islands": by_islands,
    "NEWTON GMRES": lambda e: NewtonSolver(e * e, 2000, gsflag=False),
    "NEWTON DIAG": lambda e: NewtonSolver(e * e, 2000, gsflag=False, linver="DIAG"),
    "NEWTON velocity form": lambda e: NewtonSolver(e * e, 2000, gsflag=False, locdyn=False),
    **{f"AUTO {method.name}": lambda e, method=method: AutoSolver(e, 20000, method=method) for method in Method},
    "AUTO whole": lambda e: AutoSolver(e, 20000, split=False),
}  # fmt: skip
if siconos_process.is_installed():
    SOLVERS |= {f"SICONOS {name}": lambda e, name=name: SiconosSolver(e, 20000, solver=name) for name in ("NSGS", "NSN_AC", "ADMM")}

