"""Runs, callbacks and results through the commands a user types."""

from __future__ import annotations

import subprocess
import sys

import language_inputs
import pytest
from language_inputs import RUN10

FALL = "\n    import math" + language_inputs.FALL
STACK = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/stack')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, density=1E3)
    SURFACE_MATERIAL(solfec, surf1=1, surf2=2, friction=0.5, label='rough')
    cube = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    floor = BODY(solfec, 'OBSTACLE', TRANSLATE(HULL([3*c for c in cube], 1, 1), (-1, -1, -3)), bulk, label='floor')
    block = BODY(solfec, 'RIGID', HULL(cube, 2, 2), bulk, label='block')
    GRAVITY(solfec, (0, 0, -10))
    gs = GAUSS_SEIDEL_SOLVER(1E-6, 100)
"""


# --- running -----------------------------------------------------------------------------------------------


def test_run_makes_the_steps_that_the_duration_asks_for(good):
    text = FALL + "    RUN(solfec, gs, 0.01)\n    print(solfec.time, VELOCITY(body, (0, 0, 0))[2], DURATION(solfec))"
    time, velocity, duration = map(float, good(text).split())
    assert time == duration == pytest.approx(0.01, abs=1e-15)
    assert velocity == pytest.approx(-0.1, rel=1e-14)


def test_second_run_goes_on(good):
    assert float(good(FALL + "    RUN(solfec, gs, 0.01)\n    RUN(solfec, gs, 0.02)\n    print(solfec.time)")) == pytest.approx(0.03)


def test_callback_gets_its_data_and_ends_the_run_by_zero(good):
    text = FALL + """
    calls = []
    def check(name, limit):
        calls.append((name, round(solfec.time, 6)))
        return 0 if len(calls) == limit else None
    CALLBACK(solfec, 2E-3, ('a', 3), check)
    RUN(solfec, gs, 1)
    print(calls)
    """
    assert good(text) == "[('a', 0.001), ('a', 0.002), ('a', 0.004)]\n"


def test_callback_put_later_starts_after_the_next_step_and_catches_up(good):
    text = FALL + """
    times = []
    RUN(solfec, gs, 0.003)
    CALLBACK(solfec, 2.5E-3, (), lambda: times.append(round(solfec.time, 6)))
    RUN(solfec, gs, 0.006)
    solfec.step = 0.006
    RUN(solfec, gs, 0.012)
    print(times)
    """
    assert good(text) == "[0.004, 0.006, 0.008, 0.015, 0.021]\n"


@pytest.mark.parametrize(
    "change, what",
    [
        ("BODY(solfec, 'RIGID', SPHERE((9, 0, 0), 1, 1, 1), bulk)", "insert bodies"),
        ("DELETE(solfec, body)", "delete bodies"),
        ("FIX_POINT(body, (0, 0, 0))", "insert constraints"),
        ("DELETE(solfec, solfec.constraints[0])", "delete constraints"),
        ("body.velo = (0,) * 6", "set velocities"),
        ("body.conf = body.conf", "set configurations"),
        ("solfec.step = 1E-4", "change its length"),
    ],
)
def test_a_force_callback_cannot_change_the_rows_of_the_step_it_is_part_of(run, change, what):
    text = FALL + f"""
    PUT_RIGID_LINK(body, None, (0, 0, 0), (0, 0, 3))
    def force(q, u, t, h):
        {change}
        return (0,) * 9
    FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), force)
    RUN(solfec, gs, 0.01)
    """
    outcome = run(text)
    assert outcome.status == 1
    assert f"a callback in the midst of a time step cannot {what}" in outcome.err


@pytest.mark.parametrize("data, arguments", [("5", "(5,)"), ("()", "()"), ("(1, 2)", "(1, 2)"), ("None", "(None,)"), ("[1, 2]", "([1, 2],)")])
def test_callback_data_become_arguments(good, data, arguments):
    text = FALL + f"    CALLBACK(solfec, 1E-3, {data}, lambda *all: print(all) or 0)\n    RUN(solfec, gs, 1)\n"
    assert good(text) == arguments + "\n"


def test_what_a_force_function_asks_of_a_run_in_the_midst_of_a_step_is_heard_at_its_end(good):
    text = FALL + """
    def force(q, u, t, h):
        if not seen and t > 0.0034:
            seen.append(t)
            CALLBACK(solfec, 1E9, (), lambda: seen.append(solfec.time))
        return (0,) * 9
    seen = []
    FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), force)
    OUTPUT(solfec, 1E9)
    RUN(solfec, gs, 0.01)
    print(len(seen), '%.4f' % seen[1])
    """
    assert good(text) == "2 0.0040\n"


def test_callback_may_insert_and_delete_bodies(good):
    text = FALL + """
    born = []
    def change():
        if not born:
            born.append(BODY(solfec, 'RIGID', SPHERE((9, 0, 0), 1, 1, 1), bulk, label='late'))
        elif solfec.time > 0.006 and body in solfec.bodies:
            DELETE(solfec, body)
    CALLBACK(solfec, 3E-3, (), change)
    RUN(solfec, gs, 0.01)
    print(len(solfec.bodies), solfec.bodies[0].label, born[0] == solfec.bodies[0])
    """
    assert good(text) == "1 late True\n"


def test_exception_of_a_callback_leaves_run_as_it_is(good):
    text = FALL + """
    class Mine(Exception): pass
    def fail():
        raise Mine('here')
    CALLBACK(solfec, 5E-3, (), fail)
    try:
        RUN(solfec, gs, 1)
    except Mine as error:
        print(error, solfec.time)
    """
    assert good(text) == "here 0.001\n"


@pytest.mark.parametrize(
    "force, velocity",
    [
        ("FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), body.mass * 20)", 0.1),
        ("FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), TIME_SERIES([0, body.mass * 20, 1, body.mass * 20]))", 0.1),
        ("FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), lambda q, u, t, h: (0, 0, body.mass * 20) + (0,) * 6)", 0.1),
        ("FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), lambda a, b, q, u, t, h: (0, 0, a * b) + (0,) * 6, (body.mass, 20))", 0.1),
        ("FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), lambda m, q, u, t, h: (0, 0, m * 20) + (0,) * 6, body.mass)", 0.1),
    ],
)
def test_forces_by_number_series_and_callback(good, force, velocity):
    text = FALL + f"    {force}\n    RUN(solfec, gs, 0.01)\n    print(VELOCITY(body, (0, 0, 0))[2])"
    assert float(good(text)) == pytest.approx(velocity, rel=1e-12)


def test_bodies_leaving_the_extents_vanish(good):
    text = FALL + "    EXTENTS(solfec, (-2, -2, -1, 2, 2, 2))\n    RUN(solfec, gs, 1)\n    print(solfec.nbod)"
    assert good(text) == "0\n"


def test_unphysical_penetration_stops_the_run(run):
    text = STACK + "    UNPHYSICAL_PENETRATION(solfec, 0.2)\n    INITIAL_VELOCITY(block, (0, 0, -900), (0, 0, 0))\n    RUN(solfec, gs, 1)\n"
    outcome = run(text)
    assert outcome.status == 1 and "input.py:13: " in outcome.err and "penetration" in outcome.err.lower()


def test_excluded_bodies_fall_through_each_other(good):
    text = STACK + "    CONTACT_EXCLUDE_BODIES(floor, block)\n" + RUN10 + "    print(solfec.ncon, VELOCITY(block, (0, 0, 0))[2] < -0.09)"
    assert good(text) == "0 True\n"


PARTED = STACK.replace("HULL(cube, 2, 2)", "[HULL(cube, 2, 2), TRANSLATE(HULL(cube, 2, 2), (0, 1, 0))]") + """
    def parts():
        return sorted(round(c.point[1], 3) for c in solfec.constraints)
    {command}
    RUN(solfec, gs, 1E-3)
    print(parts())
