"""What other programs read of a run: exports are opened by VTK's readers, and agree with the run's own results."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from solfec import results

pyvista = pytest.importorskip("pyvista", reason="PyVista reads exports back (pip install 'solfec[test]')")

MODEL = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/shapes')
solfec.verbose = 'OFF'
steel = BULK_MATERIAL(solfec, 'KIRCHHOFF', 'steel', young=1E7, poisson=0.25, density=1000)
SURFACE_MATERIAL(solfec, friction=0.4)
GRAVITY(solfec, (0, 0, TIME_SERIES([0, -10, 1, -10])))
floor = HULL([-5, -5, -1, 15, -5, -1, 15, 5, -1, -5, 5, -1, -5, -5, 0, 15, -5, 0, 15, 5, 0, -5, 5, 0], 1, 1)
BODY(solfec, 'OBSTACLE', floor, steel, label='floor')
cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
turning = BODY(solfec, 'RIGID', TRANSLATE(HEX(cube, 2, 2, 2, 7, [1] * 6), (0, 0, 2)), steel, label='turning+')
INITIAL_VELOCITY(turning, (0, 0, 0), (0, 0, 3))
soft = BODY(solfec, 'PSEUDO_RIGID', TRANSLATE(HULL(cube, 2, 2), (3, 0, 0)), steel, label='soft')
wedge = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1]
BODY(solfec, 'RIGID', TRANSLATE(MESH(wedge, [6, 0, 1, 2, 3, 4, 5, 1], 1), (5, 0, 1)), steel, label='wedge')
pyramid = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1]
BODY(solfec, 'RIGID', TRANSLATE(MESH(pyramid, [5, 0, 1, 2, 3, 4, 1], 1), (7, 0, 1)), steel, label='pyramid')
mesh = TRANSLATE(HEX(cube, 2, 2, 2, 4, [1] * 6), (9, 0, 0))
elastic = BODY(solfec, 'FINITE_ELEMENT', mesh, steel, label='elastic', form='TL')
ball = BODY(solfec, 'RIGID', SPHERE((12, 0, 0.5), 0.5, 1, 1), steel, label='ball')
egg = BODY(solfec, 'RIGID', ELLIP((14, 0, 1), (0.5, 0.4, 0.3), 1, 1), steel, label='egg')
FIX_POINT(egg, (14, 0, 1))
FORCE(ball, 'SPATIAL', (12, 0, 0.5), (1, 0, 0), 5.0)
OUTPUT(solfec, 0.01)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 1000), 0.05)
"""
IDENTIFIERS = {"floor": 1, "turning+": 2, "soft": 3, "wedge": 4, "pyramid": 5, "elastic": 6, "ball": 7, "egg": 8}
ORDER = [0, 1, 2, 3, 5, 4]  # of VTK's xx, yy, zz, xy, yz, xz in the manual's sx, sy, sz, sxy, sxz, syz
ALL = "attributes=['DISP', 'VELO', 'STRESS', 'REAC', 'RELV', 'GAP']"


@pytest.fixture
def read(good):
    """`read(commands)` runs commands on the finished run."""
    good(MODEL)

    def read(commands: str) -> str:
        return good(MODEL + commands)

    return read


def vtk_frames(path: str):
    """Time and blocks of every step, by VTK's own reader."""
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.UpdateInformation()
    key = vtkStreamingDemandDrivenPipeline.TIME_STEPS()
    information = reader.GetOutputInformation(0)
    with h5py.File(path) as file:
        times = file["VTKHDF/bodies/Steps/Values"][...].tolist()
    if len(times) > 1:  # of a single step the reader does not tell the time
        assert [information.Get(key, step) for step in range(information.Length(key))] == times
    for step, time in enumerate(times):
        reader.SetStep(step)
        reader.Update()
        blocks = pyvista.wrap(reader.GetOutputDataObject(0))
        yield time, {blocks.get_block_name(i): blocks[i].copy() for i in range(blocks.n_blocks)}


