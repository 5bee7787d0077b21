"""Options of finite element bodies in inputs: `enhanced`, `conserving` and the Neo-Hookean material."""

import pytest

INPUT = """
    solfec = SOLFEC ('DYNAMIC', 1E-3, 'out')
    bulk = BULK_MATERIAL (solfec, {model}young=1E6, poisson=0.3, density=1E3)
    box = HULL ([0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1], 1, 1)
    nodes = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    body = BODY (solfec, '{kind}', {shape}, bulk{form})
"""


def text(after, model="", kind="FINITE_ELEMENT", shape="HEX (nodes, 2, 1, 1, 1, [1]*6)", form=""):
    return INPUT.format(model=model, kind=kind, shape=shape, form=form) + "\n".join("    " + line for line in after.split("\n"))


def test_options_are_off_unless_asked_for(good):
    out = good(
        text(
            """print (body.enhanced, body.conserving)
body.enhanced = 'ON'; body.conserving = 'ON'; body.scheme = 'DEF_LIM'
INITIAL_VELOCITY (body, (0, 0, 0), (10, 20, 30))
RUN (solfec, GAUSS_SEIDEL_SOLVER (1E-3, 100), 1E-3)
before = ENERGY (solfec, body)
print (body.enhanced, body.conserving, before.kinetic > 1E4)"""
        )
    )
    assert "OFF OFF" in out
    assert "ON ON True" in out


@pytest.mark.parametrize(
    ("arguments", "line", "message"),
    [
        ({"kind": "RIGID", "shape": "box"}, "body.enhanced = 'ON'", "'enhanced' is for finite element bodies of form 'TL' or 'BC' or 'BC-RO'; body 1 is not one"),
        ({"form": ", form='BC'"}, "body.conserving = 'ON'", "'conserving' is for finite element bodies of form 'TL'"),
        ({"model": "'NEO_HOOKEAN', "}, "body.enhanced = 'ON'", "'enhanced' needs material model 'KIRCHHOFF'"),
        ({}, "body.enhanced = 'ON'; bulk.model = 'NEO_HOOKEAN'", "does not go with members 'enhanced' and 'conserving' of body 1"),
        ({"kind": "PSEUDO_RIGID", "shape": "box", "model": "'NEO_HOOKEAN', "}, "", "pseudo-rigid body takes material 'KIRCHHOFF'"),
        ({"kind": "PSEUDO_RIGID", "shape": "box"}, "bulk.model = 'NEO_HOOKEAN'", "is not for pseudo-rigid bodies"),
        ({}, "body.enhanced = 'MAYBE'", "enhanced"),
    ],
)
def test_options_that_do_not_suit_are_errors_that_say_why(run, arguments, line, message):
    outcome = run(text(line, **arguments))
    assert outcome.status == 1
    assert message in outcome.err
    assert "input.py" in outcome.err


def test_a_neo_hookean_block_resists_compression_where_kirchhoff_goes_soft(good):
    """Stresses at a stretch of 0.3."""
    after = """places = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 0.5, 1)]
body.conf = [(-0.7 * p[0], 0, 0)[i] for p in places for i in range (3)]
print ('stress', STRESS (body, (0.5, 0.5, 0.5))[0])"""
    values = [float(good(text(after, model=m)).split("stress")[1].split()[0]) for m in ("", "'NEO_HOOKEAN', ")]
    assert values[1] < 2 * values[0] < 0


def test_a_conserving_body_comes_to_rest_under_a_load(good):
    """Its velocities fade below the round-off of its displacements, which then is all that iterations can reach."""
    after = """body.conserving = 'ON'; body.scheme = 'DEF_LIM'; body.damping = 0.01
PRESSURE (body, 2, 1E5); PRESSURE (body, 4, 1E5)
OUTPUT (solfec, 1)
RUN (solfec, GAUSS_SEIDEL_SOLVER (1E-8, 100), 0.3)
energy = ENERGY (solfec)
print ('rest', energy.kinetic, energy.kinetic + energy.internal + energy.dissipated - energy.external, STRESS (body, (0.5, 0.5, 0.5))[1])"""
    kinetic, balance, across = map(float, good(text(after, shape="HEX (nodes, 2, 2, 2, 1, [1, 2, 3, 4, 5, 6])")).split("rest")[1].split())
    assert kinetic < 1e-5 and abs(balance) < 1e-8 and abs(across) < 1.0
