"""Buffers and vertex arrays."""

from __future__ import annotations

import ctypes

import numpy as np
from OpenGL import GL


class Buffer:
    """An array of one type on the graphics card; data of another type would be drawn wrongly without an error."""

    def __init__(self, dtype: str, target=GL.GL_ARRAY_BUFFER):
        self.name, self.target, self.dtype, self.size = int(GL.glGenBuffers(1)), target, np.dtype(dtype), 0

    def put(self, array: np.ndarray) -> None:
        """Replace the contents by an array of the buffer's type."""
        if array.dtype != self.dtype:
            raise TypeError(f"a buffer of {self.dtype} was given {array.dtype}")
        array = np.ascontiguousarray(array)
        GL.glBindBuffer(self.target, self.name)
        GL.glBufferData(self.target, max(array.nbytes, 16), array if array.nbytes else None, GL.GL_STREAM_DRAW)
        self.size = len(array)

    def delete(self) -> None:
        """Free it."""
        GL.glDeleteBuffers(1, [self.name])


class TextureBuffer(Buffer):
    """A buffer that shaders read by number."""

    def __init__(self, dtype: str, form):
        super().__init__(dtype, GL.GL_TEXTURE_BUFFER)
        self.texture, self.form = int(GL.glGenTextures(1)), form
        self.put(np.zeros(4, dtype))

    def delete(self) -> None:
        """Free it."""
        GL.glDeleteTextures([self.texture])
        super().delete()

    def bind(self, unit: int) -> None:
        """Bind it to the sampler of a unit."""
        GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
        GL.glBindTexture(GL.GL_TEXTURE_BUFFER, self.texture)
        GL.glTexBuffer(GL.GL_TEXTURE_BUFFER, self.form, self.name)


class VertexArray:
    """Assignment of buffers to the inputs of a program.

    Parameters
    ----------
    inputs : list of tuple
        Location, buffer, components, stride, offset in bytes, divisor.
    index : Buffer, optional
    """

    def __init__(self, inputs: list[tuple] = (), index: Buffer | None = None):
        self.name = int(GL.glGenVertexArrays(1))
        GL.glBindVertexArray(self.name)
        for where, buffer, components, stride, offset, divisor in inputs:
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer.name)
            GL.glEnableVertexAttribArray(where)
            if buffer.dtype.kind == "f":
                GL.glVertexAttribPointer(where, components, GL.GL_FLOAT, False, stride, ctypes.c_void_p(offset))
            else:
                GL.glVertexAttribIPointer(where, components, GL.GL_INT, stride, ctypes.c_void_p(offset))
            GL.glVertexAttribDivisor(where, divisor)
        if index is not None:
            GL.glBindBuffer(GL.GL_ELEMENT_ARRAY_BUFFER, index.name)
        GL.glBindVertexArray(0)

    def delete(self) -> None:
        """Free it."""
        GL.glDeleteVertexArrays(1, [self.name])

    def bind(self) -> None:
        """Draw with it."""
        GL.glBindVertexArray(self.name)
