"""Points that inputs attach to bodies in order to see where they are."""

import pytest

MODEL = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/points')
bulk = BULK_MATERIAL(solfec, density=1.0)
body = BODY(solfec, 'RIGID', HULL([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1], 1, 1), bulk)
DISPLAY_POINT(body, (1, 1, 1), 'corner')
DISPLAY_POINT(body, (0.5, 0.5, 0.5))
"""


def test_points_move_with_their_body_and_keep_their_labels(run):
    outcome = run(MODEL + """
print(body.display_points)
INITIAL_VELOCITY(body, (2, 0, 0), (0, 0, 0))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 10), 0.5)
(one, at), (other, middle) = body.display_points
print(one, other == '', [round(x, 9) for x in at], [round(x, 9) for x in middle])
DELETE(solfec, body)
""")
    first, last = [line for line in outcome.out.splitlines() if line.startswith(("[", "corner"))]
    assert first == "[('corner', (1.0, 1.0, 1.0)), ('', (0.5, 0.5, 0.5))]"
    assert last == "corner True [2.0, 1.0, 1.0] [1.5, 0.5, 0.5]"


@pytest.mark.parametrize("call, words", [
    ("DISPLAY_POINT(body, (2, 0, 0), 'far')", "outside of the shape of body 1"),
    ("DISPLAY_POINT(body, (1, 0, 0), 3)", "'label' must be a string"),
    ("DISPLAY_POINT(solfec, (1, 0, 0))", "'body'"),
])  # fmt: skip
def test_wrong_points_are_refused(run, call, words):
    outcome = run(MODEL + call + "\n")
    assert outcome.status == 1 and words in outcome.err and "input.py:7" in outcome.err


def test_points_of_results_that_are_read_leave_the_constraints_that_follow_alone(good):
    text = MODEL + """
FIX_POINT(body, (0, 0, 0))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 10), 0.01)
print(solfec.mode, solfec.ncon)
SEEK(solfec, 0.01) if solfec.mode == 'READ' else None
print(solfec.ncon)
"""
    assert good(text).endswith("WRITE 1\n1\n")
    assert good(None) == "READ 1\n1\n"


WARPED = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/warped')
bulk = BULK_MATERIAL(solfec, young=1E6, poisson=0.25, density=1.0)
bodies = []
for s in (1, -1):
    n = [0, 0, 0, 1, 0, 0.2 * s, 1, 1, 0, 0, 1, 0.2 * s, 0, 0, 0.5, 1, 0, 0.5 + 0.2 * s, 1, 1, 0.5, 0, 1, 0.5 + 0.2 * s]
    for kind in ('RIGID', 'PSEUDO_RIGID', 'FINITE_ELEMENT'):
        bodies.append((s, BODY(solfec, kind, MESH(n, [8, 0, 1, 2, 3, 4, 5, 6, 7, 1], 1), bulk)))
"""


def test_all_nodes_of_warped_elements_take_points_and_constraints(run):
    outcome = run(WARPED + """
for s, body in bodies:
    for i in range(8):
        x = (i in (1, 2, 5, 6)) * 1.0, (i in (2, 3, 6, 7)) * 1.0, (i > 3) * 0.5 + (i % 2) * 0.2 * s
        DISPLAY_POINT(body, x)
        FIX_POINT(body, x)
        FORCE(body, 'SPATIAL', x, (0, 0, 1), 1.0)
    try:  # in the middle hulls end at 0.7 where s is 1, at 0.5 where it is -1
        FIX_POINT(body, (0.5, 0.5, 0.69))
        print('taken', s)
    except ValueError:
        print('refused', s)
print(sum(len(body.display_points) for s, body in bodies))
""")
    assert outcome.out.splitlines()[-1] == "48"
    assert outcome.out.count("taken 1") == 3 and outcome.out.count("refused -1") == 3


def test_points_between_the_hollow_of_a_warped_face_and_its_hull_turn_with_their_body(run):
    """The element ends in the middle of the face, but a linear motion moves points above it as it moves all others."""
    outcome = run(WARPED + """
body, gradient = bodies[2][1], ((0.0, 1E-3, 2E-3), (-3E-3, 0.0, 1E-3), (0.5E-3, 2E-3, 1E-3))
nodes = [((i in (1, 2, 5, 6)) * 1.0, (i in (2, 3, 6, 7)) * 1.0, (i > 3) * 0.5 + (i % 2) * 0.2) for i in range(8)]
body.conf = [sum(g * x for g, x in zip(row, node)) for node in nodes for row in gradient]
for point in (0.5, 0.5, 0.69), (0.4, 0.5, 0.66), (0.5, 0.5, 0.55):
    expected = [sum(g * x for g, x in zip(row, point)) for row in gradient]
    print(max(abs(a - b) for a, b in zip(DISPLACEMENT(body, point), expected)) < 1E-15)
""")
    assert outcome.status == 0, outcome.err
    assert outcome.out.split()[-3:] == ["True"] * 3
