"""`solfec export`: results as files of other programs, without the input (docs/running.md, Export)."""

from __future__ import annotations

import argparse
import os

import numpy as np

from ..errors import SolfecError
from ..results import csv_files, export, gltf, vtkhdf, xdmf
from ..results.reader import ResultsReader

HELP = """\
Writes results as files of other programs. Nothing in the directory of the results is executed.

  solfec export out/arch --vtkhdf                     out/arch/arch.vtkhdf, for ParaView and PyVista
  solfec export out/arch --gltf -o arch.glb --every 2  for browsers, Blender and slides
  solfec export out/arch --csv -o tables --from 0.5   frames.csv, bodies.csv, constraints.csv
"""
FORMATS = {
    "vtkhdf": (".vtkhdf", "one file for ParaView and PyVista"),
    "xdmf": ("-xdmf", "a directory of XDMF files with one HDF5 file"),
    "csv": ("-csv", "a directory with frames.csv, bodies.csv, constraints.csv"),
    "gltf": (".glb", "one animated file for browsers, Blender and slides"),
}
DEFAULT = ("DISP", "VELO", "REAC", "GAP")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the words after `solfec export`."""
    made = argparse.ArgumentParser(prog="solfec export", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("path", help="output directory or results file")
    kinds = made.add_mutually_exclusive_group(required=True)
    for name, (_, text) in FORMATS.items():
        kinds.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=text)
    made.add_argument("-o", metavar="PATH", help="file or directory to write (default: beside the results, with their name)")
    made.add_argument("--from", dest="start", type=float, metavar="T", help="first time")
    made.add_argument("--to", dest="end", type=float, metavar="T", help="last time")
    made.add_argument("--every", type=int, default=1, metavar="N", help="every N-th frame")
    made.add_argument("--bodies", action="append", metavar="LABEL", help="bodies whose label holds a regular expression, or a body by number; may be given again")
    made.add_argument("--attributes", metavar="LIST", help=f"of --vtkhdf and --xdmf: some of {','.join(xdmf.ATTRIBUTES)} (default: {','.join(DEFAULT)})")
    return made


def command(words: list[str]) -> int:
    """Run `solfec export`; print the paths of the files."""
    made = parser()
    options = made.parse_args(words)
    if options.every < 1:
        made.error("--every needs a positive number")
    attributes = list(DEFAULT) if options.attributes is None else options.attributes.upper().split(",")
    if options.attributes is not None and options.format not in ("vtkhdf", "xdmf"):
        made.error("--attributes is for --vtkhdf and --xdmf")
    if unknown := [name for name in attributes if name not in xdmf.ATTRIBUTES]:
        made.error(f"--attributes: {unknown[0]!r} is none of {', '.join(xdmf.ATTRIBUTES)}")
    with ResultsReader(options.path) as reader:
        print("\n".join(write(reader, options, attributes)))
    return 0


def write(reader: ResultsReader, options: argparse.Namespace, attributes: list[str]) -> list[str]:
    """Write what the options of `parser` name; return the paths."""
    numbers = frames(reader, options.start, options.end, options.every)
    subset = None if options.bodies is None else bodies(reader, options.bodies)
    ending = FORMATS[options.format][0]
    path = options.o or os.path.splitext(reader.file)[0] + ending
    if ending.startswith(".") and not path.endswith(ending):
        path += ending
    folder = os.path.dirname(path) if ending.startswith(".") else path
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise SolfecError(f"-o {options.o}: {folder} is a file, and --{options.format} needs a directory of this name")
    try:
        os.makedirs(folder or ".", exist_ok=True)
        with np.errstate(over="raise", invalid="raise"):
            return written(path, reader, numbers, subset, attributes, options.format)
    except FloatingPointError as error:
        raise SolfecError(f"{reader.file}: it holds numbers out of all bounds ({error}), the file seems damaged") from error
    except OSError as error:
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from error


def written(path: str, reader: ResultsReader, numbers: list[int], subset: set[int] | None, attributes: list[str], kind: str) -> list[str]:
    """Write frames in one of FORMATS; return the paths."""
    if kind == "csv":
        return csv_files.write(path, reader, numbers, subset)
    if kind == "xdmf":
        return xdmf.write(path, export.stored_scenes(reader, numbers, subset), attributes, reader.labels)
    if kind == "vtkhdf":
        vtkhdf.write(path, export.stored_scenes(reader, numbers, subset), attributes)
    else:
        gltf.write(path, reader, numbers, subset)
    return [path]


def frames(reader: ResultsReader, start: float | None, end: float | None, every: int) -> list[int]:
    """Numbers of every N-th frame between two times."""
    if not len(reader.times):
        raise SolfecError(f"{reader.file}: the results hold no frames")
    interval = (float(reader.times[0]) if start is None else start, float(reader.times[-1]) if end is None else end)
    return export.frames(reader, interval)[::every]


def bodies(reader: ResultsReader, words: list[str]) -> set[int]:
    """Identifiers of bodies by number or label."""
    known = reader.table("model/bodies")["id"].tolist()
    return export.chosen((int(word) if word.isdecimal() else word for word in words), reader.labels, None, known)
