"""The heat map's range at first use, and where its panel stands."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.panels import heat_panel
from raygrove.app.ui.panels.heat_panel import HeatPanel
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.stats import StepCounts
from tests.app.stand_ins import take_places
from tests.app.ui.panels.test_inspectors import counts, frame


def moving(found: StepCounts, is_moving: bool = True) -> FinishedFrame:
    made = frame(found)
    return dataclasses.replace(made, request=dataclasses.replace(made.request, is_moving=is_moving))


def test_what_moves_is_fitted_to_its_first_second(heat: HeatPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heat_panel, "FIRST_S", 0.0)
    ends = lambda: (heat.options.minimum, heat.options.maximum)  # noqa: E731
    heat.take(moving(counts(b12=900, b62=100)))
    heat.show_latest()
    assert ends() == (12, 62), "at once, else it would be dark for a second"
    for _ in range(30):
        heat.take(moving(counts(b10=997, b30=3)))
    heat.show_latest()
    assert ends() == (10, 30), "99.5 % of all that came"
    heat.take(moving(counts(b40=1000)))
    heat.show_latest()
    assert ends() == (10, 30), "one scale for whatever comes next"


def test_a_picture_at_rest_is_fitted_by_itself(heat: HeatPanel) -> None:
    heat.take(moving(counts(b12=900, b62=100)))
    heat.show_latest()
    heat.take(moving(counts(b20=999, b25=1), is_moving=False))
    heat.show_latest()
    assert (heat.options.minimum, heat.options.maximum) == (20, 21)


def test_who_chooses_a_range_in_the_first_second_keeps_it(heat: HeatPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heat_panel, "FIRST_S", 0.0)
    heat.take(moving(counts(b12=900, b62=100)))
    heat.show_latest()
    heat._document.change("settings.ray_type.steps.maximum", 40)
    heat.take(moving(counts(b10=1000)))
    heat.show_latest()
    assert (heat.options.minimum, heat.options.maximum) == (12, 40)


def test_the_heat_map_leaves_its_place_with_its_ray_type(scene_window: MainWindow) -> None:
    window = scene_window
    docks = {dock.objectName(): dock for dock in window.docks}
    window.resize(1280, 720)
    docks["dock.stats"].show()
    heat, stats, choose = window.inspectors.heat, window.stats_panel, window.document.change
    take_places()
    assert stats.isVisible() and docks["dock.heat"].isHidden()
    choose("settings.render.ray_type", "steps")
    take_places()
    assert heat.isVisible()
    choose("settings.render.ray_type", "depth")
    take_places()
    assert heat.isVisible(), "its colours stand for numbers, too"
    choose("settings.render.ray_type", "smooth")
    take_places()
    assert docks["dock.heat"].isHidden() and stats.isVisible()
    docks["dock.heat"].show()
    docks["dock.heat"].raise_()
    take_places()
    choose("settings.render.ray_type", "steps")
    choose("settings.render.ray_type", "smooth")
    take_places()
    assert heat.isVisible(), "who had opened it keeps it"
    docks["dock.stats"].raise_()
    take_places()
    is_tab = docks["dock.stats"] in window.tabifiedDockWidgets(docks["dock.heat"])
    choose("settings.render.ray_type", "steps")
    take_places()
    assert heat.isVisible() and is_tab
    choose("settings.render.ray_type", "smooth")
    take_places()
    assert stats.isVisible() and not heat.isVisible() and not docks["dock.heat"].isHidden(), "a tab again"


def test_who_closes_and_opens_the_heat_map_keeps_it(scene_window: MainWindow) -> None:
    window, choose = scene_window, scene_window.document.change
    dock = next(dock for dock in window.docks if dock.objectName() == "dock.heat")
    window.resize(1280, 720)
    choose("settings.render.ray_type", "steps")
    take_places()
    for _ in range(2):  # away, and here again
        dock.toggleViewAction().trigger()
        take_places()
    assert window.inspectors.heat.isVisible()
    choose("settings.render.ray_type", "smooth")
    take_places()
    assert window.inspectors.heat.isVisible()


def test_the_heat_map_keeps_its_place_in_another_workspace(scene_window: MainWindow) -> None:
    window, choose = scene_window, scene_window.document.change
    dock = next(dock for dock in window.docks if dock.objectName() == "dock.heat")
    window.resize(1280, 720)
    take_places()
    choose("settings.render.ray_type", "steps")
    choose("settings.window.workspace", "inspect")
    take_places()
    dock.raise_()
    take_places()
    assert window.inspectors.heat.isVisible()
    choose("settings.render.ray_type", "smooth")
    take_places()
    assert not dock.isHidden(), "the workspace has it"


def test_the_heat_map_has_a_legend(scene_window: MainWindow, qtbot: Any) -> None:
    """That of the picture which is seen: the one before stands in until the first heat map comes."""
    legend, loop = scene_window.place.legend, scene_window.session.loop

    def is_seen(ray_type: str) -> bool:
        return loop.last_frame is not None and loop.last_frame.request.state.ray_type_of() == ray_type

    first = scene_window.document.state.ray_type_of()
    qtbot.waitUntil(lambda: is_seen(first))
    assert not legend.isVisible()
    scene_window.document.change("settings.render.ray_type", "steps")
    assert not legend.isVisible(), "no colour of the picture means a number yet"
    qtbot.waitUntil(lambda: is_seen("steps"))
    assert legend.isVisible() and legend.scale.high == 96
    scene_window.document.change("settings.ray_type.steps.maximum", 200)
    assert legend.scale.high == 96, "the picture with the new range is still to come"
    qtbot.waitUntil(lambda: legend.scale.high == 200)
    options: Any = loop.last_frame.request.state.settings.ray_type_options("steps")
    assert options.maximum == 200, "both at once"
    scene_window.document.change("settings.render.ray_type", "flat")
    assert legend.isVisible(), "the heat map is still seen"
    qtbot.waitUntil(lambda: is_seen("flat"))
    assert not legend.isVisible()