def of_body(grid, identifier: int):
    """Return the cells of one body."""
    return grid.extract_cells(np.flatnonzero(grid.cell_data["BID"] == identifier))


def test_a_vtkhdf_file_holds_every_frame_of_the_run(read):
    read(f"VTK_EXPORT(solfec, (0, 1), 'run', {ALL})")
    frames = list(vtk_frames("run.vtkhdf"))
    run = results.open("out/shapes")
    assert [time for time, _ in frames] == run.times.tolist()
    for number, (_, blocks) in enumerate(frames):
        assert sorted(blocks) == ["bodies", "constraints", "spheres"]
        assert sorted(set(blocks["bodies"].cell_data["BID"])) == [1, 2, 3, 4, 5, 6, 8]
        assert blocks["spheres"].point_data["BID"].tolist() == [7]
        assert blocks["constraints"].n_points == run.steps["constraints"][number]


def test_cells_have_the_volumes_and_convexes_the_closed_surfaces_of_their_shapes(read):
    read("VTK_EXPORT(solfec, 0, 'run')")
    ((_, blocks),) = vtk_frames("run.vtkhdf")
    for label, volume in (("turning+", 1.0), ("wedge", 0.5), ("pyramid", 1 / 3), ("elastic", 1.0)):
        cells = of_body(blocks["bodies"], IDENTIFIERS[label])
        volumes = cells.compute_cell_sizes()["Volume"]
        assert (volumes > 0).all()  # no cell is inside out
        assert volumes.sum() == pytest.approx(volume)
    for label, volume, tolerance in (("soft", 1.0, 1e-12), ("egg", 4 / 3 * np.pi * 0.5 * 0.4 * 0.3, 0.05)):
        surface = of_body(blocks["bodies"], IDENTIFIERS[label]).extract_surface(algorithm=None).triangulate()
        assert surface.n_open_edges == 0
        assert surface.volume == pytest.approx(volume, rel=tolerance)


def test_a_turning_body_moves_as_displacement_and_velocity_say(read):
    """Rotation about the vertical through (0.5, 0.5) by 3 rad a unit of time, as one falls by g t^2/2."""
    read(f"VTK_EXPORT(solfec, (0, 1), 'run', subset='turning+', {ALL})")
    frames = list(vtk_frames("run.vtkhdf"))
    start = frames[0][1]["bodies"].points
    time, blocks = frames[-1]
    grid = blocks["bodies"]
    arm = start - (0.5, 0.5, 0.0)
    cos, sin = np.cos(3 * time), np.sin(3 * time)
    expected = np.stack(
        [0.5 + cos * arm[:, 0] - sin * arm[:, 1], 0.5 + sin * arm[:, 0] + cos * arm[:, 1], start[:, 2] - 5 * time**2], 1
    )
    assert grid.points == pytest.approx(expected, abs=1e-4)
    assert grid.point_data["DISP"] == pytest.approx(grid.points - start, abs=1e-12)
    now = grid.points - (0.5, 0.5, 0.0)
    expected = np.stack([-3 * now[:, 1], 3 * now[:, 0], np.full(len(now), -10 * time)], 1)
    assert grid.point_data["VELO"] == pytest.approx(expected, abs=1e-4)


def test_stresses_and_reactions_are_those_that_history_tells(read):
    text = read(f"""
VTK_EXPORT(solfec, 0.05, 'run', {ALL})
SEEK(solfec, 0.05)
print(*STRESS(soft, MASS_CENTER(soft))[:6])
print(*STRESS(elastic, (9.5, 0.5, 0.5))[:6])
print(*VELOCITY(elastic, (10, 1, 1)))
""")
    soft, elastic, velocity = (np.array(line.split(), float) for line in text.splitlines())
    ((_, blocks),) = vtk_frames("run.vtkhdf")
    grid = of_body(blocks["bodies"], IDENTIFIERS["soft"])
    assert grid.point_data["STRESS"] == pytest.approx(np.tile(soft[ORDER], (grid.n_points, 1)), rel=1e-9)
    grid = of_body(blocks["bodies"], IDENTIFIERS["elastic"])
    reference = grid.points - grid.point_data["DISP"]
    middle = np.argmin(np.abs(reference - (9.5, 0.5, 0.5)).sum(1))
    corner = np.argmin(np.abs(reference - (10, 1, 1)).sum(1))
    assert grid.point_data["STRESS"][middle] == pytest.approx(elastic[ORDER], rel=1e-9)
    assert grid.point_data["VELO"][corner] == pytest.approx(velocity, rel=1e-9)
    held = blocks["constraints"]
    weight = held.point_data["REAC"][held.point_data["KIND"] == 1][0]  # the point that holds the egg
    mass = 1000 * 4 / 3 * np.pi * 0.5 * 0.4 * 0.3
    assert weight == pytest.approx((0, 0, 10 * mass), rel=1e-6, abs=1e-6 * mass)


