"""What a suite is asked to do: by the command line, or by a script on a machine without one."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import time
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

Tabulate = Callable[[SuiteReport], object]
"""Makes the tables and plots of a report from whatever rows it has."""

KEEP_S = 0.5
"""Rows that come faster are kept together, so that a run of thousands is not one of writing files."""
KEPT_SHARE = 20
"""So many times as long as keeping a report took it is not kept again."""

SavePicture = Callable[[str, np.ndarray], str]
"""Keeps (height, width, 4) uint8 pixels under a name of letters, digits, points and hyphens; gives the file's name."""


@dataclasses.dataclass(frozen=True)
class SuiteJob:
    """`load` gives scenes, `say` takes words for people, `keep` gets the report as its rows come, so that a run which
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

    def counted(
        self, measured: Iterable[dict[str, Any]], report: SuiteReport, tabulate: Tabulate, of: int | None = None
    ) -> list[dict[str, Any]]:
        """The rows of a scene as they are measured: each of them said, and kept in a copy of the report, which itself
        gets none of them here."""
        rows: list[dict[str, Any]] = []
        again_at = 0.0
        for row in measured:
            rows.append(row)
            begun = time.monotonic()
            if begun >= again_at:
                self._keep_in_part(report, rows, tabulate, of)
                spent = time.monotonic() - begun
                again_at = begun + spent + max(KEEP_S, KEPT_SHARE * spent)
            self.advance(len(rows), of)
        return rows

    def _keep_in_part(
        self, report: SuiteReport, rows: list[dict[str, Any]], tabulate: Tabulate, of: int | None
    ) -> None:
        """Keep the report with the first rows of a scene, which it says."""
        known = f"{len(rows)} of {of}" if of else f"{len(rows)}"
        scene = report.scenes[-1]["published"] or report.scenes[-1]["ours"]
        partly = f"{scene}: measured in part, {known} row{'s' * (known != '1')}."
        so_far = dataclasses.replace(report, rows=[*report.rows, *rows], absent=[*report.absent, partly])
        tabulate(so_far)
        self.keep(so_far)

    def each(
        self,
        choices: Sequence[SceneChoice],
        report: SuiteReport,
        measure: Measure,
        count: Count,
        tabulate: Tabulate,
    ) -> None:
        """Measure the scenes asked for, one in memory at a time; what cannot be had or done is written down in the
        report, and then no row of that scene is in it. Tables are made and the report is kept after each, and while
        its rows come."""
        whole = functools.partial(tabulated, tabulate=tabulate)
        for choice in choices:
            if not self.takes(choice, report):
                continue
            known = len(report.scenes)
            try:
                scene = self.load(choice.source)
                report.scenes.append(_what_is_taken(choice, scene))
                measured = itertools.chain(measure(choice, scene), structure_rows(self, choice, scene, report.size))
                report.rows += self.counted(measured, report, whole, count(scene) + len(self.structures))
            except (SceneAbsentError, OutOfMemoryError, HierarchyError) as error:
                del report.scenes[known:]
                report.absent.append(f"{choice.published}: {error}")
            whole(report)
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
