"""Dragging by the mouse: bodies of a running model, and planes of cuts."""

from __future__ import annotations

import numpy as np

from ..bodies.loads import Loads
from ..bodies.table import BodyKind
from ..errors import SolfecError
from . import picking, places
from .histories import referential
from .overlays import PURPLE, handle

STRAIN = 0.01  # largest strain of a deforming body by the force over its cross-section
REACH = 14.0  # largest distance in pixels at which the mouse takes a handle


def cut_handle_at(app, x: int, y: int):
    """Return the number of the cut whose handle is under a pixel, the pixel, the pixels (2,) per unit of its offset, and the offset; or None."""
    view = app.view
    if "planes" not in view.shown_in_space:
        return None
    for number, plane in enumerate(view.planes, 1):
        foot = handle(view, plane)[0]
        length = 0.05 * view.camera.radius
        at, ahead = view.camera.project(np.stack([foot, foot + length * plane.normal]), *app.size)[:, :2]
        along = (ahead - at) / length
        if np.isfinite(along).all() and along.any() and np.hypot(*(at - (x, y))) < REACH:
            return number, np.array([x, y], float), along, plane.offset
    return None


class Spring:
    """A damped spring between a point of a body and the pointer's place: a load of the model while the mouse pulls.

    The stiffness k = m / (10 h)**2 and the critical damping c = 2 sqrt (k m) follow from the body's mass m and the time step h, so
    explicit and implicit steps remain stable. The force on a deforming body is at most STRAIN times its stiffness. The work of the force counts as external energy.
    """

    def __init__(self, domain, body: int, point: np.ndarray):
        row = domain.body_row(body)
        if domain.bodies.kind[row] == BodyKind.OBSTACLE:
            raise SolfecError(f"{domain.bodies.name(body)} is an obstacle: nothing pulls it")
        self.domain, self.body = domain, body
        self.reference, self.place = referential(domain, row, point), np.array(point, float)
        domain.loads.sources.append(self.act)

    def point(self) -> np.ndarray:
        """Return the present position (3,) of the body's point."""
        rows = np.array([self.domain.body_row(self.body)])
        return places.spatial_points(self.domain, rows, self.reference[:, None])[:, 0]

    def act(self, bodies, time: float, step: float) -> None:
        """Add the force at the configuration within the step."""
        rows = np.flatnonzero(bodies.view("id") == self.body)
        if not len(rows):
            return
        row, mass = int(rows[0]), float(bodies.mass[rows[0]])
        stiffness = mass / (10.0 * step) ** 2
        at = places.spatial_points(self.domain, rows, self.reference[:, None])[:, 0]
        velocity = places.velocity(self.domain, row, self.reference)
        force = stiffness * (self.place - at) - 2.0 * np.sqrt(stiffness * mass) * velocity
        size = float(np.linalg.norm(force))
        if bodies.kind[row] != BodyKind.RIGID:
            most = STRAIN * 2.0 * float(bodies.lame[1, row]) * float(bodies.volume[row]) ** (2.0 / 3.0)
            size = min(size, most)
        if size > 0.0:
            load = Loads(bodies)
            load.add_force(row, "SPATIAL", self.reference, force, size)
            load.apply(bodies, time, step)

    def release(self) -> None:
        """Let go."""
        if self.act in self.domain.loads.sources:
            self.domain.loads.sources.remove(self.act)


class Drag:
    """Pulling by Ctrl and the right button: the body under the pointer, in the plane through the point that faces the eye."""

    def __init__(self):
        self.spring: Spring | None = None
        self._depth = 0.0

    def mouse(self, app, io, x: int, y: int) -> bool:
        """Follow the mouse; return whether it pulls."""
        if self.spring is None:
            if io.key_ctrl and io.mouse_clicked[1]:
                self.begin(app, x, y)
            return self.spring is not None
        if not io.mouse_down[1]:
            self.end(app)
        else:
            self.pull(app, x, y)
        return True

    def begin(self, app, x: int, y: int) -> None:
        """Begin to pull the body under a pixel."""
        if not app.source.live:
            app.error = "stored results cannot be pulled; bodies of a run can: solfec -v input.py"
            return
        app.draw()
        found = picking.pick(app.view, x, y)
        if not found.body:
            return
        try:
            self.spring = Spring(app.view.domain, found.body, found.point)
        except SolfecError as error:
            app.error = str(error)
            return
        app.source.touched()
        self._depth = float(app.view.camera.project(found.point[None], *app.size)[0, 2])
        app.message = f"pulling {app.view.domain.bodies.name(found.body)}; the run is no longer that of its input"

    def pull(self, app, x: int, y: int) -> None:
        """Move the place towards which the spring pulls."""
        if not app.view.domain.is_alive(self.spring.body):
            self.end(app)
            return
        self.spring.place = app.view.camera.unproject(x + 0.5, y + 0.5, self._depth, *app.size)
        app.view.draw_lines(app.points or None)
        app.view.overlay.lines(self.spring.point()[None], self.spring.place[None], PURPLE)
        app.view.upload_lines()
        app.dirty = True

    def end(self, app) -> None:
        """Let go."""
        self.spring.release()
        self.spring = None
        app.view.draw_lines(app.points or None)
        app.dirty = True
