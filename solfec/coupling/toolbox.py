"""The coupling toolbox (docs/coupling.md): what a coupled computation uses, by one import."""

from ..solvers.callable_solver import CallableSolver
from .buffer import BodyArrays, Buffer, InteractionArrays
from .explicit_roles import HybridSimulation, ParticleModel, ParticleModeler
from .fmu import FmuForce, export_fmu
from .graph import DynamicalSystem, Graph, Interaction
from .lmgc90 import LmgcModeler
from .lmgc90_detection import LmgcCollisionHandler
from .local_problem import LocalProblem
from .open_step import OpenStep
from .own import SolfecCollisionHandler, SolfecInteractionSolver, SolfecModel, SolfecModeler, SolfecSimulation
from .roles import CollisionHandler, InteractionSolver, MechanicalModel, Modeler, PhysicalObject, Simulation
from .siconos_kernel import SiconosInteractionSolver, SiconosSimulation

__all__ = [
    "BodyArrays", "Buffer", "CallableSolver", "CollisionHandler", "DynamicalSystem", "FmuForce", "Graph", "HybridSimulation", "Interaction", "InteractionArrays",
    "InteractionSolver", "LmgcCollisionHandler", "LmgcModeler", "LocalProblem", "MechanicalModel", "Modeler", "OpenStep", "ParticleModel", "ParticleModeler", "PhysicalObject", "SiconosInteractionSolver", "SiconosSimulation", "Simulation",
    "SolfecCollisionHandler",
    "SolfecInteractionSolver", "SolfecModel", "SolfecModeler", "SolfecSimulation", "export_fmu",
]  # fmt: skip
