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
from types import ModuleType

from .job import SuiteJob
from .report import SuiteReport
from .scenes import SceneChoice

__all__ = ["SuiteJob", "SuiteReport", "about_of", "choices_of", "scene_count", "scene_names", "suites", "takes_own"]

Run = Callable[[SuiteJob], SuiteReport]
LIBRARY = (
    "contents",
    "crowd",
    "job",
    "kolodzey_figures",
    "kolodzey_switches",
    "measure",
    "meister_setup",
    "meister_tables",
    "octree_builds",
    "octree_claims",
    "octree_clouds",
    "octree_queries",
    "octree_sums",
    "octree_tables",
    "own_structures",
    "pages",
    "pictures",
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
    return {name: _module(name).run for name in names}


def about_of(suite: str) -> str:
    """What a suite is, in its own words."""
    return _module(suite).__doc__ or ""


def choices_of(suite: str) -> tuple[SceneChoice, ...]:
    """The scenes of a suite, in its order."""
    scenes: tuple[SceneChoice, ...] = _module(suite).SCENES
    return scenes


def scene_names(suite: str) -> tuple[str, ...]:
    """The scenes of a suite as they were published, each name once."""
    return tuple(dict.fromkeys(choice.published for choice in choices_of(suite)))


def takes_own(suite: str) -> bool:
    """Whether a suite measures scenes and structures of one's own: those of points and of spheres do not."""
    return bool(getattr(_module(suite), "TAKES_OWN", False))


def scene_count(suite: str, job: SuiteJob) -> int:
    """How many scenes a job measures."""
    asked = [
        choice
        for choice in choices_of(suite)
        if (not job.scenes or choice.published in job.scenes) and choice.published_triangles <= job.most_triangles
    ]
    return len(asked) + len(job.own)


def _module(suite: str) -> ModuleType:
    return importlib.import_module(f".{suite}", __package__)
