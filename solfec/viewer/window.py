"""OpenGL contexts with and without a window on a display."""

from __future__ import annotations

import importlib
import re
import warnings

from . import LIBRARIES, ViewerUnavailable, gl, require, require_display  # noqa: F401  # sets the platform before OpenGL is loaded


def _glfw():
    """Return the GLFW of imgui-bundle, because two copies of the library in one process would not share windows."""
    require()

    return importlib.import_module("glfw")


class Window:
    """A window of GLFW with an OpenGL 3.3 context that is current.

    Parameters
    ----------
    width, height : int
    shown : bool
        Whether the window is on the display; otherwise there is only a context.
    title : str

    Raises
    ------
    ViewerUnavailable
        No display, or no OpenGL.
    """

    def __init__(self, width: int = 512, height: int = 512, shown: bool = True, title: str = "solfec"):
        self.glfw = glfw = _glfw()
        if shown:
            require_display()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            glfw.init_hint(glfw.PLATFORM, glfw.PLATFORM_X11 if shown else glfw.PLATFORM_NULL)
            if not glfw.init():
                raise ViewerUnavailable(f"no window can be opened: {_last(told)}")
            for hint, value in (
                (glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API), (glfw.CONTEXT_VERSION_MAJOR, 3), (glfw.CONTEXT_VERSION_MINOR, 3),
                (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE), (glfw.OPENGL_FORWARD_COMPAT, True),
            ):  # fmt: skip
                glfw.window_hint(hint, value)
            self.handle = glfw.create_window(width, height, title, None, None)
        if not self.handle:
            raise ViewerUnavailable(f"OpenGL 3.3 through EGL is not to be had here (on Debian: apt install {LIBRARIES}): {_last(told)}")
        glfw.make_context_current(self.handle)
        self.shown = shown

    @property
    def size(self) -> tuple[int, int]:
        """Size of the framebuffer, in pixels."""
        return self.glfw.get_framebuffer_size(self.handle)

    def close(self) -> None:
        """Close the window."""
        if self.handle:
            self.glfw.destroy_window(self.handle)
            self.handle = None


def _last(told: list) -> str:
    """Return the text of GLFW's last warning, "(number) b'text'"."""
    return re.sub(r"^\(\d+\) b'(.*)'$", r"\1", str(told[-1].message)) if told else "GLFW does not say why"
