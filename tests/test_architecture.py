"""The house is built as ARCHITECTURE.md draws it: imports point down its floors, without circles, and rooms stay small."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from solfec.language import COMMANDS

ROOT = Path(__file__).parent.parent
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 800, 80
BUILT = {"_kernels", "_table_types", "_version"}  # modules that the build makes
OLD_INPUTS = ROOT / "tests" / "old_inputs"  # in Python 2
PYTHON = sorted(path for folder in ("solfec", "tests") for path in (ROOT / folder).rglob("*.py") if path.parent != OLD_INPUTS)
FORTRAN = sorted((ROOT / "fortran").rglob("*.f90"))
PROCEDURE = re.compile(r"^(?!end)([\w()=,* ]+ )?(subroutine|function) +(?P<name>\w+)")


@cache
def tree_of(path: Path) -> ast.Module:
    """Syntax tree of a file in Python."""
    return ast.parse(path.read_text())


def module_of(path: Path) -> str:
    """Dotted name of a source file of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in PYTHON if path.is_relative_to(ROOT / "solfec")}


def imports_of(module: str) -> set[str]:
    """Modules of the package that a module imports, wherever in it the import stands; not those that only type checkers read."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found, tree = set(), tree_of(path)
    guarded = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unread = {inner for block in guarded for statement in block.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if node in unread:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES or name == "solfec._kernels" else base for name in names}
    if module == "solfec.language":  # loads its modules by name
        found |= {f"solfec.language.{name}" for name in COMMANDS.values()}
    return {name for name in found if name.split(".")[0] == "solfec"}


@cache
def imports() -> dict[str, set[str]]:
    """What each module of the package imports from it."""
    return {module: imports_of(module) for module in MODULES}


def floors() -> list[set[str]]:
    """Modules and packages by floor, from the top, as the drawing in ARCHITECTURE.md lists them."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    drawing = text.split("## Floors")[1].split("```")[1].strip("\n").splitlines()
    rooms = {module.split(".")[1] for module in MODULES if "." in module}
    listed = [{word for word in re.split(r"  +|, ", line.strip()) if word in rooms} for line in drawing]
    assert drawing[-1].split()[0] == "kernels" and not listed[-1]
    return [*listed[:-1], BUILT]


FLOORS = floors()


def floor_of(module: str) -> int:
    """Number of a module's floor, counted from the top; the package itself belongs to the language, which it loads."""
    room = "language" if module == "solfec" else module.split(".")[1]
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def test_every_module_has_a_floor():
    drawn = [room for rooms in FLOORS for room in rooms]
    assert len(drawn) == len(set(drawn))
    assert {module.split(".")[1] for module in MODULES if "." in module} | BUILT == set(drawn)


def test_imports_never_point_to_a_floor_above():
    assert not {(module, other) for module, others in imports().items() for other in others if floor_of(other) < floor_of(module)}


def test_no_modules_import_one_another_in_a_circle():
    left = {module: set(others) & MODULES.keys() for module, others in imports().items()}
    while free := {module for module, others in left.items() if not others}:  # imports nothing that is left
        left = {module: others - free for module, others in left.items() if module not in free}
    assert not left


def test_no_packages_of_one_floor_depend_on_one_another_in_a_circle():
    def rooms(modules):
        return {module.split(".")[1] for module in modules if "." in module}

    left = {room: set() for room in rooms(MODULES)}
    for module, others in imports().items():
        for room in rooms([module]):
            left[room] |= rooms(others) & left.keys() - {room}
    while free := {room for room, others in left.items() if not others}:
        left = {room: others - free for room, others in left.items() if room not in free}
    assert not left


def too_long(lengths: Iterable[tuple[Path, str, int]]) -> list[str]:
    """Functions that have too many lines, of those with these files, names and lengths."""
    return [f"{path.relative_to(ROOT)}: {name} has {length} lines" for path, name, length in lengths if length > MOST_LINES_OF_A_FUNCTION]


def test_files_are_short():
    assert not {str(path): lines for path in [*PYTHON, *FORTRAN] if (lines := len(path.read_text().splitlines())) > MOST_LINES}


def test_files_say_what_they_hold():
    assert not [str(path) for path in FORTRAN if not path.read_text().startswith("!> ")]
    assert not [str(path) for path in PYTHON if not ast.get_docstring(tree_of(path))]


def test_python_functions_fit_a_screen():
    nodes = ((path, node) for path in PYTHON for node in ast.walk(tree_of(path)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    assert not too_long((path, node.name, node.end_lineno - node.lineno + 1) for path, node in nodes)


def test_a_domain_stays_a_list_of_tables_with_few_methods():
    tree = tree_of(ROOT / "solfec/domain.py")
    (domain,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    assert sum(isinstance(node, ast.FunctionDef) for node in domain.body) < 25
    assert domain.end_lineno - domain.lineno + 1 < 400


def test_only_tables_handle_addresses():
    assert not [str(path) for path in FORTRAN if "iso_c_binding" in path.read_text() and path.parent.name != "tables"]


def lengths_of_procedures(path: Path) -> dict[str, int]:
    """Lines of each Fortran procedure as it stands there, from its first to its last, with those of inner procedures."""
    lengths, open_procedures = {}, []
    for number, line in enumerate(path.read_text().lower().splitlines()):
        statement = line.split("!")[0].strip()
        if match := PROCEDURE.match(statement):
            open_procedures.append((match["name"], number))
        if re.match(r"end (subroutine|function)\b", statement):
            name, first = open_procedures.pop()
            lengths[name] = max(number - first + 1, lengths.get(name, 0))  # inner procedures may share a name
    return lengths


def test_fortran_procedures_fit_a_screen():
    lengths = {path: lengths_of_procedures(path) for path in FORTRAN}
    unread = [path for path, found in lengths.items() if not found]
    assert not [str(path) for path in unread if "parameter" not in path.read_text() and "type ::" not in path.read_text()]
    assert not too_long((path, name, length) for path, found in lengths.items() for name, length in found.items())


def test_lines_of_procedures_are_counted_with_inner_ones(tmp_path):
    source = tmp_path / "sample.f90"
    source.write_text(
        "subroutine outer(a, &\n                 b)\n  ! a comment\n  integer :: a\n\ncontains\n"
        "  pure integer function inner(b) result(c)\n    c = b\n  end function inner\nend subroutine outer\n"
    )
    assert lengths_of_procedures(source) == {"outer": 10, "inner": 3}


def test_long_cases_are_tests():
    listed = [line for line in (ROOT / "tests/long_cases.txt").read_text().splitlines() if not line.startswith("#")]
    for name in listed:
        path, test = name.split("[")[0].split("::")
        assert f"def {test}(" in (ROOT / path).read_text(), name
