"""MODAL_ANALYSIS and its files, bases and reduced bodies, exported matrices: what a user sees of them."""

from __future__ import annotations

import os
import subprocess
import sys

import h5py
import numpy as np
import pytest
from unit_cube import CUBE

import solfec as s
from solfec.errors import SolfecWarning
from solfec.language import session

NODES = 18


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = session.begin(session.Session())
    solfec = s.SOLFEC("DYNAMIC", 1e-3, "out/modes")
    solfec.verbose = "OFF"
    yield solfec
    session.current().close()
    session.begin(before)


def bar(model, form="BC", base=None, young=1e7, place=(0, 0, 0), label=None):
    bulk = s.BULK_MATERIAL(model, label=f"m{young:g}", young=young, poisson=0.3, density=1e3)
    return s.BODY(model, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(CUBE, 2, 1, 2, 1, [1] * 6), place), bulk, label, form, None, base)


def test_modes_are_kept_in_a_file_and_read_without_computing(model, monkeypatch):
    body = bar(model)
    values, vectors = s.MODAL_ANALYSIS(body, 9, "modes")
    assert (len(values), len(vectors)) == (9, 9 * 3 * NODES)
    with h5py.File("modes.h5") as file:
        assert file["vectors"].shape == (9, 54) and file["fingerprint"].shape == (2, 54)
    from solfec.bodies import modal

    monkeypatch.setattr(modal, "lowest_modes", None)  # must not be called
    assert s.MODAL_ANALYSIS(body, 9, "modes") == (values, vectors)
    assert s.MODAL_ANALYSIS(path="modes") == s.MODAL_ANALYSIS(path="modes", num=9) == (values, vectors)


def test_modes_of_another_body_or_number_are_computed_anew(model):
    values, _ = s.MODAL_ANALYSIS(bar(model), 9, "modes")
    stiffer = bar(model, young=4e7)
    with pytest.warns(SolfecWarning, match=r"'modes\.h5' is of another mesh, material or displacement"):
        changed, _ = s.MODAL_ANALYSIS(stiffer, 9, "modes")
    assert changed[6:] == pytest.approx(4 * np.array(values[6:]))
    assert len(s.MODAL_ANALYSIS(stiffer, 11, "modes")[0]) == 11
    assert s.MODAL_ANALYSIS(path="modes")[0][6:9] == pytest.approx(changed[6:])


def test_verbose_analysis_prints_frequencies(model, capsys):
    values, _ = s.MODAL_ANALYSIS(bar(model), 8, verbose="ON")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["mode", "eigenvalue", "frequency", "residual"] and len(lines) == 9
    number, value, frequency, residual = map(float, lines[8].split())
    assert (number, value) == (8, pytest.approx(values[7], rel=1e-6))
    assert frequency == pytest.approx(np.sqrt(values[7]) / (2 * np.pi), rel=1e-6)
    assert residual < 1e-12


def test_files_that_hold_no_modes_are_errors(model):
    body = bar(model)
    with open("modes.h5", "w") as file:
        file.write("nothing")
    for arguments in ((body, 7, "modes"), (None, None, "modes")):
        with pytest.raises(ValueError, match=r"'modes\.h5' is damaged or not a file of MODAL_ANALYSIS"):
            s.MODAL_ANALYSIS(*arguments)
    with h5py.File("modes.h5", "w") as file:
        file["values"] = [1.0]
    with pytest.raises(ValueError, match="is not a file of MODAL_ANALYSIS"):
        s.MODAL_ANALYSIS(path="modes")
    with pytest.raises(ValueError, match=r"cannot be written"):
        s.MODAL_ANALYSIS(body, 7, "modes.h5/modes")


