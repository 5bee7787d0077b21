"""Pictures of models: stored results on a screen or in files, with or without a display (docs/viewer.md)."""

from __future__ import annotations

import importlib
import importlib.util
import os

from ..errors import SolfecError

MOST_PIXELS = 16384  # of a window or picture, in each direction
LIBRARIES = "libegl1 libgl1 libgl1-mesa-dri"  # of Debian
PACKAGES = {"OpenGL": "PyOpenGL", "glfw": "glfw", "imgui_bundle": "imgui-bundle", "PIL": "pillow"}  # module, package


class ViewerUnavailable(SolfecError):
    """This machine cannot draw: a package or a library is missing."""


def missing() -> list[str]:
    """Names of the packages that the viewer needs and that are not installed."""
    return [package for module, package in PACKAGES.items() if importlib.util.find_spec(module) is None]


def require() -> None:
    """Raise an error if packages, or libraries of the system that they load, are missing.

    Raises
    ------
    ViewerUnavailable
    """
    if names := missing():
        raise ViewerUnavailable(f"the viewer needs {', '.join(names)}, which is not installed: pip install 'solfec[viewer]'")
    for module in ("imgui_bundle", "glfw"):  # the first one names the library that the second one is to load
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ViewerUnavailable(f"the viewer needs libraries of the system ({error}); on Debian: apt install {LIBRARIES}") from None


def pixels(text: str) -> tuple[int, int] | None:
    """Return width and height of 'WxH'; None if they are no size of a window."""
    try:
        width, height = (int(word) for word in text.lower().split("x"))
    except ValueError:
        return None
    return (width, height) if 0 < width <= MOST_PIXELS and 0 < height <= MOST_PIXELS else None


def require_display() -> None:
    """Raise an error if no window can be opened.

    Raises
    ------
    ViewerUnavailable
    """
    require()
    if not os.environ.get("DISPLAY"):
        raise ViewerUnavailable("there is no display (DISPLAY is not set); pictures of results need none: solfec view DIR --screenshot FILE")