@pytest.mark.parametrize("what", ["NEO_HOOKEAN", "enhanced", "two materials"])
def test_stresses_at_nodes_are_those_of_the_body_s_own_laws(good, what):
    material = "NEO_HOOKEAN" if what == "NEO_HOOKEAN" else "KIRCHHOFF"
    model = f"""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/laws')
solfec.verbose = 'OFF'
bulk = BULK_MATERIAL(solfec, '{material}', 'bulk', young=1E6, poisson=0.3, density=1000)
stiff = BULK_MATERIAL(solfec, '{material}', 'stiff', young=5E6, poisson=0.3, density=1000)
cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
body = BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 2, 2, 2, 4, [1] * 6), bulk, form='TL')
body.enhanced = 'ON' if '{what}' == 'enhanced' else 'OFF'
if '{what}' == 'two materials':
    APPLY_BULKMAT(solfec, body, 4, stiff)
FORCE(body, 'SPATIAL', (1, 1, 1), (1, 0.3, 0.5), 3E4)
OUTPUT(solfec, 0.01)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 1000), 0.05)
"""
    good(model)
    text = good(model + """
VTK_EXPORT(solfec, 0.05, 'laws', attributes=['DISP', 'STRESS'])
SEEK(solfec, 0.05)
for point in ((0.5, 0.5, 0.5), (1, 1, 1), (0, 0, 0.5)):
    print(*STRESS(body, point)[:6])
""")
    ((_, blocks),) = vtk_frames("laws.vtkhdf")
    grid = of_body(blocks["bodies"], 1)
    reference = grid.points - grid.point_data["DISP"]
    for line, point in zip(text.splitlines(), ((0.5, 0.5, 0.5), (1, 1, 1), (0, 0, 0.5))):
        node = np.argmin(np.abs(reference - point).sum(1))
        told = np.array(line.split(), float)[ORDER]
        assert np.abs(told).max() > 1e3
        assert grid.point_data["STRESS"][node] == pytest.approx(told, rel=1e-9)


IN_A_BASE = """
solfec = SOLFEC('DYNAMIC', 1E-4, 'out/modes')
solfec.verbose = 'OFF'
steel = BULK_MATERIAL(solfec, 'KIRCHHOFF', 'steel', young=1E7, poisson=0.25, density=1000)
cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
free = BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 2, 2, 2, 4, [1] * 6), steel)
values, vectors = MODAL_ANALYSIS(free, 8)
base = {'BC-MODAL': (values, vectors), 'BC-RO': POD_BASE(free, [vectors[81 * k : 81 * k + 81] for k in (6, 7)])}
DELETE(solfec, free)
for k, form in enumerate(base):
    body = BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 2, 2, 2, 4, [1] * 6), steel, form=form, base=base[form], label=form)
    body.conf = [0.5, 0, 0, 0, 0, 0, 0.01, 0] + [0, 1, 0, -1, 0, 0, 0, 0, 1]
    body.velo = [0, 2, 0, 0, 0, 0, 0.1, 0]
RUN(solfec, AUTO_SOLVER(), 1E-3)
"""


