"""The user's documents say what the program does: inputs in them run, signatures, members, links and lists are true."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
import typing
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest
from stub import STUB, stub

import solfec
from solfec import cli, results
from solfec.errors import SolfecError
from solfec.language import COMMANDS, NOT_INJECTED
from solfec.language.hints import Member

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LANGUAGE = sorted(DOCS.glob("language*.md"))
OBJECTS = ("CONVEX", "MESH", "SPHERE", "ELLIP", "SOLFEC", "SURFACE_MATERIAL", "BULK_MATERIAL", "BODY", "TIME_SERIES",
           "GAUSS_SEIDEL_SOLVER", "PENALTY_SOLVER", "NEWTON_SOLVER", "AUTO_SOLVER", "SICONOS_SOLVER", "HYBRID_SOLVER", "CONSTRAINT")  # fmt: skip
MANUAL = """
    CONVEX HULL MESH2CONVEX MESH HEX ROUGH_HEX PIPE ELLIP_MESH TETRAHEDRALIZE SPHERE ELLIP SOLFEC FIELD SURFACE_MATERIAL
    BULK_MATERIAL BODY TIME_SERIES GAUSS_SEIDEL_SOLVER PENALTY_SOLVER NEWTON_SOLVER SICONOS_SOLVER HYBRID_SOLVER FIX_POINT
    FIX_DIRECTION SET_DISPLACEMENT SET_DISPLACEMENT3 SET_VELOCITY SET_VELOCITY3 SET_ACCELERATION SET_ACCELERATION3
    PUT_RIGID_LINK PUT_SPRING CONSTRAINT GRAVITY FORCE TORQUE PRESSURE SIMPLIFIED_CRACK RT_SPLIT RUN OUTPUT EXTENTS CALLBACK
    REGISTER_CALLBACK UNPHYSICAL_PENETRATION GEOMETRIC_EPSILON WARNINGS INITIALIZE_STATE IMBALANCE_TOLERANCE RANK BARRIER NCPU
    HERE VIEWER SUBDIR BODY_CHARS INITIAL_VELOCITY RIGID_TO_FEM APPLY_BULKMAT DELETE SCALE TRANSLATE ROTATE SPLIT MESH_SPLIT COPY
    BEND BYLABEL MASS_CENTER CONTACT_EXCLUDE_BODIES CONTACT_EXCLUDE_SURFACES CONTACT_EXCLUDE_OBJECTS CONTACT_SPARSIFY
    LOCDYN_DUMP OVERLAPPING MBFCP_EXPORT NON_SOLFEC_ARGV MODAL_ANALYSIS COROTATED_DISPLACEMENTS RIGID_DISPLACEMENTS
    BODY_MM_EXPORT DISPLAY_POINT RENDER XDMF_EXPORT SOLFEC_EXPORT REGISTER_BASE DURATION FORWARD BACKWARD SEEK DISPLACEMENT
    VELOCITY STRESS ENERGY TIMING HISTORY
