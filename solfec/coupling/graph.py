"""The graph of a model: nodes are dynamical systems, edges are interactions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import installed
from ..errors import SolfecError
from ..kinds import ConstraintKind, SurfaceModel
from .buffer import Buffer
from .roles import MechanicalModel, Simulation

SPACE = 0  # the node of what does not move, at which constraints of one body end
NO_NETWORKX = "the view of a graph needs the package networkx, which is not installed: python -m pip install networkx"


@dataclass
class DynamicalSystem:
    """Node of the graph: a body.

    Attributes
    ----------
    number : int
    kind : str
        Such as 'RIGID'.
    degrees_of_freedom : int
        Size of the velocity.
    model : MechanicalModel
        Has `q`, `v`, `force` and `inverse_mass`.
    """

    number: int
    kind: str
    degrees_of_freedom: int
    model: MechanicalModel


@dataclass
class Interaction:
    """Edge of the graph: a contact or another constraint between two bodies; vectors are spatial.

    Attributes
    ----------
    number : int
    kind : str
        'CONTACT' or the kind of another constraint.
    bodies : tuple of int
        The reaction acts on the first one, and reversed on the second one; 0: space.
    point : ndarray (3,)
    frame : ndarray (3, 3)
        Columns: tangents t1, t2 and the normal, which points towards the first body.
    gap, friction : float
        Friction is NaN where there is no contact.
    law : str
        Surface model of a contact, such as 'SIGNORINI_COULOMB'; otherwise the kind.
    reaction : ndarray (3,)
    """

    number: int
    kind: str
    bodies: tuple[int, int]
    point: np.ndarray
    frame: np.ndarray
    gap: float
    friction: float
    law: str
    reaction: np.ndarray


@dataclass
class Graph:
    """Dynamical systems and interactions of a model at one time.

    Attributes
    ----------
    time : float
    systems : dict of int to DynamicalSystem
        By number.
    interactions : list of Interaction
        In the order of the model: the user's constraints, then contacts.
    """

    time: float
    systems: dict[int, DynamicalSystem]
    interactions: list[Interaction]

    def neighbours(self, number: int) -> set[int]:
        """Return the numbers of the systems that interact with one."""
        if number not in self.systems and number != SPACE:
            raise SolfecError(f"the graph has no dynamical system {number}")
        pairs = [edge.bodies for edge in self.interactions if number in edge.bodies]
        return {one for pair in pairs for one in pair} - {number}

    def networkx(self):
        """Return a `networkx.MultiGraph`; nodes and edges have the attributes of this graph's ones.

        Raises
        ------
        SolfecError
            networkx is not installed.
        """
        try:
            library = installed.load("networkx")
        except ImportError:
            raise SolfecError(NO_NETWORKX) from None
        made = library.MultiGraph(time=self.time)
        made.add_nodes_from((number, vars(system)) for number, system in self.systems.items())
        made.add_edges_from((*edge.bodies, edge.number, vars(edge)) for edge in self.interactions)
        return made


def graph_of(simulation: Simulation) -> Graph:
    """Return the graph of a simulation of our own model."""
    domain, buffer = simulation.domain, Buffer()
    simulation.modeler.pull(buffer)
    simulation.handler.pull(buffer)
    systems = {
        one.number: DynamicalSystem(one.number, one.model.kind, int(one.model.v.size), one.model) for one in simulation.modeler.objects
    }
    table, found = domain.constraints, buffer.interactions
    kinds = [ConstraintKind(int(kind)).name for kind in table.view("kind")]
    models = [SurfaceModel(int(model)).name for model in domain.surface_materials.model[table.view("material")]]
    edges = [
        Interaction(
            int(found.id[k]), kinds[k], (int(found.bodies[k, 0]), int(found.bodies[k, 1])), found.point[k], table.base[..., k].copy(),
            float(found.gap[k]), float(found.friction[k]), models[k] if found.contact[k] else kinds[k], found.reaction[k],
        )
        for k in range(table.n)
    ]  # fmt: skip
    return Graph(buffer.time, systems, edges)
