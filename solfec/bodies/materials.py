"""Bulk materials (docs/language-objects.md, BULK_MATERIAL; Solfec-1.0's `mat`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import NotBuiltYet
from ..kinds import Law

MODELS = (Law.KIRCHHOFF.name, Law.NEO_HOOKEAN.name)


@dataclass(eq=False)
class BulkMaterial:
    """Material of the volume of a body.

    Parameters
    ----------
    model : str
        'KIRCHHOFF', the St Venant-Kirchhoff material, or 'NEO_HOOKEAN', a compressible Neo-Hookean one.
    label : str
        The user's name of the material.
    young : float
        Young's modulus [pressure], not negative.
    poisson : float
        Poisson's ratio, at least 0 and below 0.5; 0.5 itself, an incompressible material, is for rigid bodies and obstacles only.
    density : float
        Mass density, not negative.
    tensile : float
        Tensile strength [pressure].
    fracene : float
        Fracture energy per volume.
    fields : tuple of str
        Labels of the fields that the model depends on; 'KIRCHHOFF' depends on none.

    Raises
    ------
    ValueError
        Unknown model or a number out of its range.
    NotBuiltYet
        Model 'TSANG_MARSDEN'.
    """

    model: str = "KIRCHHOFF"
    label: str = "BULK_MATERIAL"
    young: float = 1e9
    poisson: float = 0.25
    density: float = 1e3
    tensile: float = math.inf
    fracene: float = math.inf
    fields: tuple[str, ...] = ()

    def __post_init__(self):
        if self.model == "TSANG_MARSDEN":
            raise NotBuiltYet(f"bulk material model 'TSANG_MARSDEN' is not built yet; use {MODELS}")
        if self.model not in MODELS:
            raise ValueError(f"unknown bulk material model {self.model!r}; use one of {MODELS}")
        for name in ("young", "poisson", "density", "tensile", "fracene"):
            value = getattr(self, name)
            if not value >= 0.0:
                raise ValueError(f"{name} of a bulk material is {value}; it must not be negative")
        for name in ("young", "density"):
            if math.isinf(getattr(self, name)):
                raise ValueError(f"{name} of a bulk material must be finite")
        if not self.poisson <= 0.5:
            raise ValueError(f"poisson of a bulk material is {self.poisson}; it must be below 0.5")

    @property
    def law(self) -> Law:
        """Number of the model."""
        return Law[self.model]

    @property
    def incompressible(self) -> bool:
        """Whether the material is incompressible: no deformable body can have it."""
        return self.poisson == 0.5

    @property
    def lame(self) -> tuple[float, float]:
        """Lame's constants lambda and mu [pressure]."""
        young, poisson = self.young, self.poisson
        if self.incompressible:  # only for rigid bodies, which use neither constant
            return 0.0, young / 3
        return young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))


class BulkMaterials(list):
    """The bulk materials of a model; body tables refer to them by their rows here."""

    def row_of(self, material: BulkMaterial) -> int:
        """Return the row of a material, which is added if it is new."""
        for row, known in enumerate(self):
            if known is material:
                return row
        self.append(material)
        return len(self) - 1
