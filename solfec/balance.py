"""Energy and momentum of a whole run, compared with what has acted on it (docs/running.md, Progress)."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from .bodies.finite_elements import compiled
from .bodies.table import BodyKind
from .domain import Domain
from .edited_energy import accounted
from .kinds import ConstraintKind, Energy, SurfaceModel
from .tables import unique

#: Parts of the largest energy, and of all impulses, above which a warning is given.  211 runs of our examples and scenes have errors of at
#: most 2E-3 of energy and 1E-8 of momentum; contacts of a soft box that falls on its corner return 6 % of their energy, since its contact point moves.
MOST_ENERGY, MOST_CREATED = 0.02, 0.1
MOST_MOMENTUM = 1e-4

#: Part of the accumulated energies of earlier runs below which changes are rounding.
ROUNDING = 1e-9

EXCHANGED = [Energy.KINETIC, Energy.INTERNAL, Energy.EXTERNAL]

#: Strain, and part of a body's size, that rounding may make.
SMALLEST = 1e-12


@dataclass
class Figures:
    """Changes of energy and momentum in a run, and their errors.

    Attributes
    ----------
    change : ndarray (6,)
        Changes of energies in time steps, in the order of `Energy`: without what births, deletions and changes of states brought.
    size : float
        The largest energy, the unit of relative errors.
    missing : float
        Kinetic + internal + dissipated - external, which should not change, as a part of `size`.
    created : float
        Work of contacts and friction beyond what springs held, where it is above zero, as a part of `size`.
    momentum : float
        Error of linear momentum in the last step, as a part of the largest impulse; 0 if states were set after it.
    culprit : str
        Name of a body whose own error is more than half of `missing`; '' if there is none, or if it is gone.
    springs : bool
        Whether some contacts have springs, which may return what they held at first.
    """

    change: np.ndarray
    size: float
    missing: float
    created: float
    momentum: float
    culprit: str = ""
    springs: bool = False


class Balance:
    """Energy and momentum of one run.

    There are no figures in quasi-statics, which has no inertia.  Births, deletions and changes of states in mid run are not part of
    the balance.  It costs time only at the run's ends, at these events, and in the steps in which it looks for the largest energy.

    Parameters
    ----------
    domain : Domain
    whole : bool
        Whether this process has the contacts of the whole model after every step.

    Attributes
    ----------
    due : int
        Number of the step after which to `look`.
    """

    def __init__(self, domain: Domain, whole: bool = True):
        self._first, self._whole = domain.step_number, whole
        self._held = math.inf  # by springs of contacts at first
        self._energy = domain.energy() if domain.dynamic else None
        self._edited = domain.edited_energy.total.copy()
        self._largest = 0.0
        self.due = self._first + 1 if domain.dynamic else sys.maxsize
        domain.edited_energy.begin_run()

    def look(self, domain: Domain) -> None:
        """Note the energy of the present: what was driven and stopped has none at the end.  Looks become rarer, by an eighth of the steps made."""
        if self._whole and domain.step_number == self._first + 1:
            self._held = held(domain)
        change = domain.bodies.view("energy").sum(axis=1) - self._energy
        self._largest = max(self._largest, float(np.abs(change[EXCHANGED]).max()))
        self.due = domain.step_number + 1 + (domain.step_number - self._first) // 8

    def _pushed(self, domain: Domain) -> float:
        """Return the energy that the forces of the last step would give to free bodies at rest, times steps: smaller changes of a model at rest are rounding."""
        at, mass = masses(domain)
        impulse = domain.step * domain.bodies.triples.force[:, at]
        return 0.5 * (domain.step_number - self._first) * float((impulse**2 / mass).sum())

    def figures(self, domain: Domain) -> Figures | None:
        """Return the figures at the end of the run; None if there is nothing to compare."""
        if self._energy is None or domain.step_number == self._first:
            return None
        last = domain.energy()
        momentum = momentum_error(domain) if domain.edited_energy.step < domain.step_number else 0.0
        edited = domain.edited_energy.total - self._edited
        change = last - self._energy - edited
        at_rest = max(self._pushed(domain), driven(domain), ROUNDING * np.abs(last).max(), rounding(domain))
        brought = np.abs(edited[[Energy.KINETIC, Energy.INTERNAL]]).max()
        exchanged = max(np.abs(change).max(), self._largest, last[Energy.KINETIC], self._energy[Energy.KINETIC], brought)
        if not np.isfinite(change).all():
            return Figures(change, math.nan, math.nan, math.nan, momentum)
        if not exchanged > 0.0:
            return None
        size = max(exchanged, at_rest)
        missing = float(accounted(change))
        created = change[Energy.CONTACT] + change[Energy.FRICTION]  # in impacts one of both may be positive
        if springs := any(SurfaceModel(model).row.family.compliant for model in unique(domain.surface_materials.view("model")).tolist()):
            created -= self._held if domain.edited_energy.step <= self._first else math.inf  # bodies may have been born into one another
        return Figures(change, size, abs(missing) / size, max(created, 0.0) / size, momentum, self._culprit(domain, missing), springs)

    def _culprit(self, domain: Domain, missing: float) -> str:
        """Return the name of the body that makes more than half of the error, or ''."""
        bodies, errors = domain.bodies, domain.edited_energy.errors()
        if not errors.size:
            return ""
        nearest = int(np.argmin(np.abs(errors - missing)))
        return bodies.name(int(bodies.id[nearest])) if abs(errors[nearest] - missing) < 0.5 * abs(missing) else ""


def held(domain: Domain) -> float:
    """Return the energy that springs of contacts held at the start of the last step."""
    constraints, materials = domain.constraints, domain.surface_materials
    contacts = slice(constraints.user_count, constraints.n)
    row = constraints.material[contacts]
    depth = np.maximum(0.5 * domain.step * constraints.V[2, contacts] - constraints.gap[contacts], 0.0)  # gaps are those of mid-step
    power = materials.hpow[row] + 1.0
    return float((materials.spring[row] * depth**power / power).sum())


def rounding(domain: Domain) -> float:
    """Return the energy of strains of `SMALLEST`, and of motions by this part of bodies' sizes in a step: that of a model to which nothing happens."""
    bodies = domain.bodies
    kind, volume, lame = (bodies.view(name) for name in ("kind", "volume", "lame"))
    stiffness = np.where(kind >= BodyKind.PSEUDO_RIGID, volume * (lame[0] + 2.0 * lame[1]), 0.0)
    moved = np.where(kind == BodyKind.OBSTACLE, 0.0, bodies.view("mass") * (np.cbrt(volume) / domain.step) ** 2)
    return SMALLEST**2 * float(stiffness.sum() + moved.sum())


