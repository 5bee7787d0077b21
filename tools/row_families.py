"""Writes, when the program is built, which type of rows stands for which kind of rows, from the list in solfec/kinds.py.

    row_families.py KINDS.py OUT.f90   the module `row_families`
    row_families.py KINDS.py           the modules of the families, for the list of files to build
"""

from __future__ import annotations

import runpy
import sys

HEADER = """\
!> The families of rows: which law a kind of rows, and which kind of rows a surface model, stands for (written by tools/row_families.py).
module row_families
  use kinds, only: dp, i4
  use kind_numbers
{uses}
  use diagonal_block, only: block_size
  use row_block, only: law_size, row_options
  use row_family_base, only: row_family
  implicit none
  private
  public :: family_of, surface_row, solve_row

{families}
  type({nothing}), target :: nothing_known = {nothing}(newton=.false.)

contains

  !> The family of a kind of rows (RowKind).  Loops that threads share ask for it in a procedure of their body: a pointer to a family
  !> that is private to threads would be freed at their end.
  function family_of(kind) result(family)
    integer(i4), intent(in) :: kind
    class(row_family), pointer :: family

    select case (kind)
{cases}
    case default
      family => nothing_known
    end select
  end function family_of

  !> The kind of rows that contacts of a surface model are (SurfaceModel); those that have no cohesion are not `held`.
  pure function surface_row(model, held) result(kind)
    integer(i4), intent(in) :: model
    logical, intent(in) :: held
    integer(i4) :: kind

    select case (model)
{models}
    case default
      kind = row_contact
    end select
  end function surface_row

  !> The reaction of one row with those of all others held fixed (row_family_base).
  subroutine solve_row(kind, w, block, law, normal_v, options, b, r, status)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: w(3,3), law(law_size), normal_v, b(3)
    real(dp), intent(inout) :: block(block_size), r(3)
    type(row_options), intent(in) :: options
    integer(i4), intent(out) :: status
    class(row_family), pointer :: family

    family => family_of(kind)
    status = family%solve(w, block, law, normal_v, options, b, r)
  end subroutine solve_row
end module row_families
"""


def logical(value: bool) -> str:
    """A Fortran literal."""
    return ".true." if value else ".false."


def components(family) -> str:
    """The components of a family's type that differ from their defaults."""
    given = {"newton": logical(family.newton)}
    if family.frame:
        given["frame"] = f"frame_{family.frame.name.lower()}"
    given |= {name: logical(True) for name in ("weakens", "joint", "slides", "angular", "carried", "masked", "geared") if getattr(family, name)}
    given |= {name: logical(value) for name, value in family.options}
    return ", ".join(f"{name}={value}" for name, value in given.items())


def row_of(kind) -> str:
    """The kind of rows of a surface model: of bonds, where they hold."""
    name = f"row_{kind.name.lower()}"
    return f"merge({name}, row_contact, held)" if kind.family.weakens else name


def fortran(kinds: dict) -> str:
    """The module `row_families`."""
    families = kinds["ROW_FAMILIES"]
    types: dict[str, list[str]] = {}
    for family in families.values():
        types.setdefault(family.module, [])
        if family.type not in types[family.module]:
            types[family.module].append(family.type)
    return HEADER.format(
        uses="\n".join(f"  use {module}, only: {', '.join(names)}" for module, names in types.items()),
        families="\n".join(
            f"  type({family.type}), target :: of_{kind.name.lower()} = &\n    {family.type}({components(family)})"
            for kind, family in families.items()
        ),
        nothing=families[kinds["RowKind"].OPEN].type,
        cases="\n".join(f"    case (row_{kind.name.lower()})\n      family => of_{kind.name.lower()}" for kind in families),
        models="\n".join(
            f"    case (surface_model_{model.name.lower()})\n      kind = {row_of(model.row)}" for model in kinds["SurfaceModel"]
        ),
    )


def main(kinds_path: str, fortran_path: str = "") -> None:
    """Write the module, or print the names of those that it uses."""
    kinds = runpy.run_path(kinds_path, run_name="kinds")
    if fortran_path:
        with open(fortran_path, "w") as file:
            file.write(fortran(kinds))
    else:
        print(*dict.fromkeys(family.module for family in kinds["ROW_FAMILIES"].values()), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
