"""The newer policies in frames that are drawn: what they do, and that pictures are those of rebuilds."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy.base import CannotRefitError
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from tests.gpu.moving_scene import moving_scene


def view_of(target: Target, name: str, hierarchy: str = "lbvh", **update: object) -> View:
    settings = ViewSettings(hierarchy, ray_type="ids", update=UpdateOptions(name, **update))  # type: ignore[arg-type]
    return View(settings, Camera(), ArrayPixels(target, 24, 16), name)


def test_each_does_what_it_says_and_shows_what_a_rebuild_shows(host_target: Target) -> None:
    names = ("rebuild", "every_n", "cost_ratio", "ratio_optimiser", "refit_rotations")
    views, done = [view_of(host_target, name, n=3) for name in names], dict.fromkeys(names, "")
    with Engine(host_target, moving_scene()) as engine:
        for frame in range(7):
            engine.render_frame(Moment(0.1 * frame), views)
            for name, one in zip(names, engine.flush().views, strict=True):
                done[name] += one.update[2]
            pictures = [view.pixels.download() for view in views]  # type: ignore[attr-defined]
            assert all(np.array_equal(pictures[0], picture) for picture in pictures[1:]), frame
        last = engine.flush().views[names.index("refit_rotations")]
    assert done["every_n"] == "bffbffb" and done["refit_rotations"] == "bffffff"
    # By measured times: at least one refit is tried first, how many there are is the machine's affair.
    assert done["ratio_optimiser"].startswith("bf") and done["cost_ratio"].startswith("b")
    assert last.phases_ms.get("optimise.rotations", 0.0) > 0.0


def test_rotations_of_a_kd_tree_are_refused_in_words(host_target: Target) -> None:
    view = view_of(host_target, "refit_rotations", "median_sah")
    with Engine(host_target, moving_scene()) as engine:
        engine.render_frame(Moment(0.0), [view])
        with pytest.raises(CannotRefitError, match="cannot be refitted: choose update rebuild"):
            engine.render_frame(Moment(0.1), [view])
