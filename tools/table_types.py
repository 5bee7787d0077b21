"""Writes, when the program is built, the Fortran types of the state tables.

    table_types.py OUT.f90 OUT.py FILES...

FILES are Python modules with classes derived from `Table` or `Record` (solfec/tables.py), whose `COLUMNS` list arrays and whose
`NUMBERS` list single numbers.  OUT.f90 holds the module `state_tables`: for a class such as BodyTable the type `body_table`, whose
components point to the columns, and procedures `open_table` and `point_to_table`, which return it for a handle.  OUT.py gives Python the number and
the layout of each, so that a compiled module that was built from other columns is detected.  A column is named once, in Python.

`OPENED_TOGETHER` of a module lists tables whose handles kernels take side by side: for {"local_tables": {"rows": "RowTable", ...}} the
type `local_tables` has a component for each table, and `open_local_tables` opens all of them by their handles in this order.
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
from dataclasses import dataclass, field
from pathlib import Path

TYPES = {"f4": "real(sp)", "f8": "real(dp)", "i4": "integer(i4)", "i8": "integer(i8)"}


@dataclass
class Column:
    """A column, or (without a shape) a single number."""

    name: str
    shape: tuple[int, ...] | None
    kind: str
    note: str

    @property
    def layout(self) -> str:
        """Return the layout in the form of `solfec.tables.layout`."""
        return f"{self.name}:{self.kind}" + ("" if self.shape is None else str(list(self.shape)).replace(" ", ""))

    @property
    def rank(self) -> int:
        """Number of axes."""
        return 0 if self.shape is None else len(self.shape) + 1


@dataclass
class Type:
    """A table, or a record, whose columns have lengths of their own."""

    is_record: bool
    columns: list[Column] = field(default_factory=list)


def types(path: str) -> dict[str, Type]:
    """The tables and records in a Python module."""
    source = open(path).read()
    lines, found, constants = source.splitlines(), {}, {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module == "element_types":
            constants = runpy.run_path(str(Path(path).parents[node.level - 1] / "element_types.py"))
        if not isinstance(node, ast.ClassDef):
            continue
        for part in node.body:
            target = part.target if isinstance(part, ast.AnnAssign) else part.targets[0] if isinstance(part, ast.Assign) else None
            if isinstance(target, ast.Name) and target.id in ("COLUMNS", "NUMBERS"):
                of = found.setdefault(node.name, Type(any(getattr(base, "id", "") == "Record" for base in node.bases)))
                of.columns += [column(key, value, lines, constants) for key, value in zip(part.value.keys, part.value.values)]
    return found


def groups(path: str) -> dict[str, dict[str, str]]:
    """Tables that are opened together: for each name of a type its components and their classes."""
    for node in ast.parse(open(path).read()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "OPENED_TOGETHER":
            return ast.literal_eval(node.value)
    return {}


def column(key: ast.expr, value: ast.expr, lines: list[str], constants: dict) -> Column:
    """Return one column with its comment; shapes may name constants."""
    literal = value.elts[:2] if isinstance(value, ast.Tuple) else [ast.Constant(None), value]
    shape, kind = (eval(compile(ast.fix_missing_locations(ast.Expression(item)), "", "eval"), {}, constants) for item in literal)
    if kind not in TYPES:
        raise SystemExit(f"column {key.value}: type {kind} is not one of {', '.join(TYPES)}")
    note = lines[value.end_lineno - 1][value.end_col_offset :].partition("#")[2].strip()
    return Column(key.value, shape, kind, note)


def type_name(name: str) -> str:
    """BodyTable -> body_table."""
    return re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower()


def fortran(found: dict[str, Type], together: dict[str, dict[str, str]]) -> str:
    """The module `state_tables`."""
    names = [type_name(name) for name in found]
    public = ["open_table", "point_to_table", *names, *together, *(f"open_{group}" for group in together)]
    parts = [HEADER.format(public=", &\n    ".join(public))]
    for name, one in zip(names, found.values()):
        rows = "" if one.is_record else "    integer(i8), pointer :: rows => null()  !< rows in use\n"
        parts.append(f"  type :: {name}\n{rows}")
        for part in one.columns:
            dimensions = f"({','.join(':' * part.rank)})" if part.rank else ""
            contiguous = ", contiguous" if part.rank else ""
            note = f"  !< {part.note}" if part.note else ""
            parts.append(f"    {TYPES[part.kind]}, pointer{contiguous} :: {part.name}{dimensions} => null(){note}\n")
        parts.append(f"  end type {name}\n\n")
    for group, members in together.items():
        components = "".join(f"    type({type_name(kind)}), pointer :: {member} => null()\n" for member, kind in members.items())
        parts.append(f"  type :: {group}\n{components}  end type {group}\n\n")
    parts.append("  !> The table of a handle; `status` is `table_open`, or says that the handle is not one of such a table (table_registry).\n")
    parts.append("  interface open_table\n" + "".join(f"    module procedure open_{name}\n" for name in names) + "  end interface open_table\n\n")
    parts.append("  !> Points to the table of a handle, as `open_table` copies it; for components: gfortran copies arrays of a table that is itself a pointer.\n")
    parts.append("  interface point_to_table\n" + "".join(f"    module procedure point_to_{name}\n" for name in names) + "  end interface point_to_table\n\ncontains\n\n")
    for number, (name, one) in enumerate(zip(names, found.values()), 1):
        parts.append(opening(number, name, one))
    parts += [opening_together(group, list(members)) for group, members in together.items()]
    return "".join(parts) + "end module state_tables\n"


HEADER = """\
!> The state tables as types whose components point to their columns (written by tools/table_types.py).
!>
!> Columns have the row number last, from 0 on, and their full capacity; of tables `rows` are in use.  A table is filled when a
!> kernel first opens it with its present columns.
module state_tables
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use kinds, only: sp, dp, i4, i8
  use table_registry, only: columns_of, keep_opened, opened_table, table_open
  implicit none
  private
  public :: {public}

