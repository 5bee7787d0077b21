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
NOT_BUILT = {"ZDIR_X", "ZDIR_Y", "ZDIR_Z", "XDIR_X", "XDIR_Y", "XDIR_Z", "ROLL", "PITCH", "YAW", "JREAC_X", "JREAC_Y", "JREAC_Z", "|JREAC|",
             "TRQTOT_R", "TRQTOT_P", "TRQTOT_Y", "TRQSPR_R", "TRQSPR_P", "TRQSPR_Y"}  # fmt: skip
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
        velocity), F (force), T (torque); of springs 'LENGTH', 'STROKE', 'F' (force), 'SF' (without dashpot), 'FF' (friction), 'SS'.
    source : int or list of int
        Number of a particle or spring; of several the average is recorded.
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
    if name in NOT_BUILT:
        raise not_built(f"HISTORY of {name!r}")
    if name == "TIME":
        return add_probe(model, QuantityKind.TIME, 0, [], None)
    known = OF_SPRINGS if name in OF_SPRINGS else OF_PARTICLES
    if name not in known:
        raise BadValue(f"'entity' must be one of TIME, {', '.join((*OF_PARTICLES, *OF_SPRINGS))}, not {name!r}")
    quantity, component = known[name]
    count, what = (model.links.n, "spring") if known is OF_SPRINGS else (model.particles.n, "particle")
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
