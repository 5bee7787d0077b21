"""Base of the user's objects: handles of (simulation, identifier).

State lives in the tables of the domain; BODY, CONSTRAINT, materials and SOLFEC itself are thin handles.
"""

from __future__ import annotations

from ..errors import SolfecError
from ..simulation import Simulation
from . import checks
from .checks import Members, put


class Handle(Members):
    """Handle of an object of one simulation; two handles of one object are equal.

    Attributes
    ----------
    _simulation : Simulation
    _id : int
        Identifier, or row of a table whose rows never move.
    """

    __slots__ = ("_simulation", "_id", "__weakref__")
    _names = ""  # whether `_id` is the identifier of a 'body', or of a 'constraint'

    @classmethod
    def _of(cls, simulation: Simulation, identifier: int = 0):
        """Make the handle of an existing object, without the command that creates objects."""
        handle = object.__new__(cls)
        handle._become(simulation, identifier)
        return handle

    def _become(self, simulation: Simulation, identifier: int) -> None:
        """Be the handle of an object from now on."""
        put(self, "_simulation", simulation)
        put(self, "_id", identifier)
        if self._names:
            simulation.spreading.note(self)

    def _refuse_if_elsewhere(self, what: str) -> None:
        simulation = getattr(self, "_simulation", None)  # None while a command makes the object
        if simulation is not None and simulation.runs_elsewhere:
            raise SolfecError(f"{what}: another thread runs this model; change it before or after RUN, or from its CALLBACK")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo: dict):
        self._refuse_to_be("copied")

    def __reduce_ex__(self, protocol):
        self._refuse_to_be("pickled")

    def _refuse_to_be(self, what: str) -> None:
        """Raise an error: models have files, and functions of users."""
        raise SolfecError(f"a {type(self).__name__} cannot be {what}, since it refers to its model; make the model again from its input, or load a frame of its results")

    def __eq__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._simulation is other._simulation and self._id == other._id

    def __hash__(self):
        return hash((type(self).__name__, id(self._simulation), self._id))


class Model(Handle):
    """Base of SOLFEC: commands get the simulation from their first argument."""

    __slots__ = ()


def simulation_of(solfec, name: str = "solfec") -> Simulation:
    """Return the simulation of a SOLFEC argument."""
    return checks.instance(solfec, name, Model, "SOLFEC")._simulation
