"""Bars that are promised, and of which nothing is read from a saved file: each with the command that shows it, where
there is one."""

from __future__ import annotations

from .goal import Goal

NOT_SAVED = "no command saves it yet"
BUILD, TRACE = "python main.py bench build --demo spheres", "python main.py bench trace --demo spheres"
SPHERES_ON_GPUS: tuple[tuple[str, float, str, bool, str], ...] = (
    ("100M spheres of 1 px cast by auto, 1024x1024", 3.0, "ms", True, ""),
    ("100M spheres of 3 px cast by auto, 1024x1024", 9.0, "ms", True, ""),
    ("memory of a sphere in tiles, up to 12 px", 32.0, "bytes", True, ""),
    ("memory of 100M spheres with a structure", 24.0, "GB", True, ""),
    ("rebuild of 1M moving spheres by lbvh", 0.3, "ms", True, BUILD),
    ("primary rays at 1M moving spheres", 2.5, "GRays/s", False, TRACE),
    ("bigbox of 132,303 atoms, 1024x1024", 700.0, "frames/s", False, "python main.py bench frame FILE"),
)
OCTREES_ON_GPUS: tuple[tuple[str, float, str, bool, str], ...] = (
    ("a bounce of radiosity, 150K points, what is seen known", 15.0, "ms", True, ""),
    ("a bounce of radiosity, 150K points, what is seen found", 40.0, "ms", True, ""),
)
UNREAD = {
    kind: tuple(Goal(what, bar, None, unit, at_most, NOT_SAVED, command) for what, bar, unit, at_most, command in rows)
    for kind, rows in (("cuda", (*SPHERES_ON_GPUS, *OCTREES_ON_GPUS)), ("host", ()))
}
"""By the kind of target."""
