"""Shader programs, compiled from the files beside this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from OpenGL import GL

from ...errors import SolfecError


@cache
def source(name: str) -> str:
    """Return the text of a shader; files replace lines `#include "other"`."""
    lines = (Path(__file__).parent / f"{name}.glsl").read_text().splitlines()
    return "\n".join(source(line.split('"')[1]) if line.startswith("#include") else line for line in lines) + "\n"


class Program:
    """A vertex and a fragment shader, with its uniforms by name."""

    def __init__(self, vertex: str, fragment: str):
        self.name = GL.glCreateProgram()
        for kind, file in ((GL.GL_VERTEX_SHADER, vertex), (GL.GL_FRAGMENT_SHADER, fragment)):
            shader = GL.glCreateShader(kind)
            GL.glShaderSource(shader, "#version 330 core\n" + source(file))
            GL.glCompileShader(shader)
            if not GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS):
                raise SolfecError(f"{file}.glsl does not compile: {GL.glGetShaderInfoLog(shader).decode()}")
            GL.glAttachShader(self.name, shader)
            GL.glDeleteShader(shader)  # takes effect when the program is deleted
        GL.glLinkProgram(self.name)
        if not GL.glGetProgramiv(self.name, GL.GL_LINK_STATUS):
            raise SolfecError(f"{vertex}.glsl and {fragment}.glsl do not link: {GL.glGetProgramInfoLog(self.name).decode()}")
        self._places: dict[str, int] = {}

    def delete(self) -> None:
        """Free it."""
        GL.glDeleteProgram(self.name)

    def use(self, **values) -> None:
        """Draw with it and these uniforms; ignore those that the shaders do not read."""
        GL.glUseProgram(self.name)
        for key, value in values.items():
            place = self._places.get(key)
            if place is None:
                place = self._places[key] = GL.glGetUniformLocation(self.name, key)
            if place >= 0:
                _set(place, value)


def _set(place: int, value) -> None:
    if isinstance(value, np.uint32):
        GL.glUniform1ui(place, int(value))
    elif isinstance(value, (bool, int)):
        GL.glUniform1i(place, int(value))
    elif isinstance(value, float):
        GL.glUniform1f(place, value)
    else:
        value = np.ascontiguousarray(value, np.float32)
        if value.shape == (4, 4):
            GL.glUniformMatrix4fv(place, 1, GL.GL_TRUE, value)
        elif value.ndim == 3:  # (1, n, 4): an array of vectors
            GL.glUniform4fv(place, value.shape[1], value)
        else:
            (GL.glUniform2fv, GL.glUniform3fv, GL.glUniform4fv)[len(value) - 2](place, 1, value)