"""


def test_excluded_parts_of_bodies_touch_nothing_while_others_do(good):
    """A block of two convexes stands on a floor; without contact of one of them it begins to tip, which one step does not show."""
    assert good(PARTED.format(command="pass"), "-w", "-y") == "[0.5, 1.5]\n"
    command = "CONTACT_EXCLUDE_OBJECTS(block, (0.5, 1.5, 0.5), floor, (0, 0, -1))"
    assert good(PARTED.format(command=command), "-w", "-y") == "[0.5]\n"
    command = "CONTACT_EXCLUDE_OBJECTS(body1=floor, point1=(0, 0, -1), body2=block, point2=(0.5, 0.5, 0.5))"
    assert good(PARTED.format(command=command), "-w", "-y") == "[1.5]\n"


def test_verbose_percentage_ends_at_one_hundred(good):
    assert "100 %" in good(FALL.replace("'OFF'", "'%'") + RUN10)
    assert good(FALL.replace("'OFF'", "'%\\n'") + RUN10, "-w", "-y").endswith("100 %\n")


# --- contacts as a user sees them --------------------------------------------------------------------------


def test_contact_members(good):
    text = STACK + """
    RUN(solfec, gs, 0.01)
    contacts = block.constraints
    print(len(contacts), {c.kind for c in contacts}, {c.matlab for c in contacts})
    c = contacts[0]
    bodies = c.adjbod
    print(bodies in ((floor, block), (block, floor)), c.spair == tuple({'floor': 1, 'block': 2}[b.label] for b in bodies))
    print(round(sum(c.R[2] for c in contacts), 6), max(abs(c.U[2]) for c in contacts) < 1e-9, c.area > 0, c.gap <= 0)
    n = c.base[6:]
    print(len(c.point), [round(x) for x in n] == [0, 0, 1 if bodies[0] == block else -1])
    """
    lines = good(text).splitlines()
    assert lines[0].endswith("{'CONTACT'} {'rough'}")
    assert lines[1] == "True True"
    assert lines[2] == "10000.0 True True True"
    assert lines[3] == "3 True"


def test_solver_members_after_a_run(good):
    text = STACK + """
    gs.itershist = 'ON'
    print(gs.itershist, gs.failure, gs.diagsolver, gs.meritval, gs.diagepsilon, gs.diagmaxiter, gs.reverse, gs.variant)
    gs.epsilon, gs.reverse, gs.innerloops = 1E-8, 'ON', 2
    RUN(solfec, gs, 0.01)
    print(gs.error, gs.iters > 0, len(gs.rerhist) == gs.iters, len(gs.merhist) == gs.iters, len(gs.itershist), gs.epsilon, gs.reverse)
    """
    lines = good(text).splitlines()
    assert lines[0] == "None CONTINUE SEMISMOOTH_NEWTON 1.0 1e-08 100 OFF FULL"
    assert lines[1] == "OK True True True 10 1e-08 ON"


def test_failure_callback_gets_solver_and_data(good):
    text = STACK + """
    def failed(solver, a, b):
        print(solver is gs, solver.error, a, b)
        return 1
    BODY(solfec, 'RIGID', TRANSLATE(HULL(cube, 2, 2), (0.1, 0, 1)), bulk)  # one block alone is solved by one sweep
    gs = GAUSS_SEIDEL_SOLVER(1E-15, 1, failure='CALLBACK', data=(1, 2), callback=failed)
    RUN(solfec, gs, 1E-3)
    """
    assert good(text) == "True DIVERGED 1 2\n"


def test_penalty_solver_carries_the_block(good):
    text = STACK.replace("friction=0.5", "model='SPRING_DASHPOT', spring=1E6, dashpot=-1") + """
    RUN(solfec, PENALTY_SOLVER('IMPLICIT'), 0.5)
    print(DISPLACEMENT(block, (0.5, 0.5, 0.5))[2])
    """
    assert -0.05 < float(good(text)) < 0.0


def test_pendulum_hangs_on_a_rigid_link(good):
    text = FALL + """
    link = PUT_RIGID_LINK(None, body, (0, 0, 3), (0, 0, 0.5))
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-9, 1000), 0.1)
    print(link.R[2] / body.mass, link.gap, VELOCITY(body, (0, 0, 0))[2])
    """
    pull, gap, velocity = map(float, good(text).split())
    assert pull == pytest.approx(-10, rel=1e-6) and abs(gap) < 1e-9 and abs(velocity) < 1e-6


def test_link_loaded_above_its_strength_breaks(good):
    text = FALL + "    link = PUT_RIGID_LINK(None, body, (0, 0, 3), (0, 0, 0.5), strength=1)\n" + RUN10 + "    print(link.kind, solfec.ncon)"
    assert good(text) == "None 0\n"


# --- results -----------------------------------------------------------------------------------------------


def test_energy_has_the_manuals_order(good):
    text = FALL + RUN10 + """
    energy = ENERGY(solfec)
    print(energy == ENERGY(solfec, body) == ENERGY(solfec, [body, body]), energy.kinetic == energy[0])
    print(energy[0] / body.mass, energy.external / body.mass, energy[1], energy[3], energy[4])
    """
    first, second = good(text).splitlines()
    assert first == "True True"
    kinetic, external, *rest = map(float, second.split())
    assert kinetic == pytest.approx(0.005) and external == pytest.approx(0.005) and rest == [0, 0, 0]


def test_kinetic_energy_is_there_before_the_first_step(good):
    text = FALL + "    INITIAL_VELOCITY(body, (0, 0, 2), (0, 0, 0))\n    print(ENERGY(solfec).kinetic / body.mass)"
    assert float(good(text)) == pytest.approx(2.0)


def test_internal_energy_follows_an_assigned_gradient_at_once(good):
    text = FALL + """
    cube = HULL([c for x in (0, 1) for y in (0, 1) for z in (0, 1) for c in (x, y, z)], 1, 1)
    soft = BODY(solfec, 'PSEUDO_RIGID', cube, bulk)
    before = ENERGY(soft).internal
    soft.conf = (1.001, 0, 0, 0, 1.001, 0, 0, 0, 1.001, 0.5, 0.5, 0.5)
    print(before, ENERGY(soft).internal)
    """
    before, after = map(float, good(text).split())
    assert before == 0.0 and after == pytest.approx(3003.0007, rel=1e-7)


def test_dissipated_energy_is_a_member_beside_the_five_of_the_manual_and_a_history(good):
    text = """
    solfec = SOLFEC('DYNAMIC', 1E-5, 'out')
    cube = HULL([c for x in (0, 1) for y in (0, 1) for z in (0, 1) for c in (x, y, z)], 1, 1)
    soft = BODY(solfec, 'PSEUDO_RIGID', cube, BULK_MATERIAL(solfec, young=1E9, poisson=0.25, density=1E3))
    soft.conf = (1.001, 0, 0, 0, 1.001, 0, 0, 0, 1.001, 0.5, 0.5, 0.5)
    soft.damping = 1E-5
    kinetic, internal, external, contact, friction = ENERGY(soft)
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 10), 1E-3)
    now = ENERGY(soft)
    print(len(now), now.dissipated / internal, (now.kinetic + now.internal + now.dissipated) / internal)
    """
    again = text + "print(HISTORY(solfec, [(soft, 'DISSIPATED')], 0, 1)[1][-1])"
    count, taken, kept = map(float, good(text).splitlines()[-1].split())
    assert count == 5 and taken > 0.05 and kept == pytest.approx(1.0, abs=1e-3)
    assert float(good(again).splitlines()[-1]) == pytest.approx(taken * 3003.0007, rel=1e-6)


def test_results_are_read_by_the_same_input(good):
    text = FALL + RUN10 + """
    print(solfec.mode, DURATION(solfec), solfec.time)
    """
    good(text)
    assert good(text) == "READ (0.0, 0.01) 0.0\n"


def test_a_reader_sees_the_frames_that_later_runs_of_the_same_input_add(good):
    text = FALL + RUN10 + """
    other = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
    BODY(other, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(other))
    print(other.mode, DURATION(other))
    RUN(solfec, gs, 0.01)
    print(DURATION(other), len(HISTORY(other, 'STEP', 0, 1)[0]))
    FORWARD(other, 99)
    print(other.time)
    """
    assert good(text).splitlines() == ["READ (0.0, 0.01)", "(0.0, 0.02) 11", "0.02"]


def test_frames_are_loaded_by_seek_forward_and_backward(good):
    good(FALL + RUN10)
    text = FALL + RUN10 + """
    def state(): return round(solfec.time, 6), round(VELOCITY(body, (0, 0, 0))[2], 6)
    FORWARD(solfec, 2); print(state())
    FORWARD(solfec, 99); print(state())
    BACKWARD(solfec, 1); print(state())
    BACKWARD(solfec, 99); print(state())
    SEEK(solfec, 0.0031); print(state())
    SEEK(solfec, 0.003); print(state())
    SEEK(solfec, 5); print(state())
    print(body.velo[5] == VELOCITY(body, (0, 0, 0))[2], body.conf[11] == DISPLACEMENT(body, (0, 0, 0))[2])
    """
    assert good(text).splitlines() == [
        "(0.004, -0.04)", "(0.01, -0.1)", "(0.008, -0.08)", "(0.0, 0.0)",
        "(0.004, -0.04)", "(0.002, -0.02)", "(0.01, -0.1)", "True True",
    ]  # fmt: skip


def test_first_access_loads_the_first_frame(good):
    good(FALL + RUN10)
    assert good(FALL + "    print(DISPLACEMENT(body, (0, 0, 0)), ENERGY(solfec)[0], TIMING(solfec, 'TIMINT') >= 0)") == "(0.0, 0.0, 0.0) 0.0 True\n"


def test_commands_that_run_do_nothing_in_read_mode(good):
    good(FALL + RUN10)
    text = FALL + RUN10 + """
    CALLBACK(solfec, 1E-3, (), lambda: 1 / 0)
    EXTENTS(solfec, (0, 0, 0, 1, 1, 1))
    UNPHYSICAL_PENETRATION(solfec, 1)
    RUN(solfec, gs, 5)
    SEEK(solfec, 5)
    print(solfec.time, solfec.nbod)
    """
    assert good(text) == "0.01 1\n"


def test_history_holds_every_frame_of_the_interval(good):
    good(FALL + RUN10)
    text = FALL + RUN10 + """
    items = [(body, (0, 0, 0), 'VZ'), ('ball', (0, 0, 1), 'CZ'), (body, 'KINETIC'), (solfec, 'EXTERNAL'), 'STEP', 'BODS',
             ([body], 'KINETIC'), ('nobody', (0, 0, 0), 'DX'), (solfec, 'GAP'), (body, (0, 0, 1), None, 'R'), 'NEWBODS', 'GSITERS']
    h = HISTORY(solfec, items, 0, 1)
    print(type(h), {type(x) for x in h}, type(h[1][0]))
    print([round(t, 6) for t in h[0]], [round(v, 6) for v in h[1]])
    print(h[3] == h[7], h[6], [math.isnan(x) for x in h[8]], h[9], h[10])
    times, velocity = HISTORY(solfec, (body, (0, 0, 0), 'VZ'), 0.002, 0.008, skip=2, progress='OFF')
    print([round(t, 6) for t in times], solfec.time)
    print(HISTORY(solfec, [], 0, 1) == (h[0],))
    """
    lines = good(text).splitlines()
    assert lines[4] == "True"  # times alone
    assert lines[0] == "<class 'tuple'> {<class 'list'>} <class 'float'>"
    assert lines[1] == "[0.0, 0.002, 0.004, 0.006, 0.008, 0.01] [0.0, -0.02, -0.04, -0.06, -0.08, -0.1]"
    assert lines[2].startswith("True [1")
    assert "[True, True, True, True, True, True]" in lines[2]
    assert lines[3] == "[0.002, 0.006] 0.0"


def test_history_is_none_in_write_mode(good):
    assert good(FALL + RUN10 + "    print(HISTORY(solfec, ['STEP'], 0, 1))") == "None\n"


def test_body_born_in_a_callback_is_read_back(good):
    text = FALL + """
    def add():
        if solfec.nbod == 1:
            BODY(solfec, 'RIGID', SPHERE((9, 0, 0), 1, 1, 1), bulk, label='late')
    CALLBACK(solfec, 5E-3, (), add)
    RUN(solfec, gs, 0.01)
    if solfec.mode == 'READ':
        h = HISTORY(solfec, [('late', (9, 0, 0), 'VZ'), 'BODS'], 0, 1)
        print([math.isnan(v) for v in h[1]].index(False), h[2][0], h[2][-1], round(h[1][-1], 6))
        SEEK(solfec, 1)
        print([b.label for b in solfec.bodies], BYLABEL(solfec, 'BODY', 'late').center)
        SEEK(solfec, 0)
        print([b.label for b in solfec.bodies], BYLABEL(solfec, 'BODY', 'late'))
    """
    good(text)
    first, second, third = good(text).splitlines()
    assert first.split()[0] == "2" and float(first.split()[-1]) == pytest.approx(-0.09)
    assert second == "['late', 'ball'] (9.0, 0.0, 0.0)"
    assert third == "['ball'] None"


def test_read_state_has_the_bits_of_the_run(good):
    text = STACK + "    INITIAL_VELOCITY(block, (1, 0.2, 0), (0.1, 0.2, 0.3))\n" + RUN10 + """
    SEEK(solfec, 1)
    print(block.conf, block.velo, ENERGY(solfec), sorted((c.point, c.R) for c in block.constraints), solfec.time, solfec.mode)
    """
    written, read = good(text), good(text)
    assert "WRITE" in written and "READ" in read
    assert read.replace("READ", "WRITE") == written


def test_angles_stay_right_after_a_spin(good):
    text = FALL.replace("GRAVITY(solfec, (0, 0, -10))", "INITIAL_VELOCITY(body, (0, 0, 0), (0, 0, math.pi))") + """
    body.scheme = 'RIG_IMP'
    RUN(solfec, gs, 0.5)
    print(*DISPLACEMENT(body, (1, 0, 0)))
    """
    assert list(map(float, good(text).split())) == pytest.approx([-1, 1, 0], abs=1e-5)


# --- what is printed ---------------------------------------------------------------------------------------

STRAY_NODE = "MESH([0,0,0, 1,0,0, 0,1,0, 0,0,1, 5,5,5], [4, 0, 1, 2, 3, 0], 0)"


def test_a_warning_about_a_shape_names_the_users_line_and_comes_once_for_each(run):
    outcome = run(f"""
        for _ in range(3):
            {STRAY_NODE}
        SCALE([SPHERE((1, 0, 0), 1, 1, 1), SPHERE((2, 0, 0), 1, 1, 1)], (2, 2, 2))
    """)
    assert [line.split(": warning: ")[0] for line in outcome.err.splitlines()] == ["input.py:3", "input.py:4"]
    assert "1 node of a MESH is not used" in outcome.err


def test_warnings_about_shapes_can_be_switched_off(run):
    assert run(f"WARNINGS('OFF')\n{STRAY_NODE}").err == ""


def test_a_warning_about_what_was_typed_does_not_name_a_file_of_the_library():
    command = [sys.executable, "-c", f"from solfec import *\n{STRAY_NODE}"]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.stderr.startswith("<string>:2: SolfecWarning: 1 node of a MESH is not used")


def test_one_body_is_printed_in_the_singular(good):
    text = FALL.replace("'OFF'", "'ON'") + RUN10
    assert good(text).startswith("1 body (1 rigid); 6 degrees of freedom; step 0.001\n")


def test_histories_of_bodies_born_into_an_empty_model_and_all_deleted_again(good):
    text = FALL.replace("    body = BODY(", "    first = lambda: BODY(") + """
    def change():
        step = round(1000 * solfec.time)
        if step in (2, 7): BODY(solfec, 'RIGID', SPHERE((0, 0, step), 1, 1, 1), bulk, label='born at %d' % step)
        if step == 4: DELETE(solfec, solfec.bodies[0])
    CALLBACK(solfec, 1E-3, (), change)
    RUN(solfec, gs, 0.01)
    if solfec.mode == 'READ':
        for step in (2, 7):
            heights = HISTORY(solfec, [('born at %d' % step, (0, 0, step), 'CZ')], 0, 1)[1]
            print([k for k, height in enumerate(heights) if abs(height - step) < 0.01])
    """
    good(text)
    assert good(text) == "[3, 4]\n[8, 9, 10]\n"


REPLACED = """
    solfec = SOLFEC('DYNAMIC', 0.01, 'out/replaced')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec)
    def ball(x):
        body = BODY(solfec, 'RIGID', SPHERE((x, 0, 0), 0.5, 1, 1), bulk, 'ball')
        INITIAL_VELOCITY(body, (0, 0, 1), (0, 0, 0))
    ball(0)
    def replace():
        if abs(solfec.time - 0.03) < 1E-9: DELETE(solfec, BYLABEL(solfec, 'BODY', 'ball'))
        if abs(solfec.time - 0.05) < 1E-9: ball(7)
    CALLBACK(solfec, 0.01, (), replace)
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 10), 0.08)
    if solfec.mode == 'READ':
        print([round(x, 3) for x in HISTORY(solfec, [('ball', (7, 0, 0), 'CX'), ('ball', (7, 0, 0), 'DZ')], 0, 1)[2]])
