"""Tetrahedral meshes of meshes and of surfaces in files, kept in a file (docs/language-objects.md, TETRAHEDRALIZE)."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from contextlib import suppress

import h5py
import numpy as np

from ..errors import SolfecWarning
from ..hdf5_files import new_file
from .clip import element_triangles
from .identifiers import identifier
from .mesh import Mesh
from .mesh_topology import MeshTopology
from .surface_files import Surface, read_surface
from .tetrahedra import check_closed, tetrahedral_mesh, tetrahedralize
from .volume_lookup import elements_at

FORMAT = "solfec mesh 1"


def tetrahedral(shape, path: str, volume=None, quality=None, volume_id=None, surface_id=None) -> Mesh:
    """Return the mesh stored at `path`; if there is none, make a mesh of tetrahedra and store it.

    Parameters
    ----------
    shape : Mesh or str
        What to mesh: the boundary of a mesh, or a surface in a file.
    path : str
        The stored mesh: an HDF5 file.
    volume, quality : float, optional
        Greatest volume (positive), greatest ratio of circumradius to shortest edge (above 1) of elements.
    volume_id, surface_id : int, optional
        Identifiers of all elements, and of faces whose origin has none; by default inherited ones, else 0.

    Raises
    ------
    ValueError
        A shape that is open, crosses itself or cannot be meshed; a stored file that is no mesh.
    MissingPackage
        When tetgen is needed and not installed.

    Warns
    -----
    SolfecWarning
        When the stored mesh was made from other input; it is used nevertheless.
    """
    options = (volume, quality, volume_id, surface_id)
    if os.path.exists(path):
        mesh, made_of = read_mesh(path)
        known = not isinstance(shape, str) or os.path.exists(shape)
        if known and made_of != fingerprint(shape, options):
            warnings.warn(
                f"the mesh in '{path}' was made of other input than is given now; it is used as it is, delete the file to "
                "mesh anew",
                SolfecWarning,
                stacklevel=3,
            )
        return mesh
    mesh = mesh_of_file(shape, *options) if isinstance(shape, str) else mesh_of_mesh(shape, *options)
    write_mesh(path, mesh, fingerprint(shape, options))
    return mesh


def mesh_of_mesh(shape: Mesh, volume=None, quality=None, volume_id=None, surface_id=None) -> Mesh:
    """Make tetrahedra inside the boundary of a mesh, with its identifiers."""
    topology = shape.topology
    triangles, rows = element_triangles(shape)
    outer = topology.boundary[rows]
    triangles, rows = triangles[outer], rows[outer]
    used, numbers = np.unique(triangles, return_inverse=True)
    nodes, elements, faces, found, _ = tetrahedralize(
        shape.nodes[used], numbers.reshape(-1, 3), rows, volume, quality
    )
    surfaces = topology.face_surface[found]
    if volume_id is not None:
        volumes = np.full(len(elements), identifier(volume_id, "volid"))
    elif (shape.volume_ids == shape.volume_ids[0]).all():
        volumes = np.full(len(elements), shape.volume_ids[0])
    else:
        volumes = shape.volume_ids[elements_at(shape, nodes[elements].mean(1))]
    if surface_id is not None:  # inherited identifiers win unless they are 0
        surfaces = np.where(surfaces == 0, identifier(surface_id, "surfid"), surfaces)
    return tetrahedral_mesh(nodes, elements, faces, surfaces, volumes)


def mesh_of_file(path: str, volume=None, quality=None, volume_id=None, surface_id=None) -> Mesh:
    """Make tetrahedra inside the surface of a file; its facet markers and region attributes become identifiers."""
    surface: Surface = read_surface(path)
    try:
        if not surface.marks.any() and not surface.regions:
            check_closed(surface.triangles)
        nodes, elements, faces, found, regions = tetrahedralize(
            surface.points, surface.triangles, surface.marks, volume, quality, regions=surface.regions
        )
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from None
    common = 0 if volume_id is None else identifier(volume_id, "volid")
    volumes = np.full(len(elements), common)
    if regions is not None:
        attributes = np.array([common] + [attribute for _, attribute in surface.regions])
        inside = (regions >= 0) & (regions < len(attributes))
        volumes = attributes[np.where(inside, regions, 0)]
    marks = np.where(found == 0, 0 if surface_id is None else identifier(surface_id, "surfid"), found)
    return tetrahedral_mesh(nodes, elements, faces, marks, volumes)


def fingerprint(shape, options) -> str:
    """Return a hash of the shape and the options of a mesh."""
    digest = hashlib.sha256(repr(options).encode())
    if isinstance(shape, str):
        with open(shape, "rb") as file:
            digest.update(file.read())
    else:
        topology = shape.topology
        for array in (shape.nodes, topology.element_ptr, topology.element_nodes, shape.volume_ids, topology.face_surface):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def write_mesh(path: str, mesh: Mesh, made_of: str) -> None:
    """Store a mesh in an HDF5 file, which appears complete by renaming; ValueError if it cannot be written."""
    folder, draft = os.path.dirname(os.path.abspath(path)), ""
    topology = mesh.topology
    columns = dict(
        nodes=mesh.nodes, element_ptr=topology.element_ptr, element_nodes=topology.element_nodes,
        volume_ids=mesh.volume_ids, face_surface=topology.face_surface,
    )  # fmt: skip
    try:
        os.makedirs(folder, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder)
        os.close(handle)
        with new_file(draft) as (file, _):
            file.attrs["format"], file.attrs["made_of"] = FORMAT, made_of
            for name, column in columns.items():
                file.create_dataset(name, data=column, compression="gzip", shuffle=True)
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(draft)
        raise ValueError(f"'{path}' cannot be written: {error.strerror or error}") from None


def read_mesh(path: str) -> tuple[Mesh, str]:
    """Read a stored mesh and the fingerprint of its input; ValueError for any other file."""
    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("format") != FORMAT:
                raise OSError
            data = {name: file[name][:] for name in file}
            made_of = str(file.attrs["made_of"])
    except OSError:
        raise ValueError(f"'{path}' exists and does not hold a mesh of TETRAHEDRALIZE; delete it or give another path") from None
    topology = MeshTopology(len(data["nodes"]), data["element_ptr"], data["element_nodes"])
    return Mesh(data["nodes"], topology.with_surfaces(data["face_surface"]), data["volume_ids"]), made_of
