"""Inputs say `from progress_bar import *`."""

from solfec.parmec.progress_bar import printProgressBar, progress_bar

__all__ = ["printProgressBar", "progress_bar"]
