"""Blocks of the documents that are no complete inputs: excerpts are in their inputs, the others run on a small model, shells have their words."""

import ast
import builtins
import inspect
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

import solfec
from solfec import cli
from solfec.coupling import toolbox

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)
KINDS = r"|run|more|fails|script|file \S+|from \S+|in model|with results|call"
MODEL = """
solfec = SOLFEC('DYNAMIC', 1E-2, 'out/before', contacts='MANIFOLD')
solfec.verbose = 'OFF'
duration = 0.01
stone = BULK_MATERIAL(solfec, density=2000)
"""
RESULTS = """
for name in ('arch', 'run', 'name', 'tutorial/three-basic-geometric-objects'):
    solfec = SOLFEC('DYNAMIC', 1E-2, 'out/' + name, contacts='MANIFOLD')
    solfec.verbose = 'OFF'
    stone = BULK_MATERIAL(solfec, density=2000)
    GRAVITY(solfec, (0, 0, -10))
    BODY(solfec, 'OBSTACLE', PLANE((0, 0, 0), (0, 0, 1), 5), stone)
    BODY(solfec, 'PSEUDO_RIGID', BOX((0.5, 0.5, 1.5), (1, 1, 3)), stone, label='block').scheme = 'DEF_LIM'
    RUN(solfec, AUTO_SOLVER(1E-4), 0.12)
"""
NEEDED = {"pandas": "pandas", "pyvista": "pyvista", "dataset(": "xarray", "solfec.view": "OpenGL"}


def fences(*pages: Path) -> list:
    """Return page and line, language, kind and text of every fenced block."""
    found = []
    for page in pages or (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text()
        for match in FENCE.finditer(text):
            where = f"{page.name}:{text.count(chr(10), 0, match.start()) + 1}"
            found.append(pytest.param(match[1], match[2].strip(), match[3], id=where))
    return found


def of_kind(pattern: str) -> list:
    return [one for one in fences() if re.fullmatch(pattern, f"{one.values[0]} {one.values[1]}".strip())]


def test_every_block_of_python_says_how_it_is_tried():
    unknown = [one.id for one in fences() if one.values[0] == "python" and not re.fullmatch(KINDS, one.values[1])]
    plain = [one.id for one in fences() if one.values[:2] == ("python", "")]
    assert unknown == [] and [one.partition(":")[0] for one in plain] == ["README.md"]  # test_documents runs that one


@pytest.mark.parametrize("language, kind, text", of_kind(r"python from \S+"))
def test_excerpts_are_in_their_inputs_in_this_order(language, kind, text):
    def lines(source):
        return [re.sub(r"\s*#.*| ", "", line) for line in source.splitlines() if line.strip()]

    source = iter(lines((ROOT / "inp" / kind.split()[1]).read_text()))
    missing = [line for line in lines(text) if line != "..." and line not in source]
    assert missing == []


@pytest.mark.parametrize("language, kind, text", of_kind("python in model"))
def test_lines_for_a_model_run_in_one(language, kind, text, run_text):
    run_text(MODEL + text)


@pytest.fixture(scope="module")
def some_results(run_once):
    """A directory with the results that blocks open."""
    exports = ["export", "out/arch", "--vtkhdf", "-o", "arch.vtkhdf"], ["export", "out/arch", "--xdmf", "-o", "arch-xdmf"]
    return run_once(RESULTS, then=exports)


@pytest.mark.parametrize("language, kind, text", of_kind("python with results"))
def test_lines_about_results_run(language, kind, text, some_results, monkeypatch):
    for word, package in NEEDED.items():
        if word in text and not find_spec(package):
            pytest.skip(f"needs {package}")
    monkeypatch.chdir(some_results)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = text.replace(".plot()", ".plot" if "pyvista" in text else ".plot()")  # a window
    names = {"results": solfec.results} if "import results" not in text else {}
    exec(compile(text, "block", "exec"), names)


@pytest.mark.parametrize("language, kind, text", of_kind("python call"))
def test_calls_that_need_other_programs_have_these_arguments(language, kind, text):
    """Commands and classes take the arguments, by number and name; `solver`, `body` and the like stand for the reader's own."""
    known = 0
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        command = getattr(toolbox, call.func.id, None) or getattr(solfec, call.func.id, None) or getattr(builtins, call.func.id, None)
        assert command is not None, f"there is no {call.func.id}"
        if hasattr(toolbox, call.func.id) or hasattr(solfec, call.func.id):
            inspect.signature(command).bind(*call.args, **{word.arg: word.value for word in call.keywords})
            known += 1
    assert known > 0


# --- shells ------------------------------------------------------------------------------------------------

PROGRAMS = {"solfec", "python", "mpiexec", "parmec", "sudo", "git", "make", "pip", "for", "done", "sh"}


def options_of(name: str, capsys) -> set[str]:
    """Return all switches that the help of a subcommand has."""
    cli.main([name, "--help"])
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", capsys.readouterr().out))


@pytest.mark.parametrize("language, kind, text", of_kind("sh"))
def test_lines_for_a_shell_have_programs_switches_and_files_that_exist(language, kind, text, capsys):
    general = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", cli.help_text()))
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text().partition("optional-dependencies]")[2].partition("\n[")[0], re.M)
    for line in text.replace("do\n", "do ").splitlines():
        words = shlex.split(line, comments=True)
        while words and ("=" in words[0] or words[0] in ("do", "nice")):
            words = words[1:]
        if not words:
            continue
        assert words[0] in PROGRAMS or words[0].startswith(".venv/bin/"), line
        for extra in re.findall(r"solfec\[(\w+)\]", line):
            assert extra in extras, line
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M), line
        for path in (word for word in words if re.match(r"(inp|docs|tools|tests|benchmarks)/", word) and "$" not in word):
            assert (ROOT / path).exists(), line
        if "solfec" in words:
            after = words[words.index("solfec") + 1 :]
            named = after[:1] and re.fullmatch("[a-z-]+", after[0]) and not after[0].startswith("-")
            allowed = options_of(after[0], capsys) if named else general
            wrong = [word for word in after if re.match(r"--?[a-z]", word) and word.split("=")[0] not in allowed]
            assert wrong == [], line
