"""XDMF_EXPORT, VTK_EXPORT, MED_EXPORT, SOLFEC_EXPORT and MBFCP_EXPORT: results and models for other programs (docs/language-running.md, Results access)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TypeAlias

from ..errors import SolfecError
from ..results import export, mbfcp, med, vtkhdf, xdmf
from ..results.aster import text_of
from ..results.med_model import med_model
from ..results.reader import ResultsReader
from ..results.scene import scene_of
from . import checks, session
from .bodies import BODY
from .checks import BadType, BadValue, command
from .handles import simulation_of
from .hints import Switch
from .model import SOLFEC
from .written import writes, writing

Times: TypeAlias = float | Sequence[float]  # a tuple (t0, t1) is an interval
Subset: TypeAlias = str | int | BODY | Sequence | None
DEFAULT_ATTRIBUTES = ("DISP", "VELO", "REAC", "GAP")


@command("XDMF_EXPORT")
@writes
def XDMF_EXPORT(solfec: SOLFEC, time: Times, path: str, subset: Subset = None, attributes: Sequence[str] | None = None) -> None:
    """Write results as XDMF with an HDF5 file (docs/language-running.md, XDMF_EXPORT).

    Parameters
    ----------
    solfec : SOLFEC
        In WRITE mode its present state is written, and `time` is ignored.
    time : float, list of float or tuple (t0, t1)
        The nearest frames, or all within the interval.
    path : str
        Directory D, made when needed, of D/name_grids.xmf, _spheres.xmf, _constraints.xmf and D/name.h5.
    subset : str, BODY, int, tuple of six numbers, or list of these
        Bodies by label (a POSIX basic regular expression), as they are, by identifier, or by a box that they overlap at
        the first frame.  All bodies by default.
    attributes : list of str
        'DISP', 'VELO', 'STRESS' of bodies, 'REAC', 'RELV', 'GAP', 'DAMAGE' of constraints; by default all but 'STRESS', 'RELV' and 'DAMAGE'.
    """
    attributes = _attributes(attributes)
    simulation, time, path = _arguments(solfec, time, path)
    with writing(path):
        xdmf.write(path, _scenes(simulation, time, subset), attributes, _labels(simulation))


@command("VTK_EXPORT")
@writes
def VTK_EXPORT(solfec: SOLFEC, time: Times, path: str, subset: Subset = None, attributes: Sequence[str] | None = None) -> None:
    """Write results as one VTKHDF file, which ParaView and PyVista open.  Not in Solfec-1.0.

    Parameters
    ----------
    solfec, time, subset, attributes
        See XDMF_EXPORT.
    path : str
        File path; '.vtkhdf' is appended unless it ends so.
    """
    attributes = _attributes(attributes)
    simulation, time, path = _arguments(solfec, time, path, ".vtkhdf")
    with writing(path):
        vtkhdf.write(path, _scenes(simulation, time, subset), attributes)


@command("MED_EXPORT")
@writes
def MED_EXPORT(
    solfec: SOLFEC, time: Times, path: str, subset: Subset = None, attributes: Sequence[str] | None = None, aster: Switch = "OFF"
) -> None:
    """Write meshes with groups and results as a MED file, which Salome and Code_Aster read.  Not in Solfec-1.0; needs the package medcoupling.

    Parameters
    ----------
    solfec, time, subset
        See XDMF_EXPORT.
    path : str
        File path; '.med' is appended unless it ends so.
    attributes : list of str
        'DISP', 'VELO', 'STRESS'; by default the first two.
    aster : 'ON' or 'OFF'
        'ON' writes a template of a Code_Aster command file beside it, which ends in '.comm'.
    """
    attributes = _attributes(attributes, ("DISP", "VELO"), tuple(med.ATTRIBUTES))
    template = checks.switch(aster, "aster")
    simulation, time, path = _arguments(solfec, time, path, ".med")
    try:
        with writing(path):
            files = med.write(path, _scenes(simulation, time, subset, med_model), attributes)
    except SolfecError as error:
        raise BadValue(str(error)) from None
    if len(files) > 1:
        session.warn(f"MED_EXPORT: bodies come, go or break, so results are in {len(files)} files: {', '.join(files)}")
    if template:
        simulation.load_first()
        comm = path.removesuffix(".med") + ".comm"
        with writing(comm), open(comm, "w", encoding="utf-8") as file:
            file.write(text_of(simulation.domain, path))


@command("SOLFEC_EXPORT")
@writes
def SOLFEC_EXPORT(solfec: SOLFEC, time: Times, path: str, subset: Subset = None) -> None:
    """Write some frames as separate results, with the input file; `solfec` accepts the directory (docs/language-running.md, SOLFEC_EXPORT).

    Parameters
    ----------
    solfec, time, subset
        See XDMF_EXPORT.  Constraints of exported bodies are exported, too.
    path : str
        Output directory.

    Notes
    -----
    Figures of the solver are not copied.
    """
    simulation, time, path = _arguments(solfec, time, path)
    with writing(path), _reader(simulation) as reader:
        numbers = _frames(reader, simulation, time)
        export.write_results(reader, numbers, path, _subset(subset, simulation, reader))


@command("MBFCP_EXPORT")
@writes
def MBFCP_EXPORT(solfec: SOLFEC, path: str) -> None:
    """Write the model as text in the MBFCP format (docs/language-running.md, MBFCP_EXPORT).

    Parameters
    ----------
    solfec : SOLFEC
    path : str
        File path.
    """
    simulation, path = simulation_of(solfec), checks.path(path, "path")
    simulation.load_first()
    text = mbfcp.text_of(simulation.domain)
    with writing(path), open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _arguments(solfec, time, path, ending: str = ""):
    """Check what all exports of frames take; a path that does not end in `ending` gets it."""
    simulation, time, path = simulation_of(solfec), _time(time), checks.path(path, "path")
    return simulation, time, path if path.endswith(ending) else path + ending


def _time(time):
    if isinstance(time, tuple):
        if len(time) != 2:
            raise BadValue(f"'time' must be a number, a list of numbers or an interval (t0, t1); the tuple has {len(time)} items")
        start, end = (checks.number(t, "time") for t in time)
        if end < start:
            raise BadValue(f"'time' must be an interval (t0, t1) with t0 <= t1, not ({start:g}, {end:g})")
        return start, end
    if isinstance(time, list):
        if not time:
            raise BadValue("'time' must hold at least one number")
        return [checks.number(t, "time") for t in time]
    return checks.number(time, "time")


def _attributes(attributes, default=DEFAULT_ATTRIBUTES, known=xdmf.ATTRIBUTES) -> list[str]:
    if attributes is None:
        return list(default)
    if not isinstance(attributes, list):
        raise BadValue(f"'attributes' must be a list of names out of {', '.join(known)}, not {checks.kind_of(attributes)}")
    return [checks.choice(name, "attributes", known) for name in attributes]


@contextmanager
def _reader(simulation) -> Iterator[ResultsReader]:
    """Yield the results of a run in READ mode, or of the present frame of a run in WRITE mode."""
    if simulation.mode == "READ":
        yield simulation.reader
        return
    simulation.domain.states.update_shapes()
    with TemporaryDirectory() as directory:
        text, arguments = simulation.input
        with export.present_results(simulation.domain, text, arguments, directory) as reader:
            yield reader


def _frames(reader: ResultsReader, simulation, time) -> list[int]:
    if simulation.mode == "WRITE":
        return [0]
    try:
        return export.frames(reader, time)
    except ValueError as error:
        raise BadValue(f"'time': {error}") from None


def _labels(simulation) -> dict[int, str]:
    return simulation.domain.body_labels if simulation.mode == "WRITE" else simulation.reader.labels


def _scenes(simulation, time, subset, make=scene_of) -> Iterator:
    """Return what `make` returns of every frame to export."""
    if simulation.mode == "WRITE":
        simulation.domain.states.update_shapes()
        return iter([make(simulation.domain, _subset(subset, simulation, None))])
    reader = simulation.reader
    chosen = _subset(subset, simulation, reader)
    return export.stored_scenes(reader, _frames(reader, simulation, time), chosen, make, simulation.domain.body_meshes)


def _subset(subset, simulation, reader: ResultsReader | None) -> set[int] | None:
    """Return identifiers of the bodies to export; None: all."""
    if subset is None:
        return None
    items = [_item(item, simulation) for item in (subset if isinstance(subset, list) else [subset])]
    if not items:
        raise BadValue("'subset' must hold at least one item")
    domain = simulation.domain
    if simulation.mode == "READ":
        known = reader.table("model/shapes")["body"].tolist()
        if any(isinstance(item, tuple) for item in items):
            domain = export.first_domain(reader)
    else:
        known = domain.bodies.view("id").tolist()
    try:
        return export.chosen(items, _labels(simulation), domain, known)
    except ValueError as error:
        raise BadValue(f"'subset': {error}") from None


def _item(item, simulation):
    if isinstance(item, BODY):
        if item._simulation is not simulation:
            raise BadValue("'subset' holds a BODY object of another SOLFEC object")
        return item._id
    if isinstance(item, tuple):
        return checks.vector(item, "subset", 6)
    if isinstance(item, str):
        return item
    if isinstance(item, bool) or not isinstance(item, int):
        raise BadType(f"'subset' must hold labels, BODY objects, identifiers or boxes of six numbers, not {checks.kind_of(item)}")
    return checks.identifier(item, "subset")
