"""`solfec examples` and `solfec new`: inputs to begin with (docs/running.md, Examples and new inputs)."""

from __future__ import annotations

import argparse
import os
import shutil
from contextlib import suppress

from ..errors import SolfecError
from ..suggestions import did_you_mean

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = (os.path.join(PACKAGE, "examples"), os.path.join(os.path.dirname(PACKAGE), "inp"))  # installed; in the sources
NEW = '''\
# A ball and two boxes fall onto the ground.
#
#   solfec {name}             run it; run it again with -w
#   solfec view out/{stem}      look at the results
#   solfec check {name}       examine the model before its first step
#
# Units are yours; here metres, kilograms and seconds.

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/{stem}', contacts='MANIFOLD')  # time step, output directory
GRAVITY(solfec, (0, 0, -9.81))

# What bodies are made of, and how their surfaces act on one another
stone = BULK_MATERIAL(solfec, density=2500, label='stone')
SURFACE_MATERIAL(solfec, friction=0.5, restitution=0.1)

# Ground does not move; rigid bodies do.  Labels are for results and pictures
BODY(solfec, 'OBSTACLE', PLANE((0, 0, 0), (0, 0, 1), 6), stone, label='ground')
BODY(solfec, 'RIGID', BOX((0, 0, 0.25), (1, 0.6, 0.5)), stone, label='lower box')
BODY(solfec, 'RIGID', BOX((0.2, 0, 0.75), (1, 0.6, 0.5)), stone, label='upper box')
ball = BODY(solfec, 'RIGID', SPHERE((-1.2, 0, 1), 0.3, 0, 0), stone, label='ball')
INITIAL_VELOCITY(ball, (4, 0, 0), (0, 0, 0))

OUTPUT(solfec, 0.01)  # a frame of results every 0.01 s
RUN(solfec, 1.0)

if solfec.mode == 'READ':  # a second run reads the results instead of computing them
    times, height = HISTORY(solfec, ('ball', (-1.2, 0, 1), 'CZ'), 0, 1)
    print('the ball ends at z = %.3f' % height[-1])
'''


def examples() -> dict[str, str]:
    """Paths of the examples by name: their path without the ending .py."""
    for folder in FOLDERS:
        if os.path.isdir(folder):
            break
    else:
        raise SolfecError("this installation has no examples")
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("out", "__pycache__"))
        for file in sorted(files):
            if file.endswith(".py"):
                path = os.path.join(place, file)
                found[os.path.relpath(path, folder)[:-3].replace(os.sep, "/")] = path
    return found


def title(path: str) -> str:
    """First sentence of the comment or docstring at the top of an input."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            text = line.strip().strip('#"\' ').strip()
            if text:
                return text.split(". ")[0].rstrip(".:")
    return ""


def command(words: list[str]) -> int:
    """Run `solfec examples`: list the examples, or copy some of them."""
    made = argparse.ArgumentParser(prog="solfec examples", description="Lists the examples, or copies those that are named into a directory.")
    made.add_argument("name", nargs="*", help="an example, or a folder of them: tutorial/press, mechanisms")
    made.add_argument("-o", metavar="DIR", default=".", help="directory to copy to (default: this one)")
    options = made.parse_args(words)
    known = examples()
    if not options.name:
        width = max(map(len, known))
        print("\n".join(f"{name:<{width}}  {title(path)}" for name, path in known.items()))
        return 0
    chosen: list[str] = []
    for name in options.name:
        name = name.removesuffix(".py").strip("/")
        found = [one for one in known if one == name or one.startswith(name + "/")] or [one for one in known if one.rpartition("/")[2] == name]
        if not found:
            raise SolfecError(f"there is no example {name!r}{did_you_mean(name, [*known, *(one.rpartition('/')[2] for one in known)])}")
        chosen += [one for one in found if one not in chosen]
    targets = {os.path.join(options.o, os.path.basename(known[name])): known[name] for name in chosen}
    if len(targets) < len(chosen):
        raise SolfecError("two of the examples have the same name; copy them one by one")
    _copy(targets)
    print("\n".join(targets))
    return 0


def new(words: list[str]) -> int:
    """Run `solfec new`: write a small input with comments."""
    made = argparse.ArgumentParser(prog="solfec new", description="Writes a small input with comments, to be changed into your model.")
    made.add_argument("file", nargs="?", default="model.py", help="file to write (default: model.py)")
    path = made.parse_args(words).file
    if not os.path.basename(path).removesuffix(".py").strip("."):
        raise SolfecError(f"{path!r} is no name of a file; write for example 'solfec new bridge'")
    path += "" if path.endswith(".py") else ".py"
    name = os.path.basename(path)
    _write_new(path, lambda: _text(path, NEW.format(name=name, stem=name[:-3])))
    print(path)
    return 0


def _copy(targets: dict[str, str]) -> None:
    """Copy files to new names; nothing is copied if one exists."""
    for target in targets:
        if os.path.lexists(target):
            raise SolfecError(f"{target} exists already; nothing was copied")
    for target, source in targets.items():
        _write_new(target, lambda target=target, source=source: shutil.copyfile(source, target))


def _text(path: str, text: str) -> None:
    with open(path, "x", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def _write_new(path: str, write) -> None:
    """Write a file that does not exist yet, and its directory."""
    if os.path.lexists(path):
        raise SolfecError(f"{path} exists already; choose another name")
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write()
    except OSError as error:
        if not isinstance(error, FileExistsError):
            with suppress(OSError):
                os.unlink(path)  # a part of it, which would be taken for the whole
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from error
