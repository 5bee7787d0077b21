"""Natural frequencies and modes: reference data, lumped bars, beams and plates of analytic frequencies."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from finite_element_models import ElementModel, block

from solfec.bodies import modal
from solfec.bodies.finite_elements import compiled
from solfec.bodies.table import Form

DATA = Path(__file__).parent.parent / "data" / "bodies" / "modal.json.gz"
CASES = json.loads(gzip.decompress(DATA.read_bytes()))["cases"]


def matrices(mesh, young=1e9, poisson=0.25, density=1e3, form=Form.BC):
    """Mass, stiffness and nodes of a body at rest."""
    model = ElementModel()
    row = model.add(mesh, young, poisson, density, form)
    model.initialise()
    return *modal.matrices(model.bodies, row), model.bodies.meshes[row + 1].nodes


def centred(counts, size):
    half = np.array(size) / 2
    return block(counts, -half, half)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_reference_modes(case, dense, monkeypatch):
    monkeypatch.setattr(modal, "DENSE_UNKNOWNS", 10**6 if dense else 0)
    mass, stiffness, nodes = matrices(centred(case["divisions"], case["size"]), case["young"], case["poisson"], case["density"])
    assert np.allclose(nodes, case["nodes"], atol=1e-14)
    values, modes = modal.lowest_modes(mass, stiffness, 18, nodes)
    reference = np.array(case["eigenvalues"])
    assert values == pytest.approx(reference, rel=1e-7, abs=1e-7 * reference[6])
    assert np.abs((modes * mass) @ modes.T - np.eye(18)).max() < 1e-12
    theirs = np.array(case["eigenvectors"])
    last = np.searchsorted(reference, reference[-1] * (1 - 1e-6))  # a multiple eigenvalue may be cut at the end
    angles = np.linalg.svd((modes[:last] * mass) @ theirs.T, compute_uv=False)
    assert np.abs(angles - 1).max() < 1e-6  # both span the same modes


def test_unit_hexahedron_has_the_eigenvalues_of_hand_calculation():
    mass, stiffness, _ = matrices(block((1, 1, 1)))
    assert mass == pytest.approx(125.0)
    values = np.linalg.eigvalsh(stiffness.toarray() / 125.0)
    assert values[-1] == pytest.approx(8e6)
    assert values[6] == pytest.approx(1e9 / 1875, rel=1e-6)
    assert np.abs(values - 3.2e6).min() < 1.0


def test_lumped_bar_has_the_frequencies_of_a_chain():
    """One element across, no Poisson effect: omega = (2 c / l) sin(k pi / 20) along the bar."""
    mass, stiffness, nodes = matrices(block((1, 1, 10), (0, 0, 0), (0.1, 0.1, 1.0)), 200e9, 0.0, 7800)
    values, modes = modal.lowest_modes(mass, stiffness, len(mass), nodes)
    assert np.abs(values[:6]).max() <= 1e-9 * values[-1]
    speed = np.sqrt(200e9 / 7800)
    for k in range(1, 11):
        omega = 2 * speed / 0.1 * np.sin(k * np.pi / 20)
        assert np.abs(np.sqrt(values[6:]) / omega - 1).min() < 1e-9
    assert 2 * speed / 0.1 * np.sin(np.pi / 20) == pytest.approx(15842.73, abs=0.01)


def test_soft_bar_has_the_eigenvalues_of_the_specification():
    mass, stiffness, nodes = matrices(block((2, 2, 20), (0, 0, 0), (0.1, 0.1, 1.0)), 2e6, 0.26, 7800)
    values, _ = modal.lowest_modes(mass, stiffness, len(mass), nodes)
    expected = [109.335, 109.335, 668.113, 730.411, 730.411, 2410.761, 2410.761, 2522.576]
    assert values[6:14] == pytest.approx(expected, abs=6e-4)
    assert values[-1] == pytest.approx(542658, abs=1)


def test_sparse_solver_finds_every_copy_of_multiple_eigenvalues(monkeypatch):
    """A cube has threefold ones; six equal cubes that do not touch have each of them six times, rigid motions too."""
    nodes, records = [], []
    cube = block((2, 2, 2))
    for k in range(6):
        records += [x for e in cube.topology.element_nodes.reshape(-1, 8) for x in (8, *(e + 27 * k), 0)]
        nodes.append(cube.nodes + [2.0 * k, 0, 0])
    apart = type(cube).from_records(np.concatenate(nodes).ravel(), records)
    mass, stiffness, places = matrices(apart)
    alone = matrices(cube)
    single, _ = modal.lowest_modes(*alone[:2], 18, alone[2])
    monkeypatch.setattr(modal, "DENSE_UNKNOWNS", 0)
    values, modes = modal.lowest_modes(mass, stiffness, 60, places)
    assert np.abs(values[:36]).max() < 1e-9 * values[-1]
    assert values[36:] == pytest.approx(np.repeat(single[6:10], 6), rel=1e-9)
    assert np.abs((modes * mass) @ modes.T - np.eye(60)).max() < 1e-11


def test_stiffness_of_the_loaded_body_is_the_tangent():
    """Form 'TL' at a displacement: K is the derivative of the internal force, 'BC' keeps that at rest."""
    at_rest = None
    for form in (Form.BC, Form.TL):
        model = ElementModel()
        row = model.add(block((2, 1, 1)), form=form)
        model.conf(row)[:] = 0.05 * np.random.default_rng(1).uniform(-1, 1, model.conf(row).shape)
        model.initialise()
        _, stiffness = modal.matrices(model.bodies, row)
        if form == Form.BC:
            at_rest = stiffness.toarray()
            continue
        fe = compiled(model.bodies)
        def force(q, fe=fe):
            result = np.zeros((3, fe.displacement.shape[1]), order="F")
            shape = np.asfortranarray(q.reshape(-1, 3).T)
            return fe.assembly.internal_force(shape, result).T.ravel().copy()
        q = model.conf(row).T.ravel().copy()
        columns = [(force(q + 1e-6 * e) - force(q - 1e-6 * e)) / 2e-6 for e in np.eye(len(q))]
        difference = np.array(columns).T
        scale = np.abs(difference).max()
        assert np.abs(stiffness.toarray() - difference).max() < 1e-6 * scale
        assert np.abs(at_rest - difference).max() > 1e-2 * scale


def test_bar_frequencies_converge_with_second_order():
    """Longitudinal modes of a free bar, omega = k pi c / L; lumped masses converge from below."""
    speed, errors = np.sqrt(200e9 / 7800), []
    for cells in (5, 10, 20):
        mass, stiffness, nodes = matrices(block((1, 1, cells), (0, 0, 0), (0.01, 0.01, 1.0)), 200e9, 0.0, 7800)
        values, modes = modal.lowest_modes(mass, stiffness, len(mass), nodes)
        along = np.abs(modes.reshape(len(modes), -1, 3)).sum(1)
        stretching = (along[:, 2] > 10 * along[:, :2].sum(1)) & (values > 1e-6 * values[-1])
        omega = np.sqrt(values[stretching][0])
        errors.append(1 - omega / (np.pi * speed))
    assert np.all(np.array(errors) > 0)
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.1)


def fixed(mass, stiffness, free):
    """Lowest eigenvalues with the unknowns beside `free` held."""
    from scipy.linalg import eigh

    matrix = stiffness[free][:, free].toarray()
    root = 1 / np.sqrt(mass[free])
    return eigh(matrix * root * root[:, None], eigvals_only=True, subset_by_index=(0, 5))


def test_simply_supported_beam_approaches_its_first_frequency():
    """omega = pi**2 sqrt(E I / m L**4) of a slender beam; displacement elements come from above and converge."""
    length, height, young, density = 1.0, 0.05, 2e11, 7800.0
    exact = np.pi**2 * np.sqrt(young * height**2 / 12 / density) / length**2
    errors = []
    for cells in (10, 20, 40):
        mass, stiffness, nodes = matrices(block((cells, 1, 2), (0, 0, 0), (length, height, height)), young, 0.0, density)
        held = np.zeros((len(nodes), 3), bool)
        held[:, 1] = True  # bending in the plane of x and z
        ends = (nodes[:, 2] == height / 2) & np.isin(nodes[:, 0], (0, length))
        held[ends, 2] = True
        held[ends & (nodes[:, 0] == 0), 0] = True
        errors.append(np.sqrt(fixed(mass, stiffness, np.flatnonzero(~held.ravel()))[0]) / exact - 1)
    assert abs(errors[2]) < abs(errors[1]) < abs(errors[0])
    assert errors[2] == pytest.approx(0, abs=0.09)
    extrapolated = errors[2] - (errors[1] - errors[2]) / 3
    assert extrapolated == pytest.approx(0, abs=0.012)  # what is left is shear and the support's width


@pytest.mark.slow
def test_simply_supported_plate_approaches_its_frequencies():
    """omega = pi**2 (m**2 + n**2) sqrt(D / rho t) / a**2 of a square plate (Kirchhoff), four elements through the thickness."""
    side, thickness, young, poisson, density = 1.0, 0.05, 2e11, 0.3, 7800.0
    rigidity = young * thickness**3 / 12 / (1 - poisson**2)
    base = np.pi**2 * np.sqrt(rigidity / density / thickness) / side**2
    found = []
    for cells in (8, 16):
        mass, stiffness, nodes = matrices(block((cells, cells, 4), (0, 0, 0), (side, side, thickness)), young, poisson, density)
        held = np.zeros((len(nodes), 3), bool)
        x_edge, y_edge = np.isin(nodes[:, 0], (0, side)), np.isin(nodes[:, 1], (0, side))
        held[x_edge | y_edge, 2] = True  # hard support: edges do not slide along themselves
        held[x_edge, 1] = held[y_edge, 0] = True
        found.append(np.sqrt(fixed(mass, stiffness, np.flatnonzero(~held.ravel()))[:3]) / base)
    exact = np.array([2.0, 5.0, 5.0])
    extrapolated = found[1] - (found[0] - found[1]) / 3
    assert extrapolated == pytest.approx(exact, rel=0.04)  # shear of a plate this thick takes 1 to 3 per cent
    assert (np.abs(found[1] - exact) < np.abs(found[0] - exact)).all()
