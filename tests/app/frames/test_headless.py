"""What a picture without a window costs: sums over its samples, each time that it is drawn."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.state import SceneReference, State
from raygrove.app.frames import headless
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.scene import Scene
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.target.base import Target
from tests.app.stand_ins import made_statistics

SIDE = 24
RAYS = SIDE * SIDE


def made(number: int, **view: Any) -> FrameStatistics:
    """The statistics of one sample; the figures of sample `number` are so many powers of two apart, so that a sum says
    whose it holds."""
    unit = float(1 << 4 * number)
    frame = made_statistics(animate_ms=unit, frame_ms=2 * unit, host_ms=3 * unit, launches=5 << 4 * number)
    figures = {
        "build_ms": unit,
        "refit_ms": 2 * unit,
        "trace_ms": 3 * unit,
        "shade_ms": 4 * unit,
        "rays": 7 << 4 * number,
        "samples": number + 1,
    }
    by_kind = {"primary": 3 << 4 * number, ("shadow" if number else "ao"): 4 << 4 * number}
    phases = {"trace.primary": 3 * unit, f"only.{number}": 9 * unit}
    values = {**figures, "rays_by_kind": by_kind, "phases_ms": phases, **view}
    return dataclasses.replace(frame, views=(dataclasses.replace(frame.views[0], **values),))


def test_the_cost_of_samples_is_their_sum() -> None:
    frames = [
        made(number, update=update, reason=f"of {number}")
        for number, update in enumerate(("refit", "nothing", "nothing"))
    ]
    found, units = headless.together(frames), 1 + 16 + 256
    view = found.views[0]
    assert (found.animate_ms, found.frame_ms, found.host_ms, found.launches) == (units, 2 * units, 3 * units, 5 * units)
    assert (view.build_ms, view.refit_ms, view.trace_ms, view.shade_ms, view.rays) == (
        units,
        2 * units,
        3 * units,
        4 * units,
        7 * units,
    )
    assert view.rays_by_kind == {"primary": 3 * units, "ao": 4, "shadow": 4 * (16 + 256)}
    assert view.phases_ms == {"trace.primary": 3 * units, "only.0": 9, "only.1": 9 * 16, "only.2": 9 * 256}
    assert view.mrays_per_s == pytest.approx(7 / 3 / 1e3)
    assert (view.update, view.reason, view.samples) == ("refit", "of 0", 3), (
        "the structure did what the first sample had done to it"
    )
    assert headless.together(frames[:1]) is frames[0]


@pytest.fixture(scope="module")
def scene() -> Scene:
    return make_demo("walker", 500)


def drawn(
    target: Target,
    scene: Scene,
    monkeypatch: pytest.MonkeyPatch,
    samples: int,
    ray_type: str,
    repeat: int = 1,
    **more: Any,
) -> tuple[Any, Any]:
    """Two frames as `render` draws them, and the statistics of every single sample, in order; those of the tiny picture
    before are not among them."""
    settings = Settings()
    changes = {"render.width": SIDE, "render.height": SIDE, "render.samples": samples, "render.ray_type": ray_type}
    for key, value in {**changes, **more}.items():
        settings = set_option(settings, key, value)
    singly: list[FrameStatistics] = []
    rendered = headless.rendered

    def noted(*arguments: Any) -> FrameStatistics:
        singly.append(rendered(*arguments))
        return singly[-1]

    monkeypatch.setattr(headless, "rendered", noted)
    state = State(scene=SceneReference("demo", ("walker",)), settings=settings)
    return list(
        headless.render_frames(target, scene, state, [(3, 0.1), (4, 0.2)], repeat=repeat, with_totals=True)
    ), singly


@pytest.mark.parametrize("samples", [1, 2, 4])
def test_every_sample_counts_once(
    host_target: Target, scene: Scene, monkeypatch: pytest.MonkeyPatch, samples: int
) -> None:
    frames, _ = drawn(host_target, scene, monkeypatch, samples, "flat")
    assert [frame.number for frame in frames] == [3, 4]
    for frame in frames:
        (cost,) = frame.statistics
        view = cost.views[0]
        assert (view.rays, view.rays_by_kind, view.samples) == (samples * RAYS, {"primary": samples * RAYS}, samples)
        assert view.update == "rebuild" and view.build_ms > 0.0
        assert frame.hits is not None and 0 < frame.hits < RAYS, "hits are those of one sample"


def test_a_picture_costs_what_its_samples_cost(
    host_target: Target, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own samples and nothing else: none is drawn that is not in the picture."""
    frames, singly = drawn(host_target, scene, monkeypatch, 3, "smooth")
    assert len(singly) == 2 * 3
    for frame, own in zip(frames, (singly[:3], singly[3:]), strict=True):
        (cost,) = frame.statistics
        view, views = cost.views[0], [one.views[0] for one in own]
        kinds = {kind for one in views for kind in one.rays_by_kind}
        assert kinds == {"primary", "shadow"} and view.rays == sum(one.rays for one in views)
        assert view.rays_by_kind == {kind: sum(one.rays_by_kind[kind] for one in views) for kind in kinds}
        for name in ("animate_ms", "frame_ms", "host_ms", "launches"):
            assert getattr(cost, name) == pytest.approx(sum(getattr(one, name) for one in own)), name
        for name in ("build_ms", "trace_ms", "shade_ms"):
            assert getattr(view, name) == pytest.approx(sum(getattr(one, name) for one in views)), name
        assert view.mrays_per_s == pytest.approx(view.rays / view.trace_ms / 1e3)
        assert [one.samples for one in views] == [1, 2, 3] and [one.update for one in views] == [
            "rebuild",
            "nothing",
            "nothing",
        ]


