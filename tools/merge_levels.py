"""Puts the kernels of several wheels into one, those of each level in a folder: python tools/merge_levels.py DIRECTORY v2=WHEEL v3=WHEEL ...

All wheels are the same but for `solfec/_kernels*.so`, which goes to `solfec/levels/v2` and so on; solfec/kernel_level.py chooses.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path


def unpacked(wheel: str, folder: Path) -> Path:
    """Unpack a wheel into a folder, and return where it is."""
    subprocess.run([sys.executable, "-m", "wheel", "unpack", "-d", folder, wheel], check=True, stdout=subprocess.DEVNULL)
    (found,) = folder.iterdir()
    return found


def main(target: str, levels: dict[str, str]) -> None:
    """Write the wheel of all levels into a directory."""
    with tempfile.TemporaryDirectory() as temporary:
        places = {level: unpacked(wheel, Path(temporary, level)) for level, wheel in levels.items()}
        merged = next(iter(places.values()))
        for level, place in places.items():
            (kernels,) = (place / "solfec").glob("_kernels*.so")
            folder = merged / "solfec" / "levels" / level
            folder.mkdir(parents=True)
            kernels.rename(folder / kernels.name)
        subprocess.run([sys.executable, "-m", "wheel", "pack", "-d", target, merged], check=True)


if __name__ == "__main__":
    main(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:]))
