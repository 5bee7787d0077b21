"""Time steps that explicit integration allows for."""

from __future__ import annotations

from .bodies import finite_element_motion, motion
from .bodies.finite_elements import compiled
from .bodies.table import BodyKind
from .constraints.elsewhere import NOWHERE, Elsewhere
from .errors import SolfecError

CRAWL = 1e-3  # part of the critical step at rest; a smaller step means elements stretched to a thousand times their size
SELDOM, OFTEN = 16, 2  # steps after which strains of explicit bodies are checked again


def limit_step(domain, elsewhere: Elsewhere = NOWHERE) -> None:
    """Limit the common step by the smallest critical step, also that of bodies elsewhere, below which explicit integration is stable."""
    if not (domain.dynamic and domain.deformable):
        return
    allowed = 2.0 if domain.step_kept else 1.0
    critical, row = elsewhere.least(*motion.critical_step(domain.bodies, domain.step / allowed))
    if domain.step <= allowed * critical:
        return
    # the bound is cheap, but far too low under large strains; up to twice the bound the step is stable
    period = SELDOM if domain.step <= 2.0 * critical else OFTEN
    for exactly in (True,) if domain.step_number % period == 0 else (False, True):
        critical, row = elsewhere.least(*motion.refined_critical_step(domain.bodies, exactly, domain.step / allowed))
        if domain.step <= allowed * critical:
            return
    if not domain.step_kept:
        if row >= 0:
            _refuse_to_crawl(domain, critical, row)
        domain.step, domain.clock_origin = critical, (domain.time, domain.step_number)
    elif row >= 0 and domain.step > motion.stability_limit(domain.bodies, row, critical):
        raise SolfecError(
            f"{critical_body(domain, row)} is unstable at the step {domain.step:g}, which SOLFEC.step_control = 'OFF' keeps: "
            f"explicit integration allows for {critical:g}; take a smaller step, or scheme 'DEF_LIM' for this body"
        )


def _refuse_to_crawl(domain, critical: float, row: int) -> None:
    """Raise SolfecError if elements are torn apart: their critical step decreases for ever, and the run would never end."""
    elements = domain.bodies.kind[row] == BodyKind.FINITE_ELEMENT
    if elements and critical < CRAWL * finite_element_motion.resting_step(domain.bodies, row):
        raise SolfecError(
            f"{domain.bodies.name(int(domain.bodies.id[row]))} is strained so much that explicit integration asks for the step {critical:g}, less than "
            f"{CRAWL:g} of the one at rest; check loads and material"
        )


def critical_body(domain, row: int) -> str:
    """Return the name of a body for messages, with the element of the highest frequency."""
    identifier = int(domain.bodies.id[row])
    name = domain.bodies.name(identifier, BodyKind(int(domain.bodies.kind[row])).name)
    if identifier not in domain.bodies.meshes:
        return name
    return f"{name}, element {compiled(domain.bodies).stiffest_element(domain.bodies, row)},"
