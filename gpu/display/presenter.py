"""Pixels -> texture -> screen: one full-screen triangle in GL 3.3 core, without direct state access.

All calls come from the thread whose GL context is current. The picture keeps its aspect when its size differs from the
widget's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .gl import GL
from .layout import fitted
from .pixel_buffer import PixelBuffer
from .programs import link


class Presenter:
    """Holds the texture of the last picture and draws it. Make it where the context is current, close it there."""

    def __init__(self) -> None:
        self._program = link(("present.vert",), ("present.frag",))
        self._vertex_array = int(GL.glGenVertexArrays(1))
        self._texture = int(GL.glGenTextures(1))
        self._shown, self._size = self._texture, (0, 0)
        self._picture = GL.glGetUniformLocation(self._program, "picture")

    @property
    def has_picture(self) -> bool:
        """Whether there is something to draw."""
        return self._size != (0, 0)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture that is held."""
        return self._size

    def forget(self) -> None:
        """Hold no picture any more."""
        self._size = (0, 0)

    def upload(self, pixels: PixelBuffer | np.ndarray) -> None:
        """Take a finished picture over: from a reclaimed pixel buffer, inside the device, or from a contiguous (height,
        width, 4) uint8 array."""
        is_buffer = isinstance(pixels, PixelBuffer)
        if self._shown != self._texture:
            self._shown, self._size = self._texture, (0, 0)
        width, height = pixels.drawn if isinstance(pixels, PixelBuffer) else (pixels.shape[1], pixels.shape[0])
        GL.glBindTexture(GL.GL_TEXTURE_2D, self._texture)
        if self._size != (width, height):
            self._reallocate(width, height)
        GL.glPixelStorei(GL.GL_UNPACK_ALIGNMENT, 4)
        GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, pixels.buffer_id if isinstance(pixels, PixelBuffer) else 0)
        source: Any = None if is_buffer else pixels
        GL.glTexSubImage2D(GL.GL_TEXTURE_2D, 0, 0, 0, width, height, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, source)
        GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, 0)

    def borrow(self, texture: int, width: int, height: int) -> None:
        """Show somebody else's texture until the next picture comes; its row 0 is the top row."""
        self._shown, self._size = texture, (width, height)

    def draw(
        self, wide: int, tall: int, smooth: bool = True, background: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ) -> None:
        """Draw the picture into the bound framebuffer of `wide` x `tall` pixels; `smooth` interpolates where sizes
        differ."""
        GL.glDisable(GL.GL_DEPTH_TEST)
        GL.glDisable(GL.GL_BLEND)
        GL.glDisable(GL.GL_SCISSOR_TEST)
        GL.glViewport(0, 0, wide, tall)
        GL.glClearColor(*background, 1.0)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)
        if not self.has_picture:
            return
        x, y, width, height = fitted(*self._size, wide, tall)
        GL.glViewport(x, y, width, height)
        GL.glUseProgram(self._program)
        GL.glActiveTexture(GL.GL_TEXTURE0)
        GL.glBindTexture(GL.GL_TEXTURE_2D, self._shown)
        kind = GL.GL_LINEAR if smooth and (width, height) != self._size else GL.GL_NEAREST
        GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_MIN_FILTER, kind)
        GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_MAG_FILTER, kind)
        GL.glUniform1i(self._picture, 0)
        GL.glBindVertexArray(self._vertex_array)
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glBindVertexArray(0)
        GL.glUseProgram(0)

    def close(self) -> None:
        """Delete what the context holds for this presenter."""
        GL.glDeleteTextures([self._texture])
        GL.glDeleteVertexArrays(1, [self._vertex_array])
        GL.glDeleteProgram(self._program)
        self._size = (0, 0)

    def _reallocate(self, width: int, height: int) -> None:
        GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_WRAP_S, GL.GL_CLAMP_TO_EDGE)
        GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_WRAP_T, GL.GL_CLAMP_TO_EDGE)
        GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_MAX_LEVEL, 0)
        GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, GL.GL_RGBA8, width, height, 0, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, None)
        self._size = (width, height)