def driven(domain: Domain) -> float:
    """Return the sizes of efforts along and about axes of joints times coordinates: work that springs and motors of a mechanism at rest exchange."""
    constraints = domain.constraints
    users = slice(0, constraints.user_count)
    kind, work = constraints.kind[users], np.abs(constraints.R[2, users] * constraints.gap[users])
    along, about = kind == ConstraintKind.AXIAL, kind == ConstraintKind.TORSIONAL
    return float(work[along].sum() + (work * constraints.length[users])[about].sum())


def masses(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Return velocity triples of centres and nodes with masses, and these masses.

    Bodies in a base are left out: their nodes have no independent velocities.
    """
    bodies = domain.bodies
    kind = bodies.view("kind")
    solid = np.flatnonzero((kind == BodyKind.RIGID) | (kind == BodyKind.PSEUDO_RIGID))
    at = bodies.velo_ptr[solid] + np.where(kind[solid] == BodyKind.RIGID, 1, 3)
    mass = bodies.mass[solid]
    if (kind == BodyKind.FINITE_ELEMENT).any():
        elements = compiled(bodies)
        if not elements.reduced.count:
            at, mass = np.concatenate([at, elements.velo_row]), np.concatenate([mass, elements.mass])
    return at, mass


def momentum_error(domain: Domain) -> float:
    """|sum of M (u(t+h) - u(t)) - h (f + H^T R)| of the last step over the sum of the norms of these parts, linear momentum only."""
    triples, step = domain.bodies.triples, domain.step
    at, mass = masses(domain)
    if (asleep := domain.bodies.view("rest") < 0).any():  # forces on bodies that sleep are those of the step in which they fell asleep
        awake = ~np.isin(at, domain.bodies.velo_ptr[np.flatnonzero(asleep)] + 1)
        at, mass = at[awake], mass[awake]
    parts = mass * triples.velo[:, at], -mass * triples.velo_prev[:, at], -step * triples.force[:, at], -step * triples.reaction[:, at]
    size = sum(float(np.linalg.norm(part, axis=0).sum()) for part in parts)
    return float(np.linalg.norm(sum(part.sum(axis=1) for part in parts)) / size) if size > 0.0 else 0.0


def line(figures: Figures) -> str:
    """Return the line that a run prints."""
    names = ("kinetic", "internal", "external", "contacts", "friction", "damping")
    parts = [f"{name} {value:+.3g}" for name, value in zip(names, figures.change) if abs(value) > 1e-12 * figures.size]
    return f"energy: {', '.join(parts) or 'unchanged'}; unaccounted {figures.missing:.1g} of the largest; momentum to {figures.momentum:.1g}"


def warning(figures: Figures) -> str:
    """Return a warning about the figures, or ''."""
    if not np.isfinite([figures.missing, figures.created, figures.momentum]).all():
        return "energies at the end of the run are not numbers"
    if figures.created > MOST_CREATED and figures.springs:
        return (
            f"contacts have added energy, {100 * figures.created:.2g} % of the largest energy of the run, beyond what their springs held at first: "
            "the step is long beside the period of a contact, or bodies overlap by a good part of their elements (take a smaller step, or stiffer springs)"
        )
    if figures.created > MOST_CREATED:
        return (
            f"contacts have added energy, {100 * figures.created:.2g} % of the largest energy of the run, though their laws only take: "
            "reactions are not those of the laws (take a smaller step, or a more accurate solver)"
        )
    if figures.missing > MOST_ENERGY:
        where = f", most of it in {figures.culprit}" if figures.culprit else ""
        return (
            f"{100 * figures.missing:.2g} % of the largest energy of the run is not accounted for{where}: the step is too long for the "
            "motion, or iterations ended early (take a smaller step)"
        )
    if figures.momentum > MOST_MOMENTUM:
        return f"the last step changed linear momentum by {100 * figures.momentum:.2g} % more or less than forces and reactions do"
    return ""
