"""Table of all scenes by solver and contact options.

    python tests/scenes/table.py [--only PATTERN] [--quick] [--seconds 600] [--jobs 1] [--json FILE] [--markdown FILE]

Every run has a process of its own, so that one which ends in an error or takes too long does not end the table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import solfec._kernels  # noqa: E402, F401  (once, not in every process)

from scenes import ALL_SCENES  # noqa: E402

COLUMNS = [(options, solver) for options in ("CLASSIC", "MANIFOLD") for solver in ("AUTO", "GAUSS_SEIDEL", "NEWTON", "PENALTY")]
SYMBOLS = {"right": "+", "limit": "limit", "unsolved": "unsolved", "wrong": "**wrong**", "error": "**error**", "late": "**too slow**", "": ""}


def measure(run, seconds: float) -> dict:
    """Run one combination in this process; the row of the table."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    row = dict(scene=run.title, options=run.options.name, solver=run.solver, slow=run.slow, warnings=[], figures=[], verdict="right")
    if run.defect is not None:
        row["defect"] = run.defect.reason
    try:
        judged, row["warnings"] = run.figures()
        for figure, verdict in judged:
            row["figures"].append(
                dict(name=figure.name, measured=float(figure.measured), theory=float(figure.theory), tolerance=figure.tolerance, verdict=verdict)
            )
        verdicts = {verdict for _, verdict in judged}
        row["verdict"] = next((v for v in ("wrong", "unsolved", "limit") if v in verdicts), "right")
    except TimeoutError:
        row["verdict"] = "late"
    except Exception as error:
        row.update(verdict="error", warnings=[f"{type(error).__name__}: {error}", *traceback.format_tb(error.__traceback__)[-2:]])
    signal.setitimer(signal.ITIMER_PROF, 0)
    row["seconds"] = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    return row


def _late(*_) -> None:
    raise TimeoutError


def _send(connection, run, seconds) -> None:
    connection.send(measure(run, seconds))
    connection.close()


def apart(run, seconds: float) -> dict:
    """Row of one combination, measured in a process of its own."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_send, args=(sender, run, seconds))
    process.start()
    sender.close()
    if receiver.poll(20 * seconds + 60):
        try:
            row = receiver.recv()
        except EOFError:
            row = None
    else:
        process.terminate()
        row = None
    process.join()
    if row is None:
        row = dict(scene=run.title, options=run.options.name, solver=run.solver, verdict="error", warnings=["the process died"], figures=[], seconds=0)
    return row


def told(row: dict) -> str:
    """One line about a row: its verdict, and the figures that are wrong."""
    wrong = [f"{f['name']} {f['measured']:.5g} for {f['theory']:.5g} +- {f['tolerance']:.2g}" for f in row["figures"] if f["verdict"] == "wrong"]
    more = "; ".join(wrong) or (row["warnings"][0][:150] if row["warnings"] and row["verdict"] in ("error", "late") else "")
    return f"{row['verdict']:6s} {row['scene']} {row['options']} {row['solver']} {row['seconds']:.1f}s {more}"


def markdown(rows: list[dict]) -> str:
    """The table: a line per scene and case, a column per option set and solver."""
    cells: dict[str, dict] = {}
    for row in rows:
        cells.setdefault(row["scene"], {})[row["options"], row["solver"]] = SYMBOLS[row["verdict"]]
    head = " | ".join(f"{options} {solver}" for options, solver in COLUMNS)
    lines = [f"| scene | {head} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, found in cells.items():
        lines.append(f"| {name} | " + " | ".join(found.get(column, "") for column in COLUMNS) + " |")
    return "\n".join(lines) + "\n"


def summary(rows: list[dict]) -> str:
    """Rows right, limited and wrong per option set and solver, as a table."""
    lines = ["| options | solver | runs | right | known limit | unsolved, with a warning | wrong |", "|---|---|---|---|---|---|---|"]
    for options, solver in COLUMNS:
        mine = [row["verdict"] for row in rows if (row["options"], row["solver"]) == (options, solver)]
        right, limit, unsolved = mine.count("right"), mine.count("limit"), mine.count("unsolved")
        lines.append(f"| {options} | {solver} | {len(mine)} | {right} | {limit} | {unsolved} | {len(mine) - right - limit - unsolved} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="regular expression that the title of a run holds")
    parser.add_argument("--quick", action="store_true", help="without slow scenes")
    parser.add_argument("--seconds", type=float, default=600, help="bound of one run, of processor time")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--json", help="file of all rows with their figures")
    parser.add_argument("--markdown", help="file of the table")
    arguments = parser.parse_args()
    runs = [run for scene in ALL_SCENES for run in scene.runs() if re.search(arguments.only, str(run)) and not (arguments.quick and run.slow)]
    rows = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(lambda run: apart(run, arguments.seconds), runs):
            rows.append(row)
            print(told(row), flush=True)
            if arguments.json:
                Path(arguments.json).write_text(json.dumps(rows, indent=1))
            if arguments.markdown:
                Path(arguments.markdown).write_text(markdown(rows))
    print(summary(rows))
    for row in rows:
        if row["verdict"] in ("wrong", "error", "late"):
            print(told(row))


if __name__ == "__main__":
    main()
