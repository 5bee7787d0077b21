"""The laws of contact and of rigid motion written down a second time, in plain Python, from the manual.

Nothing here is imported from the program, and no formula is taken from it: laws are stated as what must hold (sets, signs,
products), not as projections or maps, so that a fault of the program's own formulas cannot hide here.
"""

from __future__ import annotations

import math

import numpy as np

N = 2


def length(values) -> float:
    """Euclidean norm."""
    return math.sqrt(sum(float(x) ** 2 for x in values))


# --- one contact ------------------------------------------------------------------------------------------------


def violations(mu, cohesion, shift, R, U) -> dict[str, float]:
    """Return the violations of (8.2) and (8.3) by R and U of a contact: forces, velocities and powers; zero where a law holds.

    Parameters
    ----------
    mu, cohesion, shift : float
        Friction; cohesion times area [force]; what is added to U_N: e min(V_N, 0), or gap/h [velocity].
    R, U : sequence of 3 floats
        Reaction and relative velocity in order (T1, T2, N).
    """
    pressure = R[N] + cohesion
    opening = U[N] + shift
    friction, slip = length(R[:2]), length(U[:2])
    power = R[0] * U[0] + R[1] * U[1]
    return {
        "tension": max(0.0, -pressure),
        "cone": max(0.0, friction - mu * pressure),
        "approach": max(0.0, -opening),
        "pressure at a distance": abs(pressure * opening),
        # of all forces in the disc the one that brakes most
        "sliding not against friction": abs(power + mu * max(pressure, 0.0) * slip) if slip > 0.0 else 0.0,
    }


FORCES, VELOCITIES = ("tension", "cone"), ("approach",)


def worst(mu, cohesion, shift, R, U, force, velocity) -> float:
    """The largest violation over the scales of forces and velocities."""
    size = {**dict.fromkeys(FORCES, force), **dict.fromkeys(VELOCITIES, velocity)}
    return max(value / size.get(name, force * velocity) for name, value in violations(mu, cohesion, shift, R, U).items())


def solutions(w, b, mu, angles=720) -> list[tuple[float, float, float]]:
    """All reactions that solve one contact, U = b + w R, found by trying: open, sticking, and sliding in every direction.

    A sliding direction d asks for U_N = 0 with R_T = -mu R_N d, and U_T along d; the angle between U_T and d is followed round
    the circle, and its roots are bisected.
    """
    found = []
    if b[N] >= 0.0:
        found.append((0.0, 0.0, 0.0))
    stick = np.linalg.solve(np.asarray(w, float), -np.asarray(b, float))
    if stick[N] > 0.0 and length(stick[:2]) <= mu * stick[N]:
        found.append(tuple(float(x) for x in stick))

    def slide(angle):
        c, s = math.cos(angle), math.sin(angle)
        resistance = w[2][2] - mu * (w[2][0] * c + w[2][1] * s)
        if resistance == 0.0:
            return None
        rn = -b[2] / resistance
        r = (-mu * rn * c, -mu * rn * s, rn)
        u = [b[i] + sum(w[i][j] * r[j] for j in range(3)) for i in range(2)]
        return r, c * u[1] - s * u[0], c * u[0] + s * u[1]

    step = 2.0 * math.pi / angles
    for k in range(angles):
        low, high = k * step, (k + 1) * step
        one, two = slide(low), slide(high)
        if mu == 0.0 or one is None or two is None or one[1] * two[1] > 0.0:
            continue
        for _ in range(80):
            middle = 0.5 * (low + high)
            half = slide(middle)
            if half is None:
                break
            if half[1] * one[1] <= 0.0:
                high = middle
            else:
                low, one = middle, half
        r, across, along = slide(0.5 * (low + high))
        if r[2] > 0.0 and along > 0.0 and abs(across) <= 1e-9 * (abs(along) + length(b)):
            found.append(r)
    if mu == 0.0 and b[N] < 0.0:
        found.append((0.0, 0.0, -b[N] / w[N][N]))
    return found


def in_cone(mu, s, tolerance=0.0) -> bool:
    """Whether s is in the friction cone."""
    return s[N] >= -tolerance and length(s[:2]) <= mu * s[N] + tolerance


def is_nearest_point_of_cone(mu, s, p, tolerance) -> bool:
    """Whether p is the point of the friction cone that is nearest to s: s - p is in the polar cone, and at right angles to p."""
    rest = [float(a) - float(b) for a, b in zip(s, p, strict=True)]
    size = length(s)
    in_polar = rest[N] + mu * length(rest[:2]) <= tolerance * size * (1.0 + mu)
    return in_cone(mu, p, tolerance * size * (1.0 + mu)) and in_polar and abs(sum(a * b for a, b in zip(rest, p))) <= tolerance * size**2


# --- velocities of bodies ----------------------------------------------------------------------------------------


def frame(normal) -> np.ndarray:
    """Columns t1, t2, n (docs/theory.md, Local frames): t1 = e_x x n, or e_y x n, normalised; t2 = t1 x n."""
    n = np.asarray(normal, float)
    first = np.cross((1.0, 0.0, 0.0), n)
    if length(first) < 1e-6:
        first = np.cross((0.0, 1.0, 0.0), n)
    first = first / length(first)
    return np.column_stack([first, np.cross(first, n), n])


def turn(vector) -> np.ndarray:
    """Rotation about a vector by its length: the exponential series, summed term by term."""
    x, y, z = vector
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    total, term = np.eye(3), np.eye(3)
    for i in range(1, 40):
        term = term @ k / i
        total = total + term
    return total


def rigid_operator(base, rotation, arm) -> np.ndarray:
    """3 x 6: from (referential angular velocity, velocity of the centre) to the local velocity of a point; arm = X - X_c."""
    columns = []
    for axis in np.eye(3):  # unit spins, then unit velocities
        columns.append(base.T @ (rotation @ np.cross(axis, arm)))
    for axis in np.eye(3):
        columns.append(base.T @ axis)
    return np.column_stack(columns)


def pseudo_rigid_operator(base, arm) -> np.ndarray:
    """3 x 12: from (rows of dF/dt, velocity of the centre); a point moves with dF/dt (X - X_c) + velocity."""
    columns = []
    for i in range(3):
        for j in range(3):
            rate = np.zeros((3, 3))
            rate[i, j] = 1.0
            columns.append(base.T @ (rate @ arm))
    for axis in np.eye(3):
        columns.append(base.T @ axis)
    return np.column_stack(columns)


def rigid_inverse_mass(mass, inertia) -> np.ndarray:
    """Return the inverse mass (6 x 6) of a rigid body."""
    inverse = np.zeros((6, 6))
    inverse[:3, :3] = np.linalg.inv(inertia)
    inverse[3:, 3:] = np.eye(3) / mass
    return inverse


def pseudo_rigid_inverse_mass(mass, euler) -> np.ndarray:
    """12 x 12: Euler's tensor for every row of F."""
    inverse = np.zeros((12, 12))
    for i in range(3):
        inverse[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = np.linalg.inv(euler)
    inverse[9:, 9:] = np.eye(3) / mass
    return inverse
