"""Every name of the manual exists; what is not built says so."""

from __future__ import annotations

import subprocess
import sys

import pytest

import solfec
from solfec.language import COMMANDS, NOT_INJECTED

BUILT = """
    CONVEX HULL MESH HEX SPHERE ELLIP MESH2CONVEX ROUGH_HEX PIPE ELLIP_MESH TETRAHEDRALIZE BEND SPLIT VORONOI BOX CYLINDER CAPSULE PLANE TERRAIN WALL ARCH PACKING MESH_SPLIT OVERLAPPING
    COPY TRANSLATE ROTATE SCALE MASS_CENTER SOLFEC SURFACE_MATERIAL BULK_MATERIAL BODY
    TIME_SERIES GAUSS_SEIDEL_SOLVER PENALTY_SOLVER NEWTON_SOLVER TEST_SOLVER AUTO_SOLVER SICONOS_SOLVER HYBRID_SOLVER CONSTRAINT FIX_POINT FIX_DIRECTION SET_DISPLACEMENT SET_DISPLACEMENT3 SET_VELOCITY
    SET_VELOCITY3 SET_ACCELERATION SET_ACCELERATION3 PUT_SPRING PUT_RIGID_LINK GRAVITY FORCE TORQUE PRESSURE FIELD APPLY_BULKMAT INITIALIZE_STATE RIGID_TO_FEM RUN OUTPUT
    EXTENTS REGISTER_CALLBACK CALLBACK UNPHYSICAL_PENETRATION GEOMETRIC_EPSILON WARNINGS IMBALANCE_TOLERANCE RANK
    BARRIER NCPU HERE VIEWER SUBDIR BODY_CHARS INITIAL_VELOCITY DELETE BYLABEL CONTACT_EXCLUDE_BODIES
    CONTACT_EXCLUDE_SURFACES CONTACT_EXCLUDE_OBJECTS CONTACT_SPARSIFY CONTACT_OPTIONS LOCDYN_DUMP FCLIB_EXPORT NON_SOLFEC_ARGV DURATION FORWARD BACKWARD SEEK DISPLACEMENT VELOCITY
    ENERGY TIMING HISTORY DISPLAY_POINT STRESS MESH_READ CONVEX_READ MODAL_ANALYSIS REGISTER_BASE RIGID_DISPLACEMENTS BODY_MM_EXPORT POD_BASE COROTATED_DISPLACEMENTS
    XDMF_EXPORT VTK_EXPORT SOLFEC_EXPORT MBFCP_EXPORT SIMPLIFIED_CRACK RT_SPLIT FRACTURE_EXPORT_YAFFEMS
    BALL HINGE SLIDER CYLINDRICAL UNIVERSAL WELD DISTANCE ROPE GEAR RACK MOTOR SET_ROTATION JOINT PARMEC_IMPORT RENDER VIEW BODY_SWITCH MED_EXPORT MED_FIELD
""".split()


def test_the_two_lists_are_the_whole_language():
    assert sorted(BUILT) == sorted(COMMANDS)


@pytest.mark.parametrize("name", BUILT)
def test_built_command_can_be_called_and_is_documented(name):
    command = getattr(solfec, name)
    assert callable(command) and command.__doc__
    assert command.__name__ == name


def test_types_not_built_yet_can_be_asked_for():
    assert not isinstance(3, solfec.FIELD) and not isinstance(None, solfec.HYBRID_SOLVER)


def test_commands_are_names_of_an_input_except_the_type_constraint(good):
    assert "CONSTRAINT" in NOT_INJECTED
    names = [name for name in COMMANDS if name not in NOT_INJECTED]
    assert good(f"print(all(callable(n) for n in ({', '.join(names)})), 'CONSTRAINT' in globals())").split() == ["True", "False"]


@pytest.mark.parametrize(
    "line", ["from solfec import *", "from solfec import MESH, CONSTRAINT", "import solfec", "import solfec as s; MESH = s.MESH"]
)
def test_import_works_in_inputs_and_gives_the_same_objects(good, line):
    assert good(f"first = MESH\n{line}\nprint(first is MESH)") == "True\n"


