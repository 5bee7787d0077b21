"""Commands for places of the camera, and paths between them."""

from __future__ import annotations

import numpy as np

from ..errors import SolfecError
from . import paths, states
from .command_table import entry, number

TURN, MOVE, ZOOM = np.radians(5.0), 0.05, 1.1  # of one press of a key


@entry("camera", "", "", "place, as JSON:", "text")
def _camera(app, text):
    """Put the camera to a place."""
    app.view.camera.from_json(text)


def _turned(name: str, key: str, right: float, up: float) -> None:
    @entry(f"turn {name}", "view/by keys", key, help=f"Turn the scene {name}.")
    def turn(app):
        app.view.camera.turn(right, up)


def _moved(name: str, key: str, right: float, up: float) -> None:
    @entry(f"move {name}", "view/by keys", key, help=f"Move the scene {name}.")
    def move(app):
        app.view.camera.move(right, up)


for _name, _right, _up in (("left", -1.0, 0.0), ("right", 1.0, 0.0), ("up", 0.0, -1.0), ("down", 0.0, 1.0)):
    _turned(_name, f"^{_name.upper()}", TURN * _right, TURN * _up)
    _moved(_name, f"SHIFT {_name.upper()}", MOVE * _right, -MOVE * _up)


@entry("zoom in", "view/by keys", "PAGE UP")
def _nearer(app):
    """Come nearer."""
    app.view.camera.zoom(1.0 / ZOOM)


@entry("zoom out", "view/by keys", "PAGE DOWN")
def _farther(app):
    """Go farther away."""
    app.view.camera.zoom(ZOOM)


@entry("spin", "view/by keys", "", "degrees, clockwise:")
def _spin(app, degrees):
    """Turn the picture about the line of sight."""
    app.view.camera.turn(0.0, 0.0, -np.radians(number(degrees, "angle")))


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
