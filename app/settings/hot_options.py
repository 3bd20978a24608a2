"""Hot spots that follow the pictures."""

from __future__ import annotations

import dataclasses

from raygrove.gpu.settings import option


@dataclasses.dataclass(frozen=True)
class HotOptions:
    """Hot spots in the window (the panel Hot spots of the workspace Inspect)."""

    live: bool = option(False, "Count picture after picture while the panel is seen, and nothing while it is hidden.")
    share: float = option(
        0.2, "How much of all time counting live may take; the rest is for pictures.", minimum=0.01, maximum=0.9
    )
