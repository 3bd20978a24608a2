"""All boxes that a ray met, over the picture, by what became of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from PySide6.QtGui import QColor

from raygrove.app.ui.panels.ray_tools import RayTools
from raygrove.app.ui.picture.ray_marks import FATE_COLORS
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.followed_ray import FATES, FollowedRay
from raygrove.gpu.analysis.ray_log import Event
from raygrove.gpu.inspector import Inspector
from tests.app.ui.panels.test_ray_tools import followed, inspector, show, tools

__all__ = ["followed", "inspector", "tools"]  # fixtures


def test_what_became_of_each_box_is_what_the_events_say(followed: FollowedRay) -> None:
    """Each node once, sets by a plain pass over the events; boxes that were entered lie on the ray."""
    log = followed.log
    of = {event: set(log.ids[log.kinds == event].tolist()) for event in Event}
    entered = of[Event.NODE_ENTERED] | of[Event.LEAF_ENTERED]
    met = {fate: {node.id for node in nodes} for fate, nodes in followed.met().items()}
    assert tuple(met) == FATES and met["node"] == of[Event.NODE_ENTERED] and met["leaf"] == of[Event.LEAF_ENTERED]
    assert met["missed"] == of[Event.CHILD_MISSED] - entered and met["beyond"] == of[Event.CHILD_BEYOND] - entered
    assert met["dropped"] == of[Event.CHILD_DROPPED] - entered and met["missed"] and met["leaf"]
    assert sum(len(ids) for ids in met.values()) == len(set().union(*met.values()))
    origin, direction = (np.array(values, np.float64) for values in (log.origin, log.direction))
    for node in [*followed.met()["node"], *followed.met()["leaf"]]:
        with np.errstate(all="ignore"):
            ends = (np.array([node.lower, node.upper], np.float64) - origin) / direction
        assert np.nanmax(ends.min(axis=0)) <= np.nanmin(ends.max(axis=0)) + 1e-4


def test_a_box_that_waits_when_the_ray_ends_was_not_come_to(followed: FollowedRay) -> None:
    log = followed.log
    pushed = np.flatnonzero(log.kinds == Event.CHILD_PUSHED)
    assert len(pushed)
    cut = int(pushed[0]) + 1
    short = dataclasses.replace(log, kinds=log.kinds[:cut], ids=log.ids[:cut], entries=log.entries[:cut])
    met = dataclasses.replace(followed, log=short).met()
    assert [node.id for node in met["waiting"]] == [int(log.ids[cut - 1])]


def test_all_boxes_are_drawn_where_it_is_asked_for(
    scene_window: MainWindow, tools: RayTools, inspector: Inspector, qtbot: Any
) -> None:
    document, marks = scene_window.document, tools.marks
    show(scene_window, "ray")
    tools.follow((0.5, 0.5))
    qtbot.waitUntil(lambda: tools.ray.ray is not None)
    followed = tools.ray.ray
    assert followed is not None and tools.ray.met.isHidden() and "leaf" not in marks.boxes()
    tools.ray.all_boxes.click()
    assert document.state.settings.boxes.of_ray and tools.ray.met.isVisible()
    met = followed.met()
    drawn = marks.boxes()
    assert {fate: drawn[fate] for fate in FATES} == met and set(FATE_COLORS) == set(FATES)
    assert f"Nodes entered {len(met['node']):,} (white), leaves {len(met['leaf']):,} (green)," in tools.ray.met.text()
    assert f"missed {len(met['missed']):,} (red)" in tools.ray.met.text()
    image = marks.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(0, image.height(), 2)}
    assert QColor(FATE_COLORS["missed"]).name() in seen
    tools.ray.go(len(followed.log) - 1)
    assert marks.boxes()["missed"] == met["missed"], "at whatever event"
    show(scene_window, "tree")
    assert marks.isVisible() and marks.boxes()["leaf"] == met["leaf"], "beside the other panels, too"
    document.undo()
    assert not document.state.settings.boxes.of_ray and not tools.ray.all_boxes.isChecked()
    assert "leaf" not in marks.boxes() and not tools.ray.met.isVisible()
