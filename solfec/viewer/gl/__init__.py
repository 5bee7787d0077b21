"""The only modules that call OpenGL."""

import os
import sys

from .. import LIBRARIES, ViewerUnavailable, require

require()
if "OpenGL.platform" in sys.modules and os.environ.get("PYOPENGL_PLATFORM") != "egl":
    raise ViewerUnavailable("OpenGL has been imported before the viewer; import solfec.viewer.gl first, or set PYOPENGL_PLATFORM=egl")
os.environ["PYOPENGL_PLATFORM"] = "egl"  # GLFW makes EGL contexts, with and without a display

import OpenGL  # noqa: E402

OpenGL.ERROR_CHECKING = bool(os.environ.get("SOLFEC_GL_CHECK"))  # one more call per call, for tests
OpenGL.ERROR_LOGGING = False

try:
    from OpenGL import GL  # noqa: E402, F401  # for modules that import OpenGL through here, and so with that platform
except (ImportError, AttributeError) as error:  # the latter if the library lacks functions
    raise ViewerUnavailable(f"OpenGL through EGL is not to be had here ({error}); on Debian: apt install {LIBRARIES}") from None
