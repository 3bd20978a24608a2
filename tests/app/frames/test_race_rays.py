"""Races in the window over other rays than the pictures': their times and numbers stand for the pictures' own, and
their hits are compared."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State, replaced
from raygrove.app.frames import race_report
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.measured_rays import SHOWN, MeasuredRays
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.frames.race_turns import RaceTurns, of_rays
from raygrove.app.frames.recording import record
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.ray_options import RayOptions
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.analysis.racing import WARM_FRAMES
from raygrove.gpu.analysis.workload import HungRays
from raygrove.gpu.camera import fit
from raygrove.gpu.errors import Error
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Moment, Scene
from tests.gpu.analysis.race_views import frame, view

DOME = "dome:rows=4:columns=32:node=head:t_max=9"


@pytest.fixture(scope="module")
def walker() -> Scene:
    return make_demo("walker", 400)


def raced(scene: Scene, rays: str) -> State:
    settings = Settings()
    for key, value in (
        ("render.device", "cpu"), ("window.workspace", "race"), ("race.contestants", "lbvh@refit, brute_force"),
        ("rays.measured", rays), ("render.width", 16), ("render.height", 12), ("display.adapt_resolution", False),
    ):  # fmt: skip
        settings = set_option(settings, key, value)
    return replaced(State(settings=settings), "cameras", (fit(scene.lower, scene.upper),))


def test_rays_of_a_sensor_count_in_the_pictures_place(walker: Scene) -> None:
    """Their number, no shading, and as many hits as brute force finds of the sensor at that instant."""
    with contextlib.closing(FrameMaker()) as maker:
        slots = [HostSlot(16, 12), HostSlot(16, 12)]
        found = None
        for number in range(WARM_FRAMES + 4):
            found = maker.draw(walker, raced(walker, DOME), Moment(0.1 * number), slots, is_moving=True).statistics
        assert found is not None and [one.hierarchy for one in found.views] == ["lbvh", "brute_force"]
        for one in found.views:
            assert (
                one.rays == 128 and one.shade_ms == 0.0 and one.trace_ms > 0.0 and (one.width, one.height) == (16, 12)
            )
        pictures = maker._race.of_pictures
        assert pictures is not None and all(one.rays >= 16 * 12 and one.shade_ms > 0.0 for one in pictures.views)
        compared = maker.hits_compared()
        assert compared is not None and compared.masks == () and compared.against == 1
        surface = maker._engine._animator.surface
        last = workload_of(DOME, walker).at(Moment(0.1 * (WARM_FRAMES + 3)))
        hits = _hits(np.array(surface.positions)[np.array(surface.triangles)], last.origins, last.directions, 9.0)
        for proof in compared.proofs:
            assert (proof.rays, proof.mismatches) == (128, 0) and abs(proof.hits - hits) <= 1 < hits
        own = maker.draw(walker, raced(walker, "picture"), Moment(0.0), slots, is_moving=True)
        assert own.statistics is None, "another choice warms up anew"
        compared = maker.hits_compared()
        assert compared is not None and compared.proofs[0].rays == 16 * 12 and len(compared.masks) == 2


def test_adaptive_contestants_learn_from_the_rays_that_are_measured(walker: Scene) -> None:
    """As they do without a window: 128 rays of the sensor, not the 192 of the picture; without the sensor those."""
    with contextlib.closing(FrameMaker()) as maker:
        slots = [HostSlot(16, 12), HostSlot(16, 12)]
        for rays, count in ((DOME, 128), ("picture", 16 * 12)):
            state = raced(walker, rays)
            shown = set_option(state.settings, "race.contestants", "lbvh@auto, lbvh@ratio_optimiser")
            state = dataclasses.replace(state, settings=shown)
            for number in range(WARM_FRAMES + 9):
                maker.draw(walker, state, Moment(0.1 * number), slots, is_moving=True)
            slots_of_views = [maker._engine.drawn_slot(one) for one in maker._views]
            cycle = slots_of_views[0].history.costs._cycle
            assert cycle is not None and cycle.rays == count
            assert slots_of_views[1].history.ratio._rays == count


def _hits(corners: np.ndarray, origins: np.ndarray, directions: np.ndarray, t_max: float) -> int:
    """Rays that hit any triangle, after Moeller and Trumbore in float64."""
    corners = corners.astype(np.float64)
    count, first = 0, corners[:, 0]
    one, other = corners[:, 1] - first, corners[:, 2] - first
    for origin, direction in zip(origins.astype(np.float64), directions.astype(np.float64), strict=True):
        p = np.cross(direction, other)
        det = (one * p).sum(axis=1)
        with np.errstate(all="ignore"):
            s = origin - first
            u = (s * p).sum(axis=1) / det
            q = np.cross(s, one)
            v, t = (q * direction).sum(axis=1) / det, (q * other).sum(axis=1) / det
            count += bool(((u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0) & (t <= t_max)).any())
    return count


def test_a_sensor_on_a_node_that_is_not_there_is_a_sentence(walker: Scene) -> None:
    with contextlib.closing(FrameMaker()) as maker, pytest.raises(Error, match="there is no node called 'wheel'"):
        maker.draw(walker, raced(walker, "lidar:node=wheel"), Moment(), [HostSlot(8, 8)] * 2, is_moving=True)


def test_a_frame_that_is_heard_of_before_its_rays_counts_with_them() -> None:
    """On the host statistics may come while the frame is drawn, before other rays are traced."""
    turns = RaceTurns()
    turns._places[7], turns._counts[7], turns._traced[7] = (7, 0), 1, None
    turns.hear(frame(7, view(2.0, 3.0)))
    assert turns._newest is None
    turns._take_trace(7, (0.25, 500))
    assert turns._newest is not None and turns.of_pictures is not None
    (one,), (picture,) = turns._newest.views, turns.of_pictures.views
    assert (one.build_ms, one.trace_ms, one.shade_ms, one.rays, one.mrays_per_s) == (2.0, 0.25, 0.0, 500, 2.0)
    assert (picture.trace_ms, picture.shade_ms) == (3.0, 1.0) and not turns._traced and not turns._early
    turns._places[9], turns._counts[9], turns._traced[9] = (9, 0), 1, (0.5, 500)
    turns.hear(frame(9, view(2.0, 3.0), is_stale=True))
    assert turns._newest.frame_id == 7 and not turns._traced, "a turn that is behind leaves nothing"
    untouched = frame(8, view(2.0, 3.0))
    assert of_rays(untouched, None) is untouched


def test_the_report_of_a_race_is_of_the_rays_that_are_measured(walker: Scene, tmp_path: Path) -> None:
    short = dataclasses.replace(walker)
    state = raced(short, DOME)
    state = dataclasses.replace(state, settings=set_option(state.settings, "timeline.fps", 2.0))
    found = race_report.report(Job("race"), short, state, ["lbvh@refit", "hploc"], str(tmp_path / "race.json"), "")
    assert found.size == (128, 1) and found.mismatches == 0 and (tmp_path / "race.json").exists()


def test_a_job_records_the_rays_of_the_picture(walker: Scene, tmp_path: Path) -> None:
    """At the head's instant, through the picture's pixels, and then they are what is measured."""
    path = str(tmp_path / "rays.npz")
    state = raced(walker, "picture")
    state = dataclasses.replace(state, timeline=dataclasses.replace(state.timeline, time=0.5))
    assert record(Job("recording"), walker, state, "primary", path) == 16 * 12
    made = MeasuredRays()
    made.choose(RayOptions(path), walker, Moment())
    rays = made.now()
    assert rays is not None and made.now() is rays
    eye = np.array(state.camera_of(0).eye, np.float32)
    np.testing.assert_allclose(rays.origins, np.tile(eye, (16 * 12, 1)), rtol=1e-6)


def test_rays_are_let_go_of_where_others_are_chosen(walker: Scene) -> None:
    """Of another text, of the picture, and of another scene; another instant keeps them."""
    made = MeasuredRays()
    for options, scene in (
        (RayOptions("picture"), walker),
        (RayOptions("dome:rows=2:columns=3"), walker),
        (RayOptions(DOME), dataclasses.replace(walker)),
    ):
        made.choose(RayOptions(DOME), walker, Moment())
        first = made.workload()
        assert made.now() is not None
        made._traced = object()  # type: ignore[assignment]
        made.choose(RayOptions(DOME, show=False), walker, Moment(0.5))
        assert made.workload() is first and made._traced is not None
        made.choose(options, scene, Moment())
        assert made._made is None and made._now is None and made._traced is None
    made.choose(RayOptions(DOME), walker, Moment())
    assert made.now() is not None
    made.forget()
    assert made._made is None and made._now is None


def test_rays_that_were_recorded_anew_are_those_that_are_measured(walker: Scene, tmp_path: Path) -> None:
    """Into the same file, also after one that could not be read, or was not there."""
    path, made = tmp_path / "rays.npz", MeasuredRays()
    state = raced(walker, "picture")

    def measured() -> int:
        made.choose(RayOptions(str(path)), walker, Moment())
        rays = made.now()
        assert rays is not None and made.now() is rays
        return len(rays)

    with pytest.raises(Error, match=r"rays\.npz"):
        measured()
    record(Job("recording"), walker, state, "primary", str(path))
    assert measured() == 16 * 12
    smaller = dataclasses.replace(state, settings=set_option(state.settings, "render.width", 8))
    record(Job("recording"), walker, smaller, "primary", str(path))
    assert measured() == 8 * 12
    path.write_bytes(b"no archive")
    with pytest.raises(Error):
        measured()
    record(Job("recording"), walker, state, "primary", str(path))
    assert measured() == 16 * 12


def test_rays_that_cannot_be_read_are_asked_for_once(
    walker: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rays.npz"
    path.write_bytes(b"no archive")
    asked: list[str] = []

    def counted(text: str, scene: Scene) -> object:
        asked.append(text)
        return workload_of(text, scene)

    monkeypatch.setattr("raygrove.app.frames.measured_rays.workload_of", counted)
    made, said = MeasuredRays(), set()
    depths = set()
    for frame_number in range(3):
        made.choose(RayOptions(str(path)), walker, Moment(0.1 * frame_number))
        with pytest.raises(Error) as found:
            made.now()
        said.add(str(found.value))
        depths.add(len(found.traceback))
        made.forget()
    assert asked == [str(path)] and len(said) == len(depths) == 1
    made.choose(RayOptions("dome"), walker, Moment())
    assert made.now() is not None and asked[1:] == ["dome"]


def test_only_the_rays_that_are_drawn_are_moved(walker: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spread over all of a sensor that hangs on a node, where it is at the instant."""
    hung = workload_of("dome:rows=20:columns=50:node=head", walker)
    assert isinstance(hung, HungRays)
    some = np.linspace(0, 999, SHOWN).astype(np.int64)
    whole = hung.at(Moment(0.4))
    moved: list[int] = []
    at = HungRays.at

    def moving(rays: HungRays, moment: Moment) -> Any:
        moved.append(len(rays))
        return at(rays, moment)

    monkeypatch.setattr(HungRays, "at", moving)
    slots = [HostSlot(8, 8)] * 2
    with contextlib.closing(FrameMaker()) as maker:
        maker.draw(walker, raced(walker, "picture"), Moment(0.4), slots, is_moving=True)
        maker._measured.choose(RayOptions("dome:rows=20:columns=50:node=head"), walker, Moment(0.4))
        ends = maker.measured_ends()
    assert moved == [SHOWN] and isinstance(ends, np.ndarray) and ends.shape == (SHOWN, 2, 3)
    np.testing.assert_allclose(ends[:, 0], whole.origins[some], rtol=1e-6)
    hit = np.isfinite(ends[:, 1]).all(axis=1)
    assert hit.sum() > 0
    along = ends[hit, 1] - ends[hit, 0]
    np.testing.assert_allclose(along / np.linalg.norm(along, axis=1)[:, None], whole.directions[some][hit], atol=1e-5)
