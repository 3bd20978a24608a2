"""What remedies save is counted by itself, and never while somebody waits for a picture."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from raygrove.app.ui.panels.hot_tools import HotTools
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.hot_findings import HotFinding
from raygrove.gpu.analysis.hot_spots import HotSpots
from raygrove.gpu.brief import percent
from tests.app.stand_ins import PaintedMaker
from tests.app.ui.panels.test_hot_panel import counted
from tests.app.ui.panels.test_hot_tools import FINDING, show

SECOND = dataclasses.replace(FINDING, code="overlap", configuration="hploc/bvh4")
WORDS = dataclasses.replace(FINDING, code="deep", configuration="")


@pytest.fixture
def asked(scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> list[HotFinding]:
    """The findings whose remedies were built, over a window with a picture."""
    built: list[HotFinding] = []

    def gain_of(maker: PaintedMaker, found: HotSpots, finding: HotFinding) -> HotFinding | str:
        built.append(finding)
        return dataclasses.replace(finding, gain=1.25) if finding is FINDING else "There is no room for it."

    monkeypatch.setattr(PaintedMaker, "gain_of", gain_of, raising=False)
    loop = scene_window.session.loop
    qtbot.waitUntil(lambda: loop.last_frame is not None and not loop.last_frame.request.is_moving)
    scene_window.hot_tools.remedies._timer.setInterval(0)
    return built


def findings(*some: HotFinding) -> HotSpots:
    return dataclasses.replace(counted(), findings=some)


def test_each_remedy_is_counted_once_after_the_other(
    scene_window: MainWindow, asked: list[HotFinding], qtbot: Any
) -> None:
    tools: HotTools = scene_window.hot_tools
    show(scene_window, "hot_spots")
    tools.hot.take(findings(FINDING, WORDS, SECOND))
    qtbot.waitUntil(lambda: not any(card.is_open for card in tools.hot.cards))
    assert asked == [FINDING, SECOND]
    first, words, second = tools.hot.cards
    assert first.help.text() == f"SAH with spatial splits / BVH4 saves {percent(0.2)} (counted)."
    assert "May help" in words.help.text() and second.help.text() == "There is no room for it."
    qtbot.wait(30)
    assert len(asked) == 2, "what has failed is not tried again"


def test_refits_stay_unsaid_until_a_new_tree_is_counted_to_be_cheaper(
    scene_window: MainWindow, asked: list[HotFinding], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools: HotTools = scene_window.hot_tools
    show(scene_window, "hot_spots")
    refits = dataclasses.replace(FINDING, code="refitted", evidence={"refits": 2, "cost_ratio": None}, sentence="Old.")
    for gain in (1.0, 2.0):
        monkeypatch.setattr(PaintedMaker, "gain_of", lambda *_, gain=gain: dataclasses.replace(refits, gain=gain))
        tools.hot.take(findings(refits, WORDS))
        first, words = tools.hot.cards
        assert first.isHidden() and words.isVisible() and "Old." not in tools.hot.text()
        qtbot.waitUntil(lambda gain=gain: tools.hot.cards[0].finding.gain == gain)
        assert first.isVisible() == ("Old." in tools.hot.text()) == (gain > 1.0)


def test_a_choice_of_what_is_counted_needs_no_new_picture(
    scene_window: MainWindow, asked: list[HotFinding], qtbot: Any
) -> None:
    show(scene_window, "hot_spots")
    scene_window.document.change("settings.hot_spots.rays", "primary")
    scene_window.hot_tools.hot.take(findings(FINDING))
    qtbot.waitUntil(lambda: asked == [FINDING])


@pytest.mark.parametrize("waits", ["drag", "play", "job", "hidden", "always"])
def test_nothing_is_counted_while_somebody_waits(
    waits: str, scene_window: MainWindow, asked: list[HotFinding], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, loop, document = scene_window.hot_tools, scene_window.session.loop, scene_window.document
    show(scene_window, "hot_spots")
    jobs: list[Any] = [object()] if waits == "job" else []
    monkeypatch.setattr(document, "jobs", jobs)
    if waits == "drag":
        monkeypatch.setattr(loop, "is_dragging", True)
    elif waits == "play":
        document.toggle_play()
    elif waits == "always":
        document.change("settings.update.always", True)
    elif waits == "hidden":
        show(scene_window, "divergence")
    tools.hot.take(findings(FINDING))
    qtbot.wait(60)
    assert not asked and "May help" in tools.hot.cards[0].help.text()
    if waits == "play":
        document.toggle_play()
        tools.hot.take(findings(FINDING))
    if waits == "always":
        document.change("settings.update.always", False)
        tools.hot.take(findings(FINDING))
    jobs.clear()
    monkeypatch.setattr(loop, "is_dragging", False)
    show(scene_window, "hot_spots")
    qtbot.waitUntil(lambda: asked == [FINDING])


def test_a_remedy_that_was_ended_is_counted_later_and_none_of_an_earlier_picture(
    scene_window: MainWindow, asked: list[HotFinding], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = scene_window.hot_tools
    show(scene_window, "hot_spots")
    tries: list[HotFinding] = []

    def ended(maker: PaintedMaker, found: HotSpots, finding: HotFinding) -> HotFinding:
        tries.append(finding)
        return finding if len(tries) < 3 else dataclasses.replace(finding, gain=2.0)

    monkeypatch.setattr(PaintedMaker, "gain_of", ended)
    tools.hot.take(findings(FINDING))
    qtbot.waitUntil(lambda: tools.hot.cards[0].finding.gain == 2.0)
    assert len(tries) == 3
    tools.hot.take(findings(SECOND))
    scene_window.document.change("settings.render.hierarchy", "hploc")
    qtbot.wait(60)
    assert len(tries) == 3 and "May help" in tools.hot.cards[0].help.text()


def counted_as_lbvh(finding: HotFinding) -> HotSpots:
    return dataclasses.replace(findings(finding), configuration="lbvh/bvh4")


def test_try_adds_a_remedy_by_the_policy_of_what_races(scene_window: MainWindow, asked: list[HotFinding]) -> None:
    """What was counted races already, without its layout said, and is not added once more by another policy."""
    document, tools = scene_window.document, scene_window.hot_tools
    document.change("settings.race.contestants", "binned_sah@refit, lbvh@refit")
    hploc = dataclasses.replace(FINDING, configuration="hploc/bvh4")
    tools.hot.take(counted_as_lbvh(hploc))
    tools.hot.cards[0].try_it.click()
    assert document.state.settings.race.contestants == "binned_sah@refit, lbvh@refit, hploc/bvh4@refit"
    anew = dataclasses.replace(FINDING, configuration="lbvh/bvh4@rebuild")  # what was refitted alone, and a rebuild
    tools.hot.take(counted_as_lbvh(anew))
    tools.hot.cards[0].take(dataclasses.replace(anew, gain=20.0))
    assert tools.hot.cards[0].help.text() == "Linear BVH / BVH4, built anew, saves 95 % (counted)."
    document.change("settings.race.contestants", "lbvh@refit, hploc@refit")
    tools.hot.cards[0].try_it.click()
    assert document.state.settings.race.contestants == "lbvh@refit, hploc@refit, lbvh/bvh4"
    tools.hot.take(counted_as_lbvh(hploc))
    document.change("settings.race.contestants", "lbvh:code_bits=60@refit, lbvh/bvh2@refit")  # another tree, and nodes
    tools.hot.cards[0].try_it.click()
    assert document.state.settings.race.contestants.endswith("lbvh/bvh2@refit, lbvh/bvh4, hploc/bvh4")
