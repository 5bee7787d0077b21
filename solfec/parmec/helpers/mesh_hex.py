"""Inputs say `from mesh_hex import MESH_HEX`."""

from solfec.parmec.hexahedra import MESH_HEX

__all__ = ["MESH_HEX"]
