"""Suites: an evaluation that somebody published, run again on what is here. One module a suite, named like it; `suites`
finds them.

A suite names for every published scene the one it takes: the same, or a stand-in of the same size and class, and says
which. What was published comes from `bench/published`, with its hardware. The caller loads scenes; a scene that is not
at hand is a line that says so.
"""

from __future__ import annotations

import functools
import importlib
import pathlib
from collections.abc import Callable

from .job import SuiteJob
from .report import SuiteReport
from .scenes import SceneChoice

__all__ = ["SuiteJob", "SuiteReport", "scene_names", "suites"]

Run = Callable[[SuiteJob], SuiteReport]
LIBRARY = (
    "crowd",
    "job",
    "kolodzey_switches",
    "measure",
    "octree_builds",
    "octree_claims",
    "octree_clouds",
    "octree_queries",
    "octree_sums",
    "octree_tables",
    "pages",
    "plots",
    "published",
    "report",
    "scenes",
    "soell_casts",
    "soell_glsl",
    "soell_tables",
    "variants",
)
"""What the suites share."""


@functools.cache
def suites() -> dict[str, Run]:
    """Every suite's `run` by its name on the command line."""
    names = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("[a-z]*.py") if path.stem not in LIBRARY)
    return {name: importlib.import_module(f".{name}", __package__).run for name in names}


def scene_names(suite: str) -> tuple[str, ...]:
    """The scenes of a suite as they were published, in its order: what its module's tuples of choices hold."""
    tuples = [
        value for value in vars(importlib.import_module(f".{suite}", __package__)).values() if isinstance(value, tuple)
    ]
    return tuple(
        dict.fromkeys(choice.published for choices in tuples for choice in choices if isinstance(choice, SceneChoice))
    )
