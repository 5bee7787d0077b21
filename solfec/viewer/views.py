"""`solfec.view`: models and results in Python programs and notebooks."""

from __future__ import annotations

import io
import os
import sys
import warnings

import numpy as np

from ..errors import SolfecError, SolfecWarning
from ..language.handles import Model
from . import ViewerUnavailable, require
from .sources import Live, Stored


class View:
    """A scene without a display; a notebook shows it as a picture.

    Parameters
    ----------
    source : str, pathlib.Path or SOLFEC
        Output directory, or a model: its results, or if there are none its present state.
    size : tuple of 2 int
        Of pictures in pixels.

    Raises
    ------
    SolfecError
        There is nothing to show.
    ViewerUnavailable
        This machine cannot draw.
    """

    def __init__(self, source, size: tuple[int, int] = (640, 480)):
        require()
        from .application import Application
        from .window import Window

        if len(size) != 2 or not all(isinstance(side, (int, np.integer)) and side > 0 for side in size):
            raise SolfecError(f"'size' must be two positive numbers of pixels, not {size!r}")
        opened = source_of(source)
        self._context = Window(shown=False)
        self.application = Application([opened], (int(size[0]), int(size[1])))
        if not opened.live:
            opened.seek(-1)
            self.application.view.refresh()
            self.application.view.fit(size[0] / size[1], near=True)

    def _current(self):
        if self._context is None:
            raise SolfecError("this view is closed")
        self._context.glfw.make_context_current(self._context.handle)
        return self.application

    def do(self, *commands: str) -> View:
        """Do commands of the window's menus, for example ``view.do ('result mises', 'frame 10')``; return the view itself."""
        from .histories import left_out

        app = self._current()
        if odd := next((command for command in commands if not isinstance(command, str)), None):
            raise SolfecError(f"commands must be strings such as 'frame 10', not {odd!r}; pixels are given as size=(640, 480)")
        for command in commands:
            app.obey(command)
        if missing := left_out(app):
            warnings.warn(missing, SolfecWarning, stacklevel=2)
        return self

    def refresh(self) -> View:
        """Show the present state of a model, or new frames of growing results; return the view itself."""
        app = self._current()
        app.source.refresh()
        app.source.came_from_outside()
        app.view.refresh()
        return self

    def picture(self, transparent: bool = False, annotated: bool = True):
        """Return the picture, a PIL.Image.Image."""
        from .pictures import picture

        app = self._current()
        return picture(app.view, *app.size, transparent, annotated)

    def array(self) -> np.ndarray:
        """Return the picture (height, width, 3) uint8 without legend, time and axes."""
        return np.asarray(self.picture(annotated=False))

    def save(self, path: str) -> str:
        """Write a picture, movie or page by the ending of its name: .png, .bmp, .jpg, .pdf, .eps, .gif, .mp4, .avi, .html; return the path."""
        app, path = self._current(), os.fspath(path)
        ending = os.path.splitext(path)[1].lower()
        if ending == ".html":
            from .page import write

            write(app, path)
        elif ending in (".gif", ".mp4", ".avi"):
            from .movies import movie

            if app.source.live:
                raise SolfecError("a movie needs frames: this model has none on disk")
            movie(app, path, list(range(len(app.source.times))), 25.0)
        elif ending in (".pdf", ".eps"):
            from .vector import save

            save(app.view, *app.size, path)
        else:
            from .pictures import save as write_picture

            write_picture(self.picture(), path)
        return path

    def page(self, every: int = 1) -> Page:
        """Return a page of the scene with all frames, which a notebook shows and the mouse turns."""
        from .page import text_of

        app = self._current()
        return Page(text_of(app, every), app.size)

    def close(self) -> None:
        """Give everything back."""
        if self._context is not None:
            self._current().close()
            self._context.close()
            self._context = None

    def __enter__(self) -> View:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.picture().save(file, "png")
        return file.getvalue()


class Page:
    """A page in a notebook: `text` is its HTML."""

    def __init__(self, text: str, size: tuple[int, int]):
        self.text, self.size = text, size

    def _repr_html_(self) -> str:
        import html

        width, height = self.size
        return f'<iframe srcdoc="{html.escape(self.text, quote=True)}" width="{width}" height="{height}" style="border: 0"></iframe>'


def source_of(source):
    """Return the source for a path or a SOLFEC object."""
    if isinstance(source, Model):
        simulation = source._simulation
        if simulation.mode == "READ":
            return Stored(simulation.outpath, simulation)
        if simulation.outpath is not None and simulation.frames_written:
            return Stored(simulation.outpath)
        return Live(simulation, [])
    if isinstance(source, (str, os.PathLike)):
        return Stored(os.fspath(source))
    raise TypeError(f"'source' must be an output directory or a SOLFEC object, not {type(source).__name__}")


def view(source, *commands: str, size: tuple[int, int] = (640, 480), window: bool | None = None):
    """Show results or a model.

    Parameters
    ----------
    source : str, pathlib.Path or SOLFEC
        Output directory, or a model: its results, or if there are none its present state.
    *commands : str
        Entries of the window's menus: 'result mises', 'look -60,25', 'frame 10'.
    size : tuple of 2 int
        Pixels.
    window : bool, optional
        True: open a window, and return None when the user has closed it. False: return a View, which makes pictures, movies and
        pages without a display, and which a notebook shows. Default: a window if there is a display and no notebook.

    Returns
    -------
    View or None

    Raises
    ------
    SolfecError
        There is nothing to show, or a command cannot be done.
    ViewerUnavailable
        This machine cannot draw.
    """
    if window is None:
        window = bool(os.environ.get("DISPLAY")) and "ipykernel" not in sys.modules
    if not window:
        made = View(source, size)
        try:
            return made.do(*commands)
        except BaseException:
            made.close()
            raise
    from . import require_display

    require_display()
    opened = source_of(source)
    from .screen import Screen

    screen = Screen([opened], *size)
    try:
        for command in commands:
            screen.app.obey(command)
        screen.loop()
    finally:
        screen.close()
    return None


__all__ = ["Page", "View", "ViewerUnavailable", "view"]
