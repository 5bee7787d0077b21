"""Inspection of a model before its first step, for `solfec check`, without motion, callbacks or output.

Detection runs twice: as in the first step, and with a wider margin and all points of flush faces.  Joints are
assembled with the present velocities.  The contacts are removed again.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from math import ceil, inf, isfinite

import numpy as np

from . import unresolved_vibrations
from .averaged_points import REMEDY
from .bodies import motion
from .bodies.finite_elements import compiled, within_step
from .bodies.implicit import present_implicit
from .bodies.table import BodyKind
from .connected import components
from .constraints import user
from .constraints.element_points import refer_contacts
from .constraints.table import ConstraintKind
from .contact.phase import Detection
from .domain import Domain
from .errors import SolfecError
from .kept_memory import largest_memory
from .progress import counted
from .results import layout
from .solvers import diagnosis
from .step_limit import critical_body

WIDE = 0.01  # distance within which gaps are reported, in sizes of the smallest moving body
DEEP = 0.01  # overlaps deeper than this, in sizes of the smaller body, give warnings
FLUSH = 3  # number of contact points from which two faces lie on each other
EXACT = 1e-3  # part of the geometric epsilon below which faces touch and do not overlap
LISTED = 5  # number of bodies and joints that are named
MOVING = 1e-9  # velocity above which a joint counts as moving, in units of the largest one


def inspect(domain: Domain, duration: float | None = None, interval: float = 0.0) -> dict:
    """Return facts about a model that is ready for its first step, as types of JSON.

    Parameters
    ----------
    domain : Domain
    duration, interval : float
        Of RUN and OUTPUT, in the model's unit of time; without a duration the size of results is not estimated.

    Returns
    -------
    dict
        `findings` lists possible problems: pairs of a level, 'error' or 'warning', and a text.
    """
    findings: list[tuple[str, str]] = []
    facts: dict = {"analysis": "DYNAMIC" if domain.dynamic else "QUASI_STATIC"}
    facts |= counts(domain) | {"findings": findings}
    if not domain.bodies.n:
        findings.append(("warning", "the model has no bodies"))
        return facts
    domain.initialise()
    facts["masses"] = masses(domain)
    facts["step"] = critical(domain, findings)
    compiled(domain.bodies)
    user.update(domain.constraints, domain.bodies, domain.time + domain.step, domain.step)
    facts["contacts"], facts["gaps"] = contacts(domain, findings)
    with detected(domain):
        facts["vibrating"] = unresolved_vibrations.bodies(domain)
        if told := unresolved_vibrations.told(facts["vibrating"], domain.step):
            findings.append(("warning", told))
        facts["loose bodies"] = loose(domain, findings)
        facts["memory"] = {"megabytes": round(largest_memory() / 1e6, 1)}
        if duration is not None:
            facts["results"] = size_of_results(domain, duration, interval)
    facts["joints"] = joints(domain, findings)
    return facts


def counts(domain: Domain) -> dict:
    """Numbers of bodies, shapes and unknowns."""
    bodies, constraints = domain.bodies, domain.constraints
    users = constraints.view("kind")[: constraints.user_count]
    return {
        "bodies": {kind.name: n for kind in BodyKind if (n := int((bodies.view("kind") == kind).sum()))},
        "convexes": domain.geometry.primitives.n,
        "nodes": int(bodies.view("node_count").sum()),
        "degrees of freedom": 3 * bodies.triples.n,
        "constraints": dict(Counter(ConstraintKind(int(kind)).name for kind in users)),
    }


def masses(domain: Domain) -> dict:
    """Total, smallest and largest mass of the bodies that move."""
    bodies = domain.bodies
    rows = np.flatnonzero(bodies.view("kind") != BodyKind.OBSTACLE)
    if not rows.size:
        return {}
    mass = bodies.view("mass")[rows]
    light, heavy = int(np.argmin(mass)), int(np.argmax(mass))
    return {
        "total": float(mass.sum()),
        "smallest": {"mass": float(mass[light]), "body": _name(domain, rows[light])},
        "largest": {"mass": float(mass[heavy]), "body": _name(domain, rows[heavy])},
    }


def critical(domain: Domain, findings: list) -> dict:
    """Return the user's step, and the longest one of explicit integration with the body that bounds it."""
    facts: dict = {"asked": domain.step}
    if not (domain.dynamic and domain.deformable):
        return facts
    step, row = motion.refined_critical_step(domain.bodies, True)
    if not isfinite(step):
        return facts
    facts |= {"critical": float(step), "body": critical_body(domain, row)}
    if domain.step > step:
        kept = domain.step_kept and domain.step > 2.0 * step
        then = "the run would end at once" if kept else "it is kept (step_control)" if domain.step_kept else "RUN lowers it"
        findings.append(("error" if kept else "warning", f"the step {domain.step:g} is above the critical one of {facts['body']} {step:g}: {then}"))
    return facts


