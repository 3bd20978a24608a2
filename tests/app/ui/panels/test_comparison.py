"""How a structure's SAH cost stands to that of binned SAH, where someone asks."""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.app.frames.reference_cost import Comparison
from raygrove.app.ui.panels.comparison import details_of, sentence_of
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import finish, made_statistics

from .test_stats_panel import sample, with_structure


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_a_comparison_is_said_in_words() -> None:
    assert plain(sentence_of(Comparison(35.2, 31.43, 0.25))) == "12 % above binned SAH"
    assert plain(sentence_of(Comparison(25.0, 31.43, 0.25))) == "20 % below binned SAH"
    assert sentence_of(Comparison(31.44, 31.43, 0.25)) == "as binned SAH"
    assert details_of(Comparison(35.2, 31.43, 0.25)) == (
        "At 0.250 s the structure has an SAH cost of 35.20, binned SAH one of 31.43."
    )


def test_the_command_builds_the_reference_at_the_instant_of_the_figures(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, asked = scene_window, list[Any]()

    def build(job: Any, state: Any, scene: Any, time: float) -> float:
        asked.append((state, scene, time))
        return 50.0

    monkeypatch.setattr("raygrove.app.frames.reference_cost.reference_cost", build)
    window.session.figures.clear()
    window.commands.actions["structure.compare"].trigger()
    assert window.document.jobs == [] and "no SAH cost" in window.statusBar().currentMessage()
    window.session.figures.take(sample(5000, statistics=made_statistics()))
    window.commands.actions["structure.compare"].trigger()
    finish(window.document, window.document.jobs[0])
    assert asked == [(window.document.state, window.document.scene, 0.25)]
    assert plain(window.stats_panel.compared[0]) == "15 % above binned SAH"
    window.document.change("settings.render.ray_type", "flat")
    assert window.stats_panel.compared[0], "the structure is the same"
    window.document.change("settings.render.optimiser", "rotations")
    assert window.stats_panel.compared == ("", "")


def test_what_comes_of_another_structure_is_not_shown(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = scene_window
    monkeypatch.setattr("raygrove.app.frames.reference_cost.reference_cost", lambda *_: 50.0)
    window.session.figures.take(sample(5000, statistics=with_structure(sah_cost=100.0)))
    window.comparer.compare()
    window.document.change("settings.render.hierarchy", "hploc")
    finish(window.document, window.document.jobs[0])
    assert window.stats_panel.compared == ("", "")
