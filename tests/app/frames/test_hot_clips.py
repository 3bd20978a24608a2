"""Hot spots of a clip in a job: the sums of its frames, how far it is, and that it stops."""

from __future__ import annotations

import dataclasses

import pytest

from raygrove.app.document.jobs import Cancelled, Job
from raygrove.app.document.state import State
from raygrove.app.frames.hot_clips import MOST_FRAMES, clip_frames, count_clip, hot_spots_in
from raygrove.app.frames.race_report import whole_clip
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import fit
from raygrove.gpu.errors import Error
from raygrove.gpu.scene import Scene
from raygrove.testing import make_target


def of(scene: Scene) -> State:
    settings = Settings()
    for key, value in (("render.device", "cpu"), ("render.width", 24), ("render.height", 18)):
        settings = set_option(settings, key, value)
    return State(settings=settings, cameras=(fit(scene.lower, scene.upper, aspect=4 / 3),))


def test_frames_are_those_of_the_clip(moving_scene: Scene) -> None:
    state = of(moving_scene)
    every = clip_frames(state, moving_scene)
    assert every[:2] == [(0, 0.0), (1, pytest.approx(1 / 30))] and len(every) == 61
    some = clip_frames(state, moving_scene, 4)
    assert [number for number, _ in some] == [0, 20, 40, 60] and clip_frames(state, moving_scene, 99) == every


def test_a_long_clip_is_counted_from_its_beginning_or_evenly_to_its_end(moving_scene: Scene) -> None:
    state = of(moving_scene)
    state = dataclasses.replace(state, settings=set_option(state.settings, "timeline.fps", 1000.0))
    whole = whole_clip(state, moving_scene)
    assert len(whole) > MOST_FRAMES and clip_frames(state, moving_scene) == whole[:MOST_FRAMES]
    assert clip_frames(state, moving_scene, 3)[-1] == whole[-1]


def test_a_job_counts_what_each_frame_does_and_stops_where_it_is_cancelled(moving_scene: Scene) -> None:
    state, job = of(moving_scene), Job("counting")
    frames = clip_frames(state, moving_scene, 3)
    found = count_clip(job, moving_scene, state, frames, "primary", "closest")
    assert job.progress == 1.0 and job.message == "frame 3 of 3" and found.configuration == "lbvh/bvh4"
    assert found.times == tuple(time for _, time in frames)
    with make_target("host") as target:
        each = list(hot_spots_in(target, moving_scene, state, frames, "primary", "closest"))
    assert [one.rays for one in found.frames.frames] == [one.counts.rays for one in each] == [24 * 18] * 3
    assert [one.visits for one in found.frames.frames] == [one.visits.sum() for one in each]
    costs = [one.total_cost / one.counts.rays for one in each]
    place, most, mean = found.frames.dearest
    assert costs[place] == max(costs) == most and mean == pytest.approx(sum(costs) / 3)
    with pytest.raises(Error, match="primary"):
        count_clip(job, moving_scene, state, frames, "bounce 3", "closest")
    job.cancel()
    with pytest.raises(Cancelled):
        count_clip(job, moving_scene, state, frames, "all", "both")
