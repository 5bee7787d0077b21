"""Writes, when the program is built, the numbers of kinds as Fortran constants.

    kind_numbers.py OUT.f90 KINDS.py...

Each KINDS.py holds classes derived from IntEnum (solfec/kinds.py).  A member such as RowKind.FIXPNT becomes the constant `row_fixpnt`: the
class's name less 'Kind', an underscore, the member's name.
"""

from __future__ import annotations

import ast
import re
import sys

HEADER = """\
!> Numbers of kinds, as tables hold them (written by tools/kind_numbers.py).
module kind_numbers
  use kinds, only: i4
  implicit none
  public
  private :: i4

"""


def constants(path: str) -> list[tuple[str, int]]:
    """Names and numbers of all members of all classes."""
    found = []
    for node in ast.parse(open(path).read()).body:
        if isinstance(node, ast.ClassDef):
            prefix = re.sub(r"(?<=.)([A-Z])", r"_\1", node.name.removesuffix("Kind")).lower()
            members = (part for part in node.body if isinstance(part, ast.Assign))
            found += [(f"{prefix}_{part.targets[0].id.lower()}", ast.literal_eval(part.value)) for part in members]
    return found


def main(fortran_path: str, *python_paths: str) -> None:
    """Write the module."""
    lines = "".join(f"  integer(i4), parameter :: {name} = {number}\n" for path in python_paths for name, number in constants(path))
    with open(fortran_path, "w") as file:
        file.write(HEADER + lines + "end module kind_numbers\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
