"""What hot spots can be listed by, and what rays that were given are called."""

from __future__ import annotations

BY = ("node", "depth", "object", "material", "triangle")
GIVEN = "given"
"""What rays are called that no picture has cast."""
