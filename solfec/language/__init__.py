"""The input language: a few modules per section of docs/language.md, and the table that maps commands to modules.

`import solfec` reads only the table; a module is loaded when one of its names is first used.
"""

from __future__ import annotations

import importlib

_NAMES = {
    "shapes": "CONVEX HULL MESH HEX SPHERE ELLIP",
    "fragmentation": "SIMPLIFIED_CRACK RT_SPLIT FRACTURE_EXPORT_YAFFEMS",
    "generators": "MESH2CONVEX ROUGH_HEX PIPE ELLIP_MESH TETRAHEDRALIZE",
    "solids": "BOX CYLINDER CAPSULE PLANE TERRAIN",
    "assemblies": "WALL ARCH PACKING",
    "files": "MESH_READ CONVEX_READ",
    "transforms": "COPY SCALE TRANSLATE ROTATE BEND",
    "splitting": "SPLIT VORONOI MESH_SPLIT OVERLAPPING",
    "model": "SOLFEC",
    "fields": "FIELD",
    "materials": "SURFACE_MATERIAL BULK_MATERIAL",
    "series": "TIME_SERIES",
    "bodies": "BODY CONSTRAINT",
    "constraints": "FIX_POINT FIX_DIRECTION PUT_RIGID_LINK",
    "mechanisms": "BALL HINGE SLIDER CYLINDRICAL UNIVERSAL WELD DISTANCE ROPE GEAR RACK MOTOR SET_ROTATION JOINT",
    "prescribed": "SET_DISPLACEMENT SET_DISPLACEMENT3 SET_VELOCITY SET_VELOCITY3 SET_ACCELERATION SET_ACCELERATION3",
    "springs": "PUT_SPRING",
    "characteristics": "MASS_CENTER BODY_CHARS INITIAL_VELOCITY APPLY_BULKMAT",
    "loads": "GRAVITY FORCE TORQUE PRESSURE",
    "modes": "MODAL_ANALYSIS REGISTER_BASE RIGID_DISPLACEMENTS COROTATED_DISPLACEMENTS POD_BASE BODY_MM_EXPORT",
    "states": "INITIALIZE_STATE RIGID_TO_FEM BODY_SWITCH MED_FIELD",
    "solvers": "GAUSS_SEIDEL_SOLVER PENALTY_SOLVER NEWTON_SOLVER TEST_SOLVER",
    "automatic_solver": "AUTO_SOLVER",
    "siconos": "SICONOS_SOLVER",
    "hybrid": "HYBRID_SOLVER",
    "conversion": "PARMEC_IMPORT",
    "running": (
        "RUN OUTPUT EXTENTS CALLBACK REGISTER_CALLBACK UNPHYSICAL_PENETRATION GEOMETRIC_EPSILON WARNINGS"
    ),
    "utilities": (
        "IMBALANCE_TOLERANCE RANK BARRIER NCPU HERE VIEWER SUBDIR NON_SOLFEC_ARGV DELETE BYLABEL"
        " CONTACT_EXCLUDE_BODIES CONTACT_EXCLUDE_SURFACES CONTACT_EXCLUDE_OBJECTS CONTACT_SPARSIFY CONTACT_OPTIONS LOCDYN_DUMP"
        " FCLIB_EXPORT"
    ),
    "results": "DURATION FORWARD BACKWARD SEEK DISPLACEMENT VELOCITY STRESS ENERGY TIMING HISTORY DISPLAY_POINT",
    "viewing": "RENDER VIEW",
    "exports": "XDMF_EXPORT VTK_EXPORT MED_EXPORT SOLFEC_EXPORT MBFCP_EXPORT",
}

COMMANDS = {name: module for module, names in _NAMES.items() for name in names.split()}
ABOVE = {"hybrid": "solfec.coupling.hybrid", "conversion": "solfec.coupling.conversion"}  # modules of floors above: no import, their commands load by name
NOT_INJECTED = {"CONSTRAINT", "JOINT"}  # in the module, and not among the names an input starts with


def load(name: str):
    """The command (or type) called `name`."""
    module = ABOVE.get(COMMANDS[name], f"{__name__}.{COMMANDS[name]}")
    return getattr(importlib.import_module(module), name)