# --- contacts ----------------------------------------------------------------------------------------------


@contextmanager
def detected(domain: Domain, **settings):
    """Yield the model with the contacts of its first step, under other `settings` of detection; then remove them."""
    constraints, kept = domain.constraints, {name: getattr(domain.settings, name) for name in ("depth", *settings)}
    next_id = constraints.next_id
    try:
        for name, value in ({"depth": inf} | settings).items():
            setattr(domain.settings, name, value)
        domain.states.update_shapes()
        Detection(domain).run()
        if within_step(domain.bodies).count:
            refer_contacts(domain)
        yield constraints
    finally:
        users = np.arange(constraints.n) < constraints.user_count
        constraints.keep(users)
        constraints.next_id = next_id
        for name, value in kept.items():
            setattr(domain.settings, name, value)


def contacts(domain: Domain, findings: list) -> tuple[dict, dict]:
    """Return contacts of the first step, the deepest overlap, flush faces, and gaps of bodies that do not touch yet."""
    limit = domain.settings.depth
    with detected(domain) as constraints:
        first = constraints.user_count
        facts: dict = {"points": constraints.n - first, "pairs of bodies": len(set(_pairs_of_rows(domain, first)))}
        given = Counter(_pairs_of_rows(domain, first))
        if constraints.n > first and (gap := constraints.gap[first : constraints.n]).min() < -domain.epsilon * EXACT:
            facts["deepest"] = _point(domain, first + int(np.argmin(gap)))
            if facts["deepest"]["relative"] > DEEP:
                share = f"{facts['deepest']['depth']:g}, {100 * facts['deepest']['relative']:.3g} % of the smaller one"
                findings.append(("warning", f"{facts['deepest']['bodies']} overlap by {share}"))
        if limit < facts.get("deepest", {}).get("depth", 0.0):
            findings.append(("error", f"{facts['deepest']['bodies']} overlap by more than UNPHYSICAL_PENETRATION allows ({limit:g})"))
    near = max(WIDE * _smallest(domain), domain.settings.margin)
    wide = {"asked_margin": near, "margin": near, "patch": True, "symmetric": False, "threshold": 0.0, "min_area": 0.0, "min_distance": 0.0}
    margin, patched = domain.settings.margin, domain.settings.patch
    with detected(domain, **wide) as constraints:
        first = constraints.user_count
        gap = constraints.gap[first : constraints.n]
        apart = _apart(domain, first)
        gaps: dict = {"within": near, "pairs of bodies": len(apart)}
        if apart:
            gaps["smallest"], gaps["largest"] = (
                {"gap": value, "bodies": _both(domain, pair)} for pair, value in (min(apart.items(), key=_second), max(apart.items(), key=_second))
            )
        if not patched:
            facts["one point for flush faces"] = _flush(domain, first, gap <= max(margin, domain.epsilon), given, findings)
    return facts, gaps


def _second(item):
    return item[1]


def _apart(domain: Domain, first: int) -> dict:
    """Smallest gap of the pairs of bodies that do not touch."""
    found: dict = {}
    for pair, gap in zip(_pairs_of_rows(domain, first), domain.constraints.gap[first : domain.constraints.n].tolist()):
        found[pair] = min(gap, found.get(pair, inf))
    return {pair: gap for pair, gap in found.items() if gap > domain.epsilon}


