"""The camera: trackball, views, fit, matrices."""

from __future__ import annotations

import json

import numpy as np

from ..errors import SolfecError

HALF_ANGLE = np.radians(35.0)  # half of the field of view, 70 degrees as in Solfec-1.0
VIEWS = {"front": (-90, 0), "back": (90, 0), "left": (180, 0), "right": (0, 0), "top": (-90, 90), "bottom": (-90, -90)}  # azimuth, elevation


class Camera:
    """A camera that looks at a target from a distance.

    Attributes
    ----------
    target : ndarray (3,)
    distance, radius, reach : float
        Distance from the target; half of the diagonal of the fitted box; how far from the target bodies may be drawn [length].
    rotation : ndarray (3, 3)
        Rows are the screen's right, up, and the direction towards the eye.
    ortho : bool
        Parallel projection; sizes at the target are those in perspective.
    """

    def __init__(self):
        self.target, self.distance, self.radius, self.reach, self.ortho = np.zeros(3), 1.0, 1.0, 0.0, False
        self.rotation = np.eye(3)
        self.look(-60.0, 25.0)

    def look(self, azimuth: float, elevation: float) -> None:
        """Set the direction of view in degrees: azimuth from x towards y, elevation from there towards z."""
        a, e = np.radians([azimuth, elevation])
        back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        self.rotation = np.stack([right, np.cross(back, right), back])

    def fit(self, low: np.ndarray, high: np.ndarray, aspect: float = 1.0) -> None:
        """Move the camera so that a box fills the window."""
        low, high = np.asarray(low, float), np.asarray(high, float)
        corners = np.array(np.meshgrid(*zip(low, high))).reshape(3, -1).T
        self.radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-12)
        middle = 0.5 * (low + high)
        seen = (corners - middle) @ self.rotation.T
        slope = 0.94 * np.tan(HALF_ANGLE) * np.array([aspect, 1.0])
        # |x - eye| <= slope (height - z) for all corners gives the least height.
        lean = np.zeros((len(corners), 2)) if self.ortho else slope * seen[:, 2:]
        upper, lower = (seen[:, :2] + lean).max(0), (seen[:, :2] - lean).min(0)
        nearest = 1e-6 * self.radius if self.ortho else 1.05 * float(seen[:, 2].max())
        self.distance = max(float(((upper - lower) / (2.0 * slope)).max()), nearest)
        depth = self.distance - (0.0 if self.ortho else seen[:, 2])
        centre = [_middle(seen[:, k], depth, slope[k]) for k in (0, 1)]
        self.target = middle + np.array(centre) @ self.rotation[:2]

    def eye(self) -> np.ndarray:
        """Position of the eye."""
        return self.target + self.distance * self.rotation[2]

    def turn(self, right: float, up: float, spin: float = 0.0) -> None:
        """Turn the scene about the screen's axes through the target, by angles in radians."""
        for axis, angle in ((1, right), (0, up), (2, spin)):
            c, s = np.cos(angle), np.sin(angle)
            j, k = (axis + 1) % 3, (axis + 2) % 3
            matrix = np.eye(3)
            matrix[j, j] = matrix[k, k] = c
            matrix[j, k], matrix[k, j] = -s, s
            self.rotation = matrix @ self.rotation
        u, _, v = np.linalg.svd(self.rotation)  # removes round-off, so that thousands of small turns remain a rotation
        self.rotation = u @ v

    def move(self, right: float, up: float) -> None:
        """Move the scene in the plane of the screen, by fractions of its height."""
        size = 2.0 * self.distance * np.tan(HALF_ANGLE)
        self.target = self.target - size * (right * self.rotation[0] + up * self.rotation[1])

    def zoom(self, factor: float) -> None:
        """Multiply the distance."""
        self.distance = float(np.clip(self.distance * factor, 1e-4 * self.radius, 1e4 * self.radius))

    def matrices(self, aspect: float, origin=(0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
        """Return view and projection (4, 4) for points relative to `origin`."""
        view = np.eye(4)
        view[:3, :3], view[:3, 3] = self.rotation, -self.rotation @ (self.eye() - np.asarray(origin))
        reach = max(3.0 * self.radius, self.reach)
        near, far = self.distance - reach, self.distance + reach
        near = near if self.ortho else max(near, 0.005 * self.distance)
        p = np.zeros((4, 4))
        tangent = np.tan(HALF_ANGLE)
        if self.ortho:
            half = self.distance * tangent
            p[0, 0], p[1, 1], p[3, 3] = 1 / (half * aspect), 1 / half, 1
            p[2, 2], p[2, 3] = -2 / (far - near), -(far + near) / (far - near)
        else:
            p[0, 0], p[1, 1], p[3, 2] = 1 / (tangent * aspect), 1 / tangent, -1
            p[2, 2], p[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
        return view, p

    def project(self, points: np.ndarray, width: int, height: int) -> np.ndarray:
        """Return pixels (n, 2), y down, and as a third column depths in [0, 1] of points (n, 3); NaN behind the eye."""
        view, projection = self.matrices(width / height)
        clip = np.c_[points, np.ones(len(points))] @ (projection @ view).T
        with np.errstate(divide="ignore", invalid="ignore"):
            device = np.where(clip[:, 3:] > 0, clip[:, :3] / clip[:, 3:], np.nan)
        return np.stack([(device[:, 0] + 1) / 2 * width, (1 - device[:, 1]) / 2 * height, (device[:, 2] + 1) / 2], 1)

    def unproject(self, x: float, y: float, depth: float, width: int, height: int) -> np.ndarray:
        """Return the point (3,) at a pixel, y down, and a depth."""
        view, projection = self.matrices(width / height)
        device = np.array([2 * x / width - 1, 1 - 2 * y / height, 2 * depth - 1, 1.0])
        point = np.linalg.solve(projection @ view, device)
        return point[:3] / point[3]

    def to_json(self) -> str:
        """Return the camera's place as text for `from_json`."""
        return json.dumps({"target": self.target.tolist(), "distance": self.distance, "rotation": self.rotation.tolist(), "ortho": self.ortho})

    def from_json(self, text: str) -> None:
        """Set the camera's place from text of `to_json`."""
        try:
            stored = json.loads(text)
            target, rotation = np.array(stored["target"], float).reshape(3), np.array(stored["rotation"], float).reshape(3, 3)
            distance, ortho = float(stored["distance"]), bool(stored["ortho"])
        except (ValueError, KeyError, TypeError) as error:
            raise SolfecError(f"the text describes no camera: {error}") from None
        if not (distance > 0 and np.isfinite(target).all() and np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6)):
            raise SolfecError("the text describes no camera: its distance must be positive and its rotation a rotation")
        self.target, self.rotation, self.distance, self.ortho = target, rotation, distance, ortho


def _middle(places: np.ndarray, depth: np.ndarray, slope: float) -> float:
    """Return the eye's position along one axis of the screen for which points at these depths reach equally far to both sides."""
    low, high = float((places - slope * depth).max()), float((places + slope * depth).min())
    for _ in range(60):
        centre = 0.5 * (low + high)
        seen = (places - centre) / depth
        low, high = (centre, high) if seen.max() > -seen.min() else (low, centre)
    return 0.5 * (low + high)
