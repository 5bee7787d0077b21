"""What a run tells of its last step, beside energies: bodies that rock on one point, vibrations that steps cannot show, contacts of two materials, moments of inertia (docs/running.md, Progress)."""

from __future__ import annotations

from collections.abc import Iterable

from . import averaged_points, doubtful_materials, lumped_inertia, unresolved_vibrations
from .domain import Domain

Found = tuple[list, list, list, list]  # pairs of bodies on one point, bodies that vibrate, pairs of surfaces with two materials, bodies of few elements that turn


def found(domain: Domain) -> Found:
    """Return what the last step of a model, or of the part that a process has, gives reason to tell."""
    return averaged_points.pairs(domain), unresolved_vibrations.bodies(domain), doubtful_materials.surfaces(domain), lumped_inertia.bodies(domain)


def joined(parts: Iterable[Found]) -> Found:
    """Return what processes have found in their parts, copies of bodies counted once."""
    pairs, bodies, surfaces, turned = (sorted(set().union(*lists)) for lists in zip(*parts))
    return pairs, bodies, surfaces, turned


def told(notes: Found, step: float) -> list[str]:
    """Return lines for the end of a run."""
    pairs, bodies, surfaces, turned = notes
    lines = averaged_points.told(pairs), unresolved_vibrations.told(bodies, step), doubtful_materials.told(surfaces), lumped_inertia.told(turned)
    return list(filter(None, lines))