"""


def test_a_label_follows_the_body_that_has_it(good):
    """A frame's values are those of the body that is so labelled then; between two such bodies there are none."""
    good(REPLACED)
    assert good(None) == "[0.0, 0.01, 0.02, 0.03, nan, nan, 0.01, 0.02, 0.03]\n"


def test_history_prints_how_far_it_has_come(good):
    text = FALL + "    RUN(solfec, gs, 0.1)\n    for progress in 'OFF', 'ON':\n        h = HISTORY(solfec, [(body, (0, 0, 0), 'DZ'), 'STEP', (body, 'KINETIC'), (solfec, 'R')], 0, 1, 3, progress)\n"
    text += "        print(h and [len(values) for values in h], h and hash(str(h)))\n"
    good(text)
    first, shown, second = good(None).splitlines()
    assert shown == "HISTORY: 100 %"
    assert first == second and first.startswith("[34, 34, 34, 34, 34]")
    assert "HISTORY:" not in good(None, "--quiet")


def test_modules_beside_a_linked_input_are_found(good, tmp_path):
    """As Python does: the directory is that of the file, not of the link."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "beside.py").write_text("size = 3\n")
    (tmp_path / "models" / "model.py").write_text("import beside\nprint(beside.size)\n")
    (tmp_path / "link.py").symlink_to("models/model.py")
    assert good(None, path="link.py") == "3\n"


BETWEEN_RUNS = """
    solfec = SOLFEC('DYNAMIC', 0.01, 'out/between')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec)
    first = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), bulk, 'first')
    def born():
        if abs(solfec.time - 0.02) < 1E-9: BODY(solfec, 'RIGID', SPHERE((10, 0, 0), 2, 1, 1), bulk, 'born')
    CALLBACK(solfec, 0.01, (), born)
    RUN(solfec, PENALTY_SOLVER(), 0.05)
    late = BODY(solfec, 'RIGID', SPHERE((20, 0, 0), 3, 1, 1), bulk, 'late')
    fixed = FIX_POINT(late, (20, 0, 3))
    RUN(solfec, PENALTY_SOLVER(), 0.05)
    if solfec.mode == 'READ':
        print(HISTORY(solfec, (late, (20, 0, 0), 'CX'), 0.05, 0.06)[1])
        SEEK(solfec, 0.1)
    print([(body.id, body.label, round(body.mass)) for body in solfec.bodies], late.label, round(late.mass), fixed.kind)
"""


def test_what_the_input_makes_between_runs_is_found_again_in_read_mode(good):
    """Bodies that callbacks made in the first run have taken identifiers, which the input must leave out when it reads."""
    written = good(BETWEEN_RUNS)
    assert written == "[(3, 'late', 113097), (2, 'born', 33510), (1, 'first', 4189)] late 113097 FIXPNT\n"
    history, read = good(None).splitlines(keepends=True)
    assert (history, read) == ("[nan, 20.0]\n", written)


def test_results_of_another_model_are_told_when_they_are_read(run, good):
    text = FALL + "    RUN(solfec, gs, 0.01)\n    if solfec.mode == 'READ': SEEK(solfec, 1)\n"
    good(text)
    assert run(None).err.count("\n") == 1  # that nothing was computed
    outcome = run(text.replace("SPHERE((0, 0, 0)", "SPHERE((5, 0, 0)"))
    assert outcome.status == 0
    computed, *warned = outcome.err.splitlines()
    assert computed.startswith("RUN: results exist, nothing computed") and len(warned) == 1 and warned[0].startswith("input.py:10: warning: ")
    assert "body 1 of the results has its centre at 0 0 0, that of the input at 5 0 0; do they belong together?" in outcome.err