"""


def opening(number: int, name: str, one: Type) -> str:
    """The procedures that open a table, and fill its type."""
    return OPENING.format(name=name, number=number) + filling(number, name, one)


OPENING = """\
  subroutine open_{name}(handle, table, status)
    integer(i8), intent(in) :: handle
    type({name}), intent(inout) :: table
    integer(i4), intent(out) :: status
    type({name}), pointer :: kept

    call point_to_{name}(handle, kept, status)
    if (status == table_open) table = kept
  end subroutine open_{name}

  subroutine point_to_{name}(handle, table, status)
    integer(i8), intent(in) :: handle
    type({name}), pointer, intent(out) :: table
    integer(i4), intent(out) :: status
    class(*), pointer :: opened

    nullify (table)
    call opened_table(handle, {number}, opened, status)
    if (status /= table_open) return
    if (associated(opened)) then
      select type (opened)
      type is ({name})
        table => opened
      end select
      return
    end if
    allocate (table)
    call fill_{name}(handle, table, status)
    opened => table
    if (status == table_open) then
      call keep_opened(handle, opened)
    else
      deallocate (table)
    end if
  end subroutine point_to_{name}

"""


def opening_together(group: str, members: list[str]) -> str:
    """The procedure that opens tables by their handles; its status is `table_open`, or that of the first unknown handle."""
    lines = [
        f"subroutine open_{group}(handles, opened, status)",
        f"  integer(i8), intent(in) :: handles({len(members)})",
        f"  type({group}), intent(out) :: opened",
        "  integer(i4), intent(out) :: status",
        "",
    ]
    for place, member in enumerate(members, 1):
        lines += [f"  call point_to_table(handles({place}), opened%{member}, status)", "  if (status /= table_open) return"]
    lines.append(f"end subroutine open_{group}")
    return "".join(f"  {line}\n" if line else "\n" for line in lines) + "\n"


def filling(number: int, name: str, one: Type) -> str:
    """The procedure that fills a table's type."""
    kinds = sorted({part.kind + str(part.rank) for part in one.columns if part.rank})
    lines = [
        f"subroutine fill_{name}(handle, table, status)",
        "  integer(i8), intent(in) :: handle",
        f"  type({name}), intent(inout) :: table",
        "  integer(i4), intent(out) :: status",
        f"  type(c_ptr) :: rows, column({len(one.columns)})",
        f"  integer(i4) :: length({len(one.columns)})",
    ]
    lines += [f"  {TYPES[kind[:2]]}, pointer, contiguous :: {kind}({','.join(':' * int(kind[2:]))})" for kind in kinds]
    lines += ["", f"  call columns_of(handle, {number}, rows, column, length, status)", "  if (status /= table_open) return"]
    if not one.is_record:
        lines.append("  call c_f_pointer(rows, table%rows)")
    for place, part in enumerate(one.columns, 1):
        if not part.rank:
            lines.append(f"  call c_f_pointer(column({place}), table%{part.name})")
            continue
        pointer, extents = part.kind + str(part.rank), ", ".join([*map(str, part.shape), f"length({place})"])
        bounds = ",".join(["1:"] * len(part.shape) + ["0:"])
        lines.append(f"  call c_f_pointer(column({place}), {pointer}, [{extents}])")
        lines.append(f"  table%{part.name}({bounds}) => {pointer}")
    lines.append(f"end subroutine fill_{name}")
    return "".join(f"  {line}\n" if line else "\n" for line in lines) + "\n"


def python(found: dict[str, Type]) -> str:
    """Return the module with numbers and layouts for Python."""
    rows = "".join(
        f"    {name!r}: ({number}, {' '.join(part.layout for part in one.columns)!r}),\n" for number, (name, one) in enumerate(found.items(), 1)
    )
    return f'"""Tables that kernels know by a handle: number and layout (written by tools/table_types.py)."""\n\nTABLES = {{\n{rows}}}\n'


def main(fortran_path: str, python_path: str, *files: str) -> None:
    """Write both files."""
    found = {name: one for file in files for name, one in types(file).items()}
    together = {name: members for file in files for name, members in groups(file).items()}
    for path, text in ((fortran_path, fortran(found, together)), (python_path, python(found))):
        with open(path, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
