"""Inputs say `from acc_sweep import acc_sweep`."""

from solfec.parmec.sweeps import acc_sweep

__all__ = ["acc_sweep"]
