"""Textbook scenes: one small function builds and runs each, and compares it with theory."""

from . import deformable, friction, granular, impact, joints, masonry, motion, rolling, tracks  # noqa: F401
from .frame import SCENES as ALL_SCENES  # noqa: F401
