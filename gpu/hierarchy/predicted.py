"""How much memory a structure takes, before it is built: its builder goes its way on a target that holds none
(gpu/target/rehearsal.py), and says what it has reserved.

For structures whose memory follows from the number of primitives that is what they take, to the byte. Those that list a
primitive in several cells reserve room for what most scenes need, and more where a scene asks for it: for them it is
the least (`is_least`).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..target.rehearsal import RehearsalTarget
from .base import Primitives, StructureChoice
from .growing import GrowingHierarchy
from .primitives import glyph_primitives, mixed_primitives, sphere_primitives, triangle_primitives
from .registry import make_structure


@dataclasses.dataclass(frozen=True)
class PredictedMemory:
    """Bytes that a structure holds, and bytes of scratch memory beside it while it is built. `is_least`: a scene may
    need more."""

    held: int
    scratch: int
    is_least: bool = False

    @property
    def peak(self) -> int:
        """Bytes while it is built."""
        return self.held + self.scratch


def predicted_memory(
    name: str, target_kind: str, counts: tuple[int, int, int], choice: StructureChoice | None = None
) -> PredictedMemory:
    """The memory of the structure `name` over so many triangles, spheres and glyphs on a target of that kind. Raises
    OptionError for a choice that the structure does not have, HierarchyError where it does not take such primitives."""
    target = RehearsalTarget(target_kind)
    made = make_structure(target, name, choice)
    made.build(_primitives(target, *counts))
    found = made.stats()
    return PredictedMemory(found.bytes, found.scratch_bytes, isinstance(made, GrowingHierarchy))


def _primitives(target: RehearsalTarget, triangles: int, spheres: int, glyphs: int) -> Primitives:
    positions, indices = target.empty((3 * triangles, 3), np.float32, ""), target.empty((triangles, 3), np.int32, "")
    centres, radii = target.empty((spheres, 3), np.float32, ""), target.empty(spheres, np.float32, "")
    if triangles and spheres:
        made = mixed_primitives(positions, indices, centres, radii)
    else:
        made = sphere_primitives(centres, radii) if spheres else triangle_primitives(positions, indices)
    if not glyphs:
        return made
    return glyph_primitives(made if made.count else None, target.empty((glyphs, 12), np.float32, ""), glyphs)
