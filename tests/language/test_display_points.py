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
