"""The reference that SAH costs are compared with."""

from __future__ import annotations

import pytest

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State, replaced
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.reference_cost import Comparison, reference_cost, reference_state
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import set_option
from raygrove.gpu.target.base import Target

TIME = 1.5


def test_the_reference_is_binned_sah_as_render_would_build_it(target: Target) -> None:
    state = replaced(State(), "settings", set_option(State().settings, "render.device", "cpu"))
    scene = make_demo("explode", 300)
    found = reference_cost(Job(""), state, scene, TIME)
    settings = state.settings
    for key, value in (("hierarchy", "binned_sah"), ("width", 16), ("height", 16), ("ray_type", "depth")):
        settings = set_option(settings, f"render.{key}", value)
    drawn = list(render_frames(target, scene, replaced(state, "settings", settings), [(0, TIME)]))
    assert found == pytest.approx(drawn[0].statistics[-1].views[0].structure.sah_cost, rel=1e-5)
    assert Comparison(1.1 * found, found, TIME).share == pytest.approx(0.1)


def test_what_was_chosen_for_binned_sah_is_not_the_reference() -> None:
    settings = set_option(State().settings, "hierarchy.binned_sah.bins", 4)
    settings = set_option(set_option(settings, "render.optimiser", "rotations"), "update.mode", "refit")
    chosen = reference_state(replaced(State(), "settings", settings)).settings
    assert "binned_sah" not in chosen.hierarchy
    assert (chosen.render.hierarchy, chosen.render.optimiser, chosen.update.mode) == ("binned_sah", "none", "rebuild")
