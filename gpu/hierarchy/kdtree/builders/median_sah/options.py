"""Options of median_sah."""

from __future__ import annotations

import dataclasses

from .....settings import option
from ...options import KdTreeOptions


@dataclasses.dataclass(frozen=True)
class MedianSahOptions(KdTreeOptions):
    """Options of the builder by medians and bits."""

    empty_fraction: float = option(
        0.25, "Empty space at a side of a large node is cut off where it is more than this part of the node's extent.", minimum=0.01, maximum=1.0
    )
    clips_primitives: bool = option(True, "Cut primitives exactly where a large node is parted; else only their boxes.")
