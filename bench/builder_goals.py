"""What builders other than the first one have promised on a GPU, in milliseconds, and what trees take: bars alone.
goals.py measures them."""

from __future__ import annotations

from typing import Any

BUILDERS: dict[int, dict[str, float]] = {
    512_000: {
        "lbvh": 0.22,
        "hploc": 0.38,
        "hploc_sah": 0.38,
        "hlbvh_median": 0.5,
        "hlbvh_sah": 0.7,
        "hlbvh_treelets": 0.8,
        "lbvh_lauterbach": 3.0,
        "task_pool": 3.0,
        "binned_sah": 4.0,
        "sah_lauterbach": 6.0,
    },
    12_800_000: {"lbvh": 3.0, "hploc": 4.1, "hploc_sah": 4.1, "hlbvh_sah": 5.0, "hlbvh_median": 6.5},
}

KD_BUILDS: tuple[tuple[str, dict[str, Any], str, int, float], ...] = (
    ("sah_events", {}, "cloth", 69_451, 3.5),
    ("sah_events", {}, "cloth", 871_414, 20.0),
    ("sah_events", {}, "explode", 871_414, 20.0),
    ("median_sah", {}, "explode", 174_117, 3.0),
    ("median_sah", {}, "explode", 335_102, 5.0),
    ("median_sah", {"implementation": "primitives"}, "explode", 174_117, 6.0),
    ("median_sah", {"implementation": "primitives"}, "explode", 335_102, 10.0),
)
"""Kd-trees that are built in every frame: builder, its options where they are not the defaults, scene, triangles, and
the bar."""

COLLAPSED = ("lbvh", "hploc")
MOST_COLLAPSE = 0.6
"""Most of a binary tree's time that its collapse to the compressed wide layout may take."""

LAYOUT_BYTES = {"bvh2": 160.0, "bvh4": 200.0}
"""What a triangle takes in each."""