def _flush(domain: Domain, first: int, touching: np.ndarray, given: Counter, findings: list) -> dict:
    """Find pairs of convexes whose flush faces share one point; it acts as a hinge if their bodies have no other contacts.

    Parameters
    ----------
    touching : ndarray of bool
        Mask of the contacts from row `first` on that are included.
    given : Counter
        Contact points of pairs of bodies in the first step.
    """
    constraints = domain.constraints
    sides = [getattr(constraints, name)[first : constraints.n][touching] for name in ("master_primitive", "slave_primitive")]
    pairs, where, points = np.unique(np.sort(np.stack(sides), axis=0), axis=1, return_index=True, return_counts=True)
    flush = np.flatnonzero(points >= FLUSH)
    facts: dict = {"pairs of convexes": int(flush.size)}
    rows = first + np.flatnonzero(touching)[where[flush]]
    bodies = dict.fromkeys(zip(*np.sort(np.stack((constraints.master[rows], constraints.slave[rows])), axis=0).tolist()))
    rocking = [pair for pair in bodies if given[pair] < FLUSH]
    facts["rocking"] = [_both(domain, pair) for pair in rocking]
    if rocking:
        findings.append((
            "warning",
            f"{counted(len(rocking), 'pair', 'pairs')} of bodies with faces on each other ({facts['rocking'][0]}, say) get one averaged point per pair of "
            f"faces, on which they rock; {REMEDY}",
        ))  # fmt: skip
    return facts


def _pairs_of_rows(domain: Domain, first: int) -> list[tuple[int, int]]:
    rows = slice(first, domain.constraints.n)
    sides = np.sort(np.stack((domain.constraints.master[rows], domain.constraints.slave[rows])), axis=0)
    return list(zip(*sides.tolist()))


def _point(domain: Domain, row: int) -> dict:
    constraints, extents = domain.constraints, domain.bodies.extents
    pair = int(constraints.master[row]), int(constraints.slave[row])
    size = min(float((extents[3:, k] - extents[:3, k]).min()) for k in pair)
    depth = -float(constraints.gap[row])
    return {"depth": depth, "relative": depth / size, "bodies": _both(domain, pair), "point": constraints.point[:, row].tolist()}


def _smallest(domain: Domain) -> float:
    """Extent of the smallest moving body, along the axis where it is thinnest."""
    extents = domain.bodies.view("extents")
    moving = domain.bodies.view("kind") != BodyKind.OBSTACLE
    return float((extents[3:] - extents[:3])[:, moving if moving.any() else slice(None)].min())


# --- joints ------------------------------------------------------------------------------------------------


def loose(domain: Domain, findings: list) -> dict:
    """Find bodies that neither contacts nor joints connect with an obstacle or a fixed point."""
    bodies, constraints, world = domain.bodies, domain.constraints, domain.bodies.n
    master, slave = constraints.view("master"), constraints.view("slave")
    fixed = np.flatnonzero(bodies.view("kind") == BodyKind.OBSTACLE)
    one = np.concatenate((master, fixed))
    two = np.concatenate((np.where(slave >= 0, slave, world), np.full(fixed.size, world)))
    part = components(world + 1, one, two)
    rows = np.flatnonzero(part[:world] != part[world])
    names = [_name(domain, row) for row in rows[:LISTED]]
    if rows.size:
        more = f" and {rows.size - LISTED} more" if rows.size > LISTED else ""
        findings.append(("warning", f"nothing holds {', '.join(names)}{more} at the start: no contact or joint leads to an obstacle or a fixed point"))
    return {"count": int(rows.size), "first": names}


def joints(domain: Domain, findings: list) -> dict:
    """Find joints that contradict one another, and joints whose point starts with a velocity."""
    bodies, local = domain.bodies, domain.local_dynamics
    if not domain.constraints.user_count:
        return {}
    if domain.constraints.user_count > diagnosis.LARGEST:  # contradictions are not searched, and implicit bodies would solve for each joint
        return {"not looked at": domain.constraints.user_count}
    bodies.triples.view("velo_prev")[:] = bodies.triples.view("velo")
    try:
        for solver in present_implicit(bodies, within_step(bodies)).solvers:
            solver.refresh(bodies, domain.step, domain.dynamic)
        local.assemble(domain.constraints, bodies, domain.surface_materials, domain.step, domain.dynamic)
    except SolfecError as error:
        findings.append(("error", str(error)))
        return {}
    facts: dict = {}
    if contradiction := diagnosis.contradiction(local):
        facts["contradictory"] = contradiction
        findings.append(("error", contradiction))
    elif redundant := diagnosis.redundant(local):
        facts["redundant"] = redundant
    if domain.dynamic and (moving := _moving(domain)):
        facts["moving"] = [{"joint": local.name(row), "velocity": speed} for row, speed in moving]
        worst = ", ".join(f"{local.name(row)} ({speed:g})" for row, speed in moving[:LISTED])
        then = "the first step stops it, as an impact" if domain.joint_impacts else "every step turns it round (joint_impacts = 'OFF')"
        findings.append(("warning", f"joints whose point starts with a velocity: {worst}; {then}"))
    return facts


