"""Renderer: from whole arrays to a picture and the identifiers of its pixels.

Three passes draw all shapes into textures of colour, normal and identifiers; ambient occlusion; and light. There are at most eight draw calls,
however many bodies there are. The first number of a pixel is the identifier of the body, or that of a constraint plus 2**31; the second one
is the triangle's number plus 1, or that of a sphere or ellipsoid plus 2**30, or a constraint's row; (0, 0): nothing.
"""

from __future__ import annotations

import numpy as np
from OpenGL import GL

from .. import colours
from .buffers import Buffer, TextureBuffer, VertexArray
from .programs import Program
from .targets import Targets

CONSTRAINT = 0x80000000  # added to the identifier of a constraint
MOST_PLANES = 4
SIDES = 12  # of arrows and tubes
NO_CLIP = np.zeros((0, 4))
INK = (0.25, 0.25, 0.28)


class Renderer:
    """Draws the arrays that it got last.

    Attributes
    ----------
    lighting : int
        0: none, 1: light, 2: light and occlusion.
    edges, filled, arrows_shown : bool
    planes : ndarray (n, 4)
        At most four planes; points with n . x > w are cut away.
    referential : ndarray (n,)
        1 for planes that cut the referential shape.
    chosen, hovered : int
        Identifiers of the bodies that are outlined in orange, and in blue since a tool points at it; 0: none.
    ink : tuple of 3 float
        Colour of edges.
    mode : int
        Colours of bodies: 0 their own colours, 1 values, 2 categories.
    range : tuple of 2 float
        Of the colour map.
    arrow_scale : float
    fade : float
        Factor of opacities.
    """

    def __init__(self):
        names = ("mesh", "line", "quadric", "arrow", "overlay")
        self.programs = {name: Program(f"{name}_vertex", f"{name}_fragment") for name in names}
        self.programs |= {name: Program("screen_vertex", f"{name}_fragment") for name in ("occlusion", "light")}
        self.lighting, self.edges, self.filled, self.arrows_shown, self.chosen = 2, True, True, True, 0
        self.hovered, self.ink = 0, INK
        self.planes, self.referential, self.mode, self.range, self.arrow_range = NO_CLIP, np.zeros(0), 0, (0.0, 1.0), (0.0, 1.0)
        self.arrow_scale, self.tubes, self.arrow_mode, self.arrow_sizes = 1.0, 0, 1, 1.0
        self.fade = 1.0
        self.origin, self.draw_calls, self.targets = np.zeros(3), 0, None
        self._make_buffers()
        self._make_arrays()
        self.set_colours("viridis")

    def _make_buffers(self) -> None:
        self.vertex, self.value, self.reference = Buffer("f4"), Buffer("f4"), Buffer("f4")
        self.line_end, self.line_colour = Buffer("f4"), Buffer("f4")
        self.index, self.edge = Buffer("u4", GL.GL_ELEMENT_ARRAY_BUFFER), Buffer("u4", GL.GL_ELEMENT_ARRAY_BUFFER)
        self.owners, self.edge_bodies = TextureBuffer("i4", GL.GL_RGBA32I), TextureBuffer("i4", GL.GL_R32I)
        self.looks, self.cap_owners = TextureBuffer("f4", GL.GL_RGBA32F), TextureBuffer("i4", GL.GL_RGBA32I)
        self.cap_vertex, self.cap_value, self.cap_reference = Buffer("f4"), Buffer("f4"), Buffer("f4")
        self.quadric, self.quadric_owner, self.quadric_value, self.quadric_reference = Buffer("f4"), Buffer("i4"), Buffer("f4"), Buffer("f4")
        self.arrow_shape, self.tube_shape = Buffer("f4"), Buffer("f4")
        self.arrow_shape.put(_arrow())
        self.tube_shape.put(_tube())
        self.point, self.vector, self.arrow_value, self.arrow_owner = Buffer("f4"), Buffer("f4"), Buffer("f4"), Buffer("i4")
        self.colours = int(GL.glGenTextures(1))

    def _make_arrays(self) -> None:
        self.mesh_array = VertexArray([(0, self.vertex, 3, 0, 0, 0), (1, self.value, 1, 0, 0, 0), (2, self.reference, 3, 0, 0, 0)], self.index)
        self.cap_array = VertexArray([(0, self.cap_vertex, 3, 0, 0, 0), (1, self.cap_value, 1, 0, 0, 0), (2, self.cap_reference, 3, 0, 0, 0)])
        self.edge_array = VertexArray([(0, self.vertex, 3, 0, 0, 0), (2, self.reference, 3, 0, 0, 0)], self.edge)
        self.line_array = VertexArray([(0, self.line_end, 3, 0, 0, 0), (1, self.line_colour, 3, 0, 0, 0)])
        axes = [(k, self.quadric, 3, 48, 12 * k, 1) for k in range(4)]
        axes += [(6 + k, self.quadric_reference, 3, 48, 12 * k, 1) for k in range(4)]
        self.quadric_array = VertexArray([*axes, (4, self.quadric_owner, 4, 0, 0, 1), (5, self.quadric_value, 1, 0, 0, 1)])
        each = [(1, self.point, 3, 0, 0, 1), (2, self.vector, 3, 0, 0, 1), (3, self.arrow_value, 1, 0, 0, 1), (4, self.arrow_owner, 4, 0, 0, 1)]
        self.arrow_arrays = [VertexArray([(0, shape, 3, 0, 0, 0), *each]) for shape in (self.arrow_shape, self.tube_shape)]
        self.screen_array = VertexArray()

    # -- what to draw ---------------------------------------------------------------------------------------

    def set_colours(self, name: str) -> None:
        """Choose the colour map."""
        table = np.zeros((2, 256, 3), np.uint8)
        table[0] = colours.colour_map(name)
        table[1, : colours.CATEGORIES] = colours.palette()
        GL.glActiveTexture(GL.GL_TEXTURE0)
        GL.glBindTexture(GL.GL_TEXTURE_2D, self.colours)
        for key in (GL.GL_TEXTURE_MIN_FILTER, GL.GL_TEXTURE_MAG_FILTER):
            GL.glTexParameteri(GL.GL_TEXTURE_2D, key, GL.GL_NEAREST)
        GL.glPixelStorei(GL.GL_UNPACK_ALIGNMENT, 1)
        GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, GL.GL_RGB8, 256, 2, 0, GL.GL_RGB, GL.GL_UNSIGNED_BYTE, table)

    def set_topology(self, topology) -> None:
        """Take triangles and edges of an `arrays.Topology`."""
        self.origin = topology.origin
        self.index.put(topology.triangles)
        self.edge.put(topology.edges)
        self.edge_bodies.put(topology.edge_body)

    def set_owners(self, triangles: np.ndarray, quadrics: np.ndarray) -> None:
        """Take owners from `arrays.Topology.owners`."""
        self.owners.put(triangles)
        self.quadric_owner.put(quadrics)

    def set_shapes(self, vertices: np.ndarray, quadrics: np.ndarray) -> None:
        """Take vertices (n, 3) float32 relative to the origin and quadrics (m, 12) float32."""
        self.vertex.put(vertices)
        self.quadric.put(quadrics)

    def set_values(self, vertices: np.ndarray, quadrics: np.ndarray) -> None:
        """Take values (n,) and (m,) float32 of vertices and quadrics."""
        self.value.put(vertices)
        self.quadric_value.put(quadrics)

    def set_looks(self, looks: np.ndarray) -> None:
        """Take colours and opacities (bodies, 4) float32."""
        self.looks.put(looks if len(looks) else np.zeros((1, 4), np.float32))

    def set_references(self, vertices: np.ndarray, quadrics: np.ndarray) -> None:
        """Take referential vertices and quadrics, in the form of `set_shapes`."""
        self.reference.put(vertices)
        self.quadric_reference.put(quadrics)

    def set_lines(self, ends: np.ndarray, colours: np.ndarray) -> None:
        """Take lines that belong to no body: ends (2 n, 3) relative to the origin and colours (2 n, 3) float32."""
        self.line_end.put(ends)
        self.line_colour.put(colours)

    def set_caps(self, vertices: np.ndarray, values: np.ndarray, owners: np.ndarray, references: np.ndarray) -> None:
        """Take the triangles of cuts: corners (3 n, 3), values (3 n,) and referential corners (3 n, 3) float32, owners (n, 4) int32."""
        self.cap_reference.put(references)
        self.cap_vertex.put(vertices)
        self.cap_value.put(values)
        self.cap_owners.put(owners)

    def set_arrows(self, points, vectors, values, owners, tubes: int = 0, mode: int = 1) -> None:
        """Take points (n, 3) relative to the origin, vectors (n, 3), values (n,) float32 and owners (n, 4) int32: identifiers second, categories third.

        `tubes`: 0 arrows, 1 tubes about the points, 2 tubes from the points along the whole vectors.
        """
        self.point.put(points)
        self.vector.put(vectors)
        self.arrow_value.put(values)
        self.arrow_owner.put(owners)
        self.tubes, self.arrow_mode = tubes, mode
        sizes = np.abs(values) if tubes else np.linalg.norm(vectors, axis=1)
        self.arrow_sizes = float(sizes.max()) if len(sizes) else 0.0

    # -- drawing --------------------------------------------------------------------------------------------

    def draw(self, camera, width: int, height: int, targets: Targets | None = None) -> Targets:
        """Draw a picture into targets of this size, by default the renderer's own ones."""
        if targets is None:
            if self.targets is None or (self.targets.width, self.targets.height) != (width, height):
                if self.targets is not None:
                    self.targets.delete()
                self.targets = Targets(width, height)
            targets = self.targets
        self.draw_calls = 0
        view, projection = camera.matrices(width / height, self.origin)
        self._draw_shapes(targets, camera, view, projection)
        self._draw_light(targets, camera, projection)
        return targets

    def outline(self, camera) -> None:
        """Draw anew what depends on `chosen` and `hovered`, on the shapes that the last picture shows."""
        if self.targets is not None:
            self._draw_light(self.targets, camera, None)

    def _common(self, camera, view, projection) -> dict:
        planes = np.zeros((MOST_PLANES, 4))
        planes[: len(self.planes)] = self.planes[:MOST_PLANES]
        planes[:, 3] -= planes[:, :3] @ self.origin
        referential = np.zeros(MOST_PLANES)
        referential[: len(self.referential)] = self.referential
        return {
            "view": view, "proj": projection, "planes": planes[None], "plane_count": len(self.planes), "referential": referential, "fade": self.fade, "mode": self.mode,
            "range": self.range, "colours": 0, "owners": 1, "looks": 2, "edge_bodies": 3, "eye": camera.eye() - self.origin,
            "forward": -camera.rotation[2], "parallel": camera.ortho, "colour": self.ink,
        }  # fmt: skip

    def _draw_shapes(self, targets: Targets, camera, view, projection) -> None:
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, targets.framebuffers[0])
        GL.glViewport(0, 0, targets.width, targets.height)
        GL.glClearBufferfv(GL.GL_COLOR, 0, np.array([1, 1, 1, 0], "f4"))
        GL.glClearBufferfv(GL.GL_COLOR, 1, np.zeros(4, "f4"))
        GL.glClearBufferuiv(GL.GL_COLOR, 2, np.zeros(4, "u4"))
        GL.glClearBufferfv(GL.GL_DEPTH, 0, np.ones(1, "f4"))
        GL.glEnable(GL.GL_DEPTH_TEST)
        for switch in (GL.GL_BLEND, GL.GL_SCISSOR_TEST, GL.GL_CULL_FACE):
            GL.glDisable(switch)
        GL.glActiveTexture(GL.GL_TEXTURE0)
        GL.glBindTexture(GL.GL_TEXTURE_2D, self.colours)
        self.looks.bind(2)
        common = self._common(camera, view, projection)
        if self.filled:
            self._draw_triangles(common)
        if self.edges and self.edge.size:
            self.edge_bodies.bind(3)
            self.edge_array.bind()
            GL.glColorMaski(2, False, False, False, False)  # edges do not change identifiers
            GL.glDepthFunc(GL.GL_LEQUAL)
            self.programs["line"].use(**common)
            GL.glDrawElements(GL.GL_LINES, 2 * self.edge.size, GL.GL_UNSIGNED_INT, None)
            GL.glDepthFunc(GL.GL_LESS)
            GL.glColorMaski(2, True, True, True, True)
            self.draw_calls += 1
        if self.quadric.size:
            self.quadric_array.bind()
            GL.glEnable(GL.GL_CULL_FACE)
            GL.glCullFace(GL.GL_FRONT)  # so that the eye may be inside of a box
            self.programs["quadric"].use(**common)
            GL.glDrawArraysInstanced(GL.GL_TRIANGLES, 0, 36, self.quadric.size)
            GL.glDisable(GL.GL_CULL_FACE)
            self.draw_calls += 1
        if self.arrows_shown and self.point.size:
            self._draw_arrows(camera, common)
        if self.line_end.size:
            self.line_array.bind()
            GL.glColorMaski(2, False, False, False, False)
            self.programs["overlay"].use(**common)
            GL.glDrawArrays(GL.GL_LINES, 0, self.line_end.size)
            GL.glColorMaski(2, True, True, True, True)
            self.draw_calls += 1

    def _draw_triangles(self, common: dict) -> None:
        GL.glEnable(GL.GL_POLYGON_OFFSET_FILL)  # moves faces behind their edges, more where they are steep
        GL.glPolygonOffset(1.0, 1.0)
        self.programs["mesh"].use(**common)
        if self.index.size:
            self.owners.bind(1)
            self.mesh_array.bind()
            GL.glDrawElements(GL.GL_TRIANGLES, 3 * self.index.size, GL.GL_UNSIGNED_INT, None)
            self.draw_calls += 1
        if self.cap_vertex.size:
            self.cap_owners.bind(1)
            self.cap_array.bind()
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, self.cap_vertex.size)
            self.draw_calls += 1
        GL.glDisable(GL.GL_POLYGON_OFFSET_FILL)

    def _draw_arrows(self, camera, common: dict) -> None:
        shape = self.tube_shape if self.tubes else self.arrow_shape
        self.arrow_arrays[self.tubes > 0].bind()
        size = self.arrow_scale * camera.distance
        sizes = (0.02 * size, 0.10 * size, self.arrow_sizes)
        self.programs["arrow"].use(**common | {"mode": self.arrow_mode, "range": self.arrow_range, "sizes": sizes, "tubes": self.tubes})
        GL.glDrawArraysInstanced(GL.GL_TRIANGLES, 0, shape.size, self.point.size)
        self.draw_calls += 1

    def delete(self) -> None:
        """Free all memory on the graphics card."""
        for thing in vars(self).values():
            for item in thing if isinstance(thing, list) else thing.values() if isinstance(thing, dict) else [thing]:
                if isinstance(item, (Buffer, VertexArray, Program, Targets)):
                    item.delete()
        GL.glDeleteTextures([self.colours])
        self.targets = None

    def _draw_light(self, targets: Targets, camera, projection) -> None:
        GL.glDisable(GL.GL_DEPTH_TEST)
        self.screen_array.bind()
        for unit, name in enumerate(("albedo", "normals", "occlusion", "depth", "ids"), 4):
            targets.bind(name, unit)
        GL.glViewport(0, 0, targets.width, targets.height)
        if self.lighting > 1 and projection is not None:
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, targets.framebuffers[1])
            inverse, radius = np.linalg.inv(projection), 0.06 * float(camera.distance)
            self.programs["occlusion"].use(depth=7, normals=5, proj=projection, unproj=inverse, radius=radius)
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
            self.draw_calls += 1
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, targets.framebuffers[2])
        pixel = (1 / targets.width, 1 / targets.height)
        self.programs["light"].use(
            albedo=4, normals=5, occlusion=6, ids=8, lighting=self.lighting, chosen=np.uint32(self.chosen), hovered=np.uint32(self.hovered), pixel=pixel
        )
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        self.draw_calls += 1


def _ring() -> np.ndarray:
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES + 1)
    return np.stack([np.cos(angle), np.sin(angle)], 1)


def _revolved(profile: list[tuple[float, float]]) -> np.ndarray:
    """Return triangles (3 n, 3) float32 of a profile of (radius, height) revolved about the z axis."""
    ring, triangles = _ring(), []
    for p, q in zip(ring[:-1], ring[1:]):
        for (r0, z0), (r1, z1) in zip(profile[:-1], profile[1:]):
            a, b, c, d = (*(r0 * p), z0), (*(r0 * q), z0), (*(r1 * q), z1), (*(r1 * p), z1)
            triangles += [a, b, c, a, c, d]
    return np.array(triangles, np.float32)


def _arrow() -> np.ndarray:
    return _revolved([(0.0, 0.0), (0.3, 0.0), (0.3, 0.65), (1.0, 0.65), (0.0, 1.0)])


def _tube() -> np.ndarray:
    return _revolved([(0.0, 0.0), (0.4, 0.0), (0.4, 1.0), (0.0, 1.0)])
