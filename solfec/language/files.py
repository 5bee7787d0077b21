"""Commands that read shapes from files of other programs: MESH_READ, CONVEX_READ (not in Solfec-1.0)."""

from __future__ import annotations

import os

from . import checks, session
from .checks import BadType, BadValue, command
from .hints import Switch
from .shapes import CONVEX, MESH, reported


@command("MESH_READ")
def MESH_READ(
    path: str, volids: int | dict[str, int] = 0, surfids: int | dict[str, int] = 0, groups: dict | None = None,
    data: str | None = None, step: int | None = None,
) -> MESH:  # fmt: skip
    """Read a mesh from a file: gmsh, VTK, Abaqus, MED, Exodus and others; needs the package meshio.

    Parameters
    ----------
    path : str
        The file; its ending selects the format.
    volids, surfids : int or dict
        Identifier of elements and outer faces outside of all groups; or a dictionary of identifiers by group.
    groups : dict, optional
        Filled with identifiers by group, under the keys 'volumes' and 'surfaces'.
    data : str, optional
        Name of the integer cell data that number groups.
    step : int, optional
        Step of a MED file with several: number from 0; -1 is the last.

    Returns
    -------
    MESH
        Its nodes and elements in the order of the file.
    """
    from ..shapes.mesh_files import read_mesh_file

    path = _file(path)
    volids, surfids = _identifiers(volids, "volids"), _identifiers(surfids, "surfids")
    if groups is not None and not isinstance(groups, dict):
        raise BadType(f"'groups' must be a dictionary, which is filled, not {checks.kind_of(groups)}")
    data = None if data is None else checks.string(data, "data")
    step = None if step is None else checks.integer(step, "step")
    with reported():
        mesh, found = read_mesh_file(path, volids, surfids, data, step)
    if groups is not None:
        groups.update(found)
    return MESH._of(mesh)


@command("CONVEX_READ")
def CONVEX_READ(path: str, volid: int = 0, surfid: int = 0, decompose: Switch = "OFF", concavity: float = 0.05) -> CONVEX:
    """Read convex polyhedra from the closed surfaces in a file.

    Parameters
    ----------
    path : str
        The file: .stl, .obj, .ply or .off.
    volid, surfid : int
        Identifiers of all polyhedra and faces.
    decompose : 'ON' or 'OFF'
        Whether surfaces that are not convex are cut into convex parts (needs the package coacd) or are errors.
    concavity : float
        Depth of a part below its hull that is allowed, in sizes of the surface: 0.01 to 1.

    Returns
    -------
    CONVEX
    """
    from ..shapes.convex_files import read_convexes

    path = _file(path)
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    decompose = checks.switch(decompose, "decompose")
    concavity = checks.between(concavity, "concavity", 0.01, 1.0)
    with reported():
        return CONVEX._of(read_convexes(path, volid, surfid, concavity if decompose else None, session.current().epsilon))


def _file(path) -> str:
    path = checks.string(path, "path")
    if not os.path.isfile(path):
        raise BadValue(f"'path' names the file '{path}', which does not exist")
    return path


def _identifiers(value, name: str):
    """Check an identifier, or identifiers by group."""
    if not isinstance(value, dict):
        return checks.identifier(value, name)
    return {group: checks.identifier(number, f"{name}[{group!r}]") for group, number in value.items()}
