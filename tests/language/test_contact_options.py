"""CONTACT_OPTIONS and BODY.selfcontact as a user runs them, and pseudo-rigid ellipsoids."""

from __future__ import annotations

import pytest

BLOCK = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/block')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, density=1E3)
    SURFACE_MATERIAL(solfec, friction=0.5, gap_aware={aware})
    cube = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    BODY(solfec, 'OBSTACLE', TRANSLATE(HULL([3*c for c in cube], 1, 1), (-1, -1, -3)), bulk)
    block = BODY(solfec, 'RIGID', TRANSLATE(HULL(cube, 2, 2), (0, 0, {gap})), bulk)
    GRAVITY(solfec, (0, 0, -10))
    CONTACT_OPTIONS(solfec, {options})
    seen = []
    def look(_):
        seen.append((len(solfec.constraints), min([c.gap for c in solfec.constraints] + [1]), block.conf[11]))
        return 1
    CALLBACK(solfec, 1E-3, solfec, look)
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 100), {duration})
    print(seen[0][0], seen[0][1], seen[-1][0], seen[-1][1], seen[-1][2] - 0.5, block.velo[5])
"""


def block(good, options, gap=0.02, duration=0.02, aware=None):
    text = BLOCK.format(options=options, gap=gap, duration=duration, aware=aware)
    return [float(word) for word in good(text, "-w", "-y").split()]


def test_contacts_are_found_from_a_distance_only_with_a_margin(good):
    assert block(good, "margin = 0")[0] == 0
    first, gap, last, *_ = block(good, "margin = 0.05")
    assert (first, last) == (1, 1) and gap == pytest.approx(0.02, abs=1e-4)
    assert block(good, "margin = 0.01")[0] == 0


def test_a_margin_lets_gap_aware_contacts_close_the_gap_and_no_more(good):
    """Without it the block sinks in by what it falls in a step."""
    sunk = block(good, "", duration=0.1)[4]
    held = block(good, "margin = 0.05", duration=0.1, aware=0.05)[4]
    assert sunk < -1e-5
    assert abs(held) < 1e-6


def test_a_patch_gives_four_points_from_the_command_line(good):
    assert block(good, "patch = 'ON'", gap=0.0)[2] == 4
    assert block(good, "patch = 'OFF'", gap=0.0)[2] == 1
    first, gap, last, *_ = block(good, "0.05, 'ON'", gap=0.02)
    assert (first, last) == (4, 4) and gap == pytest.approx(0.02, abs=1e-4)


@pytest.mark.parametrize("options, words", [
    ("margin = -1", "'margin' must not be negative"), ("patch = 'FOUR'", "'patch' must be"), ("margin = 'a'", "'margin' must be"),
])  # fmt: skip
def test_wrong_options_are_named(run, options, words):
    outcome = run(BLOCK.format(options=options, gap=0.0, duration=0.01, aware=None))
    assert outcome.status == 1 and "CONTACT_OPTIONS" in outcome.err and words in outcome.err and "input.py:10" in outcome.err


def test_a_refused_command_changes_no_option(good):
    """In a notebook the run goes on after the error, and would have other contacts."""
    text = BLOCK.replace("RUN(", "try: CONTACT_OPTIONS(solfec, 0.0, 'ON', seams=1)\n    except TypeError: pass\n    RUN(")
    assert good(text.format(options="patch = 'OFF'", gap=0.0, duration=0.01, aware=None)).split()[2] == "1"


def test_sparsification_may_treat_both_bodies_alike(good):
    text = BLOCK.replace("RUN(", "CONTACT_SPARSIFY(solfec, 0.01, symmetric = 'ON')\n    RUN(")
    assert good(text.format(options="patch = 'ON'", gap=0.0, duration=0.01, aware=None)).split()[2] == "4"


ARMS = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/arms')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, 'KIRCHHOFF', young=1E5, poisson=0.25, density=1E3)
    box = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    nodes, elements, ids = HEX(box, 3, 1, 2, 1, [1, 2, 3, 4, 5, 6], dx=[4, 2, 4]).get_data()
    records = [elements[10*i:10*i+10] for i in range(6)]
    body = BODY(solfec, 'FINITE_ELEMENT', MESH(nodes, sum(records[:4] + records[5:], []), 0), bulk)
    body.selfcontact = {flag!r}
    {more}
    for x, v in ((0, 1), (1, -1)):
        for y in (0, 1):
            SET_VELOCITY(body, (x, y, 1), (1, 0, 0), v)
    for x in (0, 1):
        for y in (0, 1):
            FIX_POINT(body, (x, y, 0))
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-4, 200), 0.15)
    inner = [c for c in solfec.constraints if c.kind == 'CONTACT']
    print(len(inner), all(c.adjbod == (body, body) for c in inner))
    print(DISPLACEMENT(body, (0.4, 0.5, 1))[0] - DISPLACEMENT(body, (0.6, 0.5, 1))[0] - 0.2)
"""


