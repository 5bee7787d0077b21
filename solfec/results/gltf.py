"""Results as binary glTF 2.0, which browsers, Blender and slide programs show: bodies as meshes that move (Khronos Group, "glTF 2.0 Specification").

Rigid bodies and obstacles are nodes whose place and rotation are animated.  Bodies that deform have a morph target for each frame,
whose weights are animated.  Bodies that come or go have no size while they are not there.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field

import numpy as np

from ..domain import Domain
from ..element_types import ELEMENT_TYPES
from ..errors import SolfecError
from ..kinds import BodyKind
from .export import empty_domain
from .reader import ResultsReader
from .scene import POLYGON, Scene, scene_of

FLOAT, UNSIGNED, ARRAY, INDICES, LINEAR, STEP = 5126, 5125, 34962, 34963, "LINEAR", "STEP"  # numbers and names of the format
FACES = {kind.vtk: kind.faces for kind in ELEMENT_TYPES if not kind.listed}
COLOURS = ((0.16, 0.47, 0.84), (0.92, 0.41, 0.20), (0.11, 0.69, 0.48), (0.93, 0.63, 0.0), (0.91, 0.48, 0.64), (0.42, 0.31, 0.73))
GREY = (0.72, 0.71, 0.68)  # of obstacles
MOST_BYTES = 1_000_000_000
MERIDIANS, PARALLELS = 20, 10  # of spheres


@dataclass
class _Body:
    """Shape of one body and its motion; `poses` (shift, quaternion) or `places` (n, 3) by frame number."""

    rigid: bool
    obstacle: bool
    points: np.ndarray
    triangles: np.ndarray
    poses: dict[int, np.ndarray] = field(default_factory=dict)
    places: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def frames(self) -> set[int]:
        return set(self.poses) | set(self.places)


def write(path: str, reader: ResultsReader, numbers: list[int], subset: set[int] | None) -> None:
    """Write some frames of results as one file: a still for one frame, else an animation in the seconds of the run."""
    bodies: dict[int, _Body] = {}
    domain, size = empty_domain(reader), 0
    for place, number in enumerate(numbers):
        reader.load(domain, number)
        _add(bodies, domain, scene_of(domain, subset), place)
        size += sum(body.places[place].nbytes // 2 for body in bodies.values() if place in body.places)
        if size > MOST_BYTES:
            raise SolfecError(f"{path}: points of bodies that deform would take more than {MOST_BYTES // 10**6} MB; export fewer frames or bodies")
    if not bodies:
        raise SolfecError(f"{path}: there is no body to export")
    times = reader.times[numbers]
    document = _Document()
    for identifier, body in bodies.items():
        document.add(identifier, reader.labels.get(identifier, ""), body, len(numbers))
    if len(numbers) > 1:
        document.animate(times - times[0], list(bodies.values()))
    document.save(path)


def _add(bodies: dict[int, _Body], domain: Domain, scene: Scene, frame: int) -> None:
    """Add a frame: new bodies with their shapes, and motion of all."""
    table, ids = domain.bodies, domain.bodies.view("id").tolist()
    row_of = {identifier: row for row, identifier in enumerate(ids)}
    unit, sphere = _sphere()
    for identifier in sorted(set(scene.points.body.tolist()) | set(scene.spheres.body.tolist())):
        row = row_of[identifier]
        own, balls = scene.points.body == identifier, scene.spheres.body == identifier
        rigid = table.kind[row] <= BodyKind.RIGID
        sizes = scene.spheres.radius[balls]
        places = [scene.points.position[own], *(centre + r * unit for centre, r in zip(scene.spheres.position[balls], sizes))]
        if identifier not in bodies:
            triangles = [_triangles(scene, identifier, int(np.argmax(own)))] if own.any() else []
            count = int(own.sum())
            triangles += [sphere + count + k * len(unit) for k in range(int(balls.sum()))]
            reference = np.concatenate(places)
            if rigid:
                turned, centre = _pose(table, row)
                reference = (reference - centre) @ turned  # in the frame of the body
            bodies[identifier] = _Body(bool(rigid), table.kind[row] == BodyKind.OBSTACLE, reference, np.concatenate(triangles).astype(np.uint32))
        body = bodies[identifier]
        if rigid:
            turned, centre = _pose(table, row)
            body.poses[frame] = np.concatenate((centre, _quaternion(turned)))
        else:
            body.places[frame] = np.concatenate(places)


def _pose(table, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Rotation matrix and mass centre of a rigid body."""
    first = int(table.conf_ptr[row])
    conf = table.configurations.conf[:, first : first + 4]
    return conf[:, :3].copy(), conf[:, 3].copy()


def _quaternion(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternion (x, y, z, w) of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(matrix).as_quat()


def _triangles(scene: Scene, identifier: int, first: int) -> np.ndarray:
    """Triangles (n, 3) of the surface of a body: polygons, and faces of elements that no other element shares."""
    cells, faces, seen = scene.cells, [], {}
    for k in np.flatnonzero(cells.body == identifier).tolist():
        nodes = cells.connectivity[cells.offsets[k] : cells.offsets[k + 1]] - first
        if cells.types[k] == POLYGON:
            faces.append(nodes.tolist())
            continue
        for face in FACES[int(cells.types[k])]:
            corners = nodes[list(face)].tolist()
            key = tuple(sorted(corners))
            seen[key] = None if key in seen else corners
    faces += [corners for corners in seen.values() if corners is not None]
    return np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)], np.int64).reshape(-1, 3)


