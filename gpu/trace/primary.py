"""Who gives primary hits: the structure's tracer, or whatever else knows what a camera's rays meet first. Ray types
start from these hits; their other rays go through the structure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .trace import HitBuffer, RaySource


@dataclasses.dataclass(frozen=True)
class CasterCapabilities:
    """What a giver of primary hits takes: ray sources by their `device_type`, kinds of hits, and primitive kinds
    (empty: whatever its structure took)."""

    sources: tuple[str, ...]
    kinds: tuple[str, ...]
    primitive_kinds: tuple[str, ...] = ()


class PrimaryCaster(Protocol):
    """Gives the hits of a picture's rays, in their order. What its `capabilities` do not name is an error."""

    @property
    def capabilities(self) -> CasterCapabilities:
        """What it takes."""
        ...

    def compile(self, rays: RaySource) -> object:
        """Compile what `cast` launches for such rays, ahead of the first frame."""
        ...

    def cast(self, rays: RaySource, kind: str = "closest", scratch: str = "trace") -> HitBuffer:
        """The hits of `rays`, in scratch memory of that name. Launches only."""
        ...