def test_reduced_body_has_its_numbers(model):
    base = s.MODAL_ANALYSIS(bar(model), 8)
    s.REGISTER_BASE(model, base, "bar")
    body = bar(model, "BC-MODAL", "bar", place=(3, 0, 0))
    assert (body.form, body.scheme, len(body.conf), len(body.velo)) == ("BC-MODAL", "DEF_LIM", 17, 8)
    assert body.conf == (0,) * 8 + (1, 0, 0, 0, 1, 0, 0, 0, 1)
    s.INITIAL_VELOCITY(body, (1, 2, 3), (0, 0, 0))
    assert np.linalg.norm(body.velo) == pytest.approx(np.sqrt(14 * body.mass))
    s.GRAVITY(model, (0, 0, -10))
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 0.1)
    q, u = body.conf, body.velo
    body.velo, body.conf = (0.0,) * 8, (0.0,) * 8 + q[8:]
    body.velo, body.conf = u, q
    assert body.conf == pytest.approx(q, abs=1e-9) and body.velo == u
    for scheme in ("DEF_EXP", "RIG_NEG"):
        with pytest.raises(ValueError, match="does not suit"):
            body.scheme = scheme
    body.scheme = "DEFAULT"
    with pytest.raises(ValueError, match="last 9 numbers of 'conf'"):
        body.conf = q[:8] + (1, 0, 0, 0, 1, 0, 0, 1, 1)
    with pytest.raises(ValueError, match="8 numbers"):
        body.velo = u + (0,)


def test_the_number_of_modes_may_be_that_of_the_file(model, tmp_path):
    body = bar(model)
    values, vectors = s.MODAL_ANALYSIS(body, 9, str(tmp_path / "modes"))
    assert s.MODAL_ANALYSIS(body, path=str(tmp_path / "modes")) == (values, vectors)
    body.material.young *= 4
    with pytest.warns(SolfecWarning, match="computed again"):
        assert s.MODAL_ANALYSIS(body, path=str(tmp_path / "modes"))[0][8] == pytest.approx(4 * values[8])
    with pytest.raises(TypeError, match="'num' is needed, the number of modes; there is no file"):
        s.MODAL_ANALYSIS(body, path=str(tmp_path / "nothing"))
    s.MODAL_ANALYSIS(body, 9, tmp_path / "new" / "directories" / "modes")
    assert s.MODAL_ANALYSIS(path=tmp_path / "new" / "directories" / "modes")[0][8] == pytest.approx(4 * values[8])


def test_bases_of_one_label_are_shared(model):
    s.REGISTER_BASE(model, s.MODAL_ANALYSIS(bar(model), 8), "bar")
    one, two = (bar(model, "BC-MODAL", "bar", place=(3 * k, 0, 0)) for k in (1, 2))
    bases = model._simulation.domain.bodies.bases
    assert bases[one.id] is bases[two.id]
    with pytest.raises(ValueError, match="registered as 'bar' already"):
        s.REGISTER_BASE(model, s.MODAL_ANALYSIS(bar(model), 8), "bar")


def test_pod_base_makes_a_reduced_body_move_as_its_snapshots(model):
    """A body whose snapshots hold its third and fifth deformation modes vibrates in them with their frequencies."""
    whole = bar(model)
    values, vectors = s.MODAL_ANALYSIS(whole, 14)
    shapes = np.reshape(vectors, (14, -1))
    base = s.POD_BASE(whole, [list(shapes[8]), list(0.5 * shapes[10] + shapes[8]), [0.0] * 54])
    assert len(base[0]) == 8 and base[0][:6] == [0.0] * 6
    rigid = np.array(s.RIGID_DISPLACEMENTS(whole))
    assert np.linalg.norm(np.reshape(base[1], (8, -1)) @ rigid.T, axis=0) == pytest.approx(1.0)
    assert len(s.POD_BASE(whole, [list(shapes[8])], num=7)[0]) == 7
    body = bar(model, "BC-RO", base, place=(3, 0, 0))
    bodies = model._simulation.domain.bodies
    from solfec.bodies.finite_elements import compiled

    reduced = compiled(bodies).reduced
    mass, stiffness = reduced.mass.reshape(8, 8), reduced.stiffness.reshape(8, 8)
    found = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)[6:]
    assert found == pytest.approx(sorted((values[8], values[10])), rel=1e-9)
    assert body.form == "BC-RO"


