"""What is called the same rays before, where the picture changes between a question and its answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.edits.scene_edits import EDITED
from raygrove.app.settings.settings import set_option
from raygrove.app.ui.panels.hot_tools import HotTools, whose_rays
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.hot_spots import HotSpots
from tests.app.ui.panels.test_hot_panel import counted

Take = Callable[[HotSpots], None]


@pytest.fixture
def asked(scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> list[Take]:
    """Questions about hot spots of a window with a picture: each is answered when the test does so."""
    takes: list[Take] = []
    loop = scene_window.session.loop
    qtbot.waitUntil(lambda: loop.last_frame is not None)
    real = loop.ask
    monkeypatch.setattr(
        loop, "ask", lambda key, *rest: takes.append(rest[1]) if key == "hot_spots" else real(key, *rest)
    )
    return takes


def shown(window: MainWindow, qtbot: Any) -> None:
    """Wait for the picture of the present state."""
    loop, document = window.session.loop, window.document
    qtbot.waitUntil(lambda: loop.last_frame.request.state.settings == document.state.settings)


def edited(group: str) -> Callable[[State], Any]:
    return lambda state: dataclasses.replace(state.settings, **{group: {"0": EDITED[group]()}})


CHANGES: dict[str, Callable[[State], Any]] = {
    "light": edited("light"),
    "material": edited("material"),
    "seed": lambda state: set_option(state.settings, "render.seed", 5),
    "spheres": lambda state: set_option(state.settings, "spheres.largest", 2.0),
    "gravity": lambda state: set_option(state.settings, "gravity.forces", "direct"),
    "clip": lambda state: dataclasses.replace(state.settings, clip=dataclasses.replace(state.settings.clip, on=True)),
    "nothing": lambda state: state.settings,
}


@pytest.mark.parametrize("name", CHANGES)
def test_rays_of_another_picture_are_not_the_same(
    name: str, scene_window: MainWindow, asked: list[Take], qtbot: Any
) -> None:
    """Not the picture of the answer's moment, but the one that was asked about."""
    tools: HotTools = scene_window.hot_tools
    document, hint, found = scene_window.document, tools.hot.hint, counted()
    other = dataclasses.replace(found, configuration="binned_sah/bvh4")
    shown(scene_window, qtbot)
    tools.hot.ask()
    document.change("settings", CHANGES[name](document.state))
    asked.pop()(found)
    assert "Before" not in hint.text()
    shown(scene_window, qtbot)
    tools.hot.ask()
    asked.pop()(other)
    assert ("Before: Linear BVH" in hint.text()) == (name == "nothing")


def test_a_count_that_was_asked_before_its_picture_was_there(
    scene_window: MainWindow, asked: list[Take], qtbot: Any
) -> None:
    """It is answered of the picture that is there, between two frames."""
    tools: HotTools = scene_window.hot_tools
    document, hint, found = scene_window.document, tools.hot.hint, counted()
    shown(scene_window, qtbot)
    document.change("settings.clip.on", True)
    tools.hot.ask()
    asked.pop()(found)
    shown(scene_window, qtbot)
    tools.hot.ask()
    asked.pop()(dataclasses.replace(found, configuration="binned_sah/bvh4"))
    assert hint.text().startswith("Binned SAH") and "Before" not in hint.text()


@pytest.mark.parametrize("shutter", [0.0, 0.25])
def test_samples_are_of_another_instant_only_while_the_shutter_is_open(shutter: float) -> None:
    state = replaced(State(), "settings.render.ray_type", "distributed")
    settings = set_option(state.settings, "ray_type.distributed.shutter", shutter)
    state = dataclasses.replace(state, settings=settings)
    few, many = (whose_rays(state, (40, 30), samples) for samples in (1, 16))
    assert (few == many) == (shutter == 0.0)
