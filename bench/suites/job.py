"""What a suite is asked to do: by the command line, or by a script on a machine without one."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import OutOfMemoryError, Target

from .measure import moments_of
from .own_structures import structure_rows, tabulated
from .report import SuiteReport
from .scenes import Load, SceneAbsentError, SceneChoice

Measure = Callable[[SceneChoice, Scene], Iterable[dict[str, Any]]]
"""The rows of one scene."""

Count = Callable[[Scene], int]
"""How many rows a scene gives, before they are measured."""

SavePicture = Callable[[str, np.ndarray], str]
"""Keeps (height, width, 4) uint8 pixels under a name of letters, digits, points and hyphens; gives the file's name."""


@dataclasses.dataclass(frozen=True)
class SuiteJob:
    """`load` gives scenes, `say` takes words for people, `keep` gets the report after every scene, so that a run which
    is cut short leaves something; `begin` hears of each scene, `advance` after each row how many of it there are,
    and of how many; None where a suite does not know that before.
    `scenes` names the published scenes to take (none: all), larger ones than `most_triangles` are left out; `own` are
    measured beside them, and `structures` (configurations, as `--hierarchy` takes them) on every scene. `repeat`
    measurements count. Moving scenes are measured at no more than `key_frames` instants (none: as many as a suite
    sees fit). No `size` takes pictures of the size that was published; without `save_picture` none are
    drawn."""

    target: Target
    load: Load
    say: Callable[[str], None] = lambda words: None
    keep: Callable[[SuiteReport], None] = lambda report: None
    begin: Callable[[str], None] = lambda scene: None
    advance: Callable[[int, int | None], None] = lambda rows, of: None
    repeat: int = 10
    most_triangles: int = 16_000_000
    scenes: tuple[str, ...] = ()
    own: tuple[SceneChoice, ...] = ()
    structures: tuple[str, ...] = ()
    size: tuple[int, int] | None = None
    key_frames: int | None = None
    save_picture: SavePicture | None = None

    def picture(self, published: tuple[int, int]) -> tuple[int, int]:
        """The size asked for, else the published one."""
        return self.size or published

    def instants(self, scene: Scene, most: int = 16) -> tuple[Moment, ...]:
        """Even instants of a moving scene, `most` of them unless fewer were asked for."""
        return moments_of(scene, min(most, self.key_frames or most))

    def takes(self, choice: SceneChoice, report: SuiteReport, counted: str = "triangles") -> bool:
        """Whether a scene is measured. One that was not asked for is passed over, one that is too large is written
        down."""
        if self.scenes and not choice.is_own and choice.published not in self.scenes:
            return False
        if why := too_large(choice, self.most_triangles, counted):
            report.absent.append(why)
            return False
        self.say(f"{choice.published}: {choice.name}")
        self.begin(choice.published)
        return True

    def counted(self, measured: Iterable[dict[str, Any]], of: int | None = None) -> list[dict[str, Any]]:
        """The rows of a scene as they are measured, each of them said."""
        rows = []
        for row in measured:
            rows.append(row)
            self.advance(len(rows), of)
        return rows

    def each(
        self,
        choices: Sequence[SceneChoice],
        report: SuiteReport,
        measure: Measure,
        count: Count,
        tabulate: Callable[[SuiteReport], None],
    ) -> None:
        """Measure the scenes asked for, one in memory at a time; what cannot be had or done is written down in the
        report, and then no row of that scene is in it. Tables are made and the report is kept after each."""
        for choice in choices:
            if not self.takes(choice, report):
                continue
            try:
                scene = self.load(choice.source)
                taken, own = _what_is_taken(choice, scene), structure_rows(self, choice, scene, report.size)
                rows = self.counted(itertools.chain(measure(choice, scene), own), count(scene) + len(self.structures))
                report.scenes.append(taken)
                report.rows += rows
            except (SceneAbsentError, OutOfMemoryError, HierarchyError) as error:
                report.absent.append(f"{choice.published}: {error}")
            tabulated(report, tabulate)
            self.keep(report)


def too_large(choice: SceneChoice, most: int, counted: str) -> str:
    """Why a scene is left out; nothing where it has no more primitives than `most`."""
    if choice.published_triangles <= most:
        return ""
    return f"{choice.published}: {choice.published_triangles:,} {counted} are more than the {most:,} asked for."


def _what_is_taken(choice: SceneChoice, scene: Scene) -> dict[str, object]:
    return {
        "published": choice.published if choice.is_published else None,
        "published_triangles": choice.published_triangles if choice.is_published else None,
        "ours": choice.published if choice.is_own else choice.name,
        "triangles": scene.triangle_count,
        "diagonal": float(np.linalg.norm(np.subtract(scene.upper, scene.lower))),
        "relation": choice.relation,
        "why": choice.why,
    }
