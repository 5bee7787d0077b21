"""OUTPUT, and the paths of output files."""

from __future__ import annotations

import os

import numpy as np

from ..language import checks, session
from ..language.checks import BadValue, command
from . import arguments, med_files
from .files import FORMATS, Writer
from .model import ENTITIES, MODES, Model, OutputSet, current


@command("OUTPUT")
def OUTPUT(
    entities: list[str] | None = None,
    subset: int | list[int] | None = None,
    mode: str | list[str] | None = None,
    format: str | list[str] | None = None,
) -> None:
    """Choose the contents of output files.

    Parameters
    ----------
    entities : list of str, optional
        Names of values; default: all.
    subset : int or list of int, optional
        Particles with separate files; by default the call applies to all particles that are in no subset.
    mode : str or list of str, optional
        'SPH' spheres, 'MESH' triangles, 'RB' mass centres, 'CD' contacts, 'SL' springs, 'ST' torsion springs, 'JT' joints; default: all.
    format : str or list of str, optional
        'XDMF' (default), 'VTK', 'DUMP', 'MED' (with the package medcoupling), 'HDF5' (results that `parmec -c` goes on from and `solfec info` reads); it holds for all files.
    """
    model = current()
    one = OutputSet()
    if entities is not None:
        one.entities = words(entities, "entities", ENTITIES)
        if "AREA" in one.entities:
            session.warn("OUTPUT: files have no AREA, since contacts of spheres have none; Parmec wrote none either")
    if mode is not None:
        one.modes = words(mode, "mode", MODES)
    formats = None if format is None else words(format, "format", FORMATS)
    if formats and "MED" in formats and not med_files.is_there():
        raise BadValue("'format' MED needs the package medcoupling (pip install medcoupling), which is not installed")
    if subset is not None:
        items = checks.sequence(subset, "subset") if checks.is_sequence(subset) else [subset]
        one.particles = np.unique([arguments.particle(model, item, "subset") for item in items]).astype(np.int64)
        taken = [other.particles for other in model.output_sets[1:]]
        again = np.intersect1d(one.particles, np.concatenate(taken)) if taken else []
        if len(again):
            raise BadValue(f"'subset': particle {again[0]} belongs to an earlier subset")
        model.output_sets.append(one)
    else:
        model.output_sets[0] = one
    if formats is not None:
        model.output_formats = formats


def words(value, name: str, known) -> tuple[str, ...]:
    """Check one word, or a list of words, against the known ones."""
    items = [value] if isinstance(value, str) else checks.sequence(value, name)
    return tuple(dict.fromkeys(checks.choice(item, name, tuple(known)) for item in items))


def writer(model: Model, prefix: str | None) -> Writer:
    """Return the writer of a model's files, which are beside the input, with its name."""
    if model.writer is None or prefix is not None:
        if model.writer is not None:
            raise BadValue("'prefix' can be given before the first step only")
        model.writer = Writer(model, stem(prefix))
    return model.writer


def stem(prefix: str | None) -> str:
    """Return the path of output files without their endings."""
    path = session.current().input_path
    if path is None or not session.is_users(path):  # at a prompt, or in another program
        path = os.path.join(os.getcwd(), "parmec.py")
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(folder, name.removesuffix(".py") if prefix is None else prefix)
