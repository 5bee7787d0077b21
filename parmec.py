"""Inputs of the explicit engine say `from parmec import SPHERE`, or `import parmec`: the commands of solfec.parmec."""

import sys

import solfec.parmec

sys.modules[__name__] = solfec.parmec