@pytest.mark.parametrize("form", ["BC-MODAL", "BC-RO"])
def test_bodies_that_move_in_a_base_are_exported_as_points_of_them_move(good, form):
    """Such bodies have a rotation and reduced velocities behind the nodes of their meshes; exports ended with an error."""
    good(IN_A_BASE)
    good(IN_A_BASE + f"VTK_EXPORT(solfec, (0, 1), 'run', subset='{form}', {ALL})")
    run = results.open("out/modes")
    nodes = [(x, y, z) for z in (0, 0.5, 1) for y in (0, 0.5, 1) for x in (0, 0.5, 1)]
    items = [(form, node, kind + axis) for node in nodes for kind in "CV" for axis in "XYZ"]
    histories = np.array(run.history(items)[1:]).reshape(len(nodes), 2, 3, -1)
    frames = list(vtk_frames("run.vtkhdf"))
    assert np.abs(histories[:, 0, :, 0] - nodes).max() > 0.5 and np.abs(histories[:, 1]).max() > 0.2
    for k, (_, blocks) in enumerate(frames):
        grid = blocks["bodies"]
        row = [nodes.index(tuple(node)) for node in np.round(grid.points - grid.point_data["DISP"], 9).tolist()]
        assert sorted(row) == list(range(27))
        np.testing.assert_allclose(grid.points, histories[row, 0, :, k], atol=1e-12)
        np.testing.assert_allclose(grid.point_data["VELO"], histories[row, 1, :, k], atol=1e-12)
        assert grid.compute_cell_sizes()["Volume"].sum() == pytest.approx(1.0, rel=0.05)


def test_inner_elements_have_the_volume_identifiers_that_the_input_gave_them(good):
    """The core of a body had that of an element of its surface."""
    good("""
        solfec = SOLFEC('DYNAMIC', 1E-3, 'out/core')
        solfec.verbose = 'OFF'
        nodes, elements, surfaces = HEX([3 * x for x in (0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1)], 3, 3, 3, 5, [1] * 6).get_data()
        outer = [max(abs(nodes[3 * n + i] - 1.5) for n in elements[k + 1 : k + 9] for i in (0, 1, 2)) > 1 for k in range(0, 270, 10)]
        elements = list(elements)
        elements[9::10] = [5 if each else 7 for each in outer]
        BODY(solfec, 'FINITE_ELEMENT', MESH(nodes, elements, surfaces), BULK_MATERIAL(solfec, density=1000))
        RUN(solfec, PENALTY_SOLVER(), 1E-3)
        VTK_EXPORT(solfec, 0, 'run')
        """)
    grid = next(vtk_frames("run.vtkhdf"))[1]["bodies"]
    core = np.abs(grid.cell_centers().points - 1.5).max(axis=1) < 0.1
    assert core.sum() == 1 and (grid.cell_data["VID"] == np.where(core, 7, 5)).all()


def test_xdmf_files_hold_the_same_as_the_vtkhdf_file(read):
    read(f"VTK_EXPORT(solfec, (0, 1), 'run', {ALL})\nXDMF_EXPORT(solfec, (0, 1), 'xdmf/run', {ALL})")
    for name, block in (("grids", "bodies"), ("spheres", "spheres"), ("constraints", "constraints")):
        reader = pyvista.XdmfReader(f"xdmf/run/run_{name}.xmf")
        frames = list(vtk_frames("run.vtkhdf"))
        assert reader.time_values == [time for time, _ in frames]
        for time, blocks in frames:
            reader.set_active_time_value(time)
            theirs, ours = reader.read().combine(), blocks[block]
            assert theirs.points.tolist() == ours.points.tolist()
            for array in ("DISP", "VELO", "REAC", "GAP", "RADI"):
                if array in ours.point_data:
                    assert theirs.point_data[array].tolist() == ours.point_data[array].tolist()
            if "STRESS" in ours.point_data:  # a whole matrix here, the part above the diagonal there
                assert theirs.point_data["STRESS"][:, [0, 4, 8, 1, 5, 2]].tolist() == ours.point_data["STRESS"].tolist()
            if block == "bodies":
                assert theirs.cell_data["BID"].tolist() == ours.cell_data["BID"].tolist()
                assert theirs.compute_cell_sizes()["Volume"] == pytest.approx(ours.compute_cell_sizes()["Volume"])
    with h5py.File("xdmf/run/run.h5") as file:
        assert [file[f"GRIDS/{k}"].attrs["LABEL"] for k in range(2)] == ["floor", "turning+"]


