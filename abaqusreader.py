"""Old inputs say `from abaqusreader import AbaqusInput`."""

from solfec.language.abaqus import AbaqusInput

__all__ = ["AbaqusInput"]
