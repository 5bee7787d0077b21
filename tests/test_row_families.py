"""The list of families of rows: each fact about a kind stands there once, and the kernels are built from it."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from solfec.kinds import JOINTS, LINKS, ROW_FAMILIES, Cone, ConstraintKind, RowKind, SurfaceModel, SurfaceModelName
from solfec.solvers.reduced_rows import CONE_OF_KIND, UNKNOWN

ROOT = Path(__file__).parent.parent
NAMED = {  # modules that may name several kinds: those that put constraints of each, and those that implement a law
    "kinds.py", "joints.py", "solvers/spring_tangents.py",
}  # fmt: skip


def test_constraints_of_the_user_are_rows_of_the_same_numbers():
    assert {kind.name: kind.value for kind in ConstraintKind}.items() <= {kind.name: kind.value for kind in RowKind}.items()
    assert set(ROW_FAMILIES) == set(RowKind)


def test_type_checkers_know_the_surface_models():
    assert get_args(SurfaceModelName) == tuple(model.name for model in SurfaceModel)


def test_every_kind_of_constraints_has_a_word_for_pictures():
    words = [kind.family.word for kind in ConstraintKind]
    assert all(0 < len(word) <= 4 for word in words) and len(set(words)) == len(words)


def test_joints_hold_what_their_families_say():
    assert {kind.name for kind in JOINTS} >= {"FIXPNT", "FIXDIR", "RIGLNK"} and "RIGLNK" in {kind.name for kind in LINKS}
    assert all(kind.components for kind in JOINTS)


@pytest.mark.parametrize("kind", RowKind, ids=lambda kind: kind.name)
def test_cones_hold_the_components_that_a_row_asks_for(kind):
    held = {Cone.FIXED: (0, 1, 2), Cone.NORMAL: (2,), Cone.CONTACT: (), Cone.NONE: ()}
    cone = kind.family.cone
    assert CONE_OF_KIND[kind] == (UNKNOWN if cone is None else cone)
    assert cone is None or held[cone] == kind.components


def test_modules_of_families_are_there():
    for family in ROW_FAMILIES.values():
        text = (ROOT / "fortran/rows" / f"{family.module}.f90").read_text()
        assert re.search(rf"type, extends\(\w+_family\) :: {family.type}\n", text)


def lists_of_kinds(path):
    """Lines at which a module lists kinds of constraints or rows, instead of asking what they are."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            items = node.keys if isinstance(node, ast.Dict) else node.elts
            names = [ast.unparse(item.value) for item in items if isinstance(item, ast.Attribute)]
            if sum(name in ("RowKind", "ConstraintKind", "SurfaceModel") for name in names) > 1:
                yield node.lineno


def test_no_other_module_lists_kinds():
    sources = ROOT / "solfec"
    found = {str(path.relative_to(sources)) for path in sources.rglob("*.py") if list(lists_of_kinds(path))}
    assert found <= NAMED
