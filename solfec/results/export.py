"""Selection of frames and bodies for exports, and exports as separate results (docs/language-running.md, SOLFEC_EXPORT)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..domain import Domain
from ..errors import SolfecError
from ..kinds import Energy
from ..patterns import compiled
from .reader import ResultsReader
from .scene import scene_of
from .writer import ResultsWriter


def frames(reader: ResultsReader, time) -> list[int]:
    """Return the frames nearest to a time or to each of a list of times, or those in an interval (t0, t1), ends included.

    Raises
    ------
    ValueError
        There is no frame in the interval.
    """
    if not isinstance(time, tuple):
        moments = time if isinstance(time, list) else [time]
        return sorted({reader.nearest(float(moment)) for moment in moments})
    start, end = time
    slack = 1e-9 * max(1.0, abs(start), abs(end))
    found = np.flatnonzero((reader.times >= start - slack) & (reader.times <= end + slack))
    if not found.size:
        raise ValueError(f"there is no frame between {start:g} and {end:g}; the results reach from "
                         f"{reader.times[0]:g} to {reader.times[-1]:g}")  # fmt: skip
    return found.tolist()


def chosen(items: Iterable, labels: dict[int, str], domain, known: Iterable[int]) -> set[int]:
    """Identifiers of bodies that a subset lists.

    Parameters
    ----------
    items : iterable
        Identifiers, POSIX basic regular expressions to be searched for in labels, boxes of six numbers that extents of bodies overlap.
    labels : dict
        Of all bodies.
    domain : Domain
        With the bodies at the first frame, for boxes.
    known : iterable of int
        Identifiers of all bodies.

    Raises
    ------
    ValueError
        An item that no body matches.
    """
    known, result = set(known), set()
    for item in items:
        if isinstance(item, str):
            pattern = compiled(item)
            found = {identifier for identifier, label in labels.items() if pattern.search(label)}
        elif isinstance(item, int):
            found = {item} & known
        else:
            box = domain.bodies.view("extents")
            low, high = np.reshape(item, (2, 3))
            touched = (box[:3] <= high[:, None]).all(0) & (box[3:] >= low[:, None]).all(0)
            found = set(domain.bodies.view("id")[touched].tolist())
        if not found & known:
            raise ValueError(f"{item!r} matches no body")
        result |= found & known
    return result


def stored_scenes(reader: ResultsReader, numbers: list[int], subset: set[int] | None, make: Callable = scene_of, meshes: dict | None = None) -> Iterator:
    """Yield what `make` returns of some frames (`scene_of`, `med_model`), from a domain of their own.

    `meshes` are those of shapes that do not deform, by body, as far as the input has made them: results do not hold them.
    """
    domain = empty_domain(reader)
    domain.body_meshes.update(meshes or {})
    for number in numbers:
        reader.load(domain, number)
        yield make(domain, subset)


def write_results(reader: ResultsReader, numbers: list[int], path: str, subset: set[int] | None) -> None:
    """Write some frames, with all bodies or a subset, as separate results with a copy of the input file.

    Of contacts and friction results hold the works on each body, and once for the whole model, but not those of each contact.  If bodies
    are left out, the energies of the model are the sums over the others, as those of a list of bodies.

    Raises
    ------
    SolfecError
        The directory is that of the results, or it cannot be written.
    """
    if os.path.realpath(path) == os.path.realpath(os.path.dirname(reader.file)):
        raise SolfecError(f"{path} holds the results that are to be exported")
    domain, seen = empty_domain(reader), set()
    partial = subset is not None and not subset.issuperset(reader.table("model/shapes")["body"].tolist())
    with ResultsWriter.create(path, reader.input_text, reader.arguments) as writer:
        for number in numbers:
            reader.load(domain, number)
            if partial:
                _leave_out(domain, subset, seen)
            writer.write_frame(domain)


def _leave_out(domain, subset: set[int], seen: set[int]) -> None:
    """Remove bodies that are not in a subset from a frame and its figures; `seen` collects the others, of which those that are gone count as deleted."""
    ids = domain.bodies.view("id").tolist()
    for identifier in ids:
        if identifier not in subset:
            domain.delete_body(identifier)
    domain.contact_energy, domain.friction_energy = domain.bodies.view("energy")[[Energy.CONTACT, Energy.FRICTION]].sum(axis=1).tolist()
    seen |= subset.intersection(ids)
    domain.deleted_bodies = len(seen.difference(ids))


def present_results(domain, input_text: str, arguments: list[str], directory: str) -> ResultsReader:
    """Results in `directory` whose only frame is the present state of a domain."""
    with ResultsWriter.create(directory, input_text, arguments) as writer:
        writer.write_frame(domain)
    return ResultsReader(directory)


def first_domain(reader: ResultsReader) -> Domain:
    """Make a new domain at the first frame, with extents of bodies."""
    domain = empty_domain(reader)
    reader.load(domain, 0)
    domain.states.update_shapes()
    return domain


def empty_domain(reader: ResultsReader) -> Domain:
    """Make a domain without bodies that can load frames of results."""
    epsilon = reader.read(lambda file: float(file["model"].attrs["epsilon"]))
    return Domain(float(reader.steps["step"][0]), epsilon, reader.dynamic)


