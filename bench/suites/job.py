"""What a suite is asked to do: by the command line, or by a script on a machine without one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import OutOfMemoryError, Target

from .report import SuiteReport
from .scenes import Load, SceneAbsentError, SceneChoice

Measure = Callable[[SceneChoice, Scene], Iterable[dict[str, Any]]]
"""The rows of one scene."""


@dataclasses.dataclass(frozen=True)
class SuiteJob:
    """`load` gives scenes, `say` takes words for people, `keep` gets the report after every scene, so that a run which
    is cut short leaves something.
    `scenes` names the published scenes to take (none: all), larger ones than `most_triangles` are left out; `repeat`
    measurements count. No `size` takes pictures of the size that was published."""

    target: Target
    load: Load
    say: Callable[[str], None] = lambda words: None
    keep: Callable[[SuiteReport], None] = lambda report: None
    repeat: int = 10
    most_triangles: int = 16_000_000
    scenes: tuple[str, ...] = ()
    size: tuple[int, int] | None = None
    key_frames: int = 16

    def picture(self, published: tuple[int, int]) -> tuple[int, int]:
        """The size asked for, else the published one."""
        return self.size or published

    def each(
        self,
        choices: Sequence[SceneChoice],
        report: SuiteReport,
        measure: Measure,
        tabulate: Callable[[SuiteReport], None],
    ) -> None:
        """Measure the scenes asked for, one in memory at a time; what cannot be had or done is written down in the
        report, and then no row of that scene is in it. Tables are made and the report is kept after each."""
        for choice in choices:
            if self.scenes and choice.published not in self.scenes:
                continue
            if choice.published_triangles > self.most_triangles:
                report.absent.append(
                    f"{choice.published}: {choice.published_triangles:,} triangles are more than the "
                    f"{self.most_triangles:,} asked for."
                )
                continue
            self.say(f"{choice.published}: {choice.name}")
            try:
                scene = self.load(choice.source)
                report.scenes.append(_what_is_taken(choice, scene))
                report.rows += list(measure(choice, scene))
            except (SceneAbsentError, OutOfMemoryError, HierarchyError) as error:
                report.absent.append(f"{choice.published}: {error}")
            tabulate(report)
            self.keep(report)


def _what_is_taken(choice: SceneChoice, scene: Scene) -> dict[str, object]:
    return {
        "published": choice.published if choice.is_published else None,
        "published_triangles": choice.published_triangles if choice.is_published else None,
        "ours": choice.name,
        "triangles": scene.triangle_count,
        "diagonal": float(np.linalg.norm(np.subtract(scene.upper, scene.lower))),
        "relation": choice.relation,
        "why": choice.why,
    }
