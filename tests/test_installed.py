"""Modules beside an input, whatever they are called, do not take the place of packages that Solfec imports late."""

import importlib.util
import os
import subprocess
import sys

import pytest

CUBE = "HEX([0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1], 1, 1, 1, 1, [1]*6)"
STL = """solid s
{}
endsolid s
"""
MODEL = f"""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/beside')
bulk = BULK_MATERIAL(solfec, young=1E6, poisson=0.25, density=1E3)
body = BODY(solfec, 'FINITE_ELEMENT', {CUBE}, bulk)
"""
USES = {  # a package (of what it imports itself: its user), and lines that make Solfec import it
    "tetgen": ("tetgen", f"print(TETRAHEDRALIZE({CUBE}, 'tet.dat', volume=0.1).nnod > 4)"),
    "coacd": ("coacd", "print(CONVEX_READ('l.stl', 1, 1, decompose='ON').nver > 0)"),
    "meshio": ("meshio", "print(MESH_READ('cube.inp').nnod == 8)"),
    "rich": ("meshio", "print(MESH_READ('cube.inp').nnod == 8)"),
    "netCDF4": ("netCDF4", "print(MESH_READ('cube.e').nnod == 8)"),
    "cvxopt": ("cvxopt", MODEL + "body.scheme = 'DEF_LIM'\nRUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 10), 1E-3)\nprint(True)"),
}
DECK = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 1, 1, 0
4, 0, 1, 0
5, 0, 0, 1
6, 1, 0, 1
7, 1, 1, 1
8, 0, 1, 1
*ELEMENT, TYPE=C3D8
1, 1, 2, 3, 4, 5, 6, 7, 8
"""
ANGLE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]  # an L


def write_inputs(folder):
    """A deck, an Exodus file of the same cube, and a surface that is not convex."""
    (folder / "cube.inp").write_text(DECK)
    meshio = pytest.importorskip("meshio")
    if importlib.util.find_spec("netCDF4"):
        meshio.read(folder / "cube.inp").write(folder / "cube.e")
    flat = [[(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)], [(2, 1, 0), (3, 2, 0), (4, 3, 0), (5, 4, 0)]]
    facets = [[(*ANGLE[k], z) for k in triangle] for z, row in zip((1, 0), flat) for triangle in row]
    for k in range(6):
        (a, b), (c, d) = ANGLE[k], ANGLE[(k + 1) % 6]
        facets += [[(a, b, 0), (c, d, 0), (c, d, 1)], [(a, b, 0), (c, d, 1), (a, b, 1)]]
    lines = ["facet normal 0 0 0\nouter loop\n%s\nendloop\nendfacet" % "\n".join("vertex %g %g %g" % p for p in facet) for facet in facets]  # noqa: UP031
    (folder / "l.stl").write_text(STL.format("\n".join(lines)))


@pytest.mark.parametrize("program", ["solfec", "python"])
@pytest.mark.parametrize("name", USES)
def test_files_beside_the_input_hide_no_package(tmp_path, name, program):
    """The file raises if it is imported by Solfec; the input imports it as its own before and after."""
    package, lines = USES[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the optional package {package} is not installed")
    write_inputs(tmp_path)
    (tmp_path / f"{name}.py").write_text("MINE = 1\nPyTetgen = read = Mesh = Dataset = matrix = None\n")
    for first in ("", f"import {name}\n"):
        head = "from solfec import *\n" if program == "python" else ""
        (tmp_path / "in.py").write_text(f"{head}{first}{lines}\nimport {name}\nprint('mine', {name}.MINE)\n")
        command = [sys.executable, "in.py"] if program == "python" else [sys.executable, "-m", "solfec.cli", "-y", "-w", "in.py"]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment)
        assert ended.returncode == 0, ended.stderr
        assert "True" in ended.stdout and "mine 1" in ended.stdout


def test_a_file_beside_the_input_is_not_taken_for_a_package_that_is_missing(tmp_path):
    (tmp_path / "absent_package.py").write_text("")
    (tmp_path / "in.py").write_text(
        "import absent_package\nfrom solfec import installed\ntry:\n    installed.load('absent_package')\nexcept ImportError:\n    print('missing')\n"
    )
    ended = subprocess.run([sys.executable, "in.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.stdout.strip() == "missing", ended.stderr
