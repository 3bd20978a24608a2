"""PyOpenGL, configured before its first import: error checks cost more than a frame's drawing, so they are on in tests
only."""

from __future__ import annotations

import os

import OpenGL

OpenGL.ERROR_CHECKING = os.environ.get("RAYGROVE_CHECK_GL", "0") == "1"
OpenGL.ERROR_LOGGING = False

from OpenGL import GL  # noqa: E402  (the switches above count only before this import)

__all__ = ["GL"]