def test_commands_work_in_modules_that_an_input_imports(good, tmp_path):
    (tmp_path / "tools.py").write_text("from solfec import *\nimport solfec as s\ndef ball():\n    return s.COPY(SPHERE((0,0,0), 2, 1, 1))\n")
    text = "import tools, solfec\nsolfec = SOLFEC('DYNAMIC', 1E-3, 'out/a')\nprint(tools.ball().radius, isinstance(tools.ball(), SPHERE))\n"
    assert good(text).split() == ["2.0", "True"]


def test_input_is_the_main_module_with_its_own_path(good):
    text = "import sys, pickle\nclass Mine: pass\nprint(__name__, __file__, sys.argv, type(pickle.loads(pickle.dumps(Mine()))) is Mine)\n"
    assert good(text, "PATH", "a", "b") == "__main__ input.py ['input.py', 'a', 'b'] True\n"


def plain_python(tmp_path, text: str) -> subprocess.CompletedProcess:
    (tmp_path / "script.py").write_text(text)
    return subprocess.run(
        [sys.executable, "script.py", "one"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )


def test_plain_python_script_runs_a_model(tmp_path):
    text = (
        "from solfec import *\n"
        "solfec = SOLFEC('DYNAMIC', 1E-3, 'out/plain')\n"
        "solfec.verbose = 'OFF'\n"
        "body = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))\n"
        "GRAVITY(solfec, (0, 0, -10))\n"
        "RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.01)\n"
        "print(round(VELOCITY(body, (0, 0, 0))[2], 12), NON_SOLFEC_ARGV())\n"
    )
    done = plain_python(tmp_path, text)
    assert done.stdout == "-0.1 ['one']\n", done.stderr
    assert (tmp_path / "out/plain/plain.py").read_text() == text


def test_import_of_solfec_is_light(tmp_path):
    text = "import sys, solfec, solfec.errors\nprint([m for m in ('scipy', 'h5py', 'matplotlib', 'solfec.domain') if m in sys.modules])\n"
    assert plain_python(tmp_path, text).stdout == "[]\n"


@pytest.mark.parametrize("place", ["", ", 'out/first'"])
def test_the_first_run_of_a_model_loads_no_slow_module(place, tmp_path):
    """Each of numpy.ma and importlib.metadata would take longer than the first steps of a small model."""
    text = (
        "import sys\nfrom solfec import *\n"
        f"model = SOLFEC('DYNAMIC', 1E-3{place}); model.verbose = 'OFF'\n"
        "bulk = BULK_MATERIAL(model)\n"
        "SURFACE_MATERIAL(model, model = 'SIGNORINI_COULOMB', friction = 0.5)\n"
        "BODY(model, 'OBSTACLE', BOX((0, 0, -0.5), (9, 9, 1), 1, 1), bulk)\n"
        "BODY(model, 'RIGID', SPHERE((0, 0, 1), 1, 1, 1), bulk)\n"
        "BODY(model, 'RIGID', BOX((3, 0, 0.5), (1, 1, 1), 1, 1), bulk)\n"
        "GRAVITY(model, (0, 0, -10))\n"
        "RUN(model, GAUSS_SEIDEL_SOLVER(1E-4, 100), 0.01)\n"
        "print([m for m in ('numpy.ma', 'importlib.metadata') if m in sys.modules])\n"
    )
    assert plain_python(tmp_path, text).stdout == "[]\n"


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NONSENSE"):
        solfec.NONSENSE  # noqa: B018


def test_a_notebook_has_no_arguments_of_the_user(tmp_path):
    """Its kernel's own words, `-f connection.json`, are no arguments of solfec; results need no script to copy."""
    cell = (
        "import sys, types; sys.argv = ['ipykernel_launcher.py', '-f', 'connection.json']; sys.modules['ipykernel'] = types.ModuleType('ipykernel')\n"
        "from solfec import *\n"
        "model = SOLFEC('DYNAMIC', 0.1, 'out/cell'); model.verbose = 'OFF'\n"
        "BODY(model, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(model))\n"
        "RUN(model, PENALTY_SOLVER(), 0.2)\n"
        "print(NON_SOLFEC_ARGV(), SOLFEC('DYNAMIC', 0.1, 'out/cell').mode)\n"
    )
    outcome = subprocess.run([sys.executable, "-c", cell], cwd=tmp_path, capture_output=True, text=True)
    assert (outcome.stdout, outcome.stderr) == ("None WRITE\n", "")
