"""The input language: one module per chapter of the manual, and this table of what lives where.

`import solfec` reads only the table; a module is loaded when one of its names is first used.
"""

from __future__ import annotations

import importlib

_NAMES = {
    "shapes": "CONVEX HULL MESH HEX SPHERE COPY SCALE TRANSLATE ROTATE MASS_CENTER",
    "model": "SOLFEC",
    "materials": "SURFACE_MATERIAL BULK_MATERIAL",
    "series": "TIME_SERIES",
    "bodies": "BODY BODY_CHARS INITIAL_VELOCITY",
    "constraints": "CONSTRAINT FIX_POINT PUT_RIGID_LINK",
    "loads": "GRAVITY FORCE",
    "solvers": "GAUSS_SEIDEL_SOLVER PENALTY_SOLVER",
    "running": (
        "RUN OUTPUT EXTENTS CALLBACK REGISTER_CALLBACK UNPHYSICAL_PENETRATION GEOMETRIC_EPSILON WARNINGS"
    ),
    "utilities": (
        "IMBALANCE_TOLERANCE RANK BARRIER NCPU HERE VIEWER SUBDIR NON_SOLFEC_ARGV DELETE BYLABEL"
        " CONTACT_EXCLUDE_BODIES CONTACT_EXCLUDE_SURFACES CONTACT_SPARSIFY"
    ),
    "results": "DURATION FORWARD BACKWARD SEEK DISPLACEMENT VELOCITY ENERGY TIMING HISTORY",
    "unbuilt": (
        "MESH2CONVEX ROUGH_HEX PIPE ELLIP_MESH TETRAHEDRALIZE ELLIP BEND SPLIT MESH_SPLIT OVERLAPPING FIELD"
        " NEWTON_SOLVER SICONOS_SOLVER HYBRID_SOLVER TEST_SOLVER FIX_DIRECTION SET_DISPLACEMENT"
        " SET_DISPLACEMENT3 SET_VELOCITY SET_VELOCITY3 SET_ACCELERATION SET_ACCELERATION3 PUT_SPRING TORQUE"
        " PRESSURE SIMPLIFIED_CRACK RT_SPLIT INITIALIZE_STATE RIGID_TO_FEM APPLY_BULKMAT"
        " CONTACT_EXCLUDE_OBJECTS LOCDYN_DUMP MBFCP_EXPORT MODAL_ANALYSIS COROTATED_DISPLACEMENTS"
        " RIGID_DISPLACEMENTS BODY_MM_EXPORT DISPLAY_POINT RENDER XDMF_EXPORT SOLFEC_EXPORT REGISTER_BASE"
        " STRESS FRACTURE_EXPORT_YAFFEMS"
    ),
}

COMMANDS = {name: module for module, names in _NAMES.items() for name in names.split()}
NOT_INJECTED = {"CONSTRAINT"}  # in the module, and not among the names an input starts with


def load(name: str):
    """The command (or type) called `name`."""
    return getattr(importlib.import_module(f"{__name__}.{COMMANDS[name]}"), name)