""".split()


# --- inputs in the documents -------------------------------------------------------------------------------


@dataclass
class Example:
    """One input of a page, with what it should print."""

    page: str
    line: int
    kind: str  # run, fails or script
    text: str
    expected: dict[str, str] = field(default_factory=dict)

    def __str__(self):
        return f"{self.page}:{self.line}"


def examples() -> list[Example]:
    """Inputs of all pages; a `more` block continues the one before it, `text` blocks say what an input prints."""
    found: list[Example] = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"^```(\w+) ([\w ]+)\n(.*?)^```$", text, re.M | re.S):
            language, kind, body = match.groups()
            if (language, kind) == ("python", "more"):
                found[-1].text += body
            elif language == "python" and kind in ("run", "fails", "script"):  # tests/test_fences.py tries the rest
                found.append(Example(page.name, text.count("\n", 0, match.start()) + 1, kind, body))
            elif language == "text" and kind != "printed":
                found[-1].expected[kind] = found[-1].expected.get(kind, "") + body
    return found


@pytest.mark.parametrize("example", examples(), ids=str)
def test_input_in_the_documents_prints_what_they_say(example, tmp_path, monkeypatch, capsys):
    (tmp_path / "input.py").write_text(example.text)
    monkeypatch.chdir(tmp_path)
    if example.kind == "script":
        done = subprocess.run([sys.executable, "input.py"], capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", example.expected["output"])
        return
    assert example.kind in ("run", "fails")
    assert cli.main(["input.py"]) == (1 if example.kind == "fails" else 0)
    printed = capsys.readouterr()
    assert printed.out == example.expected.get("output", "")
    assert printed.err == example.expected.get("errors", "")
    if "output again" in example.expected:
        assert cli.main(["input.py"]) == 0
        assert capsys.readouterr().out == example.expected["output again"]


WALKS = [page for page in PAGES if "```sh run" in page.read_text()]
WALKS = [pytest.param(page, marks=[pytest.mark.slow] * ("\nmpiexec" in page.read_text()), id=page.stem) for page in WALKS]


@pytest.mark.parametrize("page", WALKS)
def test_command_lines_of_a_page_work_one_after_another(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    printed = ""
    for language, kind, body in re.findall(r"^```(\w+) ([\w .-]+)\n(.*?)^```$", page.read_text(), re.M | re.S):
        if language == "python" and kind.startswith("file "):
            (tmp_path / kind.removeprefix("file ")).write_text(body)
        elif (language, kind) == ("sh", "run"):
            for line in body.splitlines():
                program, *words = shlex.split(line)
                if program == "mpiexec":
                    if not find_spec("mpi4py") or not shutil.which("mpiexec"):
                        pytest.skip("MPI is not installed: make mpi")
                    assert subprocess.run([program, *words]).returncode == 0, line
                else:
                    assert program == "solfec"
                    assert cli.main(words) == 0, line + capfd.readouterr().err
            printed = capfd.readouterr().out
        elif (language, kind) == ("text", "printed"):
            assert [expected for expected in body.splitlines() if expected not in printed.splitlines()] == []


def test_all_pages_are_in_the_table_of_contents_once():
    index = (DOCS / "index.md").read_text()
    listed = re.findall(r"^ *(?:\*|\d+\.) \[[^\]]+\]\(([\w-]+\.md)", index, re.M)
    assert sorted(listed) == sorted(page.name for page in PAGES if page.name != "index.md")


def test_messages_that_troubleshooting_explains_are_those_of_the_program():
    sources = " ".join(re.sub(r'"\s*\n\s*f?"', "", path.read_text()) for path in sorted((ROOT / "solfec").rglob("*.py")))
    messages = re.findall(r"^\| (.*?) \|", (DOCS / "troubleshooting.md").read_text().partition("## Messages")[2], re.M)[2:]
    fixed = [part.strip() for message in messages for quoted in re.findall(r"`([^`]+)`", message) for part in quoted.split("…")]
    assert len(fixed) > 10
    assert [part for part in fixed if part and part not in sources] == []


def test_the_model_of_the_readme_has_ten_lines_and_knocks_over_all_dominoes(run_text):
    (model,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert len(model.splitlines()) == 10
    run_text(model)
    with results.open("out/dominoes") as run:  # a fallen one leans on the next: its middle is low, unlike 0.5 of one that stands
        boxes = run.table("model/bodies")[1:9]
        heights = [run.history([(body["id"], tuple(body["centre"]), "CZ")])[1][-1] for body in boxes]
    assert len(heights) == 8 and max(heights) < 0.4


# --- commands ----------------------------------------------------------------------------------------------


def language_text() -> str:
    return "\n".join(page.read_text() for page in LANGUAGE)


def section(title: str) -> str:
    """Text below a heading of a language page, up to the next heading of the same level or above."""
    (found,) = re.findall(rf"^(#+) ({title})$(.*?)(?=^#{{1,3}} |\Z)", language_text(), re.M | re.S)
    return found[2]


def documented_signatures() -> dict[str, tuple[list[str], list[str]]]:
    """Required and optional arguments of every command, as the pages give them."""
    found = {}
    for match in re.finditer(r"(?:^|, )`([A-Z][A-Z_0-9]+) \(([^`]*)\)`", language_text(), re.M):
        name, inside = match.groups()
        required, _, optional = inside.partition("|")
        found[name] = tuple(
            [part.partition("=")[0].strip() for part in re.split(r",(?![^(]*\))", side) if part.strip()]
            for side in (required, optional)
        )
    return found


def test_signatures_in_the_documents_are_those_of_the_commands():
    documented = documented_signatures()
    for name, (required, optional) in documented.items():
        command = getattr(solfec, name)
        parameters = list(inspect.signature(command.__init__ if isinstance(command, type) else command).parameters.values())
        parameters = [p for p in parameters if p.name != "self"]
        assert required == [p.name for p in parameters if p.default is p.empty], name
        assert optional == [p.name for p in parameters if p.default is not p.empty], name
    assert set(documented) == set(COMMANDS) - NOT_INJECTED, "a built command has no signature in the documents"


def test_defaults_in_the_documents_are_those_of_the_commands():
    for match in re.finditer(r"(?:^|, )`([A-Z][A-Z_0-9]+) \([^`|]*\|([^`]*)\)`", language_text(), re.M):
        command = getattr(solfec, match[1])
        parameters = inspect.signature(command.__init__ if isinstance(command, type) else command).parameters
        for name, text in re.findall(r"(\w+) = ('[^']*'|\([^)]*\)|[^,]+)", match[2]):
            default, documented = parameters[name].default, eval(text)
            assert default in (documented, None) if isinstance(documented, str) else default == documented, (match[1], name)


def test_every_command_of_the_manual_is_in_the_language_pages():
    words = set(re.findall(r"\b[A-Z][A-Z_0-9]+\b", language_text()))
    assert set(MANUAL) <= words
    assert set(COMMANDS) <= words


def test_list_of_commands_that_are_not_built_is_true():
    text = section("4.3 Not built yet").partition("These parts of them")[0]
    listed = {name for name in re.findall(r"\b[A-Z][A-Z_0-9]+\b", text) if name in COMMANDS}
    assert not listed


def test_list_of_commands_that_are_built_is_true():
    listed = re.findall(r"\b[A-Z][A-Z_0-9]+\b", section("4.2 Commands"))
    assert sorted(listed) == sorted(name for name in COMMANDS)
    for name in listed:
        signature = inspect.signature(getattr(solfec, name))
        if all(p.default is not p.empty for p in signature.parameters.values()):
            try:
                getattr(solfec, name)()
            except SolfecError as error:  # an optional library is not there
                assert "apt-get install" in str(error)
            except TypeError:
                assert name == "MODAL_ANALYSIS"  # needs 'body' and 'num', or 'path'
        else:
            with pytest.raises(TypeError):  # arguments are missing; NotBuiltYet would pass through
                getattr(solfec, name)()


@pytest.mark.parametrize("name", OBJECTS)
def test_members_in_the_documents_are_those_of_the_object(name):
    kind, text = getattr(solfec, name), section(name)
    members = {n: m for c in kind.__mro__ for n, m in vars(c).items() if not n.startswith("_") and c is not object}
    for member in members:
        assert re.search(rf"`{member}( \([^`]*\))?`", text), f"{name}.{member} is not documented"
    for cell, mark in re.findall(r"^\| (`[^|]*(?:\\\|[^|]*)*`) ?(rw|r)? \|", text.partition("| member |")[2], re.M):
        for word, method in re.findall(r"`(\w+)( \()?", cell):
            member = members.get(word)
            assert member is not None, f"{name} has no member {word}"
            if not method and mark:
                assert (member.fset is not None) == (mark == "rw"), f"{name}.{word} is not {mark}"


# --- types and docstrings, as editors show them -------------------------------------------------------------


TYPES = {name: getattr(solfec, name) for name in COMMANDS}  # names that annotations may use


def function_of(command):
    """What takes the arguments of a command or creates an object."""
    return command.__init__ if inspect.isclass(command) and "__init__" in vars(command) else command


def untyped(function) -> list[str]:
    """Arguments without a type, and 'return'; types must be names that exist."""
    signature = inspect.signature(function)
    typing.get_type_hints(inspect.unwrap(function), localns=TYPES)
    missing = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
    return missing + ["return"] * (signature.return_annotation is signature.empty)


@pytest.mark.parametrize("name", [name for name in COMMANDS])
def test_command_has_types_and_a_docstring_that_names_its_arguments(name):
    command, text = getattr(solfec, name), inspect.getdoc(getattr(solfec, name))
    function = function_of(command)
    assert untyped(function) == []
    listed = text.partition("Parameters\n----------\n")[2]
    named = {word.strip() for line in re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", listed, re.M) for word in line.split(",")}
    given = {p.name for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD} - {"self"}
    assert given <= named, f"{name}: the docstring does not list {sorted(given - named)}"
    if not inspect.isclass(command) and inspect.signature(function).return_annotation not in ("None", None):
        assert "Returns\n-------\n" in text


@pytest.mark.parametrize("name", OBJECTS)
def test_members_have_types_and_docstrings(name):
    for kind in getattr(solfec, name).__mro__[:-1]:
        for member, what in vars(kind).items():
            if member.startswith("_"):
                continue
            assert what.__doc__, f"{name}.{member} has no docstring"
            if isinstance(what, property):
                if not isinstance(what, Member):  # those are typed by the function that makes them
                    assert untyped(what.fget) == [] and (what.fset is None or untyped(what.fset) == []), f"{name}.{member}"
            else:
                assert untyped(what) == [], f"{name}.{member}"


def test_stub_of_the_package_is_up_to_date():
    assert STUB.read_text() == stub(), "run python tests/stub.py"
    assert (STUB.parent / "py.typed").exists()


SCRIPT = """
from solfec import *
import solfec

