"""Bars that are promised, and of which nothing is read from a saved file: each with the command that shows it, where
there is one."""

from __future__ import annotations

from .goal import Goal

NOT_SAVED = "no command saves it yet"
BUILD, TRACE = "python main.py bench build --demo spheres", "python main.py bench trace --demo spheres"
OCTREES, GRAVITY = "python main.py bench suite octree2008", "python -m raygrove.bench gravity"
RAYS = "python main.py bench trace --hierarchy"
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
    ("octree of 10M points, direct form", 2.5, "ms", True, OCTREES),
    ("octree of 10M points, the paper's form, 63 bits", 10.0, "ms", True, OCTREES),
    ("octree of 10M points, the paper's form, 30 bits", 6.0, "ms", True, OCTREES),
    ("octree of 10M points, top down in parallel", 12.0, "ms", True, OCTREES),
    ("queries of cells by their codes, of copy bandwidth", 0.7, "share", False, OCTREES),
    ("places found in an octree, sorted", 5.0, "G/s", False, OCTREES),
    ("places found in an octree, random", 2.0, "G/s", False, OCTREES),
    ("neighbours of octree cells by faces", 1.0, "G/s", False, OCTREES),
    ("8 nearest of 10M points for each, in code order", 50.0, "ms", True, OCTREES),
    ("8 nearest of 10M points for each, random", 120.0, "ms", True, OCTREES),
    ("grid of 0.5M triangles", 0.3, "ms", True, "python main.py bench build --hierarchy grid"),
    ("primary rays of grid, of lbvh's, the worst scene", 0.3, "times", False, f"{RAYS} grid"),
    ("primary rays of grid_two_level, of lbvh's, the worst scene", 0.5, "times", False, f"{RAYS} grid_two_level"),
    ("primary rays of the best octree, of lbvh's, the worst scene", 0.4, "times", False, f"{RAYS} octree_top_down"),
    ("a bounce of radiosity, 150K points, nothing in the way", 2.5, "ms", True, OCTREES),
    ("the same over the sum of all pairs, 150K points", 8.0, "times", False, OCTREES),
    ("the same over the sum of all pairs, 1M points", 100.0, "times", False, OCTREES),
    ("a bounce of radiosity, 150K points, what is seen known", 15.0, "ms", True, ""),
    ("a bounce of radiosity, 150K points, what is seen found", 40.0, "ms", True, ""),
    ("radiosity's time a point, 1M over 100K points", 1.3, "times", True, OCTREES),
    ("forces between 1M bodies to 1e-3", 30.0, "ms", True, GRAVITY),
)
ON_THE_HOST: tuple[tuple[str, float, str, bool, str], ...] = (
    ("octree of 125K points, direct form", 6.0, "ms", True, OCTREES),
    ("8 nearest of 100K points, of cKDTree's by two workers", 1.0, "times", False, ""),
)
UNREAD = {
    kind: tuple(Goal(what, bar, None, unit, at_most, NOT_SAVED, command) for what, bar, unit, at_most, command in rows)
    for kind, rows in (("cuda", (*SPHERES_ON_GPUS, *OCTREES_ON_GPUS)), ("host", ON_THE_HOST))
}
"""By the kind of target."""
