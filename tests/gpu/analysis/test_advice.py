"""When to rebuild: on a rig whose costs are known, and on clips that are really measured."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.advice import Advice, advise, ages_of, break_even, interpolated
from raygrove.gpu.analysis.rig import Rays, Rig, camera_rays
from raygrove.gpu.analysis.schedules import ClipCosts
from raygrove.gpu.camera import Camera
from raygrove.gpu.face.configured import configured
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from tests.gpu.moving_scene import CAMERA, moving_scene


class KnownRig:
    """A rebuild takes 3 ms, a refit 1 ms, and tracing 5 ms and `slope` more a frame of age, for 500 rays."""

    def __init__(self, slope: float) -> None:
        self.rays, self.slope, self.now, self.built, self.asked = range(500), slope, 0, 0, list[tuple[int, int]]()

    def show(self, moment: Moment) -> None:
        self.now = round(moment.time)

    def build(self) -> float:
        self.built = self.now
        return 3.0

    def refit(self) -> float:
        return 1.0

    def trace(self) -> float:
        self.asked.append((self.built, self.now))
        return 5.0 + self.slope * (self.now - self.built)

    def sah_cost(self) -> float:
        return 10.0 + (self.now - self.built)


def advice_of(slope: float, frames: int = 70, rays: int = 500, **named: Any) -> Advice:
    rig: Any = KnownRig(slope)
    return advise(rig, "hploc", [Moment(float(frame)) for frame in range(frames)], 30.0, rays, **named)


def test_a_line_of_wear_gets_its_cycle_and_its_sentence() -> None:
    found = advice_of(0.08)
    assert found.n == 7 and found.schedule == tuple(frame % 7 == 0 for frame in range(70))
    assert found.interpolation_error == pytest.approx(0.0, abs=1e-12)
    assert found.ms == pytest.approx(1.0 + 2.0 / 7.0 + 5.0 + 3 * 0.08)
    costs = {one.policy: one for one in found.policies}
    assert costs["every_n:n=7"].regret == pytest.approx(1.0) and found.policies[0].regret == pytest.approx(1.0)
    assert costs["rebuild"].rebuilds == 70 and costs["refit"].rebuilds == 1
    assert costs["refit"].ms == pytest.approx(1.0 + 2.0 / 70.0 + 5.0 + 34.5 * 0.08)
    assert found.sentence.startswith("refit, and rebuild every 7th frame, or when the SAH cost has grown by 1.")
    assert "6.53 ms a frame instead of 8 ms by rebuilding every frame and 8.79 ms by never rebuilding" in found.sentence
    assert json.loads(found.to_json())["sentence"] == found.sentence


def test_the_two_ends_are_said_in_words() -> None:
    assert advice_of(0.0).sentence == "refit every frame: 6.03 ms a frame instead of 8 by rebuilds"
    assert advice_of(30.0, 12).sentence.startswith("rebuild every frame: 8 ms a frame instead of ")


def test_more_rays_than_are_traced_are_scaled_to() -> None:
    few, many = advice_of(0.08), advice_of(0.08, rays=5000)
    assert (many.rays, many.measured_rays) == (5000, 500)
    assert many.n < few.n
    assert many.rays_break_even == few.rays_break_even == round(2.0 / (34.5 * 0.08) * 500)


def test_exact_measures_every_age_and_interpolation_does_not() -> None:
    exact: Any = KnownRig(0.1)
    advise(exact, "hploc", [Moment(float(frame)) for frame in range(20)], 30.0, 500, exact=True)
    assert {now - built for built, now in exact.asked} == set(range(20))
    assert (
        advice_of(0.1, 20).interpolation_error is not None
        and advice_of(0.1, 20, exact=True).interpolation_error is None
    )
    assert ages_of(20) == [0, 1, 2, 4, 8, 16] and ages_of(2) == [0, 1]


def test_what_is_not_measured_lies_between_its_neighbours() -> None:
    table = np.full((5, 5), np.nan)
    for frame in range(5):
        table[frame, 0] = 10.0 + frame
        if frame:
            table[frame, frame] = 20.0 + frame
    filled = interpolated(table)
    assert filled[4].tolist() == [14.0, 16.5, 19.0, 21.5, 24.0]
    assert not np.isnan(filled).any()


def test_no_number_of_rays_makes_rebuilds_pay_where_trees_do_not_wear() -> None:
    still = np.full((3, 3), 4.0)
    assert break_even(ClipCosts(np.full(3, 2.0), np.full(3, 1.0), still), 100) is None


def test_the_rig_finds_what_a_picture_finds(host_target: Target) -> None:
    made, camera = configured("hploc"), Camera(CAMERA.eye, CAMERA.look_at)
    found = []
    for name in ("hploc", "brute_force"):
        rig = Rig(host_target, moving_scene(), name, made.choice if name == "hploc" else configured(name).choice,
                  camera_rays(camera, 40, 24))  # fmt: skip
        rig.show(Moment(0.3))
        assert rig.build() > 0.0
        if name == "hploc":
            rig.show(Moment(0.7))
            assert rig.refit() > 0.0
        rig.show(Moment(0.7))
        if name == "brute_force":
            rig.build()
        assert rig.trace() > 0.0
        found.append(rig.hits())
        rig.close()
    (ids, t), (true_ids, true_t) = found
    assert np.array_equal(ids, true_ids) and np.array_equal(t, true_t)
    assert 0.1 < (ids >= 0).mean() <= 1.0


def test_rays_are_left_out_in_runs() -> None:
    rows = np.arange(3 * 6400, dtype=np.float32).reshape(-1, 3)
    some = Rays(rows, rows).at_most(640)
    assert len(some) == 640 and np.array_equal(some.origins[:64], rows[:64])
    assert np.array_equal(some.origins[-64:], rows[-64:]) and Rays(rows, rows).at_most(6400).origins is rows


def test_a_clip_is_advised_and_what_cannot_be_is_a_sentence() -> None:
    random = np.random.default_rng(3)
    still = random.uniform(-1.0, 1.0, (300, 1, 3)) + random.normal(0.0, 0.05, (300, 3, 3))
    away = np.repeat(random.normal(0.0, 1.0, (300, 1, 3)), 3, axis=1)
    vertices = np.stack([still + step * away for step in np.linspace(0.0, 4.0, 6)]).reshape(6, 900, 3)
    clip = rg.Clip(vertices, np.arange(900).reshape(-1, 3))
    found = rg.advise(clip, "lbvh/bvh2", frames=range(6), size=(48, 36), device="cpu")
    assert (found.configuration, found.frames, found.rays, found.measured_rays) == ("lbvh/bvh2", 6, 1728, 1728)
    assert found.schedule[0] and min(one.regret for one in found.policies) >= 1.0 - 1e-9
    rays = rg.RaySet([0.0, 0.0, 9.0], [[0.0, 0.0, -1.0]] * 8)
    assert rg.advise(clip, "lbvh", rays, device="cpu").rays == 8
    with pytest.raises(rg.Error, match="cannot be refitted"):
        rg.advise(clip, "median_sah", frames=range(3), device="cpu")
    with pytest.raises(rg.Error, match="2 to 1000 frames, and these are 1"):
        rg.advise(clip, "lbvh", frames=range(1), device="cpu")


VERTICES, TRIANGLES = np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32)
CLIP, POSE = rg.Clip(np.stack([VERTICES, VERTICES + 1.0]), TRIANGLES), np.eye(3, 4, dtype=np.float32)[None]


def test_advice_takes_rays_of_sensors_and_every_instant_of_a_clip() -> None:
    found = rg.advise(CLIP, "lbvh", rg.sensors.pinhole(4, 3).rays(POSE), device="cpu")
    assert (found.frames, found.rays) == (2, 12)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("walker",), "a clip is a rg.Clip, .* this is str"),
        ((rg.Scene, "lbvh"), "a clip is a rg.Clip"),
        ((CLIP, CLIP), "a configuration is a text like 'hploc/bvh4', and this is Clip"),
        ((CLIP, "lbvh", np.zeros((1, 3))), "rays are a rg.RaySet or those of sensors, and these are ndarray"),
    ],
)
def test_words_in_another_order_are_told(words: Any, sentence: str) -> None:
    with pytest.raises(rg.Error, match=sentence) as raised:
        rg.advise(*words)
    assert raised.value.where == "rg.advise"