@pytest.mark.parametrize(
    "subset, expected",
    [
        ("'turning+'", [2]), ("['^e', 4]", [4, 6, 8]), ("[turning, 3]", [2, 3]), ("(8.9, 0, 0, 9.1, 1, 1)", [1, 6]),
        (r"'soft\\|wedge'", [3, 4]), ("'dg*e'", [4]), (r"'\\(l\\)\\1'", [7]),
    ],
)  # fmt: skip
def test_subsets_list_bodies_by_label_identifier_object_and_box(read, subset, expected):
    read(f"SOLFEC_EXPORT(solfec, 0.02, 'part', {subset})")
    part = results.open("part")
    assert sorted(part.frame(0).listed["id"].tolist()) == sorted(expected)


def test_exported_frames_are_results_that_can_be_read_alone(good, read):
    read("SOLFEC_EXPORT(solfec, [0, 0.029], 'part/some')")
    assert good(None, path="part/some").strip() == ""
    some, all_ = results.open("part/some"), results.open("out/shapes")
    assert some.times.tolist() == [all_.times[0], all_.times[3]]
    assert some.input_text == all_.input_text
    for number, other in ((0, 0), (1, 3)):
        ours, theirs = some.frame(number), all_.frame(other)
        assert ours.configurations.tobytes() == theirs.configurations.tobytes()
        assert ours.constraints.tobytes() == theirs.constraints.tobytes()
        assert ours.bodies.tobytes() == theirs.bodies.tobytes()


SLIDING = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/sliding', contacts='MANIFOLD')
solfec.verbose = 'OFF'
stone = BULK_MATERIAL(solfec, density=1000)
SURFACE_MATERIAL(solfec, friction=0.4)
GRAVITY(solfec, (0, 0, -10))
BODY(solfec, 'OBSTACLE', BOX((0, 0, -0.5), (20, 20, 1)), stone, label='floor')
for name, y, speed in ('slow', 0, 1), ('fast', 3, 2):
    INITIAL_VELOCITY(BODY(solfec, 'RIGID', BOX((0, y, 0.5), (1, 1, 1)), stone, label=name), (speed, 0, 0), (0, 0, 0))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-10, 1000), 0.1)
