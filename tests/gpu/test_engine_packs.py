"""Whole frames by packs of rays of any width: one picture, and the layout that suits incoherent rays."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.engine import Engine
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Unit

from .moving_scene import moving_scene, shown, view_of

pytestmark = pytest.mark.usefixtures("capture_turn")


@pytest.mark.parametrize("width", [1, 8])
def test_every_width_of_packs_draws_the_same(width: int) -> None:
    from raygrove.testing import make_target

    pictures: list[list[np.ndarray]] = []
    for lanes in (width, 16):
        with contextlib.closing(make_target("host", contraction=False)) as target:
            target.lane_count = lanes
            views = [view_of(target, name, ray_type=name) for name in ("flat", "smooth", "steps")]
            with contextlib.closing(Engine(target, moving_scene())) as engine:
                engine.render_frame(Moment(0.7), views)
            pictures.append([shown(view) for view in views])
    assert all(np.array_equal(a, b) for a, b in zip(*pictures, strict=True))


def test_rays_that_part_have_their_layout_without_a_rebuild(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen rays per pack: bvh8, written from the tree that there is, and no rays sorted for packs. The picture is
    the one of bvh4.
    """
    from raygrove.testing import make_target

    with contextlib.closing(make_target("host", contraction=False)) as target:
        launch, launched = target.launch, set[str]()

        def noted(unit: Unit, kernel: str, *rest: Any, **more: Any) -> None:
            launched.add(kernel)
            launch(unit, kernel, *rest, **more)

        monkeypatch.setattr(target, "launch", noted)
        target.lane_count, found = 16, []
        with contextlib.closing(Engine(target, moving_scene())) as engine:
            for ray_type in ("smooth", "diffuse", "diffuse", "smooth"):
                view = view_of(target, ray_type=ray_type)
                engine.render_frame(Moment(0.7), [view])
                statistics = engine.flush().views[0]
                found.append((statistics.layout, statistics.update, shown(view)))
            assert "trace_diffuse" in launched and "emit_wavefront" not in launched
            chosen = view_of(target, "chosen", ray_type="diffuse", layout="bvh4")
            engine.render_frame(Moment(0.7), [chosen])
    assert "emit_wavefront" in launched
    assert [layout for layout, _, _ in found] == ["bvh4", "bvh8", "bvh8", "bvh4"]
    assert [update for _, update, _ in found] == ["rebuild", "nothing", "nothing", "nothing"]
    assert np.array_equal(found[1][2], found[2][2]) and np.array_equal(found[0][2], found[3][2])
    assert np.abs(found[1][2].astype(int) - shown(chosen)).max() <= 1