def test_arms_of_one_body_meet_only_with_selfcontact(good):
    found, overlap = good(ARMS.format(flag="OFF", more=""), "-w", "-y").splitlines()
    assert found == "0 True" and float(overlap) > 0.05
    found, held = good(ARMS.format(flag="ON", more=""), "-w", "-y").splitlines()
    assert found == "1 True" and float(held) < 0.3 * float(overlap)
    found, _ = good(ARMS.format(flag="ON", more="CONTACT_EXCLUDE_BODIES(body, body)"), "-w", "-y").splitlines()
    assert found == "0 True"


ELLIPSOID = """
    solfec = SOLFEC('DYNAMIC', 1E-4, 'out/egg')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, 'KIRCHHOFF', young=1E5, poisson=0.25, density=1E3)
    SURFACE_MATERIAL(solfec, friction=0.0, restitution=0)
    egg = ROTATE(ELLIP((0, 0, 0), (0.3, 0.2, 0.1), 1, 7), (0, 0, 0), (0, 1, 0), 90)
    print(egg.radii == (0.3, 0.2, 0.1), [round(r, 12) + 0 for r in egg.rot])
    body = BODY(solfec, 'PSEUDO_RIGID', egg, bulk)
    body.scheme = 'DEF_LIM'
    body.damping = 1E-3
    cube = [-1,-1,-1, 1,-1,-1, 1,1,-1, -1,1,-1, -1,-1,0, 1,-1,0, 1,1,0, -1,1,0]
    BODY(solfec, 'OBSTACLE', TRANSLATE(HULL(cube, 1, 1), (0, 0, -0.3)), bulk)
    GRAVITY(solfec, (0, 0, -100))
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 100), 0.05)
    f = body.conf
    F = [f[0:3], f[3:6], f[6:9]]
    axes = [[-0.3*F[i][2], 0.2*F[i][1], 0.1*F[i][0]] for i in range(3)]   # F R0 D: the long axis along z
    reach = sum(a*a for a in axes[2])**0.5
    contact, = [c for c in solfec.constraints if c.kind == 'CONTACT']
    print(F[2][2], body.conf[11] - reach + 0.3, contact.gap, contact.point[2] + 0.3)
"""


def test_a_pseudo_rigid_ellipsoid_rests_on_its_deformed_surface(good):
    first, second = good(ELLIPSOID).splitlines()
    assert first == "True [0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]"
    stretch, level, gap, point = map(float, second.split())
    assert stretch < 0.97  # it has been squeezed, and its lowest point is where the contact has it
    assert gap == pytest.approx(level, abs=2e-5) and abs(level) < 1e-3 and point == pytest.approx(0.5 * gap, abs=1e-3)


