"""AbaqusInput: parts, materials and instances of an Abaqus deck, for inputs that say `from abaqusreader import AbaqusInput`."""

from __future__ import annotations

from ..shapes import abaqus_deck
from ..shapes.abaqus_deck import DeckError
from . import checks, session
from .checks import BadType, BadValue, command
from .handles import Model, simulation_of
from .materials import BULK_MATERIAL
from .model import SOLFEC
from .shapes import MESH, reported


class Material:
    """Material of a deck.

    Attributes
    ----------
    name : str
    density, young, poisson : float or None
        None where the deck gives none.
    bulkmat : BULK_MATERIAL or None
    """

    def __init__(self, name: str, values: dict[str, float], solfec: SOLFEC | None):
        self.name = name
        self.density, self.young, self.poisson = (values.get(key) for key in ("density", "young", "poisson"))
        self.bulkmat = None if solfec is None else BULK_MATERIAL(solfec, label=name, **values)
        missing = [key for key in ("density", "young", "poisson") if key not in values]
        if missing and solfec is not None:
            session.warn(f"AbaqusInput: the deck gives no {', '.join(missing)} of {name}; it has the default of BULK_MATERIAL")


class Instance:
    """Instance of a part.

    Attributes
    ----------
    name : str
    part : Part
    mesh : MESH or None
        At its place.
    material : BULK_MATERIAL or Material
        That of the part; the BULK_MATERIAL when there is a SOLFEC object.
    """

    def __init__(self, placement: abaqus_deck.Placement, mesh: MESH | None, material: BULK_MATERIAL | Material | None):
        self.name, self.part, self.mesh, self.material = placement.name, placement.part, mesh, material


class Assembly:
    """Assembly of a deck: `instances` by name, in the order of the deck."""

    def __init__(self, instances: dict[str, Instance]):
        self.instances = instances


class AbaqusInput:
    """An Abaqus deck; keywords other than those of parts, materials and instances are ignored.

    Parameters
    ----------
    path : str
        The deck.
    solfec : SOLFEC, optional
        Model in which materials are created.  The two arguments may be exchanged.
    gid : int
        Surface identifier of outer faces that are in no set.  A node set named SURF and a number gives that number to the outer
        faces all of whose corners it holds.
    volid : int
        Volume identifier.
    verbose : int
        Above 0: prints what was read.
    convert : bool
        Whether to make meshes.

    Attributes
    ----------
    parts : dict of str: Part
        With `nodesets`: nodes of the mesh by name.
    materials : dict of str: Material
    assembly : Assembly

    Raises
    ------
    BadValue
        The deck cannot be read, or holds what is not supported; the message names file and line.
    """

    @command("AbaqusInput")
    def __init__(
        self, path: str, solfec: SOLFEC | None = None, gid: int = 0, volid: int = 1, verbose: int = 0, convert: bool = True
    ) -> None:
        if isinstance(path, Model) or isinstance(solfec, str):
            path, solfec = solfec, path
        path = checks.string(path, "path")
        if solfec is not None:
            simulation_of(solfec)
        surface, volume = checks.identifier(gid, "gid"), checks.identifier(volid, "volid")
        if not isinstance(verbose, int):
            raise BadType(f"'verbose' must be an integer, not {checks.kind_of(verbose)}")
        try:
            deck = abaqus_deck.read_deck(path)
            self.parts = deck.parts
            for part in deck.parts.values():
                if part.ignored:
                    others = ", ".join(dict.fromkeys(part.ignored))
                    session.warn(f"AbaqusInput: {path}: part {part.name} has sections of several materials; all of it is {part.material}, nothing is {others}")
            self.materials = {name: Material(name, values, solfec) for name, values in deck.materials.items()}
            with reported():
                meshes = {part.name: part.mesh(surface, volume) for part in deck.parts.values() if convert}
            self.assembly = Assembly({name: self._instance(each, meshes) for name, each in deck.instances.items()})
        except OSError as error:
            raise BadValue(f"'path': the deck '{path}' cannot be read: {error.strerror or error}") from None
        except (DeckError, BadValue) as error:
            raise BadValue(f"'path': {path}: {error}") from None
        if verbose > 0:
            print(f"{path}: {len(self.parts)} parts, {len(self.assembly.instances)} instances, {len(self.materials)} materials")

    def _instance(self, placement: abaqus_deck.Placement, meshes: dict) -> Instance:
        part, mesh, material = placement.part, None, None
        if part.name in meshes:
            with reported():
                mesh = meshes[part.name].copy()
                placement.put(mesh)
        if part.material:
            if part.material not in self.materials:
                raise DeckError(f"part {part.name}: there is no material {part.material}")
            material = self.materials[part.material]
            material = material.bulkmat or material
        return Instance(placement, None if mesh is None else MESH._of(mesh), material)
