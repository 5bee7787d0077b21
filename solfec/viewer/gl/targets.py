"""Textures of the passes, and reading them back."""

from __future__ import annotations

import numpy as np
from OpenGL import GL

from ...errors import SolfecError

FORMS = {
    "albedo": (GL.GL_RGBA8, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE),
    "normals": (GL.GL_RGBA16F, GL.GL_RGBA, GL.GL_FLOAT),
    "ids": (GL.GL_RG32UI, GL.GL_RG_INTEGER, GL.GL_UNSIGNED_INT),
    "depth": (GL.GL_DEPTH_COMPONENT32F, GL.GL_DEPTH_COMPONENT, GL.GL_FLOAT),
    "occlusion": (GL.GL_R8, GL.GL_RED, GL.GL_UNSIGNED_BYTE),
    "final": (GL.GL_RGBA8, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE),
}
PASSES = (("albedo", "normals", "ids"), ("occlusion",), ("final",))


class Targets:
    """Textures of one size, with a framebuffer for each pass."""

    def __init__(self, width: int, height: int):
        most = int(GL.glGetIntegerv(GL.GL_MAX_TEXTURE_SIZE))
        if not (0 < width <= most and 0 < height <= most):
            raise SolfecError(f"pictures have between 1 and {most} pixels each way here, not {width}x{height}")
        self.width, self.height = width, height
        self.textures = {name: self._texture(*form) for name, form in FORMS.items()}
        self.framebuffers = [int(name) for name in GL.glGenFramebuffers(3)]
        for framebuffer, names in zip(self.framebuffers, PASSES):
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, framebuffer)
            for k, name in enumerate(names):
                GL.glFramebufferTexture2D(GL.GL_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0 + k, GL.GL_TEXTURE_2D, self.textures[name], 0)
            if len(names) == 3:
                GL.glFramebufferTexture2D(GL.GL_FRAMEBUFFER, GL.GL_DEPTH_ATTACHMENT, GL.GL_TEXTURE_2D, self.textures["depth"], 0)
            GL.glDrawBuffers(len(names), [GL.GL_COLOR_ATTACHMENT0 + k for k in range(len(names))])
            if GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) != GL.GL_FRAMEBUFFER_COMPLETE:
                raise SolfecError("this OpenGL cannot draw into the textures that the viewer needs")

    def _texture(self, inner, form, kind) -> int:
        texture = int(GL.glGenTextures(1))
        GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
        GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, inner, self.width, self.height, 0, form, kind, None)
        for key in (GL.GL_TEXTURE_MIN_FILTER, GL.GL_TEXTURE_MAG_FILTER):
            GL.glTexParameteri(GL.GL_TEXTURE_2D, key, GL.GL_NEAREST)
        for key in (GL.GL_TEXTURE_WRAP_S, GL.GL_TEXTURE_WRAP_T):
            GL.glTexParameteri(GL.GL_TEXTURE_2D, key, GL.GL_CLAMP_TO_EDGE)
        return texture

    def delete(self) -> None:
        """Free them."""
        GL.glDeleteFramebuffers(len(self.framebuffers), self.framebuffers)
        GL.glDeleteTextures(list(self.textures.values()))

    def bind(self, name: str, unit: int) -> None:
        """Bind a texture to the sampler of a unit."""
        GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
        GL.glBindTexture(GL.GL_TEXTURE_2D, self.textures[name])

    def pixels(self) -> np.ndarray:
        """Return the picture (height, width, 4) uint8, the top row first; the last number is 0 where nothing is drawn."""
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self.framebuffers[2])
        return self._read(GL.GL_COLOR_ATTACHMENT0, (0, 0, self.width, self.height), GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, np.uint8, 4)

    def ids(self, x: int = 0, y: int = 0, width: int | None = None, height: int | None = None) -> np.ndarray:
        """Return identifiers and numbers (height, width, 2) uint32 of a rectangle whose upper left pixel is (x, y); see `Renderer`."""
        width, height = self.width if width is None else width, self.height if height is None else height
        if not (0 <= x and 0 <= y and 0 < width <= self.width - x and 0 < height <= self.height - y):
            raise SolfecError(f"the rectangle {x}, {y}, {width}, {height} is not inside a picture of {self.width}x{self.height}")
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self.framebuffers[0])
        place = (x, self.height - y - height, width, height)
        return self._read(GL.GL_COLOR_ATTACHMENT2, place, GL.GL_RG_INTEGER, GL.GL_UNSIGNED_INT, np.uint32, 2)

    def depth(self, x: int, y: int) -> float:
        """Return the depth in [0, 1] of a pixel; 1 where nothing is drawn."""
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self.framebuffers[0])
        place = (x, self.height - y - 1, 1, 1)
        return float(self._read(GL.GL_COLOR_ATTACHMENT0, place, GL.GL_DEPTH_COMPONENT, GL.GL_FLOAT, np.float32, 1)[0, 0, 0])

    def _read(self, attachment, place, form, kind, dtype, components: int) -> np.ndarray:
        x, y, width, height = place
        GL.glReadBuffer(attachment)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
        out = np.zeros((height, width, components), dtype)
        GL.glReadPixels(x, y, width, height, form, kind, out)
        return out[::-1].copy()
