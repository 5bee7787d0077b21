"""Preparation and checks of a new body from shape, material and kind, before the model is changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bodies import background_mesh, modal
from .bodies.failures import named
from .bodies.finite_elements import FiniteElementMesh
from .bodies.materials import BulkMaterial, Law
from .bodies.table import REDUCED_FORMS, BodyKind, Form, Scheme
from .errors import SolfecError
from .shapes import characteristics, primitives
from .shapes.resolution import check_resolution
from .shapes.rest_adjacency import adjoin_overlapping
from .tables import unique

OBSTACLE, RIGID, PSEUDO_RIGID, FINITE_ELEMENT = BodyKind.OBSTACLE, BodyKind.RIGID, BodyKind.PSEUDO_RIGID, BodyKind.FINITE_ELEMENT  # a name of an enumeration takes 0.1 us each time
DEFAULT_SCHEME = {OBSTACLE: Scheme.RIG_IMP, RIGID: Scheme.RIG_NEG, PSEUDO_RIGID: Scheme.DEF_EXP, FINITE_ELEMENT: Scheme.DEF_EXP}


IDENTITY = np.eye(3)


@dataclass
class NewBody:
    """A body that is prepared for insertion.

    Attributes
    ----------
    columns : dict
        Its columns of the body table.
    shape : primitives.CompiledShape
    parts : list
        Shape objects; of a finite element body its mesh.
    mesh : FiniteElementMesh or None
    """

    columns: dict
    shape: object
    parts: list
    mesh: FiniteElementMesh | None


def default_scheme(kind: BodyKind, form: Form, dynamic: bool) -> Scheme:
    """Return the scheme of a new body; deformable bodies in quasi-statics or of a reduced form always have DEF_LIM."""
    scheme = DEFAULT_SCHEME[kind]
    implicit = not dynamic or form in REDUCED_FORMS
    return Scheme.DEF_LIM if scheme == Scheme.DEF_EXP and implicit else scheme


def prepare(domain, kind: BodyKind, shapes: list, material: BulkMaterial, label: str | None, form: Form, mesh, base) -> NewBody:
    """Prepare the next body of a domain; arguments are those of `Domain.insert_body`.

    Raises
    ------
    SolfecError
        A shape, material, mesh or base that cannot make such a body.
    """
    check_resolution(shapes, domain.epsilon)
    identifier = domain.next_body_id
    with named(identifier, label):
        shape = primitives.compile(shapes, domain.epsilon, kind == FINITE_ELEMENT, domain.settings.seams)
    volume, centre, euler = characteristics.characteristics(shapes, bilinear=kind == FINITE_ELEMENT)
    if not volume > 0.0:
        raise SolfecError(f"BODY: the shape's volume is {volume:g}; it must be positive")
    _check_material(kind, material)
    if kind == PSEUDO_RIGID:  # the only kind with curved primitives that may touch itself
        adjoin_overlapping(shape, domain.epsilon)
    if kind == FINITE_ELEMENT or mesh is not None or base is not None:
        with named(identifier, label):
            mesh, shapes = _finite_elements(kind, shapes, shape, material, form, mesh, base)
    tensor = material.density * euler
    if kind in (OBSTACLE, RIGID):
        xx, yy, zz = tensor.diagonal().tolist()
        tensor = (xx + yy + zz) * IDENTITY - tensor
    columns = dict(
        id=identifier, form=int(form), scheme=default_scheme(kind, form, domain.dynamic), material=domain.bulk_materials.row_of(material),
        mass=material.density * volume, volume=volume, centre=centre, tensor=tensor, lame=material.lame, law=int(material.law),
    )  # fmt: skip
    return NewBody(columns, shape, shapes, mesh)


def _check_material(kind: BodyKind, material: BulkMaterial) -> None:
    """Raise SolfecError for a material that such a body cannot have."""
    if not material.density > 0.0:
        raise SolfecError(f"BODY: density of material {material.label!r} is {material.density:g}; it must be positive")
    if kind in (PSEUDO_RIGID, FINITE_ELEMENT) and material.incompressible:
        raise SolfecError(f"BODY: 'poisson' of material {material.label!r} is 0.5; it must be below 0.5 for deformable bodies")
    if kind == PSEUDO_RIGID and material.law != Law.KIRCHHOFF:
        raise SolfecError(f"BODY: a pseudo-rigid body takes material 'KIRCHHOFF', not {material.model!r}")


def _finite_elements(kind, shapes, shape, material, form, mesh, base) -> tuple[FiniteElementMesh | None, list]:
    """Return the mesh that the body moves with, if any, and its shape objects: the mesh, if the mesh is the shape."""
    if mesh is not None:
        fitted, background = background_mesh.fit(shapes, mesh, shape.vertices.T)
        mesh, shapes = FiniteElementMesh.of(fitted, background), [fitted]
    elif kind == FINITE_ELEMENT:
        mesh = FiniteElementMesh.of(shapes[0])
    if base is not None:
        modal.check_base(base, mesh, material, form, uniform=len(unique(shapes[0].volume_ids)) == 1)
    if kind == FINITE_ELEMENT:
        mesh.density = material.density
        passed = shapes[0].topology.passed
        if mesh.background is not None:  # elements have quadrature points of their own
            mesh.check()
        elif "unfolded" not in passed:
            mesh.check()
            passed.add("unfolded")
    return mesh, shapes
