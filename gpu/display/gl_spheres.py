"""Spheres drawn by OpenGL's own pipeline, to compare with rays that kernels cast: Soell's fragment shader (2015, 2.2.8
and 5.3) that tests each pixel's ray against every sphere, and impostors with depth, as viewers of molecules draw them.

Both draw flat shading into a texture of their own, whose row 0 is the picture's top row. All calls come from the thread
whose GL context is current.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .gl import GL
from .programs import PresenterError, link
from .sphere_look import SphereDrawingError, SphereLook

_TEXELS_ACROSS = 4096
_TONES = ("none", "reinhard", "filmic")
FIRST_TESTS, STRIP_MS = 20_000_000, 15.0
"""Tests of a first strip of the full-screen quad, and how long one may take: a driver ends what takes seconds."""


class GlSpheres:
    """See the module. `begin` says what is drawn, `go_on` draws, a strip of the picture a call; `is_whole` then."""

    def __init__(self) -> None:
        common = "spheres.glsl"
        self._programs = {
            "full_screen": link(("present.vert",), (common, "spheres_full_screen.frag")),
            "background": link(("present.vert",), (common, "spheres_background.frag")),
            "impostors": link((common, "spheres_impostor.vert"), (common, "spheres_impostor.frag")),
        }
        self._vertex_array = int(GL.glGenVertexArrays(1))
        self._data, self._colours, self.texture = (int(name) for name in GL.glGenTextures(3))
        self._depth = int(GL.glGenRenderbuffers(1))
        self._frame = int(GL.glGenFramebuffers(1))
        self._query = int(np.ravel(GL.glGenQueries(1))[0])
        self._largest_point = float(np.ravel(GL.glGetFloatv(GL.GL_POINT_SIZE_RANGE))[1])
        self._largest_texture = int(GL.glGetIntegerv(GL.GL_MAX_TEXTURE_SIZE))
        self.size = (0, 0)
        self.count = 0
        self._has_colours = False
        self._way, self._look = "impostors", SphereLook(np.zeros(16, np.float32))
        self._row, self._rows_a_strip = 0, 0
        self._ms = 0.0
        self.drawing_ms = 0.0
        """What the graphics processor took for the last whole picture, by its own clock."""

    @property
    def is_whole(self) -> bool:
        """Whether the picture that was begun is complete."""
        return self._row >= self.size[1] > 0

    def take(self, spheres: np.ndarray, colours: np.ndarray | None = None) -> None:
        """Other spheres: (N, 4) float32, centre and radius; a radius that is not above 0 is none. Their linear colours
        (N, 3) float32, negative for the look's, which all have without them. Raises SphereDrawingError for more than
        the driver's textures hold."""
        count = len(spheres)
        across = min(_TEXELS_ACROSS, self._largest_texture)
        rows = max(1, -(-count // across))
        if rows > self._largest_texture:
            raise SphereDrawingError(
                f"OpenGL takes {across * self._largest_texture:,} spheres here, and the scene has {count:,}. "
                "Choose Structure > Spheres drawn by > Rays."
            )
        _fill(self._data, spheres, across, rows)
        if colours is not None:
            _fill(self._colours, colours, across, rows)
        self.count, self._has_colours = count, colours is not None

    def begin(self, way: str, width: int, height: int, look: SphereLook) -> None:
        """Draw this picture from now on, in one of WAYS."""
        if (width, height) != self.size:
            self._allocate(width, height)
        if way != self._way or self._rows_a_strip == 0:
            self._rows_a_strip = max(1, FIRST_TESTS // max(1, width * self.count))
        self._way, self._look, self._row, self._ms = way, look, 0, 0.0

    def go_on(self) -> None:
        """Draw the next strip, or the whole where impostors are drawn. Waits for the graphics processor, to time it."""
        if self.is_whole:
            return
        width, height = self.size
        rows = height if self._way == "impostors" else min(self._rows_a_strip, height - self._row)
        before = int(GL.glGetIntegerv(GL.GL_FRAMEBUFFER_BINDING))
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._frame)
        GL.glViewport(0, 0, width, height)
        GL.glEnable(GL.GL_SCISSOR_TEST)
        GL.glScissor(0, self._row, width, rows)
        GL.glDisable(GL.GL_BLEND)
        GL.glBindVertexArray(self._vertex_array)
        for unit, texture in ((GL.GL_TEXTURE1, self._colours), (GL.GL_TEXTURE0, self._data)):
            GL.glActiveTexture(unit)
            GL.glBindTexture(GL.GL_TEXTURE_2D, texture if texture == self._data or self._has_colours else 0)
        GL.glBeginQuery(GL.GL_TIME_ELAPSED, self._query)
        (self._draw_impostors if self._way == "impostors" else self._draw_full_screen)()
        GL.glEndQuery(GL.GL_TIME_ELAPSED)
        GL.glDisable(GL.GL_SCISSOR_TEST)
        GL.glBindVertexArray(0)
        GL.glUseProgram(0)
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, before)
        nanoseconds = (GL.GLuint64 * 1)()
        GL.glGetQueryObjectui64v(self._query, GL.GL_QUERY_RESULT, nanoseconds)
        spent = nanoseconds[0] / 1e6
        self._ms += spent
        self._row += rows
        if self._way == "full_screen":
            faster = 2.0 if spent <= 0.0 else min(2.0, STRIP_MS / spent)
            self._rows_a_strip = min(max(1, int(rows * faster)), height)
        if self.is_whole:
            self.drawing_ms = self._ms

    def read(self) -> np.ndarray:
        """(height, width, 4) uint8: the picture as it is now, top row first. Waits."""
        width, height = self.size
        before = int(GL.glGetIntegerv(GL.GL_FRAMEBUFFER_BINDING))
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._frame)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 4)
        GL.glBindBuffer(GL.GL_PIXEL_PACK_BUFFER, 0)
        found = GL.glReadPixels(0, 0, width, height, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE)
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, before)
        return np.frombuffer(found, np.uint8).reshape(height, width, 4).copy()

    def close(self) -> None:
        """Delete what the context holds for it."""
        GL.glDeleteFramebuffers(1, [self._frame])
        GL.glDeleteRenderbuffers(1, [self._depth])
        GL.glDeleteTextures([self._data, self._colours, self.texture])
        GL.glDeleteQueries(1, [self._query])
        GL.glDeleteVertexArrays(1, [self._vertex_array])
        for program in self._programs.values():
            GL.glDeleteProgram(program)

    # -- one picture ----------------------------------------------------------------------------------------------
    def _draw_full_screen(self) -> None:
        GL.glDisable(GL.GL_DEPTH_TEST)
        self._use("full_screen")
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)

    def _draw_impostors(self) -> None:
        """Spheres in their order: of two at one depth the first stays."""
        GL.glDepthMask(GL.GL_TRUE)
        GL.glClearDepth(0.0)
        GL.glClear(GL.GL_DEPTH_BUFFER_BIT)
        GL.glDisable(GL.GL_DEPTH_TEST)
        self._use("background")
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glEnable(GL.GL_DEPTH_TEST)
        GL.glDepthFunc(GL.GL_GREATER)
        GL.glEnable(GL.GL_PROGRAM_POINT_SIZE)
        program = self._use("impostors")
        GL.glUniform1f(GL.glGetUniformLocation(program, "largest_point"), self._largest_point)
        are_points = GL.glGetUniformLocation(program, "are_points")
        GL.glUniform1i(are_points, 1)
        GL.glDrawArrays(GL.GL_POINTS, 0, self.count)
        if max(self.size) >= self._largest_point:  # some may be larger than a point can be
            GL.glUniform1i(are_points, 0)
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, 6 * self.count)
        GL.glDisable(GL.GL_PROGRAM_POINT_SIZE)
        GL.glDisable(GL.GL_DEPTH_TEST)

    def _use(self, name: str) -> int:
        program, look = self._programs[name], self._look
        GL.glUseProgram(program)

        def put(setter: Any, uniform: str, *values: Any) -> None:
            place = GL.glGetUniformLocation(program, uniform)
            if place >= 0:  # a shader has those that it uses
                setter(place, *values)

        put(GL.glUniform4fv, "camera", 4, np.ascontiguousarray(look.camera, np.float32))
        put(GL.glUniform2f, "picture", *map(float, self.size))
        put(GL.glUniform4f, "clip", *(look.clip or (0.0, 0.0, 0.0, 0.0)))
        put(GL.glUniform4f, "color", *look.color, look.ambient)
        put(GL.glUniform3f, "below", *look.below)
        put(GL.glUniform3f, "above", *look.above)
        put(GL.glUniform1f, "exposure", look.exposure)
        put(GL.glUniform1i, "tone", _TONES.index(look.tone))
        put(GL.glUniform1f, "depth_scale", look.depth_scale)
        put(GL.glUniform1i, "spheres", 0)
        put(GL.glUniform1i, "colours", 1)
        put(GL.glUniform1i, "has_colours", int(self._has_colours))
        put(GL.glUniform1i, "count", self.count)
        return program

    def _allocate(self, width: int, height: int) -> None:
        GL.glBindTexture(GL.GL_TEXTURE_2D, self.texture)
        GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_MAX_LEVEL, 0)
        GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, GL.GL_RGBA8, width, height, 0, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, None)
        GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, self._depth)
        GL.glRenderbufferStorage(GL.GL_RENDERBUFFER, GL.GL_DEPTH_COMPONENT32F, width, height)
        before = int(GL.glGetIntegerv(GL.GL_FRAMEBUFFER_BINDING))
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._frame)
        GL.glFramebufferTexture2D(GL.GL_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_TEXTURE_2D, self.texture, 0)
        GL.glFramebufferRenderbuffer(GL.GL_FRAMEBUFFER, GL.GL_DEPTH_ATTACHMENT, GL.GL_RENDERBUFFER, self._depth)
        status = GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER)
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, before)
        if status != GL.GL_FRAMEBUFFER_COMPLETE:
            raise PresenterError("The driver has no framebuffer with float depth to draw spheres into.")
        self.size, self._rows_a_strip = (width, height), 0


def _fill(texture: int, values: np.ndarray, across: int, rows: int) -> None:
    """Make a texture of `rows` of so many texels of it: rows of up to four floats, the rest 0."""
    texels = np.zeros((rows * across, 4), np.float32)
    texels[: len(values), : values.shape[1]] = values
    GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
    for name in (GL.GL_TEXTURE_MIN_FILTER, GL.GL_TEXTURE_MAG_FILTER):
        GL.glTexParameteri(GL.GL_TEXTURE_2D, name, GL.GL_NEAREST)
    GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_MAX_LEVEL, 0)
    GL.glPixelStorei(GL.GL_UNPACK_ALIGNMENT, 4)
    GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, 0)
    GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, GL.GL_RGBA32F, across, rows, 0, GL.GL_RGBA, GL.GL_FLOAT, texels)
