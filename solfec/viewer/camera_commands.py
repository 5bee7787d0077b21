"""Commands for places of the camera, and paths between them."""

from __future__ import annotations

from ..errors import SolfecError
from . import paths, states
from .command_table import entry


@entry("camera", "", "", "place, as JSON:", "text")
def _camera(app, text):
    """Put the camera to a place."""
    app.view.camera.from_json(text)


@entry("save camera", "view", "", "name of the file:", "text")
def _save(app, path):
    """Write the camera's place, or its keys if there are some, to a file."""
    states.write(path, paths.text(app.view.camera, app.camera_keys))
    app.message = f"written: {path}"


@entry("load camera", "view", "", "name of the file:", "text")
def _load(app, path):
    """Put the camera to the place that a file holds, or take the keys of a path."""
    app.camera_keys = paths.load(app.view.camera, path)
    app.path_playing = bool(app.camera_keys)
    if app.camera_keys:
        paths.place(app.view.camera, app.camera_keys, app.source.time)


@entry("add camera key", "view")
def _add(app):
    """Let the camera be here at the present time, when its path is played."""
    app.camera_keys = paths.added(app.camera_keys, app.source.time, app.view.camera)
    app.message = f"{len(app.camera_keys)} places of the camera"


@entry("clear camera keys", "view")
def _clear(app):
    """Forget the camera's path."""
    app.camera_keys, app.path_playing = [], False


@entry("camera path on/off", "view")
def _path(app):
    """Let the camera go its path while frames are shown, or leave it alone."""
    if not app.camera_keys:
        raise SolfecError("the camera has no path: 'add camera key' at some times")
    app.path_playing = not app.path_playing
    if app.path_playing:
        paths.place(app.view.camera, app.camera_keys, app.source.time)
