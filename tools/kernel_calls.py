"""Writes, when the program is built, what calls kernels by the addresses of their arguments.

    kernel_calls.py OUT.f90 OUT.py KERNELS FILES...

KERNELS is a list such as ``body_motion.predict,contact_phases.detect`` of public procedures of the Fortran FILES.  OUT.f90
holds the module `kernel_calls`, whose `call_kernel` calls the kernel of a number with arguments at given addresses; OUT.py
says which number that is and what the arguments are, for `solfec/kernel_programs.py`.  Signatures are read as f2py reads
them, so there is one place for each: the kernel itself.
"""

from __future__ import annotations

import contextlib
import io
import sys
import textwrap

from numpy.f2py import crackfortran

KINDS = {("integer", "i4"): "i4", ("integer", "i8"): "i8", ("real", "dp"): "f8", ("real", "sp"): "f4"}


def signatures(files: list[str]) -> dict[str, list[tuple[str, str, tuple[str, ...], str]]]:
    """Name, type, shape and intent of every argument of the procedures ``module.procedure`` of some files."""
    crackfortran.verbose = 0
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        modules = crackfortran.crackfortran(list(files))
    found = {}
    for module in modules:
        for procedure in module.get("body", []):
            if procedure["block"] == "subroutine":
                variables = procedure["vars"]
                arguments = [argument(name, variables[name]) for name in procedure["args"]]
                found[f"{module['name']}.{procedure['name']}"] = arguments
    return found


def argument(name: str, described: dict) -> tuple[str, str, tuple[str, ...], str]:
    """Name, type, shape and intent of one argument."""
    kind = KINDS.get((described["typespec"], described.get("kindselector", {}).get("kind")), "")
    shape = tuple(size.replace(" ", "") for size in described.get("dimension", ()))
    (intent,) = [word for word in described["intent"] if word in ("in", "out", "inout")]
    return name, kind, shape, intent


def check(name: str, arguments) -> None:
    """Extents must be numbers or arguments, so that they follow from the shapes of arrays."""
    scalars = {argument for argument, kind, shape, _ in arguments if not shape and kind == "i4"}
    for argument, kind, shape, _ in arguments:
        if not kind:
            raise SystemExit(f"{name}: argument {argument} is of a type that cannot be handed over by its address")
        wrong = [size for size in shape if not size.isdigit() and size not in scalars]
        if wrong:
            raise SystemExit(f"{name}: the extent {wrong[0]} of argument {argument} is neither a number nor an argument")


def fortran(kernels: dict) -> str:
    """The module `kernel_calls`."""
    cases = "\n".join(f"    case ({number})\n      call call_{number}(address)" for number in range(len(kernels)))
    calls = "\n".join(call(number, name, arguments) for number, (name, arguments) in enumerate(kernels.items()))
    return HEADER + cases + "\n    end select\n  end subroutine call_kernel\n" + calls + "end module kernel_calls\n"


HEADER = """\
!> Calls of kernels by the addresses of their arguments (written by tools/kernel_calls.py).
module kernel_calls
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr, c_null_ptr
  use kinds, only: sp, dp, i4, i8
  implicit none
  private
  public :: call_kernel
contains
  !> An address as a pointer.
  pure type(c_ptr) function at_(address)
    integer(i8), intent(in) :: address
    at_ = transfer(address, c_null_ptr)
  end function at_

  !> Calls the kernel of a number; arguments in the order of its signature.
  subroutine call_kernel(number, address)
    integer(i4), intent(in) :: number
    integer(i8), intent(in) :: address(0:)
    select case (number)
"""

FORTRAN_KINDS = {kind: f"{kind_type}({parameter})" for (kind_type, parameter), kind in KINDS.items()}


def call(number: int, name: str, arguments) -> str:
    """The subroutine that calls one kernel."""
    module, procedure = name.split(".")
    order = sorted(range(len(arguments)), key=lambda k: len(arguments[k][2]) > 0)  # extents before what has them
    lines = [f"subroutine call_{number}(address_)", f"  use {module}, only: kernel_ => {procedure}",
             "  integer(i8), intent(in) :: address_(0:)"]
    for argument, kind, shape, _ in arguments:
        form = f", contiguous :: {argument}({','.join(':' * len(shape))})" if shape else f" :: {argument}"
        lines.append(f"  {FORTRAN_KINDS[kind]}, pointer{form}")
    for k in order:
        argument, _, shape, _ = arguments[k]
        extents = f", [{', '.join(shape)}]" if shape else ""
        lines.append(f"  call c_f_pointer(at_(address_({k})), {argument}{extents})")
    names = textwrap.wrap(", ".join(argument for argument, *_ in arguments), 110)
    lines += ["  call kernel_( &", *(f"    {part} &" for part in names), "    )", f"end subroutine call_{number}"]
    return "".join(f"  {line}\n" for line in lines)


def python(kernels: dict) -> str:
    """The module that describes the kernels."""
    lines = ['"""Kernels that programs call, and their arguments: name, type, shape, intent (written by tools/kernel_calls.py)."""\n']
    lines.append("KERNELS = {")
    for number, (name, arguments) in enumerate(kernels.items()):
        lines.append(f"    {name!r}: ({number}, (")
        lines += [f"        {argument!r}," for argument in arguments]
        lines.append("    )),")
    return "\n".join([*lines, "}", ""])


def main(fortran_path: str, python_path: str, names: str, *files: str) -> None:
    """Write both files."""
    known = signatures(files)
    missing = [name for name in names.split(",") if name not in known]
    if missing:
        raise SystemExit(f"no subroutine {missing[0]} in these files")
    kernels = {name: known[name] for name in names.split(",")}
    for name, arguments in kernels.items():
        check(name, arguments)
    for path, text in ((fortran_path, fortran(kernels)), (python_path, python(kernels))):
        with open(path, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