def _moving(domain: Domain) -> list[tuple[int, float]]:
    """Rows of joints that start with a velocity along a direction they hold, fastest first."""
    local, constraints = domain.local_dynamics, domain.constraints
    least = MOVING * float(np.abs(domain.bodies.triples.view("velo")).max(initial=0.0))
    found = []
    for row in range(local.contacts, local.n):
        kind = ConstraintKind(int(constraints.kind[local.rows.order[row]]))
        speed = float(np.linalg.norm(local.rows.V[list(kind.components), row])) if kind.is_joint else 0.0
        if speed > least:
            found.append((row, speed))
    return sorted(found, key=_second, reverse=True)


# --- size and text -----------------------------------------------------------------------------------------


def size_of_results(domain: Domain, duration: float, interval: float) -> dict:
    """Frames of a run, and their bytes if contacts stay as many as at the start."""
    bodies, constraints = domain.bodies, domain.constraints
    frames = 1 + ceil(duration / max(interval, domain.step) - 1e-6)
    frame = bodies.n * layout.BODY.itemsize + constraints.n * layout.CONSTRAINT.itemsize + constraints.user_count * layout.USER.itemsize
    frame += 24 * (bodies.triples.n + bodies.configurations.n) + layout.STEP.itemsize
    return {"frames": frames, "megabytes": round(frames * frame / 1e6, 3)}


def _name(domain: Domain, row: int) -> str:
    return domain.bodies.name(int(domain.bodies.id[row]))


def _both(domain: Domain, pair: tuple[int, int]) -> str:
    return " and ".join(_name(domain, row) for row in sorted(pair))


def text(facts: dict) -> str:
    """Format facts as text."""
    lines = [f"{facts['name']} ({facts['analysis']}{', line ' + str(facts['line']) if facts.get('line') else ''})"]
    kinds = ", ".join(f"{n} {kind}" for kind, n in facts["bodies"].items()) or "none"
    lines.append(f"  bodies: {kinds}; {facts['convexes']} convexes, {facts['nodes']} nodes, {facts['degrees of freedom']} degrees of freedom")
    if facts["constraints"]:
        lines.append("  constraints: " + ", ".join(f"{n} {kind}" for kind, n in facts["constraints"].items()))
    if mass := facts.get("masses"):
        ends = (f"{word} {mass[word]['mass']:g} of {mass[word]['body']}" for word in ("smallest", "largest"))
        lines.append(f"  mass: {mass['total']:g} in all, {', '.join(ends)}")
    if step := facts.get("step"):
        bound = f"; critical {step['critical']:g}, of {step['body']}" if "critical" in step else ""
        lines.append(f"  step: {step['asked']:g}{bound}")
    if touching := facts.get("contacts"):
        lines.append(f"  contacts at the start: {touching['points']} points of {touching['pairs of bodies']} pairs of bodies")
        if deepest := touching.get("deepest"):
            place = ", ".join(f"{x:g}" for x in deepest["point"])
            lines.append(f"  deepest overlap: {deepest['depth']:g} of {deepest['bodies']} at ({place})")
    if gaps := facts.get("gaps"):
        near = f"  gaps below {gaps['within']:g}: {gaps['pairs of bodies']} pairs of bodies"
        ends = (f"{word} {gaps[word]['gap']:g} of {gaps[word]['bodies']}" for word in ("smallest", "largest") if word in gaps)
        lines.append("; ".join([near, *ends]))
    if "memory" in facts:
        lines.append(f"  memory: {facts['memory']['megabytes']:g} MB with the model and its first contacts")
    if unseen := facts.get("joints", {}).get("not looked at"):
        lines.append(f"  joints: {unseen}, too many to look for contradictions and velocities")
    if redundant := facts.get("joints", {}).get("redundant"):
        lines.append(f"  joints: {counted(redundant, 'motion is', 'motions are')} held more than once; joints of mechanisms share the reactions (docs/mechanisms.md, Redundant joints)")
    if results := facts.get("results"):
        lines.append(f"  results: {results['frames']} frames, {results['megabytes']:g} MB if contacts stay as many")
    lines += [f"  {level}: {found}" for level, found in facts["findings"]] or ["  nothing to warn of"]
    return "\n".join(lines)
