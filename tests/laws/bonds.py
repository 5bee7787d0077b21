"""The law of surface model 'COHESIVE' written down a second time, in plain Python, from the manual (8.1.3)."""

from __future__ import annotations

import math

from coulomb import N, length, violations


class Bond:
    """One bond: strengths and openings at which it is gone, in order (T1, T2, N).

    Parameters
    ----------
    area : float
    tensile, shear : float
        Strengths, force per area.
    opened, slid : float
        Energies per area.
    """

    def __init__(self, area, tensile, shear, opened, slid):
        self.strength = [area * shear, area * shear, area * tensile]
        self.last = [2 * slid / shear, 2 * slid / shear, 2 * opened / tensile]

    def relative(self, opening) -> float:
        """Size of an opening in parts of the openings at which the bond is gone."""
        return length(d / last for d, last in zip(opening, self.last, strict=True))

    def force(self, damage, opening) -> list[float]:
        """Force on the master: towards the closed bond, as large as the line from the last peak to the origin says."""
        if damage >= 1.0:
            return [0.0, 0.0, 0.0]
        return [-s * (1.0 - damage) * d / last / damage for s, d, last in zip(self.strength, opening, self.last, strict=True)]

    def wrong(self, mu, before, after, opening, step, R, U, force, velocity) -> float:
        """The largest violation of the law in a step, over scales of forces and velocities.

        Parameters
        ----------
        before, after : float
            Damage at the ends of the step.
        opening : sequence of 3 floats
            At mid-step, before U acts.
        """
        start = [opening[0], opening[1], max(opening[2], 0.0)]
        end = [d + step * u for d, u in zip(start, U, strict=True)]
        faults = [max(0.0, -end[N]) / step / velocity, max(0.0, before - after), max(0.0, after - 1.0)]
        expected = max(before, self.relative(end))
        faults.append(abs(after - min(1.0, expected)))
        if after > 1e-6:
            bond = self.force(after, end)
            bond[N] = min(bond[N], 0.0)
            rest = [r - b for r, b in zip(R, bond, strict=True)]
            sizes = {"tension": force, "cone": force, "approach": velocity}
            for name, value in violations(mu, 0.0, start[N] / step, rest, U).items():
                faults.append(value / sizes.get(name, force * velocity))
        else:  # it holds still
            pressure = max(0.0, R[N])
            pull = [R[0] / self.strength[0], R[1] / self.strength[1], min(R[N], 0.0) / self.strength[2]]
            sideways = math.hypot(pull[0], pull[1]) - mu * pressure / self.strength[0]
            faults.append(max(0.0, math.hypot(max(sideways, 0.0), pull[2]) - 1.0))
        return max(faults)
