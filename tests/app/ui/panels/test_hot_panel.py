"""The panel of hot spots by itself: what it says of counts that are given to it, and that its choices are settings."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import raygrove as rg
from raygrove.app.settings.hot_options import HotOptions
from raygrove.app.ui.panels.hot_panel import KINDS, RAYS, HotPanel
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.hot_spots import HotSpots


def counted() -> HotSpots:
    """What five rays did."""
    vertices, triangles = np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32)
    with rg.build(vertices, triangles, "lbvh", device="cpu") as tree:
        found = tree.hot_spots(rg.RaySet(np.zeros((5, 3), np.float32), np.ones((5, 3), np.float32)))
    return dataclasses.replace(found, configuration="lbvh/bvh4")


def test_what_the_same_rays_did_before_is_told(qtbot: Any) -> None:
    """Through another structure; rays of another picture are none to compare with."""
    found = counted()
    assert found.counts.rays == 5
    other, panel = dataclasses.replace(found, configuration="binned_sah/bvh4"), HotPanel()
    qtbot.addWidget(panel)
    panel.take(found, of="here")
    said = panel.hint.text()
    panel.take(found, of="here")
    assert panel.hint.text() == said and "Before" not in said
    panel.take(other, of="here")
    assert panel.hint.text().startswith("Binned SAH") and panel.hint.text().endswith(f"\nBefore: {said}")
    panel.take(found, of="here")
    assert panel.hint.text().splitlines()[1].startswith("Before: Binned SAH")
    panel.take(other, of="there")
    assert "Before" not in panel.hint.text()


def test_what_is_counted_is_a_setting(scene_window: MainWindow, qtbot: Any) -> None:
    hot, document = scene_window.hot_tools.hot, scene_window.document
    qtbot.waitUntil(lambda: scene_window.loop.last_frame is not None)
    for box, value in ((hot.rays, "shadow"), (hot.kind, "any"), (hot.by, "object"), (hot.frames, "some")):
        box.setCurrentIndex(box.findData(value))
    wanted = HotOptions(rays="shadow", kind="any", by="object", frames="some")
    assert document.state.settings.hot_spots == wanted and hot.asked == ("shadow", "any")
    document.undo()
    assert hot.frames.currentData() == "picture" and hot.by.currentData() == "object", "each is a step of undo"
    document.change("settings.hot_spots", HotOptions())
    assert (hot.asked, hot.listed, hot.by.currentData()) == (("all", "both"), "node", "node")


def test_what_cannot_be_counted_is_said(qtbot: Any) -> None:
    panel = HotPanel()
    qtbot.addWidget(panel)
    asked: list[tuple[str, str]] = []
    panel.wanted.connect(lambda *words: asked.append(words))
    panel.rays.setCurrentIndex(RAYS.index("bounce 2"))
    panel.kind.setCurrentIndex(KINDS.index("any"))
    panel.count.click()
    assert asked == [("bounce 2", "any")] and not panel.count.isEnabled()
    panel.take("There are none.")
    assert panel.hint.text() == "There are none." and panel.count.isEnabled() and panel.found is None
    panel.take(None)
    assert "no picture" in panel.hint.text()
