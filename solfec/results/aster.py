"""A template of a Code_Aster command file for a MED file of MED_EXPORT.  It has been written by the manual and not been run."""

from __future__ import annotations

import os
import re

from ..errors import SolfecError
from ..kinds import BodyKind
from .med import MESH

HEAD = """\
# {file}: a template, written, not run.  Code_Aster was not at hand when this text was made: check every command against your version.
# Mesh with groups: {mesh} (unit 20).  Replace what is marked by CHOOSE.
DEBUT(LANG='EN')

mesh = LIRE_MAILLAGE(FORMAT='MED', UNITE=20, NOM_MED='{name}')

model = AFFE_MODELE(
    MAILLAGE=mesh,
    AFFE=_F(GROUP_MA=({bodies}), PHENOMENE='MECANIQUE', MODELISATION='3D'),
)
"""
TAIL = """
# CHOOSE the surface that is held (groups: {surfaces}), and loads.
hold = AFFE_CHAR_MECA(MODELE=model, DDL_IMPO=_F(GROUP_MA='{surface}', DX=0.0, DY=0.0, DZ=0.0))
{gravity}
result = MECA_STATIQUE(MODELE=model, CHAM_MATER=matter, EXCIT=(_F(CHARGE=hold){weight}))
result = CALC_CHAMP(reuse=result, RESULTAT=result, CONTRAINTE=('SIGM_NOEU',))

ASSEMBLAGE(
    MODELE=model, CHAM_MATER=matter, CHARGE=hold, NUME_DDL=CO('dofs'),
    MATR_ASSE=(_F(MATRICE=CO('stiff'), OPTION='RIGI_MECA'), _F(MATRICE=CO('inertia'), OPTION='MASS_MECA')),
)
modes = CALC_MODES(MATR_RIGI=stiff, MATR_MASS=inertia, OPTION='PLUS_PETITE', CALC_FREQ=_F(NMAX_FREQ=20))

# Solfec reads these fields by MED_FIELD: 'result__DEPL', 'result__SIGM_NOEU', 'modes___DEPL'.
IMPR_RESU(
    FORMAT='MED', UNITE=80,
    RESU=(_F(RESULTAT=result, NOM_CHAM=('DEPL', 'SIGM_NOEU')), _F(RESULTAT=modes, NOM_CHAM='DEPL')),
)
FIN()
"""


def text_of(domain, path: str) -> str:
    """Return the template for a domain whose MED file is at `path`.

    Raises
    ------
    SolfecError
        No body has a mesh of volume elements.
    """
    bodies, by_material, surfaces = domain.bodies, {}, set()
    for row, identifier in enumerate(bodies.view("id").tolist()):
        meshes = domain.meshes_of(identifier)
        if meshes and bodies.kind[row] != BodyKind.OBSTACLE:
            by_material.setdefault(int(bodies.material[row]), []).append(f"'BODY_{identifier}'")
            for mesh in meshes:
                surfaces |= set(mesh.topology.face_surface[mesh.topology.boundary].tolist())
    if not by_material:
        raise SolfecError("a command file for Code_Aster needs a body with a MESH; no body that moves has one")
    file = os.path.basename(path)
    everything = ", ".join(name for names in by_material.values() for name in names) + ","
    parts = [HEAD.format(file=file.removesuffix(".med") + ".comm", mesh=file, name=MESH, bodies=everything)]
    assigned = []
    for number, (material, names) in enumerate(by_material.items(), start=1):
        given, word = domain.bulk_materials[material], f"matter{number}"
        label = re.sub(r"\s", " ", given.label or "")
        parts.append(f"{word} = DEFI_MATERIAU(ELAS=_F(E={given.young!r}, NU={given.poisson!r}, RHO={given.density!r}))  # {label}\n")
        assigned.append(f"    _F(GROUP_MA=({', '.join(names)},), MATER={word}),\n")
    parts.append(f"matter = AFFE_MATERIAU(MAILLAGE=mesh, AFFE=(\n{''.join(assigned)}))\n")
    strength = float((domain.loads.gravity**2).sum() ** 0.5)
    x, y, z = (float(value / strength) if strength else 0.0 for value in domain.loads.gravity)
    weight = f"weight = AFFE_CHAR_MECA(MODELE=model, PESANTEUR=_F(GRAVITE={strength!r}, DIRECTION=({x!r}, {y!r}, {z!r})))\n" if strength else ""
    groups = [f"SURFACE_{number}" for number in sorted(surfaces)]
    parts.append(TAIL.format(surfaces=", ".join(groups), surface=groups[0], gravity=weight, weight=", _F(CHARGE=weight)" if strength else ""))
    return "\n".join(parts)