"""


@pytest.mark.parametrize("subset, work", [("'slow'", -320.0), ("'fast'", -720.0), ("['slow', 'fast']", -1040.0), ("''", -1040.0)])
def test_friction_of_exported_bodies_is_what_brakes_them(good, subset, work):
    good(SLIDING)
    good(SLIDING + f"SOLFEC_EXPORT(solfec, DURATION(solfec), 'part', {subset})")
    kinetic, _, external, contact, friction, _ = results.open("part").steps["energy"][-1]
    assert friction == pytest.approx(work, rel=1e-6)  # m ((v - mu g t)^2 - v^2) / 2
    assert external == pytest.approx(work, rel=1e-6) and contact == pytest.approx(0.0, abs=1e-6)


def test_bodies_that_are_left_out_were_not_deleted(good):
    model = SLIDING.replace("RUN(", "OUTPUT(solfec, 0.05)\nRUN(") + "DELETE(solfec, BYLABEL(solfec, 'BODY', 'slow'))\nRUN(solfec, AUTO_SOLVER(), 0.1)\n"
    good(model)
    good(model + "SOLFEC_EXPORT(solfec, (0, 1), 'one', 'fast')\nSOLFEC_EXPORT(solfec, (0, 1), 'two', ['slow', 'fast'])")
    assert results.open("one").steps["deleted"].tolist() == [0] * 5
    assert results.open("two").steps["deleted"].tolist() == [0, 0, 0, 1, 0]


def test_energies_of_a_subset_of_all_bodies_are_those_of_the_model(read):
    read("SOLFEC_EXPORT(solfec, (0, 0.05), 'part', '')")
    assert results.open("part").steps["energy"].tolist() == results.open("out/shapes").steps["energy"].tolist()


def test_in_write_mode_the_present_state_is_exported(good):
    good(MODEL + "VTK_EXPORT(solfec, 0, 'now')\nSOLFEC_EXPORT(solfec, 0, 'part')\nXDMF_EXPORT(solfec, 0, 'x', 'ball')", "-w", "-y")
    ((time, blocks),) = vtk_frames("now.vtkhdf")
    assert time == pytest.approx(0.05) and blocks["constraints"].n_points > 1
    assert results.open("part").times.tolist() == [time]
    assert pyvista.XdmfReader("x/x_spheres.xmf").read().combine().n_points == 1


def test_the_problem_as_text_lists_all_of_the_model(good, run):
    good(MODEL.replace("egg = BODY", "#").replace("FIX_POINT(egg, (14, 0, 1))", "FIX_POINT(ball, (12, 0, 0))")
         + "MBFCP_EXPORT(solfec, 'problem.txt')")  # fmt: skip
    lines = open("problem.txt").read().splitlines()
    for line in ("SURFACE_MATERIALS:\t1", "FRICTION:\t0.4", "LABEL:\tsteel", "YOUNG:\t1e+07", "GRAVITY_Z:\t0 -10 1 -10", "BODIES:\t7",
                 "LABEL:\tturning+", "KINEMATICS:\tPSEUDO_RIGID", "FORMULATION:\tTL", "RADIUS:\t0.5", "VALUE:\t5",
                 "CONSTRAINTS:\t1", "KIND:\tFIXPNT", "POINT1:\t12 0 0"):  # fmt: skip
        assert line in lines, line
    assert sum(line.startswith("ELEMENT:") for line in lines) == 8 + 1 + 1 + 8
    outcome = run(MODEL + "MBFCP_EXPORT(solfec, 'problem.txt')", "-w", "-y", "PATH")
    assert outcome.status == 1 and "body 8 has an ellipsoid, which the format does not know" in outcome.err


@pytest.mark.parametrize(
    "command, message",
    [
        ("XDMF_EXPORT(solfec, (0, 1, 2), 'x')", "'time' must be a number, a list of numbers or an interval"),
        ("XDMF_EXPORT(solfec, (3, 4), 'x')", "'time': there is no frame between 3 and 4"),
        ("XDMF_EXPORT(solfec, 0, 'x', 'nobody')", "'subset': 'nobody' matches no body"),
        ("XDMF_EXPORT(solfec, 0, 'x', [99])", "'subset': 99 matches no body"),
        ("XDMF_EXPORT(solfec, 0, 'x', '[')", "'subset': '[' has a '[' without its ']'"),
        ("XDMF_EXPORT(solfec, 0, 'x', attributes=['DISP', 'COLOUR'])", "'attributes'"),
        ("XDMF_EXPORT(solfec, 0, 'x', attributes='DISP')", "'attributes' must be a list of names"),
        ("VTK_EXPORT(solfec, 0, 'input.py/x')", "cannot be written"),
        ("SOLFEC_EXPORT(solfec, 0, 'out/shapes')", "holds the results that are to be exported"),
        ("VTK_EXPORT(solfec, float('nan'), 'x')", "'time'"),
        ("MBFCP_EXPORT(solfec, 'input.py/where')", "cannot be written"),
    ],
)
def test_wrong_exports_are_refused_with_the_line(good, run, command, message):
    model = MODEL.replace("egg = BODY", "#").replace("FIX_POINT(egg, (14, 0, 1))", "")
    good(model)
    outcome = run(model + command)
    assert outcome.status == 1
    _, error = outcome.err.split("\n", 1)  # the first line says that nothing was computed
    assert error.startswith(f"input.py:{len(model.splitlines()) + 1}: ") and message in error
