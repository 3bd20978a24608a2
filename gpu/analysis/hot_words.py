"""What hot spots are counted of and listed by, and what rays that were given are called."""

from __future__ import annotations

BY = ("node", "depth", "object", "material", "triangle")
RAYS = ("all", "primary", "shadow", "occlusion", "bounce 1", "bounce 2", "bounce 3", "bounce 4")
KINDS = ("both", "closest", "any")
GIVEN = "given"
"""What rays are called that no picture has cast."""
