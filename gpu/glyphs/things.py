"""Primitives without triangles, as kernels that know spheres and glyphs take them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..hierarchy.base import HierarchyError, Primitives
from ..primitive_views import SphereView
from ..target.base import Array


@dataclasses.dataclass(frozen=True, eq=False)
class Things:
    """The spheres of some primitives by their own view, and the glyphs after them."""

    spheres: np.ndarray
    glyph_rows: Array | None
    glyph_count: int

    @property
    def arguments(self) -> dict[str, Any]:
        """As kernels take them."""
        return {"spheres": self.spheres, "glyph_rows": self.glyph_rows, "glyph_count": self.glyph_count}


def has_glyphs(primitives: Primitives | None) -> bool:
    """Whether glyphs may be among them."""
    return primitives is not None and primitives.kind == "glyphs"


def things_of(primitives: Primitives) -> Things:
    """HierarchyError where there are triangles."""
    if primitives.kind == "sphere":
        return Things(primitives.view, None, 0)
    others = primitives.view["others"] if primitives.kind == "glyphs" else None
    if others is None or int(others["triangles"]["count"]):
        raise HierarchyError(
            f"Tiles show spheres and glyphs, and this scene has {primitives.kind} primitives, with triangles. Take "
            f"primary hits from the structure."
        )
    spheres = np.array(others["spheres"], SphereView.dtype())
    return Things(spheres, primitives.keep_alive[-1], primitives.count - int(spheres["count"]))