def _sphere() -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) and triangles (m, 3) of the unit sphere."""
    height, turn = np.linspace(0, np.pi, PARALLELS + 1), np.linspace(0, 2 * np.pi, MERIDIANS, endpoint=False)
    t, a = np.meshgrid(height, turn, indexing="ij")
    points = np.stack((np.sin(t) * np.cos(a), np.sin(t) * np.sin(a), np.cos(t)), -1).reshape(-1, 3)
    k, m = (grid.ravel() for grid in np.meshgrid(np.arange(PARALLELS), np.arange(MERIDIANS), indexing="ij"))
    n = (m + 1) % MERIDIANS
    a, b, c, d = k * MERIDIANS + m, (k + 1) * MERIDIANS + m, (k + 1) * MERIDIANS + n, k * MERIDIANS + n
    lower, upper = k < PARALLELS - 1, k > 0  # triangles at the poles have no third corner of their own
    return points, np.concatenate((np.stack((a, b, c), 1)[lower], np.stack((a, c, d), 1)[upper]))


class _Document:
    """The JSON part and the bytes of a file."""

    def __init__(self):
        self.json: dict = {
            "asset": {"version": "2.0", "generator": "solfec"}, "scene": 0, "scenes": [{"nodes": [0]}],
            # glTF has y upwards: a quarter turn about x lays z there
            "nodes": [{"name": "solfec", "rotation": [-(0.5**0.5), 0.0, 0.0, 0.5**0.5], "children": []}],
            "meshes": [], "materials": [], "accessors": [], "bufferViews": [],
        }  # fmt: skip
        self.bytes: list[bytes] = []
        self.size = 0
        for colour in (GREY, *COLOURS):
            surface = {"baseColorFactor": [*colour, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}
            self.json["materials"].append({"pbrMetallicRoughness": surface, "doubleSided": True})

    def accessor(self, values: np.ndarray, kind: str, target: int | None = None, bounds: bool = False) -> int:
        """Append an array and return the number of its accessor."""
        values = np.ascontiguousarray(values, "<u4" if values.dtype == np.uint32 else "<f4")
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": values.nbytes} | ({"target": target} if target else {})
        self.json["bufferViews"].append(view)
        self.bytes.append(values.tobytes())
        self.size += values.nbytes
        component = UNSIGNED if values.dtype.kind == "u" else FLOAT
        count = values.size if kind == "SCALAR" else len(values)
        entry = {"bufferView": len(self.json["bufferViews"]) - 1, "componentType": component, "count": count, "type": kind}
        if bounds:
            entry |= {"min": np.atleast_1d(values.min(0)).astype(float).tolist(), "max": np.atleast_1d(values.max(0)).astype(float).tolist()}
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def add(self, identifier: int, label: str, body: _Body, frames: int) -> None:
        """Append the mesh and the node of a body, as it is in its first frame."""
        name = label or f"body {identifier}"
        part = {
            "attributes": {"POSITION": self.accessor(body.points, "VEC3", ARRAY, True)},
            "indices": self.accessor(body.triangles.ravel(), "SCALAR", INDICES),
            "material": 0 if body.obstacle else 1 + identifier % len(COLOURS),
        }
        mesh: dict = {"name": name, "primitives": [part]}
        if not body.rigid and frames > 1:
            part["targets"] = [
                {"POSITION": self.accessor(body.places.get(k, body.points) - body.points, "VEC3", ARRAY, True)} for k in range(frames)
            ]
            mesh["weights"] = [0.0] * frames
        self.json["meshes"].append(mesh)
        node = {"name": name, "mesh": len(self.json["meshes"]) - 1}
        if body.rigid:
            pose = body.poses[min(body.poses)]
            node |= {"translation": pose[:3].tolist(), "rotation": pose[3:].tolist()}
        self.json["nodes"].append(node)
        self.json["nodes"][0]["children"].append(len(self.json["nodes"]) - 1)

    def animate(self, times: np.ndarray, bodies: list[_Body]) -> None:
        """Append the animation of all bodies, whose nodes follow the first one."""
        at, count = self.accessor(times, "SCALAR", bounds=True), len(times)
        channels, samplers = [], []

        def channel(node: int, path: str, values: np.ndarray, kind: str, way: str = LINEAR) -> None:
            samplers.append({"input": at, "output": self.accessor(values, kind), "interpolation": way})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

        for node, body in enumerate(bodies, 1):
            known = sorted(body.frames)
            if body.rigid:
                poses = np.array([body.poses[known[max(0, np.searchsorted(known, k, side="right") - 1)]] for k in range(count)])
                turns = poses[:, 3:] * np.cumprod(np.append(1.0, np.where((poses[1:, 3:] * poses[:-1, 3:]).sum(1) < 0.0, -1.0, 1.0)))[:, None]
                channel(node, "translation", poses[:, :3], "VEC3")
                channel(node, "rotation", turns, "VEC4")
            else:
                channel(node, "weights", np.eye(count), "SCALAR")
            if len(known) < count:
                size = np.zeros((count, 3))
                size[known] = 1.0
                channel(node, "scale", size, "VEC3", STEP)
        self.json["animations"] = [{"name": "run", "channels": channels, "samplers": samplers}]

    def save(self, path: str) -> None:
        """Write header, JSON and bytes, in pieces of four bytes."""
        self.json["buffers"] = [{"byteLength": self.size}]
        text = json.dumps(self.json, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        with open(path, "wb") as file:
            file.write(struct.pack("<4sIIII", b"glTF", 2, 12 + 8 + len(text) + 8 + self.size, len(text), 0x4E4F534A) + text)
            file.write(struct.pack("<II", self.size, 0x004E4942))
            file.writelines(self.bytes)
