"""What wheels of releases need beside what pip and auditwheel do.

    python tools/wheels.py merge DIRECTORY v2=WHEEL v3=WHEEL ...
    python tools/wheels.py add-libgcc DIRECTORY WHEEL

`merge` puts the kernels of several wheels into one. All are the same but for `solfec/_kernels*.so`, which goes to `solfec/levels/v2` and so on;
solfec/kernel_level.py chooses. Their instructions are checked. `add-libgcc` puts libgcc_s.so.1 beside the libraries that auditwheel added: auditwheel counts it as one that
every Linux has, which minimal ones have not. It needs the program patchelf.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LIBGCC = "libgcc_s.so.1"
FORBIDDEN = {"v2": r"%[yz]mm|\bv[a-z]+[0-9a-z]* ", "v3": r"%zmm|%[xy]mm(1[6-9]|2[0-9]|3[01])\b|%k[0-7]\b"}  # what kernels of a level must not have: VEX, EVEX
LIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}  # the parts of the GNU C library


def unpacked(wheel: str, folder: Path) -> Path:
    """Unpack a wheel into a folder, and return where it is."""
    subprocess.run([sys.executable, "-m", "wheel", "unpack", "-d", folder, wheel], check=True, stdout=subprocess.DEVNULL)
    (found,) = folder.iterdir()
    return found


def pack(place: Path, target: str) -> None:
    """Write an unpacked wheel into a directory, with a new list of its files."""
    Path(target).mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-m", "wheel", "pack", "-d", target, place], check=True)


def check_level(level: str, kernels: Path) -> None:
    """Raise an error if kernels have instructions of a level above their own, or none that sets their level apart from the one below."""
    text = said("objdump", "--disassemble", "--no-show-raw-insn", kernels)
    if level in FORBIDDEN and (found := re.search(f".*({FORBIDDEN[level]}).*", text)):
        raise SystemExit(f"kernels of {level} have the instruction {' '.join(found[0].split())}")
    below = {"v3": "v2", "v4": "v3"}.get(level)
    if below and not re.search(FORBIDDEN[below], text):
        raise SystemExit(f"kernels of {level} have no instruction that {below} lacks")


def merge(target: str, levels: dict[str, str]) -> None:
    """Write the wheel of all levels into a directory."""
    with tempfile.TemporaryDirectory() as temporary:
        places = {level: unpacked(wheel, Path(temporary, level)) for level, wheel in levels.items()}
        merged = next(iter(places.values()))
        for level, place in places.items():
            (kernels,) = (place / "solfec").glob("_kernels*.so")
            check_level(level, kernels)
            folder = merged / "solfec" / "levels" / level
            folder.mkdir(parents=True)
            kernels.rename(folder / kernels.name)
        pack(merged, target)


def said(*command: str | Path) -> str:
    """Return what a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def needed(path: Path) -> list[str]:
    """Return the names of the libraries that a library needs."""
    return said("patchelf", "--print-needed", path).split()


def add_libgcc(target: str, wheel: str) -> None:
    """Write a wheel that auditwheel repaired into a directory, with the compiler's libgcc_s.so.1 inside under a name of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        place = unpacked(wheel, Path(temporary, "wheel"))
        (folder,) = place.glob("*.libs")  # where auditwheel puts libraries, and where all that it repaired looks for them
        library = Path(said("gcc", f"-print-file-name={LIBGCC}"))
        name = f"libgcc_s-{hashlib.sha256(library.read_bytes()).hexdigest()[:8]}.so.1"
        shutil.copy(library, folder / name)
        subprocess.run(["patchelf", "--set-soname", name, folder / name], check=True)
        inside = {path.name for path in folder.iterdir()}
        for path in place.rglob("*.so*"):
            if LIBGCC in needed(path):
                subprocess.run(["patchelf", "--replace-needed", LIBGCC, name, path], check=True)
            if others := set(needed(path)) - LIBC - inside:
                raise SystemExit(f"{path.name} of {wheel} needs {', '.join(sorted(others))} of the system")
        pack(place, target)


if __name__ == "__main__":
    command, target, *rest = sys.argv[1:]
    if command == "merge":
        merge(target, dict(word.split("=", 1) for word in rest))
    else:
        add_libgcc(target, *rest)
