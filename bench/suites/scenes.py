"""The scenes of a suite: which one is taken for which published one, and how it is had."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from raygrove.gpu.scene import Scene


class SceneAbsentError(Exception):
    """A scene is not at hand; the sentence says what is missing and where it was looked for."""


@dataclasses.dataclass(frozen=True)
class SceneSource:
    """How a scene is had: the built-in one `demo` of about `triangles` triangles, or the file `file`, relative to the
    folder of models, or where `is_own` anywhere; with as many `runners` in it (crowd.py), or the file `body`, of that
    folder too, in the place of its knot."""

    demo: str = ""
    triangles: int = 0
    file: str = ""
    runners: int = 0
    body: str = ""
    is_own: bool = False


Load = Callable[[SceneSource], Scene]
"""Gives a scene; raises SceneAbsentError where it cannot be had."""


@dataclasses.dataclass(frozen=True)
class SceneChoice:
    """What is taken for the published scene `published` of `published_triangles` triangles. `is_same`: it is that very
    model. `why` says what they have in common, or how they differ. Where not `is_published` it is a scene of ours, or
    one that whoever runs the suite brought (`is_own`), `published` its name."""

    published: str
    published_triangles: int
    source: SceneSource
    is_same: bool
    why: str
    is_published: bool = True
    is_own: bool = False

    @property
    def relation(self) -> str:
        """What ours is to the published one."""
        if not self.is_published:
            return "yours" if self.is_own else "ours"
        return "same scene" if self.is_same else "stand-in"

    @property
    def name(self) -> str:
        """The name of ours, as the tables have it."""
        folder, _, file = self.source.file.rpartition("/")
        stem = file.split(".")[0]
        name = self.source.demo or (folder.rpartition("/")[2] if stem.isdigit() else stem)
        if self.source.body:
            return f"{name} about {self.source.body.rpartition('/')[2].split('.')[0]}"
        return f"{name} with {self.source.runners} of walker" if self.source.runners else name

    def label(self, scene: Scene) -> str:
        """What a row of ours is called: never the published name alone where it is another model."""
        triangles, spheres = scene.triangle_count, scene.sphere_count
        size = f"{triangles:,} triangles" if triangles or not spheres else f"{spheres:,} spheres"
        if not self.is_published:
            return f"{self.published} ({self.relation}), {size}"
        if self.is_same:
            return f"{self.published} (same scene, {size})"
        return f"stand-in for {self.published}: {self.name}, {size}"


def what(choice: SceneChoice, scene: Scene) -> dict[str, Any]:
    """What every row of a scene says of it."""
    return {
        "published_scene": choice.published if choice.is_published else "",
        "scene": choice.label(scene),
        "triangles": scene.triangle_count,
    }


def own_scene(name: str, file: str = "", demo: str = "") -> SceneChoice:
    """A scene that whoever runs the suite brought: a file, or a built-in one in its own size."""
    source = SceneSource(demo=demo, file=file, is_own=True)
    return SceneChoice(name, 0, source, True, "brought to this run", is_published=False, is_own=True)


def demo(name: str, triangles: int) -> SceneSource:
    """A built-in scene."""
    return SceneSource(demo=name, triangles=triangles)


def model(file: str) -> SceneSource:
    """A file of the folder of models."""
    return SceneSource(file=file)
