"""Runs each row of `legacy_like` for many steps, and shows whether a step's time or the memory creeps.  Run: python benchmarks/long_runs.py [--steps N] [row ...].

A row is run in a process of its own, on one thread.  Tenths of the run show processor time per step, contacts and iterations, since a model that settles
or falls apart has other steps than before, and the memory of the process [MB].
Writes benchmarks/results/long-runs-<time>.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from time import strftime

import legacy_like
import words

ENDLESS = "1000"  # seconds, longer than any of these runs
PAGE = os.sysconf("SC_PAGE_SIZE")


def follow(steps: int, words_of_run: list[str]) -> None:
    """Run an input for some steps in this process, and print its tenths."""
    from solfec import cli
    from solfec.domain import Domain

    advance, tenths, sums = Domain.advance, [], [0, 0, 0]
    begun = None

    def counted(domain, solver, *elsewhere):
        nonlocal begun
        begun = begun or time.process_time()
        advance(domain, solver, *elsewhere)
        for place, number in enumerate((1, domain.constraints.contact_count, domain.report.iterations)):
            sums[place] += number
        if sums[0] * 10 >= steps:
            now = time.process_time()
            memory = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6
            tenths.append({"ms": 1e3 * (now - begun) / sums[0], "contacts": sums[1] / sums[0], "iterations": sums[2] / sums[0], "MB": memory})
            sums[:], begun = [0, 0, 0], now
        if len(tenths) == 10:
            print("\n" + json.dumps(tenths), flush=True)
            os._exit(0)  # the results of a run that is cut off are of no interest

    Domain.advance = counted
    sys.exit(cli.main(["-w", *words_of_run]))


def tenths_of(row: str, steps: int) -> list[dict]:
    """Return the tenths of a run of a row."""
    path, full, *_ = legacy_like.ROWS[row]
    given = full.split()
    given[-1 if given[-1][0].isdigit() else -2] = ENDLESS  # the duration, which the name of a solver may follow
    command = [sys.executable, __file__, "--follow", str(steps), str(legacy_like.ROOT / "inp" / path), *given]
    with tempfile.TemporaryDirectory() as directory:
        ended = subprocess.run(command, cwd=directory, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"{row}: {' '.join(command)} ended with status {ended.returncode}:\n{ended.stderr}")
    return json.loads(ended.stdout.splitlines()[-1])


def main() -> int:
    parser = words.parser(__doc__)
    parser.add_argument("--steps", type=words.positive, default=10000, help="of each run (default: 10000)")
    parser.add_argument("row", nargs="*", help="parts of names of rows")
    options = parser.parse_args()
    found = {}
    for row in words.chosen(parser, options.row, legacy_like.ROWS):
        found[row] = tenths_of(row, options.steps)
        print(row)
        for name, form in (("ms", "{:9.3f}"), ("contacts", "{:9.0f}"), ("iterations", "{:9.1f}"), ("MB", "{:9.1f}")):
            print(f"    {name:10}", *(form.format(tenth[name]) for tenth in found[row]), flush=True)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"long-runs-{strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps(found, indent=1))
    print(path)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--follow"]:
        follow(int(sys.argv[2]), sys.argv[3:])
    sys.exit(main())
