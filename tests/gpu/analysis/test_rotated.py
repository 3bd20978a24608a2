"""Refits that rotations follow, judged beside the other policies: by costs that are known, and on a clip."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.analysis import rotated
from raygrove.gpu.analysis.counted_rig import CountedRig
from raygrove.gpu.analysis.rig import camera_rays
from raygrove.gpu.analysis.rotated import rotated_ms, rotated_rig, steps_of, traced_of
from raygrove.gpu.analysis.schedules import ClipCosts
from raygrove.gpu.hierarchy.base import Capabilities, StructureChoice
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from tests.gpu.analysis.test_advice import KnownRig, advice_of, moments_of
from tests.gpu.moving_scene import CAMERA, moving_scene


def mended(optimiser: str = "rotations", in_refits: bool = True) -> Any:
    """A structure that wears out by 0.02 ms a frame, a quarter of what it does without rotations."""
    rig: Any = KnownRig(0.02)
    options = SimpleNamespace(in_refits=in_refits)
    rig.hierarchy = SimpleNamespace(
        capabilities=Capabilities(refit=True),
        title="It",
        choice=StructureChoice(optimiser=optimiser, optimiser_options=options),
    )
    return rig


def test_it_is_judged_by_what_it_costs() -> None:
    told: list[float] = []
    found = advice_of(
        0.08, rotated=lambda: contextlib.nullcontext(mended()), say=lambda share, name: told.append(share)
    )
    costs = {one.policy: one for one in found.policies}
    rotations = costs["refit_rotations"]
    assert rotations.ms == pytest.approx(3.0 / 70 + 69.0 / 70 + 5.0 + 0.02 * 34.5)
    assert rotations.rebuilds == 1 and rotations.regret == pytest.approx(rotations.ms / found.ms)
    assert found.left_out == "" and told == sorted(told) and told[-1] < 1.0
    assert "refit_rotations" not in {one.policy for one in advice_of(0.08).policies}


@pytest.mark.parametrize(
    ("rig", "why"),
    [
        (mended("reinsertion"), "It is not mended by rotations here (its optimiser is reinsertion)"),
        (mended(in_refits=False), "update.mode refit_rotations rotates after refits, and "),
    ],
)
def test_why_it_is_not_judged_is_said(rig: Any, why: str) -> None:
    found = advice_of(0.08, rotated=lambda: contextlib.nullcontext(rig))
    assert found.left_out.startswith(why) and "choose" not in found.left_out
    assert "refit_rotations" not in {one.policy for one in found.policies}


def test_long_clips_are_played_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotated, "PLAYED", 9)
    assert steps_of(5) == [0, 1, 2, 3, 4] and steps_of(17) == list(range(0, 17, 2))
    costs = ClipCosts(np.full(17, 3.0), np.full(17, 1.0), np.full((17, 17), 5.0))
    rig = mended()
    ms = rotated_ms(rig, costs, moments_of(17))
    assert ms == pytest.approx(3.0 + 16.0 + 17 * 5.0 + 0.02 * 136)
    assert {now for _, now in rig.asked} <= set(range(0, 17, 2))
    assert traced_of(list(range(100)))[:6] == [0, 1, 2, 4, 8, 15] and traced_of([0, 1]) == [0, 1]


def test_every_frame_is_refitted_and_mended_after_all_before_it(host_target: Target) -> None:
    """Against a structure with the optimiser that is played by hand."""
    scene, rays = moving_scene(), camera_rays(CAMERA, 24, 16)
    moments = [Moment(0.2 * frame) for frame in range(6)]
    by_hand = CountedRig(host_target, scene, "lbvh", StructureChoice(layout="bvh2", optimiser="rotations"), rays)
    with contextlib.closing(by_hand):
        traced = []
        for frame, moment in enumerate(moments):
            by_hand.show(moment)
            by_hand.refit() if frame else by_hand.build()
            traced.append(by_hand.trace())
    made = rotated_rig(host_target, scene, "lbvh", StructureChoice(layout="bvh2"), rays)
    made.close()
    assert made.hierarchy.choice.optimiser == "rotations"
    ours = CountedRig(host_target, scene, "lbvh", made.hierarchy.choice, rays)
    with contextlib.closing(ours):
        steps = []
        trace = ours.trace
        ours.trace = lambda: (steps.append(trace()), steps[-1])[1]  # type: ignore[method-assign, func-returns-value]
        known = ClipCosts(np.ones(6), np.ones(6), np.ones((6, 6)))
        rotated_ms(ours, known, moments, exact=True)
    assert steps[1::2][-6:] == pytest.approx(traced)
