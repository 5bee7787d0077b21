"""Stored states of bodies as the initial states of others (manual, INITIALIZE_STATE and RIGID_TO_FEM)."""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyKind
from ..errors import SolfecError

STIFF = (BodyKind.OBSTACLE, BodyKind.RIGID)


def initialise(reader, domain, number: int, chosen=None, rigid_to_elements: bool = False) -> list[int]:
    """Give bodies the configurations, velocities and energies that a frame of other results holds.

    Time, constraints and reactions of the domain stay as they are.

    Parameters
    ----------
    reader : ResultsReader
        Of the other results.
    domain : Domain
    number : int
        Frame.
    chosen : callable, optional
        ``chosen(label)``: bodies whose labels it takes are matched by label; all are matched by identifier without it.
    rigid_to_elements : bool
        Whether finite element bodies take states of rigid ones.

    Returns
    -------
    list of int
        Identifiers of the bodies that were initialised.

    Raises
    ------
    SolfecError
        Bodies of different kinds or sizes.
    """
    frame = reader.frame(number)
    defined = reader.table("model/bodies")[frame.listed["definition"]]
    stored = {int(identifier): k for k, identifier in enumerate(frame.listed["id"])}
    if chosen is not None:
        by_label = {}
        for identifier, label in sorted(reader.labels.items()):
            if identifier in stored:
                by_label.setdefault(label, stored[identifier])
    matched = []
    for identifier in domain.bodies.view("id").tolist():
        if chosen is None:
            k = stored.get(identifier)
        else:
            label = domain.body_labels.get(identifier, "")
            k = by_label.get(label) if label and chosen(label) else None
        if k is not None:
            _assign(reader, domain, identifier, frame, defined[k], k, rigid_to_elements)
            matched.append(identifier)
    domain.update_shapes()
    return matched


def _assign(reader, domain, identifier: int, frame, defined: np.void, k: int, rigid_to_elements: bool) -> None:
    """The state of body `identifier` from that of the k-th body of a frame."""
    row = domain.body_row(identifier)
    here, there = BodyKind(int(domain.bodies.kind[row])), BodyKind(int(defined["kind"]))
    if here == BodyKind.FINITE_ELEMENT and there in STIFF and rigid_to_elements:
        conf, velo = _triples(frame, k, 4, 2)
        nodes = domain.bodies.meshes[identifier].nodes
        rotation, arm = conf[:3].T, nodes - defined["centre"]
        domain.set_conf(identifier, conf[3] + arm @ rotation.T - nodes)
        domain.set_velo(identifier, velo[1] + np.cross(velo[0], arm) @ rotation.T)
        return
    if here != there and not (here in STIFF and there in STIFF):
        raise SolfecError(f"body {identifier} is {here.name}, the state of body {int(defined['id'])} in {reader.file} is {there.name}")
    sizes = (domain.conf(identifier).size // 3, domain.velo(identifier).size // 3)
    if here == BodyKind.FINITE_ELEMENT and _nodes(frame, k) != sizes[0]:
        raise SolfecError(
            f"body {identifier} has {sizes[0]} nodes, body {int(defined['id'])} in {reader.file} has {_nodes(frame, k)}"
        )
    conf, velo = _triples(frame, k, *sizes)
    domain.set_conf(identifier, conf)
    domain.set_velo(identifier, velo)
    domain.bodies.energy[:, row] = frame.bodies["energy"][k]


def _triples(frame, k: int, conf_count: int, velo_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Configuration and velocity of the k-th body of a frame."""
    conf, velo = int(frame.listed["conf_first"][k]), int(frame.listed["velo_first"][k])
    return frame.configurations[conf : conf + conf_count], frame.velocities[velo : velo + velo_count]


def _nodes(frame, k: int) -> int:
    """Number of configuration triples of the k-th body of a frame."""
    starts = np.append(frame.listed["conf_first"], len(frame.configurations))
    return int(starts[starts > starts[k]].min() - starts[k])