def test_bodies_inside_of_one_another_are_reported_at_the_end_of_a_run(run):
    text = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/nested')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, density=1E3)
    cube = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    BODY(solfec, 'OBSTACLE', HULL(cube, 1, 1), bulk)
    BODY(solfec, 'RIGID', TRANSLATE(SCALE(HULL(cube, 1, 1), (0.5, 0.5, 0.5)), (0.25, 0.25, 0.25)), bulk)
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-4, 100), 0.003)
    """
    excluded = text.replace("out/nested", "out/excluded").replace("    RUN(", "    CONTACT_EXCLUDE_SURFACES(solfec, 1, 1)\n    RUN(")
    assert "lay in one another" not in run(excluded).err
    outcome = run(text)
    assert outcome.status == 0
    assert "input.py:8: warning: in 1 step bodies lay in one another so that the way out was a guess, through the shallowest face; " \
        "first at time 0, bodies 1 and 2 at (0.5, 0.5, 0.5)" in outcome.err  # fmt: skip


WALL = """
    solfec = SOLFEC('DYNAMIC', 2E-3, 'out/wall')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, density=1E3)
    SURFACE_MATERIAL(solfec, friction=0.5)
    CONTACT_OPTIONS(solfec, seams='{seams}')
    CONTACT_SPARSIFY(solfec, 0, 0, 0)
    half = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    def pair(at):
        return [TRANSLATE(HULL(half, 1, 1), (at[0] + x, at[1], at[2])) for x in (-1, 0)]
    BODY(solfec, 'OBSTACLE', pair((0, 0, -1)), bulk)
    INITIAL_VELOCITY(BODY(solfec, 'RIGID', pair((5E-6, 0, 0)), bulk), (0, 0, -0.05), (0, 0, 0))
    GRAVITY(solfec, (0, 0, -10))
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 1000), 0.01)
    print(min(abs(c.base[8]) for c in solfec.constraints))
"""


def test_a_block_a_little_beside_the_seam_beneath_rests_on_level_contacts_only_without_seams(good):
    """Slivers between walls that face each other across the seams push sideways."""
    assert float(good(WALL.format(seams="ON"))) < 0.1
    assert float(good(WALL.format(seams="OFF"), "-w", "-y")) > 1 - 1e-9


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("exclude", [
    "BODIES(block, floor)", "BODIES(floor, block)", "SURFACES(solfec, 1, 2)", "SURFACES(solfec, 2, 1)", "OBJECTS(block, (.5, .5, .5), floor, (0, 0, -.5))",
])  # fmt: skip
def test_what_is_excluded_in_mid_run_stops_touching(good, exclude, contacts):
    held, fallen, count, touches = good(f"""
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/excluded', contacts='{contacts}')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, density=1E3)
    cube = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    floor = BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(cube, 1, 1), (4, 1, 1)), (0, 0, -1)), bulk)
    block = BODY(solfec, 'RIGID', HULL(cube, 2, 2), bulk)
    other = BODY(solfec, 'RIGID', TRANSLATE(HULL(cube, 3, 3), (2, 0, 0)), bulk)
    GRAVITY(solfec, (0, 0, -10))
    RUN(solfec, 0.02)
    print(block.conf[11] - 0.5)
    CONTACT_EXCLUDE_{exclude}
    RUN(solfec, 0.1)
    print(block.conf[11] - 0.5, len(solfec.constraints), any(block in c.adjbod for c in solfec.constraints))
    """, "-w", "-y").split()  # fmt: skip
    assert abs(float(held)) < 1e-6
    assert float(fallen) == pytest.approx(-0.05, rel=0.02)  # g t^2 / 2
    assert int(count) > 0 and touches == "False"


def test_selfcontact_may_be_switched_in_mid_run(good):
    text = ARMS.format(flag="OFF", more="").replace("0.15)", "0.12)").rsplit("    inner", 1)[0] + """
    def count():
        return sum(c.kind == 'CONTACT' for c in solfec.constraints)
    print(count())
    for flag in ('ON', 'OFF'):
        body.selfcontact = flag
        RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-4, 200), 0.01)
        print(count())
    """  # fmt: skip
    assert good(text, "-w", "-y").split() == ["0", "1", "0"]
