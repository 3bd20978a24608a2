"""When to rebuild: on a rig whose costs are known, and on clips that are really measured."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tomllib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis import clip_costs
from raygrove.gpu.analysis.advice import Advice, advise, break_even, settings_text
from raygrove.gpu.analysis.alternatives import break_even_rays, usual
from raygrove.gpu.analysis.clip_costs import ages_of, filled, held_out, measured, sampled
from raygrove.gpu.analysis.counted_rig import CountedRig
from raygrove.gpu.analysis.rig import Rig, camera_rays
from raygrove.gpu.analysis.schedules import ClipCosts, cost_of, offline_optimum, played
from raygrove.gpu.analysis.workload import Rays
from raygrove.gpu.camera import Camera, fit
from raygrove.gpu.face.configured import configured
from raygrove.gpu.hierarchy.base import Capabilities
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from tests.gpu.moving_scene import CAMERA, moving_scene


class KnownRig:
    """A rebuild takes 3 ms, a refit 1 ms, and tracing 5 ms and `slope` more a frame of age, for 500 rays."""

    def __init__(self, slope: float, rebuild_ms: float = 3.0, fresh_ms: float = 5.0, can_refit: bool = True) -> None:
        self.rays, self.slope, self.now, self.built, self.asked = range(500), slope, 0, 0, list[tuple[int, int]]()
        self.rebuild_ms, self.fresh_ms = rebuild_ms, fresh_ms
        self.hierarchy: Any = SimpleNamespace(capabilities=Capabilities(refit=can_refit))

    def show(self, moment: Moment) -> None:
        self.now = round(moment.time)

    def build(self) -> float:
        self.built = self.now
        return self.rebuild_ms

    def refit(self) -> float:
        assert self.hierarchy.capabilities.refit
        return 1.0

    def trace(self) -> float:
        self.asked.append((self.built, self.now))
        return self.fresh_ms + self.slope * (self.now - self.built)

    def sah_cost(self) -> float:
        return 10.0 + (self.now - self.built)


def moments_of(frames: int) -> list[Moment]:
    return [Moment(float(frame)) for frame in range(frames)]


def advice_of(slope: float, frames: int = 70, rays: int = 500, **named: Any) -> Advice:
    rig: Any = KnownRig(slope)
    return advise(rig, "hploc", moments_of(frames), 30.0, rays, **named)


def test_a_line_of_wear_gets_its_cycle_and_its_sentence() -> None:
    found = advice_of(0.08)
    assert found.n == 7 and found.schedule == tuple(frame % 7 == 0 for frame in range(70))
    assert found.interpolation_error == pytest.approx(0.0, abs=1e-12)
    assert found.ms == pytest.approx(1.0 + 2.0 / 7.0 + 5.0 + 3 * 0.08)
    costs = {one.policy: one for one in found.policies}
    assert costs["every_n:n=7"].regret == pytest.approx(1.0) and found.policies[0].regret == pytest.approx(1.0)
    assert costs["rebuild"].rebuilds == 70 and costs["refit"].rebuilds == 1
    assert costs["refit"].ms == pytest.approx(1.0 + 2.0 / 70.0 + 5.0 + 34.5 * 0.08)
    assert found.sentence.startswith("refit, and rebuild every 7th frame: 6.53 ms per frame instead of 8 ms")
    priced = f"when the SAH cost is {found.cost_ratio:g} times the last rebuild's: "
    assert f"{priced}{costs[f'cost_ratio:cost_ratio={found.cost_ratio:g}'].ms:.3g} ms" in found.sentence
    assert (
        "6.53 ms per frame instead of 8 ms by rebuilding every frame and 8.79 ms by never rebuilding" in found.sentence
    )
    assert json.loads(found.to_json())["sentence"] == found.sentence
    dear = [dataclasses.replace(one, ms=8.0) if one.policy.startswith("cost_ratio") else one for one in found.policies]
    assert "SAH cost" not in dataclasses.replace(found, policies=tuple(dear)).sentence  # no more than rebuilding always


def test_the_two_ends_are_said_in_words() -> None:
    refits, rebuilds = advice_of(0.0), advice_of(30.0, 12)
    assert refits.sentence == "refit every frame: 6.03 ms per frame instead of 8 by rebuilds"
    assert rebuilds.sentence.startswith("rebuild every frame: 8 ms per frame instead of ")
    for found in (refits, rebuilds):
        assert not any(one.policy.startswith("every_n") for one in found.policies), "the same is not told twice"
        assert {"rebuild", "refit"} < {one.policy for one in found.policies}


def test_more_rays_than_are_traced_are_scaled_to() -> None:
    few, many = advice_of(0.08), advice_of(0.08, rays=5000)
    assert (many.rays, many.measured_rays) == (5000, 500)
    assert many.n < few.n
    assert many.rays_break_even == few.rays_break_even == round(2.0 / (34.5 * 0.08) * 500)


def test_a_file_of_settings_says_which_policy_it_has() -> None:
    found = advice_of(0.08)
    first, second, *settings = settings_text(found).splitlines()
    assert found.sentence in first and second == "# The cheapest policy here: every_n:n=7, 6.53 ms per frame."
    assert tomllib.loads("\n".join(settings)) == {"update": {"mode": "every_n", "n": 7}}


def test_exact_measures_every_age_and_a_sample_does_not() -> None:
    exact: Any = KnownRig(0.1)
    advise(exact, "hploc", moments_of(20), 30.0, 500, exact=True)
    assert {(built, now) for built, now in exact.asked[2:]} == {(b, n) for b in range(20) for n in range(b, 20)}
    assert advice_of(0.1, 20, exact=True).interpolation_error is None
    some: Any = KnownRig(0.1)
    advise(some, "hploc", moments_of(100), 30.0, 500)
    assert len(some.asked) < 300 and {0, 99} <= {built for built, _ in some.asked}
    assert ages_of(20) == [0, 1, 2, 4, 8, 16] and ages_of(2) == [0, 1]


@pytest.mark.parametrize("count", [2, 3, 13, 14, 15, 47, 100, 1000])
def test_a_sample_spans_the_clip_and_what_is_held_out_lies_between(count: int) -> None:
    plan = sampled(count, clip_costs.TREES)
    assert min(plan) == 0 and max(plan) == count - 1 and len(plan) <= clip_costs.TREES
    assert all(ages[0] == 0 and built + ages[-1] == count - 1 for built, ages in plan.items())
    held = held_out(count, plan)
    assert not set(held) & set(plan) and len(held) <= clip_costs.HELD_OUT
    assert all(built + age < count for built, ages in held.items() for age in ages)


def test_what_is_not_measured_is_a_fresh_tree_s_cost_times_wear() -> None:
    """Where cost is the product of a line over frames and one over ages, four trees tell all of it."""

    def true(built: int, age: int) -> float:
        return (10.0 + 0.5 * (built + age)) * (1.0 + 0.2 * age)

    known = {(built, age): true(built, age) for built in (0, 3, 6, 9) for age in (0, 1, 4, 9 - built)
             if built + age <= 9}  # fmt: skip
    table = filled(known, 10)
    for frame in range(10):
        for age in range(10):
            assert table[frame, age] == pytest.approx(true(frame - min(age, frame), min(age, frame)), rel=1e-12)


class SteadyRig(CountedRig):
    """Trees that are really built and aged, at the same cost in every run."""

    ms_per_step = 1e-3

    def build(self) -> float:
        super().build()
        return 0.5

    def refit(self) -> float:
        super().refit()
        return 0.1


def regret(costs: ClipCosts, mode: str) -> float:
    schedule = played(costs, UpdateOptions(mode), 15.0, 256)
    return cost_of(costs, schedule) / cost_of(costs, offline_optimum(costs))


def flying(speed: float, frames: int = 20) -> rg.Clip:
    """Small triangles of a ball that fly apart, `speed` of its radius in all, each its own way."""
    random = np.random.default_rng(3)
    places, away = random.normal(0.0, 0.4, (1000, 1, 3)), random.normal(0.0, speed, (1000, 1, 3))
    still = places + random.normal(0.0, 0.03, (1000, 3, 3))
    vertices = np.stack([still + step * away for step in np.linspace(0.0, 1.0, frames)])
    return rg.Clip(vertices.reshape(frames, 3000, 3), np.arange(3000).reshape(-1, 3), fps=15.0)


@pytest.mark.parametrize("speed", [0.6, 0.02])
def test_the_sampled_advice_is_that_of_all_measurements(
    speed: float, host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip_costs, "TREES", 6)
    scene, made = flying(speed).to_plain(), configured("hploc")
    camera = fit(scene.lower, scene.upper, aspect=1.0)
    rig = SteadyRig(host_target, scene, "hploc", made.choice, camera_rays(camera, 16, 16))
    moments = [Moment(frame / 15.0) for frame in range(20)]
    exact, _ = measured(rig, moments, exact=True)
    some, error = measured(rig, moments)
    best = cost_of(exact, offline_optimum(exact))
    assert error is not None and error < 0.1
    assert cost_of(exact, offline_optimum(some)) <= 1.02 * best, "its schedule is as good as the best"
    for mode, most in (("rebuild", 0.03), ("refit", 0.05), ("auto", 0.08), ("ratio_optimiser", 0.08)):
        # The last two decide by what they see, so that small differences make another schedule.
        assert regret(some, mode) == pytest.approx(regret(exact, mode), rel=most), mode
    rig.close()


def test_another_configuration_pays_from_some_number_of_rays_on() -> None:
    """Ten frames: 3 + 9 + 50 k of ours against 10 + 9 + 40 k, which cross at k = 0.7 of 500 rays."""

    def rig(**named: Any) -> Any:
        return contextlib.nullcontext(KnownRig(0.0, **named))

    beside = [("slow", lambda: rig(rebuild_ms=10.0, fresh_ms=4.0)), ("fast", lambda: rig(rebuild_ms=1.0, fresh_ms=5.1)),
              ("worse", lambda: rig(rebuild_ms=4.0, fresh_ms=6.0))]  # fmt: skip
    found = advice_of(0.0, 10, beside=beside)
    slow, fast, worse = (next(one for one in found.alternatives if one.configuration == name)
                         for name in ("slow", "fast", "worse"))  # fmt: skip
    assert found.ms == pytest.approx(6.2) and slow.ms == pytest.approx(5.9) and slow.rebuilds == 1
    assert slow.rays_from == pytest.approx(350, rel=2e-3) and slow.rays_until is None
    assert fast.rays_until == pytest.approx(1000, rel=2e-3) and fast.rays_from is None
    assert (worse.rays_from, worse.rays_until) == (None, None)
    assert [one.configuration for one in found.alternatives] == ["slow", "fast", "worse"]
    assert found.pays.startswith(
        "by the best schedule of each, slow takes 5.9 ms per frame instead of 6.2, 5 % less; it "
    )
    assert found.pays.endswith("is cheaper than hploc from 350 rays per frame on")
    dear = dataclasses.replace(found, alternatives=(worse,)).pays
    assert dear.startswith("by the best schedule of each, nothing that was tried is cheaper than hploc; the nearest: w")
    assert worse.sentence("hploc", 6.2).endswith("% more, whatever the number of rays")
    assert json.loads(found.to_json())["alternatives"][0]["configuration"] == "slow"


def test_what_cannot_be_refitted_is_compared_by_rebuilds() -> None:
    beside = [("kd", lambda: contextlib.nullcontext(KnownRig(0.0, rebuild_ms=2.0, fresh_ms=1.0, can_refit=False)))]
    (only,) = advice_of(0.0, 10, beside=beside).alternatives  # type: ignore[arg-type]
    assert only.rebuilds == 10 and only.ms == pytest.approx(3.0)


def test_break_even_of_the_same_costs_is_none() -> None:
    costs = ClipCosts(np.full(3, 2.0), np.full(3, 1.0), np.full((3, 3), 4.0))
    assert break_even_rays(costs, costs, 100) == (None, None)


def test_one_thing_is_changed_in_what_is_tried() -> None:
    tried = usual("hploc", "bvh4")
    assert tried == ("lbvh", "binned_sah", "hploc+reinsertion", "hploc/bvh2", "hploc/cwbvh")
    assert "hploc/bvh4" not in usual("hploc/bvh4", "bvh4") and "lbvh/bvh2" in usual("hploc/bvh2", "bvh2")
    assert all(configured(one).text == one for one in (*tried, *usual("lbvh+rotations/bvh8", "bvh8")))


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


def test_counted_costs_are_those_of_the_traversal_and_calibrated_they_are_times(host_target: Target) -> None:
    made, camera = configured("hploc"), Camera(CAMERA.eye, CAMERA.look_at)
    rig = CountedRig(host_target, moving_scene(), "hploc", made.choice, camera_rays(camera, 40, 24))
    rig.show(Moment(0.3))
    rig.build()
    rig.ms_per_step = 1.0
    first = rig.trace()
    tree = rg.build(rg.Clip.from_plain(moving_scene()).at(0.3), "hploc", device="cpu")
    spots = rg.hot_spots(tree, rg.RaySet(rig.rays.origins, rig.rays.directions), kind="closest")
    assert first == rig.trace() == spots.box_tests.sum() + spots.tests.sum() > 0.0
    rig.calibrate()
    assert 0.0 < rig.trace() < 1000.0 and rig.trace() == pytest.approx(rig.ms_per_step * first)
    rig.close()


def test_rays_are_left_out_in_runs() -> None:
    rows = np.arange(3 * 6400, dtype=np.float32).reshape(-1, 3)
    some = Rays(rows, rows).at_most(640)
    assert len(some) == 640 and np.array_equal(some.origins[:64], rows[:64])
    assert np.array_equal(some.origins[-64:], rows[-64:]) and Rays(rows, rows).at_most(6400).origins is rows


@pytest.mark.parametrize("number", [1, 2, 40, 63, 64, 65, 130, 1000])
@pytest.mark.parametrize("count", [1, 3, 39, 64, 100, 999])
def test_few_of_rays_are_never_more_than_asked_for(number: int, count: int) -> None:
    rows = np.arange(3 * number, dtype=np.float32).reshape(number, 3)
    kept = Rays(rows, rows).at_most(count).origins
    assert 0 < len(kept) <= count and len(kept) > min(number, count) / 2
    assert len(np.unique(kept, axis=0)) == len(kept)


def test_a_clip_is_advised_and_what_cannot_be_is_a_sentence() -> None:
    random = np.random.default_rng(3)
    still = random.uniform(-1.0, 1.0, (300, 1, 3)) + random.normal(0.0, 0.05, (300, 3, 3))
    away = np.repeat(random.normal(0.0, 1.0, (300, 1, 3)), 3, axis=1)
    vertices = np.stack([still + step * away for step in np.linspace(0.0, 4.0, 6)]).reshape(6, 900, 3)
    clip = rg.Clip(vertices, np.arange(900).reshape(-1, 3))
    found = rg.advise(clip, "lbvh/bvh2", frames=range(6), size=(48, 36), device="cpu", beside=["lbvh/bvh4"])
    assert (found.configuration, found.frames, found.rays, found.measured_rays) == ("lbvh/bvh2", 6, 1728, 1728)
    assert [one.configuration for one in found.alternatives] == ["lbvh/bvh4"] and found.pays.startswith(
        "by the best schedule of each"
    )
    regrets = {one.policy: one.regret for one in found.policies}
    assert regrets.pop("refit_rotations") > 0.0 and not found.left_out  # of other trees, perhaps better ones
    assert found.schedule[0] and min(regrets.values()) >= 1.0 - 1e-9
    optimised = rg.advise(clip, "lbvh+reinsertion", frames=range(2), size=(8, 6), device="cpu", beside=())
    assert "its optimiser is reinsertion" in optimised.left_out
    assert "refit_rotations" not in {one.policy for one in optimised.policies}
    rays = rg.RaySet([0.0, 0.0, 9.0], [[0.0, 0.0, -1.0]] * 8)
    assert rg.advise(clip, "lbvh", rays, device="cpu", beside=()).rays == 8
    with pytest.raises(rg.Error, match="cannot be refitted"):
        rg.advise(clip, "median_sah", frames=range(3), device="cpu")
    with pytest.raises(rg.Error, match="2 to 1000 frames, and these are 1"):
        rg.advise(clip, "lbvh", frames=range(1), device="cpu")


VERTICES, TRIANGLES = np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32)
CLIP, POSE = rg.Clip(np.stack([VERTICES, VERTICES + 1.0]), TRIANGLES), np.eye(3, 4, dtype=np.float32)[None]


def test_advice_takes_rays_of_sensors_and_every_instant_of_a_clip() -> None:
    found = rg.advise(CLIP, "lbvh", rg.sensors.pinhole(4, 3).rays(POSE), device="cpu", beside=())
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
