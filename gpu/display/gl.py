"""PyOpenGL, configured before its first import: error checks cost more than a frame's drawing, so they are on in tests
only."""

from __future__ import annotations

import os

import OpenGL

OpenGL.ERROR_CHECKING = os.environ.get("RAYGROVE_CHECK_GL", "0") == "1"
OpenGL.ERROR_LOGGING = False

from OpenGL import GL  # noqa: E402  (the switches above count only before this import)

__all__ = ["GL", "is_hardware", "renderer_name"]

_SOFTWARE = ("llvmpipe", "softpipe", "swrast", "software rasterizer", "gdi generic")


def renderer_name() -> str:
    """GL_RENDERER of the current context, empty when there is none to ask."""
    text = GL.glGetString(GL.GL_RENDERER)
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else ""


def is_hardware(renderer: str) -> bool:
    """Whether a GL_RENDERER names a graphics card and not a program that imitates one."""
    return bool(renderer) and not any(name in renderer.lower() for name in _SOFTWARE)