def test_matrices_are_read_back_by_scipy(model):
    from scipy.io import mminfo, mmread

    body = bar(model)
    s.BODY_MM_EXPORT(body, "M.mtx", "K.mtx")
    assert mminfo("K.mtx")[3:] == ("coordinate", "real", "symmetric")
    mass, stiffness = mmread("M.mtx").toarray(), mmread("K.mtx").toarray()
    assert mass.sum() == pytest.approx(3 * body.mass)
    assert np.array_equal(mass, np.diag(np.diag(mass)))
    rigid = np.array(s.RIGID_DISPLACEMENTS(body))
    assert np.abs(stiffness @ rigid.T).max() < 1e-9 * np.abs(stiffness).max()
    with open("K.mtx") as file:
        numbers = np.array([line.split() for line in file if line[0] != "%"][1:], float)
    assert (numbers[:, 0] >= numbers[:, 1]).all()  # one triangle, column by column
    assert (np.diff(numbers[:, 1]) >= 0).all()
    s.BODY_MM_EXPORT(body, "M.mtx", "whole.mtx", "OFF", "OFF")
    assert mminfo("whole.mtx")[5] == "general"
    assert mmread("whole.mtx").toarray() == pytest.approx(stiffness, rel=1e-14)
    values, _ = s.MODAL_ANALYSIS(body, 10)
    root = 1 / np.sqrt(np.diag(mass))
    assert np.linalg.eigvalsh(stiffness * root * root[:, None])[6:10] == pytest.approx(values[6:], rel=1e-9)


def test_base_inside_a_background_mesh_has_the_size_of_what_is_left(model):
    """Elements without a part of the shape go; the base is that of the remaining nodes."""
    bulk = s.BULK_MATERIAL(model, label="inside", young=1e7, poisson=0.3, density=1e3)

    def part():
        return s.HULL([(0.3 * x, 0.9 * y, 0.9 * z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], 1, 1)

    whole = s.HEX(CUBE, 2, 1, 2, 1, [1] * 6)
    body = s.BODY(model, "FINITE_ELEMENT", part(), bulk, form="BC", mesh=whole)
    assert body.mesh.nnod == 12
    base = s.MODAL_ANALYSIS(body, 9)
    reduced = s.BODY(model, "FINITE_ELEMENT", part(), bulk, form="BC-MODAL", mesh=whole, base=base)
    s.INITIAL_VELOCITY(reduced, (0, 0, 1), (0, 0, 0))
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 0.005)
    assert np.linalg.norm(reduced.velo) == pytest.approx(np.sqrt(reduced.mass))
    with pytest.raises(ValueError, match="hold 54 numbers; the mesh has 12 nodes, which makes 36"):
        s.BODY(model, "FINITE_ELEMENT", part(), bulk, form="BC-RO", mesh=whole, base=([0.0], [1.0] * 54))


# --- COROTATED_DISPLACEMENTS -------------------------------------------------------------------------------


def times_of(snapshots, bodies, speed, step):
    """Steps at which snapshots were taken, from the stretch of bodies whose nodes at x = 1 move outward."""
    stretch = np.reshape(snapshots, (-1, bodies, 3 * NODES))[:, 0].reshape(-1, NODES, 3)
    return np.round(np.ptp(stretch[:, :, 0], axis=1) / (speed * step), 3).tolist()


def stretching(model, label=None, place=(0, 0, 0)):
    """A body of little stiffness whose length grows at unit speed."""
    body = bar(model, "TL", young=1e-6, place=place, label=label)
    x = np.reshape(body.mesh.get_data()[0], (-1, 3))[:, 0] - place[0]
    body.velo = tuple(np.stack([x - 0.5, 0 * x, 0 * x], 1).ravel())
    return body


def test_snapshots_are_taken_at_instants_intervals_and_with_the_output(model):
    body = stretching(model)
    at_start = s.COROTATED_DISPLACEMENTS(model, body, [0.0, 0.0042, 0.0035, 0.1])
    interval = s.COROTATED_DISPLACEMENTS(model, body, 0.004)
    with_output = s.COROTATED_DISPLACEMENTS(model, body)
    assert at_start == interval == with_output == []
    s.OUTPUT(model, 0.003)
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 0.010)
    assert times_of(at_start, 1, 1.0, 1e-3) == [0, 3, 4]  # 0.0035 lies between two steps: the earlier
    assert times_of(interval, 1, 1.0, 1e-3) == [4, 8]
    assert times_of(with_output, 1, 1.0, 1e-3) == [3, 6, 9]


@pytest.mark.parametrize("form", ["TL", "BC", "BC-MODAL"])
def test_snapshots_do_not_see_rotation(model, form):
    base = s.MODAL_ANALYSIS(bar(model, place=(9, 0, 0)), 8) if form == "BC-MODAL" else None
    body = bar(model, form, base)
    body.scheme = "DEF_LIM"
    model.step = 0.005
    s.OUTPUT(model, 1.0)
    s.INITIAL_VELOCITY(body, (0, 0, 0), (0, 0, 2.0))
    snapshots = s.COROTATED_DISPLACEMENTS(model, body, [0.7])
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 0.7)
    seen = np.reshape(snapshots[0], (-1, 3))
    assert np.abs(seen - seen.mean(0)).max() < 2e-3  # centrifugal strain, and the second order of tangents
    turned = np.array(body.conf[: 3 * NODES] if form != "BC-MODAL" else [1.0])
    assert np.abs(turned).max() > 0.5


