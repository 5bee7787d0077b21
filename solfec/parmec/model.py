"""A model of the explicit engine: its tables, and state that kernels do not use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..connected import components
from ..current import Current
from ..kept_memory import keep_freed_memory
from ..tables import handles_of
from .callbacks import Callbacks
from .kinds import DriveKind, LinkKind, LinkStatus
from .tables import (
    OPENED_TOGETHER,
    ContactEndTable,
    ContactTable,
    ControlTable,
    CurvePointTable,
    CurveTable,
    DriveTable,
    EndTable,
    JointGroupTable,
    JointOrderTable,
    JointTable,
    LinkBatchTable,
    LinkLawTable,
    LinkTable,
    ObstacleTable,
    PairingTable,
    ParticleTable,
    ProbeSourceTable,
    ProbeTable,
    ReleaseListTable,
    ReleaseTable,
    RestraintTable,
    SphereTable,
    TorsionTable,
    TriangleTable,
)

if TYPE_CHECKING:
    from ..shapes.mesh import Mesh
    from .continuation import Results
    from .files import Writer
    from .stored_histories import Wanted


LANES = 8  # springs that kernels handle at once (fortran/parmec/linear_springs.f90)
SHORT_TABLE = 9  # points of a table up to which kernels search its segments one by one
MODES = ("SPH", "MESH", "RB", "CD", "SL", "ST", "JT")
ENTITIES = (
    "NUMBER COLOR DISPL LENGTH ORIENT ORIENT1 ORIENT2 ORIENT3 LINVEL ANGVEL FORCE TORQUE F FN FT SF FF SS AREA PAIR"
    " XDIR YDIR ZDIR TRQROT TRQTOT TRQSPR JREAC"
).split()


@dataclass
class OutputSet:
    """Particles of one set of files.

    Attributes
    ----------
    particles : ndarray of int, or None
        None: all particles that are in no other set.
    modes, entities : tuple of str
    """

    particles: np.ndarray | None = None
    modes: tuple[str, ...] = MODES
    entities: tuple[str, ...] = tuple(ENTITIES)


@dataclass(frozen=True)
class Material:
    """Density [mass/length^3], Young's modulus [force/length^2] and Poisson's ratio."""

    density: float
    young: float
    poisson: float


@dataclass
class Surface:
    """Triangles of a mesh particle, for output.

    Attributes
    ----------
    points : ndarray (n, 3)
        Nodes, referential.
    triangles : ndarray (nt, 3)
        Numbers of nodes of triangles of the surface.
    colours : ndarray (nt,)
    mesh : Mesh
        Mesh whose surface the triangles are.
    """

    points: np.ndarray
    triangles: np.ndarray
    colours: np.ndarray
    mesh: Mesh


class Model:
    """A model of the explicit engine: tables, materials, histories and settings.

    Attributes
    ----------
    control, particles, curves, points, links, laws, ends, restraints, drives, probes, sources, torsions, joints, joint_groups,
    joint_order, releases, release_lists, pairings, obstacles, triangles, spheres, contacts, contact_ends, batches : Table
        See `tables.py`.
    materials : list of Material
    series : list of int
        Curves of the user's time series.
    surfaces : dict of int to Surface
        Meshes by particle.
    histories : list of list of float
        Records of histories, by row of `probes`.
    callbacks : Callbacks
    output_sets : list of OutputSet
        The first one holds the particles that are in no other.
    output_formats : tuple of str
    writer : Writer or None
    results : Results or None
        None before the first DEM.
    """

    def __init__(self):
        keep_freed_memory()
        self.control = ControlTable(1)
        self.control.append()
        self.particles = ParticleTable()
        self.curves = CurveTable()
        self.points = CurvePointTable()
        self.links = LinkTable()
        self.laws = LinkLawTable()
        self.ends = EndTable()
        self.restraints = RestraintTable()
        self.drives = DriveTable()
        self.probes = ProbeTable()
        self.sources = ProbeSourceTable()
        self.torsions = TorsionTable()
        self.joints = JointTable()
        self.joint_groups = JointGroupTable()
        self.joint_order = JointOrderTable()
        self.releases = ReleaseTable()
        self.release_lists = ReleaseListTable()
        self.pairings = PairingTable()
        self.obstacles = ObstacleTable()
        self.triangles = TriangleTable()
        self.spheres = SphereTable()
        self.contacts = ContactTable()
        self.contact_ends = ContactEndTable()
        self.batches = LinkBatchTable()
        self.materials: list[Material] = []
        self.series: list[int] = []
        self.surfaces: dict[int, Surface] = {}
        self.histories: list[list[float]] = []
        self.is_hybrid = False  # HYBRID_SOLVER makes its steps
        self.wanted: list[Wanted] = []  # histories that are read from files
        self.callbacks = Callbacks()
        self.output_sets = [OutputSet()]
        self.output_formats: tuple[str, ...] = ("XDMF",)
        self.writer: Writer | None = None
        self.results: Results | None = None
        self._settled: tuple = ()
        self._known_curves: dict[tuple, int] = {}

    @property
    def tables(self) -> tuple:
        """Tables in the order in which kernels take their handles."""
        return tuple(getattr(self, name) for name in OPENED_TOGETHER["model_tables"])

    def handles(self) -> np.ndarray:
        """Handles of the tables, for one call of a kernel."""
        self._settle()
        return handles_of(self, OPENED_TOGETHER["model_tables"])

    @property
    def time(self) -> float:
        """Time at the start of the next step."""
        return float(self.control.time[0])

    def add_curve(self, x, y) -> int:
        """Add a piecewise linear function and return its row; equal ones are stored once."""
        x, y = np.array(x, float), np.array(y, float)
        key = x.tobytes(), y.tobytes()
        if key not in self._known_curves:
            slope = np.diff(y) / np.diff(x) if x.size > 1 else np.zeros(1)
            first = self.points.append(x.size, x=x, y=y, slope=np.append(slope, slope[-1])[: x.size])
            self._known_curves[key] = self.curves.append(first=first, size=x.size)
        return self._known_curves[key]

    def curve(self, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return places, values and slopes of a curve."""
        own = slice(int(self.curves.first[row]), int(self.curves.first[row] + self.curves.size[row]))
        return self.points.x[own], self.points.y[own], self.points.slope[own]

    def _settle(self) -> None:
        """List the ends of springs by particle and joints by set, if springs, joints or particles were added."""
        counted = self.links.n, self.torsions.n, self.joints.n, self.particles.n
        if self._settled == counted:
            return
        self._sort_ends()
        self._sort_batches()
        self._sort_joints()
        self._hold_particles()
        self._settled = counted

    def forget_pairs(self) -> None:
        """Discard the list of pairs that may touch."""
        self.control.margin[0] = -1.0

    def unsettle(self) -> None:
        """Discard lists after a change of restraints, prescribed motions or laws of springs."""
        self._settled = ()

    def _sort_ends(self) -> None:
        """List the ends of springs by particle: those of linear springs first, in their order."""
        tables = self.links, self.torsions
        particle = np.concatenate([table.particle[:, : table.n].T.ravel() for table in tables])  # the ends of a spring are neighbours
        end = np.concatenate([np.arange(2 * self.links.n), -1 - np.arange(2 * self.torsions.n)])
        moving = np.flatnonzero(particle >= 0)
        order = moving[np.argsort(particle[moving], kind="stable")]
        self.ends.n = 0
        self.ends.append(order.size, end=end[order])
        count = np.bincount(particle[moving], minlength=self.particles.n)
        self.particles.view("ends")[:] = count
        self.particles.view("first_end")[:] = np.cumsum(count) - count

    def _sort_batches(self) -> None:
        """List batches of eight springs with successive numbers, in the order of their lowest particles."""
        links, first = self.links, np.arange(0, self.links.n, LANES)
        particle = links.view("particle")

        def common(column: np.ndarray, other: int) -> np.ndarray:
            """Return the number that all springs of a batch have; `other` if they differ."""
            least = np.minimum.reduceat(column, first)
            return np.where(least == np.maximum.reduceat(column, first), least, other)

        self.batches.n = 0
        if not first.size:
            return
        size = np.append(self.curves.view("size"), 0)  # the last one is of no dashpot
        short = (size[links.view("curve")] <= SHORT_TABLE) & (size[links.view("dashpot")] <= SHORT_TABLE)
        follows = (links.view("kind") == LinkKind.FOLLOWER) & (particle >= 0).all(axis=0)
        special = (links.view("law") >= 0) | (links.view("ratio") >= 0.0) | (links.view("status") != LinkStatus.PLAIN)
        low = np.minimum.reduceat(np.where(particle >= 0, particle, self.particles.n).min(axis=0), first)
        order = np.argsort(low, kind="stable")
        curve, dashpot = common(links.view("curve"), -2), common(links.view("dashpot"), -2)
        plain = np.logical_and.reduceat(short & follows & ~special, first) & (curve >= 0) & (dashpot >= -1) & (first + LANES <= links.n)
        rows = {
            "first": first, "low": low, "high": np.maximum.reduceat(particle.max(axis=0), first), "plain": plain, "curve": curve,
            "dashpot": dashpot, "grounded": np.logical_or.reduceat((particle < 0).any(axis=0), first),
            "special": np.logical_or.reduceat(special, first),
        }  # fmt: skip
        self.batches.append(first.size, **{name: column[order] for name, column in rows.items()})

    def _sort_joints(self) -> None:
        """List sets of joints that particles connect."""
        one, two = self.joints.view("particle")
        inner = two >= 0
        labels = components(self.particles.n, one[inner], two[inner])[one] if self.joints.n else np.zeros(0, int)
        order = np.argsort(labels, kind="stable")
        size = np.unique(labels, return_counts=True)[1]
        self.joint_order.n = self.joint_groups.n = 0
        self.joint_order.append(order.size, joint=order)
        self.joint_groups.append(size.size, first=np.cumsum(size) - size, size=size)

    def _hold_particles(self) -> None:
        """Mark particles that no joint moves or turns, and list the restraints of those that joints move in some directions only."""
        held = self.particles.view("held")
        held[:] = 0
        for k, part in enumerate(("linear", "angular")):
            full = self.restraints.view("particle")[self.restraints.view(f"{part}_count") == 3]
            driven = self.drives.view("particle")[self.drives.view(f"{part}_kind") != DriveKind.FREE]
            held[k, full] = held[k, driven] = 1
        held[:, self.particles.view("driven") == 1] = 1
        row = np.full(self.particles.n + 1, -1)  # the last one is the ground's
        row[self.restraints.view("particle")] = np.arange(self.restraints.n)
        self.joints.view("restraint")[:] = row[self.joints.view("particle")]


_models = Current(Model)
current, begin = _models.get, _models.begin  # the model that commands build