def test_what_is_drawn_again_costs_all_of_it_again(
    host_target: Target, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, singly = drawn(host_target, scene, monkeypatch, 2, "smooth", repeat=3)
    assert [one.views[0].samples for one in singly] == [1, 2] * 6
    pictures = [frame.pixels for frame in drawn(host_target, scene, monkeypatch, 2, "smooth")[0]]
    for frame, picture in zip(frames, pictures, strict=True):
        counts = [(cost.views[0].rays, cost.views[0].samples, cost.views[0].update) for cost in frame.statistics]
        assert len(counts) == 3 and counts[0] == counts[1] == counts[2] and counts[0][1:] == (2, "rebuild")
        assert all(
            cost.views[0].build_ms > 0.0 and cost.frame_ms >= cost.views[0].trace_ms for cost in frame.statistics
        )
        assert np.array_equal(frame.pixels, picture)


def test_a_structure_that_is_always_updated_costs_no_sample(
    host_target: Target, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = drawn(host_target, scene, monkeypatch, 4, "smooth")[0]
    always = drawn(host_target, scene, monkeypatch, 4, "smooth", **{"update.always": True})[0]
    assert all(np.array_equal(one.pixels, other.pixels) for one, other in zip(plain, always, strict=True))
    assert [frame.statistics[0].views[0].samples for frame in always] == [4, 4]


@pytest.mark.parametrize("ray_type", ["smooth", "ao", "steps"])
def test_slow_pictures_are_drawn_some_rows_at_a_time(
    host_target: Target, scene: Scene, monkeypatch: pytest.MonkeyPatch, ray_type: str
) -> None:
    """To the same bits and with the same counts; who waits hears of each part."""
    settings = Settings()
    changes = {"width": SIDE, "height": 20, "samples": 2, "ray_type": ray_type, "hierarchy": "lbvh"}
    for key, value in changes.items():
        settings = set_option(settings, f"render.{key}", value)
    state = State(scene=SceneReference("demo", ("walker",)), settings=settings)

    def frames() -> tuple[list[headless.Frame], list[float]]:
        shares = list[float]()
        moments = [(3, 0.1), (4, 0.2)]
        return list(headless.render_frames(host_target, scene, state, moments, repeat=2, check=shares.append)), shares

    whole, each = frames()
    assert each == [1.0] * 8
    monkeypatch.setattr(headless, "SLOW_MS", 0.0)
    monkeypatch.setattr(headless, "ROWS_MS", 0.0)
    parts, shares = frames()
    assert shares == pytest.approx([0.4, 0.4, 0.2] * 8)
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one.pixels, other.pixels)
        for a, b in zip(one.statistics, other.statistics, strict=True):
            (view,), (of_rows,) = a.views, b.views
            assert (view.rays, view.rays_by_kind, view.samples) == (of_rows.rays, of_rows.rays_by_kind, of_rows.samples)
            assert of_rows.update == view.update == "rebuild" and of_rows.build_ms > 0.0
            assert of_rows.structure.sah_cost == view.structure.sah_cost
