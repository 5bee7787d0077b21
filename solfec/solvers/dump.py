"""Local dynamics of a step as text, and comparison of two such files (docs/language-running.md, LOCDYN_DUMP)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..constraints.table import ConstraintKind
from ..errors import SolfecError
from .local_dynamics import LocalDynamics


def dump(local: LocalDynamics, path: str) -> None:
    """Write one line per row, with its neighbours, in an order that depends on geometry alone.

    A line holds kind, point, (master, slave or -1), base, then W_aa, B, V, U, R of a row; then for each neighbour '=>', its kind and
    place, and the block W_ab; six significant digits, matrices column by column.
    """
    local.fill_blocks()
    rows, blocks = local.rows, local.blocks
    names = [_name(local, a) for a in range(local.n)]
    keys = [_key(local, a) for a in range(local.n)]
    lines = []
    for a in sorted(range(local.n), key=keys.__getitem__):
        parts = [f"{names[a]} {_text(rows.diagonal[..., a], rows.B[:, a], rows.V[:, a], rows.U[:, a], rows.R[:, a])}"]
        first, last = rows.block_ptr[a : a + 2]
        for k in sorted(range(first, last), key=lambda k: keys[blocks.column[k]]):
            parts.append(f"{names[blocks.column[k]]} {_text(blocks.block[..., k])}")
        lines.append(" => ".join(parts))
    Path(path).write_text("".join(line + "\n" for line in lines))


def compare(one: str, two: str, tolerance: float = 2e-6) -> list[str]:
    """Return a message per line that differs between two dumps; differences are relative to the largest number of the kind in the first file."""
    first, second = _parts(one), _parts(two)
    odd = sorted(first.keys() ^ second.keys())
    if odd:
        number, place = odd[0]
        what = f"neighbour {place} of line {number}" if place else f"line {number}"
        return [f"{what} is in {one if odd[0] in first else two} alone"]
    scale = np.full((2, len(FIELDS)), 1e-300)
    for (_, place), words in first.items():
        scale[int(place > 0)] = np.maximum(scale[int(place > 0)], [np.abs(v).max(initial=0.0) for v in _fields(words)])
    speeds = [list(FIELDS).index(name) for name in ("B", "V", "U")]
    scale[:, speeds] = scale[:, speeds].max(axis=1, keepdims=True)  # of bodies at rest U is what round-off leaves of B
    found = []
    for (number, place), left in first.items():
        right = second[number, place]
        what = f"line {number}: {'=> ' if place else ''}{' '.join(left[:1])}"
        if left[:1] != right[:1] or len(left) != len(right):
            found.append(f"{what}, and {' '.join(right[:1])}")
            continue
        for name, x, y, size in zip(FIELDS, _fields(left), _fields(right), scale[int(place > 0)]):
            worst = np.abs(x - y).max(initial=0.0)
            if not worst <= tolerance * size:
                found.append(f"{what}: {name} differs by {worst:.3g} of {size:.3g}")
    return found


#: Numbers of a line; those of a neighbour end with W.
FIELDS = {"point": 3, "bodies": 2, "base": 9, "W": 9, "B": 3, "V": 3, "U": 3, "R": 3}


def _parts(path: str) -> dict[tuple[int, int], list[str]]:
    """Return the words of a file by line and place in the line: 0, the row itself; 1, its first neighbour."""
    lines = enumerate(Path(path).read_text(errors="replace").splitlines(), 1)
    return {(number, place): part.split() for number, line in lines for place, part in enumerate(line.split("=>"))}


def _fields(words: list[str]) -> list[np.ndarray]:
    """Return the numbers of a row or neighbour, field by field."""
    try:
        return np.split(np.array(words[1:], float), np.cumsum(list(FIELDS.values()))[:-1])
    except ValueError:
        raise SolfecError(f"compare: {' '.join(words)[:40]!r} is no line written by LOCDYN_DUMP") from None


def _identity(local: LocalDynamics, a: int) -> tuple:
    constraints, identifiers = local.constraints, local.bodies.id
    i = local.rows.order[a]
    slave = constraints.slave[i]
    pair = (int(identifiers[constraints.master[i]]), int(identifiers[slave]) if slave >= 0 else -1)
    kind = "ROLLING" if local.rows.contact[a] >= 0 else ConstraintKind(int(constraints.kind[i])).name
    return kind, constraints.point[:, i], pair, constraints.base[..., i]


def _name(local: LocalDynamics, a: int) -> str:
    kind, point, pair, base = _identity(local, a)
    return f"{kind} {_text(point)} {pair[0]} {pair[1]} {_text(base)}"


def _key(local: LocalDynamics, a: int) -> tuple:
    kind, point, pair, base = _identity(local, a)
    return (*(float(f"{x:.5e}") for x in point), *sorted(pair), kind, *(float(f"{x:.5e}") for x in base[:, 2]))


def _text(*arrays: np.ndarray) -> str:
    return " ".join(f"{x + 0.0:.6g}" for array in arrays for x in np.ravel(array, order="F"))


def compare_command(words: list[str]) -> int:
    """Run `solfec compare A B`: print the differences; return 0 if there are none, else 1."""
    if len(words) != 2:
        raise SolfecError("compare needs two files written by LOCDYN_DUMP")
    try:
        found = compare(*words)
    except OSError as error:
        raise SolfecError(f"compare: {error}") from None
    print("\n".join(found) if found else "no difference")
    return 1 if found else 0
