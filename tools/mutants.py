"""Test of the property suite: applies small faults one by one and counts those that `tests/laws` detects.

    python tools/mutants.py                 all of them (hours of a busy core; `make mutants`)
    python tools/mutants.py --only cone     those whose name contains the word
    python tools/mutants.py --part 1/2      every second one, to share them among two processes
    python tools/mutants.py --list          names only

The sources are copied to a separate directory and built there without optimisation.  A mutant is one change of text in one place.
It is built (ninja builds what changed), tests run until the first failure, likely ones first and these with their slow cases, and the text is restored.  A mutant that hangs
counts as caught.  One that does not build, or whose original text is not found exactly once, is a fault of the list and ends the script.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parent.parent
LAWS = Path("tests/laws")
WANTED = 0.95
PATIENCE = 600  # least seconds after which a run of the tests hangs
SLOWER = 3  # times as long as without a mutant


def main() -> int:
    """Run the selected mutants; return 0 if enough are caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--part", default="1/1", help="k/n: every n-th, from the k-th on")
    parser.add_argument("--start", type=int, default=1, help="number of the first one to try, to go on where a run has ended")
    parser.add_argument("--list", action="store_true", help="names only")
    parser.add_argument("--keep", type=Path, help="directory of the copy, kept for the next time")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    chosen = [mutant for mutant in MUTANTS if options.only in mutant.name][part - 1 :: parts][options.start - 1 :]
    check(ROOT)
    if options.list:
        print(*(f"{mutant.file}: {mutant.name}" for mutant in chosen), sep="\n")
        return 0
    place = options.keep or Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        return run_all(chosen, prepare(place))
    finally:
        if not options.keep:
            shutil.rmtree(place)


def check(root: Path) -> None:
    """Raise an error if the list does not fit the sources."""
    wrong = [f"{m.file}: {m.name}: found {count} times" for m in MUTANTS if (count := (root / m.file).read_text().count(m.old)) != 1]
    names = [mutant.name for mutant in MUTANTS]
    wrong += [f"two mutants are called {name!r}" for name in sorted(set(names)) if names.count(name) > 1]
    if wrong:
        raise SystemExit("the list of mutants is out of date:\n  " + "\n  ".join(wrong))


def prepare(place: Path) -> Path:
    """Copy the sources, with a separate build directory and environment."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, place / name
        if not source.is_file() or name.startswith(("docs/", "benchmarks/")):
            continue
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)  # with a time of its own, so that ninja sees a mutant of a run that was killed
    if not (place / "venv").exists():
        # packages are those of this environment, but not its editable install of the sources
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
        site = next((place / "venv" / "lib").glob("python*/site-packages"))
        packages = next(path for path in sys.path if path.endswith("site-packages"))
        (site / "packages.pth").write_text(packages + "\n")
    if not (place / "build").exists():
        compiler = os.environ.get("FC", "gfortran")
        flags = "-Dkernel_flags=['-O0']"
        command = [sys.executable, "-m", "mesonbuild.mesonmain", "setup", place / "build", place, flags]
        subprocess.run(command, check=True, cwd=place, env=environment(place) | {"FC": compiler}, stdout=subprocess.DEVNULL)
    build(place)
    for made in (*(place / "build" / "fortran").glob("_*.*"), *(place / "build" / "solfec").glob("_*.py")):  # kernels, their arguments, the version
        if made.suffix in (".so", ".py"):
            link = place / "solfec" / made.name
            link.unlink(missing_ok=True)
            link.symlink_to(made)
    return place


def environment(place: Path) -> dict:
    """Programs of the copy's environment first, the copy's package, one thread."""
    path = f"{place / 'venv' / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(place), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def build(place: Path) -> None:
    """Build the sources; raise an error on failure."""
    made = subprocess.run(["ninja", "-C", place / "build"], env=environment(place), capture_output=True, text=True)
    if made.returncode:
        raise SystemExit("the build failed:\n" + made.stdout[-4000:] + made.stderr[-2000:])


def survives(place: Path, first: tuple[str, ...], patience: float | None = None) -> tuple[bool, str]:
    """Return whether all tests pass, of the likely files `first` those of the slow tier, too; and the one that failed."""
    others = sorted(path.name for path in (place / LAWS).glob("test_*.py") if path.name not in first)
    for names, tier in ((first, "slow or not slow"), (others, "not slow")):
        passed, why = passes(place, [LAWS / name for name in names], tier, patience) if names else (True, "")
        if not passed:
            return False, why
    return True, ""


def passes(place: Path, files: list[Path], tier: str, patience: float | None) -> tuple[bool, str]:
    """Return whether tests of some files and of a tier pass, and the one that failed."""
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "-m", tier]
    command = [place / "venv" / "bin" / "python", "-m", "pytest", *options, *files]
    try:
        done = subprocess.run(command, cwd=place, env=environment(place), capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return False, "it hangs"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode == 0, failed[0].split(" - ")[0] if failed else (done.stdout + done.stderr).strip()[-200:]


def run_all(chosen: list[Mutant], place: Path) -> int:
    """Apply every mutant in turn; print a line for each and the sum."""
    start = time.monotonic()
    passed, why = survives(place, ())
    if not passed:
        raise SystemExit(f"the suite fails without any mutant: {why}")
    patience = max(PATIENCE, SLOWER * (time.monotonic() - start))
    caught = 0
    for number, mutant in enumerate(chosen, 1):
        path, start = place / mutant.file, time.monotonic()
        original = path.read_text()
        path.write_text(original.replace(mutant.old, mutant.new))
        try:
            build(place)
            passed, why = survives(place, mutant.killers, patience)
        finally:
            path.write_text(original)
        caught += not passed
        verdict = "SURVIVES" if passed else "caught"
        print(f"{number:3d} {verdict:8s} {time.monotonic() - start:5.0f} s  {mutant.file}: {mutant.name}  {'' if passed else why}", flush=True)
    print(f"{caught} of {len(chosen)} mutants caught")
    return 0 if caught >= WANTED * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
