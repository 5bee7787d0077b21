"""Stored states of bodies as the initial states of others (docs/language-running.md, INITIALIZE_STATE, RIGID_TO_FEM)."""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyKind
from ..errors import SolfecError
from .meshes import stored_elements

STIFF = (BodyKind.OBSTACLE, BodyKind.RIGID)


def initialise(reader, domain, number: int, chosen=None, rigid_to_elements: bool = False) -> list[int]:
    """Set bodies to the configurations, velocities and energies of a frame of other results.

    Time, constraints and reactions of the domain stay as they are.

    Parameters
    ----------
    reader : ResultsReader
        Of the other results.
    domain : Domain
    number : int
        Frame.
    chosen : callable, optional
        Bodies for whose labels ``chosen(label)`` is true are matched by label; without it all are matched by identifier.
    rigid_to_elements : bool
        Whether finite element bodies take states of rigid ones.

    Returns
    -------
    list of int
        Identifiers of the bodies that were initialised.

    Raises
    ------
    SolfecError
        Bodies of different kinds, sizes or elements.
    """
    frame = reader.frame(number)
    defined = reader.table("model/bodies")[frame.listed["definition"]]
    stored = {int(identifier): k for k, identifier in enumerate(frame.listed["id"])}
    if chosen is not None:
        by_label = {}
        for identifier, label in sorted(reader.labels.items()):
            if identifier in stored:
                by_label.setdefault(label, stored[identifier])
    matched, elements_of = [], stored_elements(reader)
    for identifier in domain.bodies.view("id").tolist():
        if chosen is None:
            k = stored.get(identifier)
        else:
            label = domain.body_labels.get(identifier, "")
            k = by_label.get(label) if label and chosen(label) else None
        if k is not None:
            _assign(reader, domain, identifier, frame, defined[k], k, elements_of, rigid_to_elements)
            matched.append(identifier)
    domain.states.update_shapes()
    return matched


def _assign(reader, domain, identifier: int, frame, defined: np.void, k: int, elements_of, rigid_to_elements: bool) -> None:
    """Set the state of body `identifier` to that of the k-th body of a frame."""
    bodies, row = domain.bodies, domain.body_row(identifier)
    here, there = BodyKind(int(bodies.kind[row])), BodyKind(int(defined["kind"]))
    conf, velo = (
        table[first[k] : _end(first, k, len(table))]
        for table, first in ((frame.configurations, frame.listed["conf_first"]), (frame.velocities, frame.listed["velo_first"]))
    )
    if here == BodyKind.FINITE_ELEMENT and there in STIFF and rigid_to_elements:
        domain.states.move_rigidly(identifier, conf[:3].T, conf[3], velo[0], velo[1], defined["centre"])
        return
    name, other = bodies.name(identifier), f"body {int(defined['id'])} in {reader.file}"
    if here != there and not (here in STIFF and there in STIFF):
        raise SolfecError(f"{name} is {here.name}, the state of {other} is {there.name}")
    if here == BodyKind.FINITE_ELEMENT:
        for what, column in (("nodes", "node_count"), ("modes", "mode_count")):
            if getattr(bodies, column)[row] != defined[column]:
                raise SolfecError(
                    f"{name} has {getattr(bodies, column)[row]} {what}, {other} has {defined[column]}"
                )
        mesh, elements = bodies.meshes[identifier], elements_of(int(defined["id"]))
        if not (np.array_equal(mesh.sizes, elements["size"]) and np.array_equal(mesh.elements, elements["node"])):
            raise SolfecError(f"{name} and {other} have as many nodes, but not the same elements; a state is of one mesh")
    domain.states.set_state(identifier, conf, velo, frame.bodies["energy"][k])


def _end(first: np.ndarray, k: int, total: int) -> int:
    """Return the end of the rows of the k-th body; `first` holds the beginnings of all."""
    later = first[first > first[k]]
    return int(later.min()) if later.size else total