model = SOLFEC('DYNAMIC', 1E-3, 'out/x')
wrong: int = model.mode  # error
steel = BULK_MATERIAL(model, young='soft')  # error
mesh = HEX([0.0] * 24, 1, 1, 1, 1, [1] * 6)
moved: MESH = TRANSLATE(COPY(mesh), (0, 0, 1))
body = BODY(model, 'RIGID', moved, steel, label='brick')
BODY(model, 'RIGIT', mesh, steel)  # error
speed: tuple = body.velo
body.damping = 'much'  # error
body.colour = 3  # error
GRAVITY(model, (0, TIME_SERIES([0, 1, 1, 2]), -9.81))
FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), lambda q, u, t, h: (0.0,) * 9)
solver = GAUSS_SEIDEL_SOLVER(1E-3, 100, failure='CONTINUE')
solver.maxiter = 'many'  # error
number: str = solver.epsilon  # error
RUN(model)  # error
RUN(model, solver, 1)
reaction = FIX_POINT(body, (0, 0, 0)).R
if reaction is not None:
    first: float = reaction[0]
solfec.NOTHING()  # error
for other in model.bodies:
    text: str = other.kind
"""


@pytest.mark.slow
def test_a_type_checker_finds_what_is_wrong_in_a_script_and_nothing_else(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(SCRIPT)
    options = ["--follow-imports=silent", "--cache-dir", str(tmp_path / "cache")]
    environment = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}  # as a user's checker, who has what make installs
    process = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    found = {int(line) for line in re.findall(r"^script.py:(\d+): error", process.stdout, re.M)}
    wrong = {number for number, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith("# error")}
    assert found == wrong, process.stdout + process.stderr


# --- links -------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, made the way GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


def test_pictures_are_small():
    pictures = list((DOCS / "figures").glob("*.png"))
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < 120_000, picture.name
