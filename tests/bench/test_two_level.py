"""The crowd, and what is said of its updates."""

from __future__ import annotations

import pytest

from bench.two_level import make_crowd, measure_update, table
from gpu.target.base import Target


def test_a_crowd_has_the_objects_and_the_motion_that_were_asked_for() -> None:
    scene = make_crowd(30_000, 60, 3)
    assert len(scene.objects) == 60 and 24_000 < scene.triangle_count < 36_000
    assert len({channel.node for channel in scene.clips[0].channels}) == 3


@pytest.mark.parametrize("structure", ["two_level", "lbvh"])
def test_an_update_leaves_the_hits_of_a_rebuild(target: Target, structure: str) -> None:
    row = measure_update(target, make_crowd(30_000, 60, 3), structure, 2)
    assert row.hits[0] == row.hits[1] > 1000
    assert row.update_ms > 0.0 and row.rebuild_ms > 0.0 and row.moving == 3
    assert set(row.phases_ms) == ({"refit.nodes", "refit.above"} if structure == "two_level" else {"refit.nodes"})
    assert "equal" in table([row]) and structure in table([row])
