"""HISTORY."""

from __future__ import annotations

import numpy as np

from ..language import checks
from ..language.checks import BadType, BadValue, command
from ..language.hints import Vector
from . import arguments
from .kinds import QuantityKind
from .model import Model, current
from .unbuilt import not_built

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
    h5file, h5last
        Not built yet.

    Returns
    -------
    list of float
        It fills while DEM runs; see the manual for the times that its numbers belong to.
    """
    model = current()
    if h5file is not None or h5last:
        raise not_built("HISTORY from an output file (h5file, h5last)")
    name = checks.string(entity, "entity")
    if name == "TIME":
        return add_probe(model, QuantityKind.TIME, 0, [], None)
    kinds = ((OF_PARTICLES, model.particles, "particle"), (OF_SPRINGS, model.links, "spring"), (OF_TORSIONS, model.torsions, "torsion spring"),
             (OF_JOINTS, model.joints, "joint"))  # fmt: skip
    known = next((kind for kind in kinds if name in kind[0]), None)
    if known is None:
        raise BadValue(f"'entity' must be one of TIME, {', '.join(word for kind in kinds for word in kind[0])}, not {name!r}")
    (quantity, component), count, what = known[0][name], known[1].n, known[2]
    sources = numbers_of(source, count, what)
    if point is not None and quantity not in AT_POINTS:
        raise BadValue(f"'point' belongs to positions, displacements and velocities, not to {name!r}")
    if point is not None and len(sources) != 1:
        raise BadValue("'point' needs one particle as its source")
    return add_probe(model, quantity, component, sources, None if point is None else checks.vector(point, "point"))


def numbers_of(source, count: int, what: str) -> list[int]:
    """Numbers of the things over which a history is averaged."""
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
