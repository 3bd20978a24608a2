"""Options of the camera's path through bookmarks."""

from __future__ import annotations

import dataclasses

from raygrove.gpu.settings import option

SECONDS = 2.0
SHORTEST_S, LONGEST_S = 0.01, 3600.0
"""What the time from one bookmark to the next may be."""


@dataclasses.dataclass(frozen=True)
class PathOptions:
    """How the camera goes along its bookmarks: in their order, each in its own time to the next."""

    closed: bool = option(False, "From the last bookmark the path goes back to the first one, in the last one's time.")
    even: bool = option(
        False, "The times are shared out by the lengths of the stretches; the whole takes as long as it did."
    )
