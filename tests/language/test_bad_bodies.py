"""Bodies that cannot be: errors name file and line, command, argument, value, body and element."""

from __future__ import annotations

import textwrap

import pytest

MODEL = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/bad')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, label='stone')
    cube = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    first = BODY(solfec, 'RIGID', SPHERE((9, 9, 9), 1, 1, 1), bulk)
    gs = GAUSS_SEIDEL_SOLVER(1E-4, 100)
    def blocks(n, **more): return HEX(cube, n, 1, 1, 1, [1]*6, **more)
    def soft(shape, label=None, **more): return BODY(solfec, 'FINITE_ELEMENT', shape, bulk, label, **more)
    def part(size, low): return HULL([size*c + low for c in cube], 1, 1)
    def moved(mesh, old, new):
        for n in range(mesh.nnod):
            if mesh.node(n) == old: mesh.node(n, *new)
        return mesh
    def flat():
        mesh = blocks(2)
        for n in range(mesh.nnod):
            x, y, z = mesh.node(n)
            if x == 0.5: mesh.node(n, 1E-14, y, z)
        return mesh
"""

# (what is wrong, the line, how the message goes on after file and line)
CASES = [
    ("a part sticks out of the mesh", "soft([part(.5, 0), part(.5, .7)], 'crane', mesh=blocks(2))",
     "BODY: body 2 (crane): the mesh does not contain the shape: 39.2 % of its volume is outside of all elements; "
     "vertex (1.2, 1.2, 1.2) of convex part 1 is 0.346 outside of the nearest element, 1"),
    ("the mesh is elsewhere", "soft(part(.5, 5), mesh=blocks(2))",
     "BODY: body 2: the mesh does not contain the shape: 100 % of its volume is outside of all elements; "
     "vertex (5.5, 5.5, 5.5) of convex part 0 is 7.79 outside of the nearest element, 1"),
    ("a flat element", "soft(flat(), 'crane')", "ValueError: BODY: body 2 (crane): element 0 has two nodes in one place: "),
    ("a flat element of a background mesh", "soft(part(.5, .2), 'crane', mesh=flat())",
     "BODY: body 2 (crane): 'mesh': element 0 has two nodes in one place: "),
    ("an element of no volume", "MESH([0,0,0, 1,0,0, 0,1,0, .5,.5,0], [4,0,1,2,3,1], 1)", "ValueError: MESH: element 0 has no volume"),
    ("a folded element", "soft(moved(blocks(2), (1,1,1), (.62,.1,.1)), 'crane')", "BODY: body 2 (crane): element 1 (nodes "),
    ("a folded element of a background mesh", "soft(part(.1, .6), 'crane', mesh=moved(blocks(2), (1,1,1), (.62,.1,.1)))",
     "BODY: body 2 (crane): 'mesh': element 1 (nodes "),
    ("Poisson's ratio of one half", "BULK_MATERIAL(solfec, poisson=0.5)", "ValueError: BULK_MATERIAL: 'poisson' must be below 0.5, it is 0.5"),
    ("Poisson's ratio set to one half", "bulk.poisson = 0.5", "ValueError: BULK_MATERIAL.poisson: 'poisson' must be below 0.5, it is 0.5"),
    ("Poisson's ratio of one half in a Neo-Hookean material", "BULK_MATERIAL(solfec, model='NEO_HOOKEAN', poisson=0.5)",
     "ValueError: BULK_MATERIAL: 'poisson' must be below 0.5, it is 0.5"),
    ("a base of another mesh", "soft(blocks(1), 'crane', form='BC-RO', base=([0], [1.0]*30))",
     "ValueError: BODY: 'base' of body 2 (crane): its vectors hold 30 numbers; the mesh has 8 nodes, which makes 24"),
    ("a base for elements that are left out", "soft(part(.4, 0), form='BC-RO', mesh=blocks(2), base=([0], [1.0]*36))",
     "ValueError: BODY: 'base' of body 2: its vectors hold 36 numbers; the mesh has 8 nodes, which makes 24"),
    ("a step above the limit", "b = soft(blocks(3, dx=[1, .1, 1]), 'crane'); solfec.step_control = 'OFF'; RUN(solfec, gs, 0.1)",
     "body 2 (crane, FINITE_ELEMENT), element 1, is unstable at the step 0.001, which SOLFEC.step_control = 'OFF' keeps: "
     "explicit integration allows for 7.02489e-05"),
    ("a step above the limit of a co-rotated body", "b = soft(blocks(3, dx=[1, .1, 1]), form='BC'); solfec.step_control = 'OFF'; RUN(solfec, gs, 0.1)",
     "body 2 (FINITE_ELEMENT), element 1, is unstable at the step 0.001"),
    ("a step above the limit of a pseudo-rigid body",
     "b = BODY(solfec, 'PSEUDO_RIGID', blocks(1), bulk, 'crane'); solfec.step_control = 'OFF'; RUN(solfec, gs, 0.1)",
     "body 2 (crane, PSEUDO_RIGID) is unstable at the step 0.001"),
    ("stress outside", "b = soft(blocks(3), 'crane'); STRESS(b, (1.2, .5, .5))",
     "ValueError: STRESS: 'point': body 2 (crane): the point (1.2, 0.5, 0.5) is outside of its elements (element 2 is nearest, 0.2 away)"),
    ("stress outside of a shape inside a mesh", "b = soft(part(.4, 0), mesh=blocks(1)); STRESS(b, (.5, .5, .5))",
     "ValueError: STRESS: 'point': body 2: the point (0.5, 0.5, 0.5) is outside of its shape"),
    ("displacement outside", "DISPLACEMENT(soft(blocks(3)), (.5, .5, -3))",
     "ValueError: DISPLACEMENT: 'point': body 2: the point (0.5, 0.5, -3) is outside of its elements (element 1 is nearest, 3 away)"),
    ("velocity outside", "VELOCITY(soft(blocks(3), 'crane'), (9, .5, .5))", "ValueError: VELOCITY: 'point': body 2 (crane): the point (9, 0.5, 0.5)"),
    ("force outside", "FORCE(soft(blocks(3), 'crane'), 'SPATIAL', (9, .5, .5), (1, 0, 0), 1)",
     "ValueError: FORCE: 'point': body 2 (crane): the point (9, 0.5, 0.5)"),
    ("turned inside out in a run", "b = soft(blocks(1), 'crane', form='BC'); b.velo = [v for n in range(8) for v in (-1E5*b.mesh.node(n)[0], 0, 0)]; RUN(solfec, gs, 0.1)",
     "body 2 (crane, FINITE_ELEMENT): the deformation gradient has no positive determinant"),
    ("torn apart in explicit steps", "b = soft(blocks(3), 'crane'); FORCE(b, 'SPATIAL', (0, 0, 0), (1, 0, 0), 1E16); RUN(solfec, gs, 0.1)",
     "body 2 (crane) is strained so much that explicit integration asks for the step "),
    ("torn apart beyond the squares of numbers", "b = soft(blocks(1), 'crane'); b.conf = [-3E74] + 23*[0.0]; RUN(solfec, gs, 0.1)",
     "body 2 (crane) is strained so much that explicit integration asks for the step "),
    ("a force function of a wrong size", "b = soft(blocks(1), 'crane'); FORCE(b, 'SPATIAL', (0, 0, 0), (1, 0, 0), lambda q, u, t, h: (1, 2, 3)); RUN(solfec, gs, 0.1)",
     "force callback of body 2 (crane) at time "),
]  # fmt: skip

# (the line, the warning): arguments that mean nothing where they are given
IGNORED = [
    ("BODY(solfec, 'RIGID', blocks(1), bulk, form='BC')", "BODY: 'form' is for finite element bodies; 'BC' means nothing to one of kind 'RIGID'"),
    ("soft(blocks(1), form='BC', base=([0], [1.0]*24))", "BODY: 'base' is for the forms 'BC-MODAL' and 'BC-RO'"),
    ("FORCE(first, 'SPATIAL', (9, 9, 9), (1, 0, 0), 5, data=(1, 2))", "FORCE: 'data' is for a 'value' that is called"),
    ("first.damping = 1E-3", "BODY.damping is for deformable bodies; one of kind RIGID"),
]


@pytest.mark.parametrize("line, words", IGNORED)
def test_arguments_that_mean_nothing_are_told(run, line, words):
    text = textwrap.dedent(MODEL) + line + "\n"
    outcome = run(text)
    assert outcome.status == 0, outcome.err
    assert outcome.err.startswith("input.py:") and f": warning: {words}" in outcome.err, outcome.err


@pytest.mark.parametrize("line, words", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_error_names_command_argument_value_body_and_element(run, line, words):
    text = textwrap.dedent(MODEL) + line + "\nprint('not reached')\n"
    number = text.count("\n") - 1
    outcome = run(text)
    message = next(part for part in outcome.err.splitlines() if ": warning: " not in part)
    place, _, rest = message.partition(": ")
    assert place == f"input.py:{number}" or f"called from input.py:{number}\n" in outcome.err, outcome.err
    assert rest.startswith(words), outcome.err
    assert "Traceback" not in outcome.err and " nan" not in outcome.err
    assert outcome.status == 1 and "not reached" not in outcome.out


@pytest.mark.parametrize("analysis", ["DYNAMIC", "QUASI_STATIC"])
def test_elements_that_were_turned_inside_out_are_told(run, analysis):
    """The St Venant-Kirchhoff material lets a block be pressed through itself; a bent and turned one is none of this."""
    text = textwrap.dedent(MODEL).replace("DYNAMIC", analysis).replace("1E-3", "1E-5")
    turned = run(text + "b = soft(blocks(3), 'crane'); b.conf = [v for n in range(b.mesh.nnod) for v in (-1.3*max(b.mesh.node(n)[0] - .5, 0), 0, 0)]\n"
                        "RUN(solfec, gs, 3E-5)\n")
    assert turned.status == 0, turned.err
    assert "input.py:22: warning: 1 element lies inside out (body 2 (crane), element 2): material 'KIRCHHOFF' goes soft" in turned.err, turned.err
    sound = run(text.replace("out/bad", "out/sound") + "b = soft(blocks(3)); b.conf = [v for n in range(b.mesh.nnod) for v in (-2*b.mesh.node(n)[0], -2*b.mesh.node(n)[1], .3)]\n"
                "RUN(solfec, gs, 3E-5)\n")
    assert "inside out" not in sound.err and sound.status == 0


def test_history_of_a_point_outside_names_the_body(run, good):
    """Results refer to bodies by number."""
    text = textwrap.dedent(MODEL) + "b = soft(blocks(3), 'crane')\nRUN(solfec, gs, 1E-3)\n"
    good(text)
    outcome = run(text + "print(HISTORY(solfec, [(b, (1.2, .5, .5), 'SX')], 0, 1))\n")
    assert outcome.status == 1
    assert "body 2 (crane): the point (1.2, 0.5, 0.5) is outside of its elements" in outcome.err, outcome.err
