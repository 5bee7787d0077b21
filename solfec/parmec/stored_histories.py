"""Histories that are read from files of DEM."""

from __future__ import annotations

from dataclasses import dataclass

import h5py
import numpy as np

from ..errors import SolfecError
from .kinds import QuantityKind

DATASETS = {
    QuantityKind.SPIN: "ANGVEL",
    QuantityKind.FORCE: "FORCE",
    QuantityKind.TORQUE: "TORQUE",
    QuantityKind.LINK_LENGTH: "LENGTH",
    QuantityKind.LINK_STROKE: "DISPL",
    QuantityKind.LINK_TOTAL: "F",
    QuantityKind.LINK_ELASTIC: "SF",
    QuantityKind.LINK_FRICTION: "FF",
    QuantityKind.LINK_STATUS: "SS",
    QuantityKind.TORSION_Z: "ZDIR",
    QuantityKind.TORSION_X: "XDIR",
    QuantityKind.TORSION_ANGLE: "TRQROT",
    QuantityKind.TORSION_TOTAL: "TRQTOT",
    QuantityKind.TORSION_ELASTIC: "TRQSPR",
    QuantityKind.REACTION: "JREAC",
}
OF_AXES = (QuantityKind.TORSION_ANGLE, QuantityKind.TORSION_TOTAL, QuantityKind.TORSION_ELASTIC)
OF_FRAMES = (QuantityKind.POSITION, QuantityKind.DISPLACEMENT, QuantityKind.VELOCITY)


@dataclass
class Wanted:
    """A history that is read from a file.

    Attributes
    ----------
    recorded : list of float
        The user's list, to which values are appended.
    file : str
    name : str
        Of the entity, for messages.
    quantity : QuantityKind
    component : int
    sources : list of int
    point : ndarray (3,) or None
        Before it has moved.
    """

    recorded: list[float]
    file: str
    name: str
    quantity: QuantityKind
    component: int
    sources: list[int]
    point: np.ndarray | None


def fill(wanted: list[Wanted]) -> None:
    """Read all histories, each file once."""
    for path in dict.fromkeys(item.file for item in wanted):
        own = [item for item in wanted if item.file == path]
        try:
            with h5py.File(path) as file:
                for frame in sorted(map(int, file)):
                    for item in own:
                        item.recorded.append(value(file[str(frame)], item))
        except (OSError, ValueError) as error:
            raise SolfecError(f"HISTORY: cannot read {path!r}: {error}") from None


def value(frame: h5py.Group, item: Wanted) -> float:
    """Return the value of a history in a frame."""
    if item.quantity == QuantityKind.TIME:
        return float(frame.attrs["TIME"])
    try:
        numbers = frame["NUMBER"][:].tolist()
        rows = [numbers.index(number) for number in item.sources]
        found = [one_value(frame, item, row) for row in rows]
    except KeyError:
        raise SolfecError(f"HISTORY: {item.file!r} has not what {item.name!r} needs") from None
    except ValueError:
        missing = [number for number in item.sources if number not in numbers]
        raise SolfecError(f"HISTORY: {item.file!r} has no number {missing[0]}") from None
    return float(np.mean(found))


def one_value(frame: h5py.Group, item: Wanted, row: int) -> float:
    """Return the quantity of one particle, spring or joint."""
    if item.quantity in OF_FRAMES:
        vector = at_point(frame, item, row)
    else:
        vector = np.atleast_1d(frame[DATASETS[item.quantity]][row])
    if item.quantity in OF_AXES:
        x, z = frame["XDIR"][row], frame["ZDIR"][row]
        vector = np.array([x, np.cross(z, x), z]) @ vector
    return float(np.linalg.norm(vector) if item.component == 3 else vector[item.component])


def at_point(frame: h5py.Group, item: Wanted, row: int) -> np.ndarray:
    """Return position, displacement or velocity of a particle's point."""
    centre, moved = frame["GEOM"][row], frame["DISPL"][row]
    arm = np.zeros(3) if item.point is None else item.point - (centre - moved)
    turned = arm if item.point is None else frame["ORIENT"][row].reshape(3, 3).T @ arm
    if item.quantity == QuantityKind.POSITION:
        return centre + turned
    if item.quantity == QuantityKind.DISPLACEMENT:
        return moved + turned - arm
    velocity = frame["LINVEL"][row]
    return velocity if item.point is None else velocity + np.cross(frame["ANGVEL"][row], turned)