def test_subsets_by_label_number_box_and_list(model):
    one, two, other = (stretching(model, label, (3 * k, 0, 0)) for k, label in enumerate(("BAR1", "BAR2", "ROD")))
    assert (one.id, two.id, other.id) == (1, 2, 3)
    chosen = ["BAR", 2, two, (5.5, -1, -1, 9, 9, 9)], "^BAR[12]$", one, 3, (0, 0, 0, 4, 1, 1)
    lists = [s.COROTATED_DISPLACEMENTS(model, subset, [1e-3]) for subset in chosen]
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 1e-3)
    assert [len(found) for found in lists] == [3, 2, 1, 1, 2]
    assert lists[0][:2] == lists[1]


def test_frames_read_give_the_snapshots_of_the_run(model, tmp_path):
    body = stretching(model)
    written = s.COROTATED_DISPLACEMENTS(model, body)
    s.OUTPUT(model, 0.002)
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 0.008)
    again = s.SOLFEC("DYNAMIC", 1e-3, "out/modes", mode="AUTO")
    assert again.mode == "READ"
    body = stretching(again)
    read = s.COROTATED_DISPLACEMENTS(again, body, [5.0])  # the sampling does not matter
    s.FORWARD(again, 2, "TRUE")
    assert len(read) == 2 and again.time == pytest.approx(0.004)
    s.FORWARD(again, 1)
    s.FORWARD(again, 5, "TRUE")
    assert read == [written[0], written[1], written[3]]


def test_snapshots_of_a_run_make_a_base_that_follows_it(model):
    """A bar on its ends under gravity: 'BC-RO' in the base of its own snapshots bends as the finite elements do."""
    found, snapshots = [], None
    s.OUTPUT(model, 1.0)
    s.GRAVITY(model, (0, 0, -50))
    for run, form in enumerate(("BC", "BC-RO")):
        place = (0, 3.0 * run, 0)
        body = bar(model, form, s.POD_BASE(body, snapshots, 12) if run else None, 1e5, place)  # noqa: F821
        body.scheme = "DEF_LIM"
        for y in (0, 1):
            for x in (0, 1):
                s.FIX_POINT(body, (x, y + 3.0 * run, 0))
        snapshots = snapshots or s.COROTATED_DISPLACEMENTS(model, body, 0.005)
        s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-10, 1000), 0.2)
        found.append(s.DISPLACEMENT(body, (0.5, 0.5 + 3.0 * run, 0.5)))
    assert found[0][2] < -0.01
    assert found[1] == pytest.approx(found[0], abs=0.02 * abs(found[0][2]))


def layered(model, form, base=None, place=(0, 0, 0)):
    """A bar whose two halves have volume identifiers of their own."""
    bulk = s.BULK_MATERIAL(model, label="light", young=1e7, poisson=0.3, density=1e3)
    nodes, elements, surfaces = s.HEX(CUBE, 2, 1, 2, 1, [1] * 6).get_data()
    records = np.reshape(elements, (-1, 10))
    records[:, 9] = 1 + (np.reshape(nodes, (-1, 3))[records[:, 1:9]].mean(1)[:, 0] > 0.5)
    mesh = s.TRANSLATE(s.MESH(nodes, records.ravel().tolist(), surfaces), place)
    return s.BODY(model, "FINITE_ELEMENT", mesh, bulk, form=form, base=base)


def test_modes_of_a_body_of_two_materials(model):
    """APPLY_BULKMAT comes after BODY, so that the base is judged when the run starts."""
    heavy = s.BULK_MATERIAL(model, label="heavy", young=4e7, poisson=0.2, density=3e3)
    whole = layered(model, "BC")
    s.APPLY_BULKMAT(model, whole, 2, heavy)
    base = s.MODAL_ANALYSIS(whole, 10)
    body = layered(model, "BC-MODAL", base, (3, 0, 0))
    with pytest.raises(RuntimeError, match=f"body {body.id}: its base does not suit it: .* in the norm of the body's mass"):
        s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 1e-3)
    s.APPLY_BULKMAT(model, body, 2, heavy)
    s.INITIAL_VELOCITY(body, (0, 0, 1), (0, 0, 0))
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 1e-3)
    assert np.linalg.norm(body.velo) ** 2 == pytest.approx(2 * body.mass)  # half of it is three times as heavy


