"""Who draws with OpenGL, by its name; without PyOpenGL, whose import takes a fifth of a second."""

from __future__ import annotations

GL_RENDERER = 0x1F01
"""What OpenGL is asked for the name of whoever draws."""

_SOFTWARE = ("llvmpipe", "softpipe", "swrast", "software rasterizer", "gdi generic")


def is_hardware(renderer: str) -> bool:
    """Whether a GL_RENDERER names a graphics card and not a program that imitates one."""
    return bool(renderer) and not any(name in renderer.lower() for name in _SOFTWARE)
