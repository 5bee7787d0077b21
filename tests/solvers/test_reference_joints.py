"""Joints, links and prescribed velocities against Solfec-1.0: what it assembled, and the laws where its solution has a defect."""

from __future__ import annotations

import numpy as np
import pytest
from reference_rows import assembled, dense, load

from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.local_dynamics import RowKind

MIXED = ["m07_000", "m07_005", "m07_055"]  # fixed point, fixed direction, prescribed velocity, links, contacts
CHAIN = ["m09_000", "m09_050", "m09_100"]  # six links
FORMS = pytest.mark.parametrize("stored", [True, False], ids=["stored", "velocity"])


# the pseudo-rigid body of m07 is integrated by DEF_LIM.  The files do not hold its material; of all materials this one gives the
# recorded W of all three instants, to the last digit
SOFT = (1e7, 0.3, 1.0)


def rows_of(name, stored=None):
    data = load(name)
    return data, assembled(data, stored, SOFT if name in MIXED else None)


def solved(name, stored=True):
    data, local = rows_of(name, stored)
    report = GaussSeidelSolver(1e-12, 20000).solve(local)
    return data, local, report


@pytest.mark.parametrize("name", MIXED + CHAIN)
def test_rows_of_joints_equal_those_of_solfec(name):
    data, local = rows_of(name)
    rows, n = local.rows, local.n
    w, expected = local.matrix(), dense(data)
    assert np.abs(w - expected).max() < 1e-14 * np.abs(expected).max()
    np.testing.assert_allclose(rows.B[:, :n].T, data["B"], rtol=1e-12, atol=1e-12 * np.abs(data["B"]).max())
    np.testing.assert_allclose(rows.V[:, :n].T, data["V"], rtol=1e-12, atol=1e-12 * max(np.abs(data["V"]).max(), 1e-3))


@FORMS
@pytest.mark.parametrize("name", CHAIN)
def test_reactions_of_a_chain_of_links_are_those_solfec_comes_to(name, stored):
    data, local, report = solved(name, stored)
    assert report.status == "OK" and report.residual < 1e-12
    np.testing.assert_allclose(local.rows.R[:, : local.n].T, data["R_TIGHT"], atol=2e-9 * np.abs(data["R_TIGHT"]).max())
    np.testing.assert_allclose(local.rows.U[:, : local.n].T, data["U_TIGHT"], atol=1e-12)


@pytest.mark.parametrize("name", MIXED)
def test_reactions_of_joints_links_and_contacts_are_those_solfec_comes_to(name):
    data, local, report = solved(name)
    assert report.residual < 1e-10
    assert report.status == str(data["status_TIGHT"])  # of m07_055 the links leave no room for a change of 1E-12, there or here
    np.testing.assert_allclose(local.rows.R[:, : local.n].T, data["R_TIGHT"], atol=1e-10 * np.abs(data["R_TIGHT"]).max())
    np.testing.assert_allclose(local.rows.U[:, : local.n].T, data["U_TIGHT"], atol=1e-11)


def test_the_block_of_a_link_does_not_oscillate_where_solfecs_did():
    data, _, report = solved("m09_000")
    assert str(data["status_TIGHT"]) == "DIVERGED"
    assert report.status == "OK" and report.iterations < 400


@pytest.mark.parametrize("name", MIXED + CHAIN)
def test_every_joint_fulfils_its_law_at_the_end_of_the_step(name):
    data, local, report = solved(name)
    h, rows = float(data["step"]), local.rows
    assert report.residual < 1e-9
    for a in range(local.n):
        kind, u, v, r, z = RowKind(int(rows.kind[a])), rows.U[:, a], rows.V[:, a], rows.R[:, a], data["Z"][a]
        if kind == RowKind.FIXPNT:
            np.testing.assert_allclose(u, -v, atol=1e-10)
        elif kind == RowKind.FIXDIR:
            np.testing.assert_allclose((u[2], *r[:2]), (-v[2], 0, 0), atol=1e-10)
        elif kind == RowKind.VELODIR:
            np.testing.assert_allclose((u[2], *r[:2]), (z[0], 0, 0), atol=1e-10)
        elif kind == RowKind.RIGLNK:
            length = np.linalg.norm(data["base"][a].T @ z[:3] + h / 2 * u)
            assert length == pytest.approx(z[3], abs=1e-13)
            assert tuple(r[:2]) == (0, 0)
