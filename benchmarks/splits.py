"""Costs of a split: a block of finite elements that breaks along a plane, between its elements or through them.

    python benchmarks/splits.py [--elements N] [--repeat N] [case ...]

For every case one row: milliseconds in which the body is cut, in which its fragments take its place, and by which the next step is longer
than later ones.  The block carries forces and supports, which its fragments inherit.  All are medians of processor time over fresh models.
"""

from __future__ import annotations

import os
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(library, "1")

from dataclasses import replace

import numpy as np
import words

from solfec import body_cuts, fragments, language
from solfec.solvers.gauss_seidel import GaussSeidelSolver

HEAD = """
solfec = SOLFEC ('DYNAMIC', 1E-6, None, contacts = 'MANIFOLD')
solfec.verbose = 'OFF'
bulk = BULK_MATERIAL (solfec, 'KIRCHHOFF', young = 1E6, poisson = 0.25, density = 1E3)
corners = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
block = BODY (solfec, 'FINITE_ELEMENT', HEX (corners, {n}, {n}, {n}, 1, [1]*6), bulk, form = {form!r})
for x in (0.1, 0.9):
  for z in (0, 1): FORCE (block, 'SPATIAL', (x, 0.5, z), (0, 0, 1), (2*z - 1) * 1E3)
FIX_POINT (block, (0, 0, 0))
SIMPLIFIED_CRACK (block, (0.5, 0.5, {height}), {normal}, (2, 3), 'TENSILE', ft = 1E9)
"""
CASES = {  # form of the body, height of the plane in layers above the middle, normal
    "TL, between elements": ("TL", 0.0, (0, 0, 1)),
    "BC, between elements": ("BC", 0.0, (0, 0, 1)),
    "TL, through elements": ("TL", 0.5, (0.1, 0.1, 1)),
}
STEPS = 5


def timed(function, *arguments) -> tuple[float, object]:
    """Return milliseconds of processor time of a call, and its result."""
    start = process_time()
    result = function(*arguments)
    return 1e3 * (process_time() - start), result


def split(form: str, layer: float, normal, count: int) -> tuple[float, float, float]:
    """Return milliseconds of the cut, of the replacement, and of the step after it beyond later steps."""
    names = {name: language.load(name) for name in ("SOLFEC", "BULK_MATERIAL", "BODY", "HEX", "FORCE", "FIX_POINT", "SIMPLIFIED_CRACK")}
    height = (count // 2 + layer) / count
    exec(HEAD.format(n=count, form=form, height=height, normal=normal), names)
    model, solver = names["solfec"]._simulation.domain, GaussSeidelSolver(1e-4, 100)
    for _ in range(STEPS):
        model.advance(solver)
    cracks = model.cracks
    ((body, (crack,)),) = cracks.of_body.items()
    cracks.set({body: [replace(crack, strength=-1e30)]})
    cracks.open(model.bodies, lambda one, plane: body_cuts.crack_section(model, one, plane))
    spent = {}
    original = fragments.cut_body

    def cut_body(*arguments):
        spent["cut"], result = timed(original, *arguments)
        return result

    fragments.cut_body = cut_body
    try:
        all_of_it, _ = timed(fragments.open_cracks, model)
    finally:
        fragments.cut_body = original
    next_step, _ = timed(model.advance, solver)
    later = np.median([timed(model.advance, solver)[0] for _ in range(STEPS)])
    return spent["cut"], all_of_it - spent["cut"], next_step - later


def main() -> None:
    parser = words.parser(__doc__)
    parser.add_argument("--elements", type=words.positive, default=10000, help="of the block, about (default: 10000)")
    parser.add_argument("--repeat", type=words.positive, default=7)
    parser.add_argument("case", nargs="*", help="parts of names of cases")
    options = parser.parse_args()
    count = max(2, round(options.elements ** (1 / 3)))
    for name in words.chosen(parser, options.case, CASES):
        cut, put, after = np.median([split(*CASES[name], count) for _ in range(options.repeat)], axis=0)
        print(f"{name:22s} {count**3} elements: cut {cut:.1f} ms, fragments {put:.1f}, next step {after:+.1f}; split {cut + put:.1f}", flush=True)


if __name__ == "__main__":
    main()