def test_modes_of_enhanced_elements_are_lower_and_suit(model):
    """A bar that locks in bending: enhanced modes are accepted, and reduced bodies take enhanced strains."""
    stiff, soft = bar(model), bar(model, place=(3, 0, 0))
    soft.enhanced = "ON"
    locked, _ = s.MODAL_ANALYSIS(stiff, 9)
    base = s.MODAL_ANALYSIS(soft, 9)
    assert (np.array(base[0][7:]) < 0.8 * np.array(locked[7:])).all()
    assert bar(model, "BC-MODAL", base, place=(6, 0, 0)).form == "BC-MODAL"
    values, vectors = s.MODAL_ANALYSIS(soft, 3 * NODES)
    complete = (values, np.linalg.qr(np.reshape(vectors, (54, 54)).T)[0].T.ravel().tolist())
    reduced = bar(model, "BC-RO", complete, place=(9, 0, 0))
    reduced.enhanced = "ON"
    soft.scheme = "DEF_LIM"
    s.OUTPUT(model, 1.0)
    for body, x in ((soft, 3), (reduced, 9)):
        s.FORCE(body, "SPATIAL", (x + 1, 0.5, 0.5), (0, 0, 1), 1e4)
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), 0.05)
    moved = [s.DISPLACEMENT(body, (x + 1, 1, 1)) for body, x in ((soft, 3), (reduced, 9))]
    assert moved[1] == pytest.approx(moved[0], rel=1e-8)
    stress = [s.STRESS(body, (x + 0.4, 0.3, 0.6)) for body, x in ((soft, 3), (reduced, 9))]
    assert stress[1] == pytest.approx(stress[0], rel=1e-6, abs=1e-6 * stress[0][6])


CONTINUED = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/continued')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, young=1E7, poisson=0.3, density=1000)
    cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    BODY(solfec, 'OBSTACLE', TRANSLATE(HEX(cube, 1, 1, 1, 1, [1] * 6), (0.2, 0.1, -1.001)), bulk)
    whole = BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(HEX(cube, 2, 1, 2, 1, [1] * 6), (5, 0, 0)), bulk, form='BC')
    REGISTER_BASE(solfec, MODAL_ANALYSIS(whole, 12, 'modes'), 'cube')
    DELETE(solfec, whole)
    body = BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 2, 1, 2, 1, [1] * 6), bulk, form='BC-MODAL', base='cube')
    INITIAL_VELOCITY(body, (0.5, 0, -0.5), (0.3, 0.2, 0.1))
    GRAVITY(solfec, (0, 0, -10))
    OUTPUT(solfec, 0.01)
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-8, 1000), %s)
    print([x.hex() for x in body.conf + body.velo + ENERGY(solfec)])
"""


def test_continued_run_of_a_modal_body_has_the_bits_of_one_run(good):
    whole = good(CONTINUED % 0.06)
    good(CONTINUED % 0.03, "-w", "-y")
    assert good(CONTINUED % 0.06, "-c") == whole


SQUARE = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/bar')
bulk = BULK_MATERIAL(solfec, young=1E7, poisson=0.0, density=1000)
corners = [c for z in (0, .2) for x, y in ((0, 0), (2, 0), (2, .2), (0, .2)) for c in (x, y, z)]
bar = BODY(solfec, 'FINITE_ELEMENT', HEX(corners, 10, 2, 2, 1, [1] * 6), bulk, form='BC')
MODAL_ANALYSIS(bar, 40, 'out/modes')
"""


def test_modes_do_not_depend_on_the_number_of_threads(tmp_path):
    """A square bar bends alike in two directions: any mixture of both modes is one, and BLAS found another for each number of its threads."""
    found = []
    for threads in "12":
        place = tmp_path / threads
        place.mkdir()
        (place / "input.py").write_text(SQUARE)
        environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | {"OMP_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-m", "solfec", "input.py"], cwd=place, env=environment, check=True)
        (file,) = place.glob("out/**/*modes*.h5")
        with h5py.File(file) as stored:
            found.append((stored["values"][...], stored["vectors"][...]))
    assert all(np.array_equal(*pair) for pair in zip(*found))
