"""The crowd, and what is said of its updates; all frames of a play have their times."""

from __future__ import annotations

import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.cases.policy import MODES, compare
from raygrove.bench.cases.policy import table as policy_table
from raygrove.bench.cases.two_level import make_crowd, measure_update, table
from raygrove.gpu.hierarchy.base import Primitives
from raygrove.gpu.hierarchy.bvh.builders.two_level.objects import ObjectTable
from raygrove.gpu.target.base import Target
from raygrove.gpu.view import ViewSettings


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


def test_an_update_is_of_the_objects_that_moved(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, look = list[int](), ObjectTable.look

    def counted(table: ObjectTable, primitives: Primitives) -> None:
        look(table, primitives)
        listed.append(int(target.download(table.moved_tiles)[0]))

    monkeypatch.setattr(ObjectTable, "look", counted)
    measure_update(target, make_crowd(30_000, 60, 3), "two_level", 2)
    assert len(listed) > 5 and set(listed[1:]) <= {3, 4, 5, 6}, "three balls lie in so many tiles"


def test_every_frame_of_every_mode_is_counted(target: Target) -> None:
    row = compare(target, make_demo("walker", 3000), ViewSettings("lbvh"), 8, (32, 24), 1)
    assert set(row.total_ms) == set(MODES) and min(row.total_ms.values()) > 0.0
    assert row.rebuilds["rebuild"] == 8 and row.rebuilds["refit"] == 0
    assert row.ratio == row.total_ms["auto"] / min(row.total_ms["rebuild"], row.total_ms["refit"])
    assert "walker" in policy_table([row])
