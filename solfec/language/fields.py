"""FIELD (docs/language-objects.md, FIELD): scalar fields that bulk materials may depend on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import checks
from .checks import BadType, BadValue, command
from .handles import Handle, simulation_of

if TYPE_CHECKING:
    from .model import SOLFEC


class FIELD(Handle):
    """A scalar field in space and time.

    Parameters
    ----------
    solfec : SOLFEC
    field_callback : callable
        ``field_callback(data..., x, y, z, t)`` returns the value at a point and time.  The misspelt keyword of Solfec-1.0,
        `filed_callback`, is accepted, too.
    label : str, optional
        Default 'FIELD_i'.  Re-using a label replaces the callback of that field.
    data
        First arguments of the callback, several when it is a tuple.
    """

    __slots__ = ()

    @command("FIELD", filed_callback="field_callback")
    def __init__(self, solfec: SOLFEC, field_callback: Callable[..., float], label: str | None = None, data: Any = None) -> None:
        simulation = simulation_of(solfec)
        function = checks.function(field_callback, "field_callback")
        fields = simulation.fields
        label = f"FIELD_{len(fields)}" if label is None else checks.string(label, "label")
        first = data if isinstance(data, tuple) else () if data is None else (data,)
        fields[label] = lambda x, y, z, t: function(*first, x, y, z, t)
        self._simulation = simulation
        self._id = label

    def __repr__(self):
        return f"FIELD(label={self.label!r})"

    @property
    def label(self) -> str:
        """Label."""
        return self._id


def field_labels(simulation, value, name: str) -> tuple[str, ...]:
    """Return labels of a list of FIELD objects or labels."""
    if not checks.is_sequence(value):
        raise BadType(f"'{name}' must be a list of FIELD objects or labels, not {checks.kind_of(value)}")
    labels = []
    for i, item in enumerate(value):
        if isinstance(item, FIELD):
            if item._simulation is not simulation:
                raise BadValue(f"'{name}[{i}]' {item.label!r} belongs to another SOLFEC object")
            labels.append(item.label)
        elif isinstance(item, str):
            if item not in simulation.fields:
                known = ", ".join(map(repr, simulation.fields)) or "none"
                raise BadType(f"'{name}[{i}]': there is no field labelled {item!r} (known labels: {known})")
            labels.append(item)
        else:
            raise BadType(f"'{name}[{i}]' must be a FIELD object or its label, not {checks.kind_of(item)}")
    return tuple(labels)
