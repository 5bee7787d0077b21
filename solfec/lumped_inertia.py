"""Notes about bodies of few elements that turn: masses at nodes have a larger moment of inertia than the body (docs/choices.md, How many elements?)."""

from __future__ import annotations

import numpy as np

from .bodies import finite_elements
from .domain import Domain

#: Angle [rad] from which a body counts as turned.
TURNED = 0.1

#: Ratio of moments of inertia above which it is told: 1 + 2 / n^2 for n elements along a bar is 1.125 for 4.
HEAVY = 1.1


def bodies(domain: Domain) -> list[tuple[int, float]]:
    """Return identifiers of finite element bodies that have turned, and the ratio of their lumped moment of inertia about that axis to the true one."""
    if not domain.dynamic or not domain.deformable:
        return []
    table, elements = domain.bodies, finite_elements.compiled(domain.bodies)
    if not elements.count:
        return []
    first, rows = elements.first[:-1], elements.rows
    nodes = np.diff(elements.first)
    arm = elements.reference - np.repeat(table.centre[:, rows], nodes, axis=1)
    lumped = _products(elements.mass * arm, arm, first)
    motion = lumped + _products(elements.mass * table.configurations.conf[:, elements.conf_row], arm, first)
    turn = _rotations(motion @ np.linalg.inv(lumped))
    cosine = np.clip(0.5 * (np.trace(turn, axis1=1, axis2=2) - 1.0), -1.0, 1.0)
    turned = np.flatnonzero(cosine < np.cos(TURNED))
    turn, cosine = turn[turned], cosine[turned, None, None]
    axes = (0.5 * (turn + turn.transpose(0, 2, 1)) - cosine * np.eye(3)) / (1.0 - cosine)  # n n^T, of R = cos I + (1 - cos) n n^T + sin [n]
    ratio = _moments(lumped[turned], axes) / _moments(table.tensor[:, :, rows[turned]].transpose(2, 0, 1), axes)
    heavy = ratio > HEAVY
    return list(zip(table.id[rows[turned[heavy]]].tolist(), ratio[heavy].round(2).tolist()))


def _products(one: np.ndarray, two: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return sums (bodies, 3, 3) of the products of columns of `one` and `two` (3, nodes); `first`: nodes where bodies begin."""
    return np.add.reduceat(one.T[:, :, None] * two.T[:, None, :], first, axis=0)


def _rotations(maps: np.ndarray) -> np.ndarray:
    """Return the rotations nearest to maps (n, 3, 3)."""
    left, _, right = np.linalg.svd(maps)
    left[:, :, 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    return left @ right


def _moments(euler: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return moments of inertia of Euler tensors E (n, 3, 3) about axes n, given as n n^T: tr E - n^T E n."""
    return np.trace(euler, axis1=1, axis2=2) - (euler * axes).sum(axis=(1, 2))


def told(found: list[tuple[int, float]]) -> str:
    """Return a line for the end of a run about these bodies, or ''."""
    if not found:
        return ""
    body, ratio = max(found, key=lambda pair: pair[1])
    count = "1 finite element body" if len(found) == 1 else f"{len(found)} finite element bodies"
    return (
        f"inertia: {count} turned with masses at so few nodes that their moment of inertia is too large (body {body}: {ratio:.2f} times); "
        "n elements along a side have 1 + 2 / n^2 times the moment of a bar"
    )
