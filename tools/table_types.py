"""Writes, when the program is built, the Fortran types of the state tables.

    table_types.py OUT.f90 OUT.py FILES...

FILES are Python modules with classes whose `COLUMNS` list the columns of a table (solfec/tables.py).  OUT.f90 holds the module
`state_tables`: for a class such as BodyTable the type `body_table`, whose components point to the columns, and a procedure
`open_table`, which fills it from a handle.  OUT.py tells Python the number and the layout of each table, so that a compiled
module that was built from other columns is noticed.  A column is named once, in Python.
"""

from __future__ import annotations

import ast
import re
import sys

TYPES = {"f8": "real(dp)", "i4": "integer(i4)", "i8": "integer(i8)"}


def tables(path: str) -> dict[str, list[tuple[str, tuple[int, ...], str, str]]]:
    """Name, shape of a row, type and comment of every column of the tables in a Python module."""
    source = open(path).read()
    lines, found = source.splitlines(), {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for part in node.body:
            if isinstance(part, ast.Assign) and part.targets[0].id == "COLUMNS":
                found[node.name] = [column(key, value, lines) for key, value in zip(part.value.keys, part.value.values)]
    return found


def column(key: ast.expr, value: ast.expr, lines: list[str]) -> tuple[str, tuple[int, ...], str, str]:
    """One column: its name, shape, type and the comment behind it."""
    shape, kind = (ast.literal_eval(item) for item in value.elts[:2])
    if kind not in TYPES:
        raise SystemExit(f"column {key.value}: type {kind} is not one of {', '.join(TYPES)}")
    return key.value, shape, kind, lines[value.end_lineno - 1][value.end_col_offset :].partition("#")[2].strip()


def layout(columns) -> str:
    """The layout of a table in one line; `solfec.tables.layout` writes the same of its own columns."""
    return " ".join(f"{name}:{kind}{list(shape)}".replace(" ", "") for name, shape, kind, _ in columns)


def type_name(name: str) -> str:
    """BodyTable -> body_table."""
    return re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower()


def fortran(found: dict) -> str:
    """The module `state_tables`."""
    names = [type_name(name) for name in found]
    public = ", ".join(["open_table", *names])
    parts = [HEADER.format(public=public)]
    for name, columns in zip(names, found.values()):
        parts.append(f"  type :: {name}\n    integer(i8), pointer :: rows => null()  !< rows in use\n")
        for column_name, shape, kind, comment in columns:
            dimensions = ",".join(":" * (len(shape) + 1))
            note = f"  !< {comment}" if comment else ""
            parts.append(f"    {TYPES[kind]}, pointer, contiguous :: {column_name}({dimensions}) => null(){note}\n")
        parts.append(f"  end type {name}\n\n")
    parts.append("  !> The table of a handle; `status` is `table_open`, or says that the handle is not one of such a table (table_registry).\n")
    parts.append("  interface open_table\n    module procedure " + ", ".join(f"open_{name}" for name in names) + "\n  end interface open_table\n\ncontains\n\n")
    for number, (name, columns) in enumerate(zip(names, found.values()), 1):
        parts.append(opening(number, name, columns))
    return "".join(parts) + "end module state_tables\n"


HEADER = """\
!> The state tables as types whose components point to their columns (written by tools/table_types.py).
!>
!> Columns have the row number last, from 0 on, and their full capacity; `rows` of them are in use.
module state_tables
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use kinds, only: dp, i4, i8
  use table_registry, only: columns_of, table_open
  implicit none
  private
  public :: {public}

"""


def opening(number: int, name: str, columns) -> str:
    """The procedure that fills a table's type."""
    kinds = sorted({kind + str(len(shape)) for _, shape, kind, _ in columns})
    lines = [
        f"subroutine open_{name}(handle, table, status)",
        "  integer(i8), intent(in) :: handle",
        f"  type({name}), intent(out) :: table",
        "  integer(i4), intent(out) :: status",
        f"  type(c_ptr) :: rows, column({len(columns)})",
        "  integer(i4) :: capacity",
    ]
    lines += [f"  {TYPES[kind[:2]]}, pointer, contiguous :: {kind}({','.join(':' * (int(kind[2:]) + 1))})" for kind in kinds]
    lines += ["", f"  call columns_of(handle, {number}, capacity, rows, column, status)", "  if (status /= table_open) return", "  call c_f_pointer(rows, table%rows)"]
    for place, (column_name, shape, kind, _) in enumerate(columns, 1):
        pointer = kind + str(len(shape))
        extents = ", ".join([*map(str, shape), "capacity"])
        bounds = ",".join(["1:"] * len(shape) + ["0:"])
        lines.append(f"  call c_f_pointer(column({place}), {pointer}, [{extents}])")
        lines.append(f"  table%{column_name}({bounds}) => {pointer}")
    lines.append(f"end subroutine open_{name}")
    return "".join(f"  {line}\n" if line else "\n" for line in lines) + "\n"


def python(found: dict) -> str:
    """The module that tells Python numbers and layouts."""
    rows = "".join(f"    {name!r}: ({number}, {layout(columns)!r}),\n" for number, (name, columns) in enumerate(found.items(), 1))
    return f'"""Tables that kernels know by a handle: number and layout (written by tools/table_types.py)."""\n\nTABLES = {{\n{rows}}}\n'


def main(fortran_path: str, python_path: str, *files: str) -> None:
    """Write both files."""
    found = {name: columns for file in files for name, columns in tables(file).items()}
    for path, text in ((fortran_path, fortran(found)), (python_path, python(found))):
        with open(path, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
