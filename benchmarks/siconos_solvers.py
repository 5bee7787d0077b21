"""Solves contact problems of the examples by every solver of Siconos' library, and prints a table; --write renews benchmarks/tables/siconos.json.

    python benchmarks/siconos_solvers.py [--write] [--keep DIRECTORY]

The problems are those of the last step of each input of inp/cross-check, run for a few steps, in the FCLIB format (--keep keeps the files, for
`solfec fclib`).  AUTO_SOLVER's velocities to 1E-10 are the reference.  A solver agrees if it claims success, the residual is that of its
claim (1E-8), and velocities are those of the reference to 1E-6 of the mean free velocity.  All others are told with what happened.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path

from solfec import SOLFEC, cli
from solfec.errors import SolfecError
from solfec.solvers import contact_problem, fclib, siconos
from solfec.solvers.fclib_table import difference, doubt
from solfec.solvers.siconos_library import EVERY

INPUTS = Path(__file__).parent.parent / "inp" / "cross-check"
TABLE = Path(__file__).parent / "tables" / "siconos.json"
STEPS, TOLERANCE, SAME, PATIENCE, MAXITER = 20, 1e-8, 1e-6, 10.0, 20000


def dump(directory: Path) -> list[Path]:
    """Run the examples for some steps and store the problem of the last one."""
    found = []
    for path in sorted(INPUTS.glob("*.py")):
        text = re.sub(r"SOLFEC\('DYNAMIC', 1E-3, '[^']*'", "SOLFEC('DYNAMIC', 1E-3, None", path.read_text())
        text = re.sub(r"RUN\(solfec, (.*), [\d.]+\)", rf"solfec.verbose = 'OFF'\nRUN(solfec, \1, {STEPS * 1e-3})", text)
        problem = directory / f"{path.stem}.hdf5"
        (directory / path.name).write_text(f"{text}FCLIB_EXPORT(solfec, {str(problem)!r})\n")
        if cli.main([str(directory / path.name)]) or not problem.exists():
            raise SystemExit(f"{path} did not run")
        found.append(problem)
    return found


def outcome(problem, solver: str, reference) -> dict:
    """Return what a solver of Siconos makes of a problem."""
    try:
        found = siconos.solve_problem(problem, solver, TOLERANCE, MAXITER, patience=PATIENCE)
    except SolfecError as error:
        return {"agrees": False, "told": str(error).removeprefix("SICONOS_SOLVER: ")}
    differ = difference(problem, found.u, reference)
    agrees = found.status == "OK" and differ <= SAME
    told = "" if agrees else doubt(found, TOLERANCE) if found.status != "OK" else f"other velocities, by {differ:.1E}"
    return {"agrees": agrees, "iterations": found.iterations, "residual": found.residual, "differ": differ, "seconds": found.seconds, "told": told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", metavar="DIRECTORY")
    arguments = parser.parse_args()
    assert SOLFEC  # the inputs run with the commands of this package
    table: dict = {}
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(arguments.keep or scratch).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        for path in dump(directory):
            problem = fclib.read(str(path))
            best = contact_problem.solve(problem, 1e-10)
            assert best.status == "OK", path
            row = table[path.stem] = {"contacts": problem.n, "solvers": {}}
            print(f"\n{path.stem}, {problem.n} contacts", flush=True)
            for solver in EVERY:
                row["solvers"][solver] = found = outcome(problem, solver, best.u)
                figures = f"{found['iterations']:6} iterations, residual {found['residual']:.0E}, velocities to {found['differ']:.0E}" if found["agrees"] else found["told"]
                print(f"  {solver:16} {'agrees' if found['agrees'] else 'fails':8} {figures}", flush=True)
    if arguments.write:
        TABLE.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
