"""Hot spots that follow the pictures."""

from __future__ import annotations

import dataclasses

from raygrove.gpu.analysis.hot_words import BY, KINDS, RAYS
from raygrove.gpu.settings import option

FRAMES = ("picture", "some", "all")


@dataclasses.dataclass(frozen=True)
class HotOptions:
    """Hot spots: what the panel of the workspace Inspect counts, and `hotspots` where its flags do not say it."""

    rays: str = option("all", "Which of the picture's rays are counted.", choices=RAYS)
    kind: str = option("both", "Rays that look for their closest hit, for any, or both.", choices=KINDS)
    by: str = option("node", "What the lines are; of several frames never nodes, but levels.", choices=BY)
    frames: str = option(
        "picture", "In the window: the picture, 24 frames of the clip, or all of its frames.", choices=FRAMES
    )
    live: bool = option(False, "Count picture after picture while the panel is seen, and nothing while it is hidden.")
    share: float = option(
        0.2, "How much of all time counting live may take; the rest is for pictures.", minimum=0.01, maximum=0.9
    )
