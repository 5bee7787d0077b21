#!/usr/bin/env python3
"""Prints the version of these sources, from git; `--write` puts it into the file VERSION of a source distribution.

The first of these that is there: the environment's SOLFEC_VERSION (of a release that has no tag yet), the file VERSION (of a source
distribution), the last tag `v1.2.3`, or FIRST. Sources that are past a tag get the next version's name as PEP 440 has it,
1.2.4.dev5+g0123abc for the fifth commit.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FIRST = "0.1.0"  # to come: before there is a tag
ROOT = Path(__file__).resolve().parent.parent


def git(root: Path, *words: str) -> str:
    """Return what git says of these sources, '' where it says nothing: no git, no repository, or one of another project around them."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def version(root: Path = ROOT) -> str:
    """Return the version of the sources in a directory."""
    if given := os.environ.get("SOLFEC_VERSION"):
        return given
    if (root / "VERSION").exists():
        return (root / "VERSION").read_text().strip()
    top = git(root, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != root:
        return FIRST + ".dev0"
    described = re.fullmatch(r"v(\d+\.\d+\.)(\d+)-(\d+)-g(\w+)", git(root, "describe", "--tags", "--long", "--match", "v[0-9]*.[0-9]*.[0-9]*", "--exclude", "*[a-z]*[a-z]*"))
    if not described:
        return f"{FIRST}.dev{git(root, 'rev-list', '--count', 'HEAD') or 0}+g{git(root, 'rev-parse', '--short', 'HEAD') or 'none'}"
    series, patch, past, commit = described.groups()
    return f"{series}{patch}" if past == "0" else f"{series}{int(patch) + 1}.dev{past}+g{commit}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:  # a script of `meson dist`
        Path(os.environ["MESON_DIST_ROOT"], "VERSION").write_text(version() + "\n")
    else:
        print(version())
