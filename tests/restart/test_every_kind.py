"""Every kind of body, formulation, scheme and option, side by side, stopped before they touch the ground and after, and continued."""

import pytest
from test_restart_bits import compare

from solfec import results

# analysis, kind, formulation, scheme, options of the body
TABLE = """
DYNAMIC       OBSTACLE        -         -
DYNAMIC       RIGID           -         RIG_POS
DYNAMIC       RIGID           -         RIG_NEG
DYNAMIC       RIGID           -         RIG_IMP
DYNAMIC       RIGID           -         RIG_NEG   disable_rotation
DYNAMIC       PSEUDO_RIGID    -         DEF_EXP
DYNAMIC       PSEUDO_RIGID    -         DEF_LIM
DYNAMIC       FINITE_ELEMENT  TL        DEF_EXP
DYNAMIC       FINITE_ELEMENT  TL        DEF_LIM
DYNAMIC       FINITE_ELEMENT  TL        DEF_LIM   enhanced
DYNAMIC       FINITE_ELEMENT  TL        DEF_LIM   conserving
DYNAMIC       FINITE_ELEMENT  BC        DEF_EXP
DYNAMIC       FINITE_ELEMENT  BC        DEF_LIM
DYNAMIC       FINITE_ELEMENT  BC        DEF_LIM   enhanced
DYNAMIC       FINITE_ELEMENT  BC-MODAL  DEF_LIM
DYNAMIC       FINITE_ELEMENT  BC-RO     DEF_LIM
QUASI_STATIC  OBSTACLE        -         -
QUASI_STATIC  RIGID           -         RIG_NEG
QUASI_STATIC  PSEUDO_RIGID    -         DEF_LIM
QUASI_STATIC  FINITE_ELEMENT  TL        DEF_LIM
QUASI_STATIC  FINITE_ELEMENT  BC        DEF_LIM
QUASI_STATIC  FINITE_ELEMENT  BC-MODAL  DEF_LIM
QUASI_STATIC  FINITE_ELEMENT  BC-RO     DEF_LIM
"""

INPUT = """
import numpy

analysis, rows = {analysis!r}, {rows!r}
solfec = SOLFEC(analysis, 1E-3, 'out/model')
solfec.verbose = 'OFF'
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, young=1E6, poisson=0.3, density=1000.0)
GRAVITY(solfec, (0, 0, TIME_SERIES([0, -9, 0.1, -10])))
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]

def cube(x=0):
    return TRANSLATE(ROTATE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (0.5, 0.5, 0.5), (1, 1, 0), 7), (x, 0, 0.095))

spare = SOLFEC('DYNAMIC', 1E-3, 'out/spare')
whole = BODY(spare, 'FINITE_ELEMENT', cube(), BULK_MATERIAL(spare, young=1E6, poisson=0.3, density=1000.0))
values, vectors = MODAL_ANALYSIS(whole, 12, 'modes')
snapshots = numpy.linalg.qr(numpy.reshape(vectors, (12, -1)).T)[0].T.ravel().tolist()
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HEX(nodes, 1, 1, 1, 1, [1] * 6), (99, 9, 1)), (-4, -4, -1)), soft)
for k, (kind, form, scheme, *options) in enumerate(rows):
    more = dict(form=form) if form != '-' else dict()
    if form.startswith('BC-'):
        more['base'] = (values, vectors if form == 'BC-MODAL' else snapshots)
    body = BODY(solfec, kind, cube(3 * k), soft, **more)
    INITIAL_VELOCITY(body, (0.2, 0.1, -1), (0.5, 1, 2))
    if scheme != '-':
        body.scheme = scheme
    if scheme.startswith('DEF'):
        body.damping = 1E-4
    for option in options:
        setattr(body, option, 'ON')
    if kind == 'OBSTACLE':
        BODY(solfec, 'RIGID', SPHERE((3 * k + 0.5, 0.5, 1.68), 0.5, 1, 1), soft)
    else:
        FORCE(body, 'CONVECTED' if form == '-' else 'SPATIAL', (3 * k + 0.5, 0.5, 0.595), (1, 0, 0), 100.0)
RUN(solfec, NEWTON_SOLVER(1E-12) if analysis == 'QUASI_STATIC' else GAUSS_SEIDEL_SOLVER(1E-6, 500), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
"""

ROWS = [line.split() for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize("analysis", ["DYNAMIC", "QUASI_STATIC"])
def test_a_continued_run_has_the_bits_of_one_run(analysis, tmp_path, monkeypatch, capsys):
    rows = [tuple(row[1:]) for row in ROWS if row[0] == analysis]
    model = tmp_path / "model.py"
    model.write_text(INPUT.format(analysis=analysis, rows=rows))
    compare(model, tmp_path, monkeypatch, [5, 20, 28])
    with results.open(tmp_path / "whole" / "out" / "model") as run:
        assert len(run.bodies()["id"]) == len(rows) + 2  # the ground, and the ball on the obstacle
        touched = set(run.contacts()["body1"]) | set(run.contacts()["body2"])
        assert analysis == "QUASI_STATIC" or len(touched) >= len(rows)
