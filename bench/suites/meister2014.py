"""The evaluation of Meister's thesis (2014, chapter 7): three ways of building, three sizes of leaves, fourteen still
scenes and five moving ones.

Tables 7.1 to 7.9 row by row and column by column, and the thesis' own loop, a launch a level, beside ours; figures 7.4
to 7.11 as plots, those of moving scenes at the key frames of what stands in; figures 6.5, 7.1 to 7.3 and 7.12 as
pictures. Triangle counts of the published scenes are those that the auxiliary memory of table 7.2 gives at 52 bytes per
triangle, which is right for Crytek Sponza's 262 thousand, and those of the Utah animation repository for the moving
ones. Nodes are inner nodes and leaves; MB are 10^6 bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.scene import Moment, Scene

from .crowd import HALLS, seen_within
from .job import SuiteJob
from .measure import costs_over, key_moments, moving, still
from .meister_setup import (
    CONFIGURATIONS,
    LEAVES,
    LIGHT,
    MEDIAN,
    MOST_KEY_FRAMES,
    MOVING,
    SAH,
    SIZE,
    STILL,
    TRIANGLE_TEST,
    Configuration,
    ray_types,
    secondary_rays,
)
from .meister_tables import tabulate
from .pictures import Shot, take
from .published import published_source
from .report import SuiteReport
from .scenes import SceneChoice, what

BURST_PICTURES = 4
"""Key frames that figure 7.3 shows."""


CURVES = ((MEDIAN, "rebuild"), (SAH, "rebuild"), (SAH, "refit"))
"""The cost of moving scenes from key to key: how they are built, and updated."""


SCENES = (*STILL, *MOVING)
TAKES_OWN = True


def run(job: SuiteJob) -> SuiteReport:
    """The whole suite."""
    report = SuiteReport("meister2014", __doc__ or "", published_source("meister2014"), job.picture(SIZE), job.repeat)

    def measure_still(choice: SceneChoice, given: Scene) -> Iterator[dict[str, Any]]:
        seen = seen_within(given, HALLS[choice.published]) if choice.published in HALLS else given
        scene = dataclasses.replace(seen, lights=(LIGHT,))
        yield from _still(job, choice, scene)
        take(job, report, choice, scene, still_shots(choice), job.picture(SIZE))

    def measure_moving(choice: SceneChoice, given: Scene) -> Iterator[dict[str, Any]]:
        scene = dataclasses.replace(given, lights=(LIGHT,))
        yield from _follow(job, choice, scene)
        take(job, report, choice, scene, moving_shots(choice, scene), job.picture(SIZE))

    def measure_own(choice: SceneChoice, given: Scene) -> Iterator[dict[str, Any]]:
        yield from measure_still(choice, given)
        if given.duration(0) > 0.0:
            yield from measure_moving(choice, given)

    still_count, moving_count = len(CONFIGURATIONS) * (len(LEAVES) + 1), 2 * len(ray_types()) + len(CURVES)

    def count_own(scene: Scene) -> int:
        return still_count + (moving_count if scene.duration(0) > 0.0 else 0)

    job.each(STILL, report, measure_still, lambda scene: still_count, tabulate)
    job.each(MOVING, report, measure_moving, lambda scene: moving_count, tabulate)
    job.each(job.own, report, measure_own, count_own, tabulate)
    job.keep(report)
    return report


def _still(job: SuiteJob, choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
    """One still scene: each way of building, each size of leaves, and each way by the thesis' own loop."""
    for configuration in CONFIGURATIONS:
        for leaf in LEAVES:
            found = still(
                job.target, scene, configuration.settings(leaf), job.picture(SIZE), job.repeat, secondary_rays()
            )
            yield {
                "part": "still",
                **_what(choice, scene, configuration),
                "leaf": leaf,
                "triangle_test": TRIANGLE_TEST,
                **found,
            }
        published = configuration.as_published().settings(8)
        found = still(job.target, scene, published, job.picture(SIZE), job.repeat)
        yield {"part": "as_published", **_what(choice, scene, configuration), "leaf": 8, **found}


def _follow(job: SuiteJob, choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
    """One moving scene: frames per second with either way of building, and the cost from key to key."""
    moments = key_moments(scene, job.key_frames or MOST_KEY_FRAMES)
    for configuration in (MEDIAN, SAH):
        for word, ray_type, options in ray_types():
            settings = configuration.settings(8, ray_type=ray_type, ray_type_options=options)
            found = moving(job.target, scene, settings, job.picture(SIZE), moments, job.repeat)
            yield {"part": "moving", **_what(choice, scene, configuration), "rays": word, **found}
    for configuration, update in CURVES:
        costs = costs_over(job.target, scene, configuration.settings(8), moments, update)
        yield {
            "part": "curve",
            **_what(choice, scene, configuration),
            "update": update,
            "instants": f"of its {len(scene.key_times(0))} key frames",
            "times": [moment.time for moment in moments],
            "sah_costs": costs,
        }


def still_shots(choice: SceneChoice) -> list[Shot]:
    """Figure 7.1 of every scene, 6.5 of what stands for the Mitsuba model, and 7.12 of Crytek's Sponza: which scenes
    that figure shows the text does not say."""
    shots = [Shot("7.1", _drawn("smooth"))]
    if choice.published == "Mitsuba":
        shots += [Shot("6.5", _drawn(name), name) for name in ("flat", "smooth", "ao", "diffuse")]
    if choice.published == "Crytek Sponza":
        shots += [Shot("7.12", _drawn(name), name) for name in ("smooth", "ao", "diffuse")]
    return shots


def moving_shots(choice: SceneChoice, scene: Scene) -> list[Shot]:
    """Figure 7.2 at the middle of the clip, and 7.3, key frames of what bursts."""
    duration = scene.duration(0)
    shots = [Shot("7.2", _drawn("smooth"), moment=Moment(duration / 2))]
    if choice.published == "Exploding Dragon":
        times = [duration * part / BURST_PICTURES for part in range(BURST_PICTURES)]
        shots += [Shot("7.3", _drawn("smooth"), f"{time:.1f} s", Moment(time)) for time in times]
    return shots


def _drawn(name: str) -> ViewSettings:
    """Through the tree of SAH splits; rays by fours, as the thesis has them, where there are any."""
    options = {word: (ray_type, chosen) for word, ray_type, chosen in ray_types()}
    ray_type, chosen = options.get({"smooth": "primary"}.get(name, name), (name, None))
    return SAH.settings(8, ray_type=ray_type, ray_type_options=chosen)


def _what(choice: SceneChoice, scene: Scene, configuration: Configuration) -> dict[str, Any]:
    return {**what(choice, scene), "configuration": configuration.title}
