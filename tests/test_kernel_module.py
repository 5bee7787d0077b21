"""The compiled module can be imported and called."""

import re
from pathlib import Path

from solfec import _kernels

FORTRAN = Path(__file__).parent.parent / "fortran"


def test_number_of_threads_can_be_set_and_read_back():
    before = _kernels.threads.get_threads()
    _kernels.threads.set_threads(1)
    assert _kernels.threads.get_threads() == 1
    _kernels.threads.set_threads(before)


def test_every_public_procedure_of_a_wrapped_module_can_be_called():
    """f2py leaves out those that have the name of a private procedure of another wrapped module."""
    wrapped = re.findall(r"'([\w/]+\.f90)'", (FORTRAN / "meson.build").read_text().split("wrapped = files(")[1].split(")")[0])
    assert len(wrapped) > 40
    for path in wrapped:
        text = re.sub(r"&\s*\n\s*", "", (FORTRAN / path).read_text().lower())
        public = {name.strip() for line in re.findall(r"^\s*public *:: *(.*)$", text, re.M) for name in line.split(",")}
        procedures = set(re.findall(r"^  (?:pure |integer |real\(dp\) |logical )*(?:subroutine|function) +(\w+)", text, re.M))
        module = getattr(_kernels, re.search(r"^module (\w+)", text, re.M)[1])
        assert not {name for name in public & procedures if not hasattr(module, name)}, path
