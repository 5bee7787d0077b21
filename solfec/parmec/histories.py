"""HISTORY: records of quantities over time."""

from __future__ import annotations

import numpy as np

from ..language import checks
from ..language.checks import BadType, BadValue, command
from ..language.hints import Vector
from . import arguments
from .kinds import QuantityKind
from .model import Model, current
from .stored_histories import Wanted, fill

VECTORS = {
    "P": QuantityKind.POSITION,
    "D": QuantityKind.DISPLACEMENT,
    "V": QuantityKind.VELOCITY,
    "O": QuantityKind.SPIN,
    "F": QuantityKind.FORCE,
    "T": QuantityKind.TORQUE,
}
SPRINGS = {
    "LENGTH": QuantityKind.LINK_LENGTH,
    "STROKE": QuantityKind.LINK_STROKE,
    "F": QuantityKind.LINK_TOTAL,
    "SF": QuantityKind.LINK_ELASTIC,
    "FF": QuantityKind.LINK_FRICTION,
    "SS": QuantityKind.LINK_STATUS,
}
OF_PARTICLES = {f"{letter}{axis}": (kind, i) for letter, kind in VECTORS.items() for i, axis in enumerate("XYZ")}
OF_PARTICLES |= {f"|{letter}|": (kind, 3) for letter, kind in VECTORS.items()}
OF_SPRINGS = {name: (kind, 0) for name, kind in SPRINGS.items()}
OF_TORSIONS = {f"{name}_{axis}": (kind, i) for name, kind in (("ZDIR", QuantityKind.TORSION_Z), ("XDIR", QuantityKind.TORSION_X)) for i, axis in enumerate("XYZ")}
OF_TORSIONS |= {name: (QuantityKind.TORSION_ANGLE, i) for i, name in enumerate(("ROLL", "PITCH", "YAW"))}
OF_TORSIONS |= {f"TRQTOT_{axis}": (QuantityKind.TORSION_TOTAL, i) for i, axis in enumerate("RPY")}
OF_TORSIONS |= {f"TRQSPR_{axis}": (QuantityKind.TORSION_ELASTIC, i) for i, axis in enumerate("RPY")}
OF_JOINTS = {f"JREAC_{axis}": (QuantityKind.REACTION, i) for i, axis in enumerate("XYZ")} | {"|JREAC|": (QuantityKind.REACTION, 3)}
AT_POINTS = (QuantityKind.POSITION, QuantityKind.DISPLACEMENT, QuantityKind.VELOCITY)


@command("HISTORY")
def HISTORY(
    entity: str, source: int | list[int] = 0, point: Vector | None = None, h5file: str | None = None, h5last: bool = False
) -> list[float]:
    """Record a quantity while DEM runs.

    Parameters
    ----------
    entity : str
        'TIME'; of particles 'PX', 'PY', 'PZ', '|P|' (position) and the like of D (displacement), V (velocity), O (spatial angular
        velocity), F (force), T (torque); of springs 'LENGTH', 'STROKE', 'F' (force), 'SF' (without dashpot), 'FF' (friction), 'SS'; of torsion springs
        'ROLL', 'PITCH', 'YAW', 'TRQTOT_R', 'TRQTOT_P', 'TRQTOT_Y' (torques), 'TRQSPR_R' (without dashpot) and so on, 'XDIR_X' and so
        on, 'ZDIR_X' and so on; of joints 'JREAC_X', 'JREAC_Y', 'JREAC_Z', '|JREAC|'.
    source : int or list of int
        Number of a particle, spring, torsion spring or joint; of several the average is recorded.
    point : tuple of 3 floats, optional
        Point of one particle, before it has moved, instead of its mass centre.
    h5file : str, optional
        File of DEM from which the history is read: of mass centres (rb), springs (sl), torsion springs (st) or joints (jt).
    h5last : bool
        True: fill the lists of this and of earlier calls with `h5file` now.

    Returns
    -------
    list of float
        It fills while DEM runs, or when files are read; see the manual for the times that its numbers belong to.
    """
    model = current()
    if not isinstance(h5last, (bool, np.bool_)):
        raise BadType(f"'h5last' must be True or False, not {checks.kind_of(h5last)}")
    if h5last and h5file is None:
        raise BadValue("'h5last' needs an 'h5file'")
    name = checks.string(entity, "entity")
    if h5file is not None:
        return from_file(model, name, source, point, checks.path(h5file, "h5file"), bool(h5last))
    if name == "TIME":
        return add_probe(model, QuantityKind.TIME, 0, [], None)
    kinds = ((OF_PARTICLES, model.particles, "particle"), (OF_SPRINGS, model.links, "spring"), (OF_TORSIONS, model.torsions, "torsion spring"),
             (OF_JOINTS, model.joints, "joint"))  # fmt: skip
    quantity, component = quantity_of(name)
    table, what = next((table, what) for names, table, what in kinds if name in names)
    count = table.n
    sources = numbers_of(source, count, what)
    if point is not None and quantity not in AT_POINTS:
        raise BadValue(f"'point' belongs to positions, displacements and velocities, not to {name!r}")
    if point is not None and len(sources) != 1:
        raise BadValue("'point' needs one particle as its source")
    return add_probe(model, quantity, component, sources, None if point is None else checks.vector(point, "point"))


def quantity_of(name: str) -> tuple[QuantityKind, int]:
    """Return the quantity and component of a history's name."""
    known = {"TIME": (QuantityKind.TIME, 0), **OF_PARTICLES, **OF_SPRINGS, **OF_TORSIONS, **OF_JOINTS}
    if name not in known:
        raise BadValue(f"'entity' must be one of {', '.join(known)}, not {name!r}")
    return known[name]


def from_file(model: Model, name: str, source, point, path: str, last: bool) -> list[float]:
    """Prepare a history that is read from a file."""
    quantity, component = quantity_of(name)
    sources = numbers_of(source, checks.INTEGER_LIMIT, "particle, spring or joint")
    place = None if point is None else np.array(checks.vector(point, "point"))
    recorded: list[float] = []
    model.wanted.append(Wanted(recorded, path, name, quantity, component, sources, place))
    if last:
        wanted, model.wanted = model.wanted, []
        fill(wanted)
    return recorded


def numbers_of(source, count: int, what: str) -> list[int]:
    """Return the numbers of the things over which a history is averaged."""
    if isinstance(source, tuple):
        raise BadType("'source' must be a number or a list of numbers; spheres and boxes are not known to Parmec either")
    items = checks.sequence(source, "source") if checks.is_sequence(source) else [source]
    if not items:
        raise BadValue("'source' must not be empty")
    return [arguments.row(item, "source", count, what) for item in items]


def add_probe(model: Model, quantity: QuantityKind, component: int, sources: list[int], point) -> list[float]:
    """Append a history; return the list that it fills."""
    first = model.sources.append(len(sources), number=np.array(sources, np.int32))
    row = model.probes.append(quantity=quantity, component=component, first=first, size=len(sources))
    if point is not None:
        model.probes.arm[:, row] = np.array(point) - model.particles.reference[:, sources[0]]
    recorded: list[float] = []
    model.histories.append(recorded)
    return recorded
