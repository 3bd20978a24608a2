"""The guide's pictures of the laboratory: steps for guide_pictures.py."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from raygrove.app.ui.dialogs.tree_dialog import take_tree
from raygrove.gpu.analysis.ray_log import Event
from raygrove.gpu.face.building import build as build_tree
from raygrove.gpu.face.clips import Clip

if TYPE_CHECKING:
    from tests.app.ui.guide_pictures import Stage


def follow(stage: Stage) -> None:
    """The ray of a pixel of the walker, seen from the side."""
    stage.document.change("settings.window.workspace", "inspect")
    stage.demo("walker", 1.2)
    stage.still()
    stage.window.ray_tools.follow((0.5, 0.5))
    stage.until(lambda: stage.window.ray_tools.ray.ray is not None, "the ray")
    stage.do("camera.corner")
    stage.still()
    shown = stage.window.ray_tools.ray
    assert shown.ray is not None
    leaves = np.flatnonzero(shown.ray.log.kinds == Event.LEAF_ENTERED)
    shown.go(int(leaves[0]))
    stage.rest(0.3)


def ray(stage: Stage) -> Iterable[QWidget]:
    follow(stage)
    return ()


def tree(stage: Stage) -> Iterable[QWidget]:
    follow(stage)
    raise_dock(stage, "hot_spots")
    stage.window.hot_tools.hot.count.click()
    stage.until(lambda: stage.window.hot_tools.hot.found is not None, "the counts")
    shown = stage.window.ray_tools.tree
    stage.window.ray_tools.ray.show_node.click()
    stage.until(lambda: shown.chosen is not None, "the node")
    shown.levels.other.setText("binned_sah/bvh4")
    shown.levels.compare.click()
    stage.until(lambda: len(shown.levels.model.trees) == 2, "the levels")
    stage.rest(0.5)
    return ()


def build(stage: Stage) -> Iterable[QWidget]:
    stage.document.change("settings.window.workspace", "inspect")
    stage.document.change("settings.render.hierarchy", "binned_sah")
    stage.demo("walker", 1.2)
    stage.still()
    raise_dock(stage, "build")
    panel = stage.window.ray_tools.build.panel
    stage.until(lambda: panel.replay is not None, "the steps")
    panel.go(11)
    stage.rest(0.5)
    return ()


def own_tree(stage: Stage) -> Iterable[QWidget]:
    """A tree of a file over the walker: proved, and the structure from then on."""
    stage.document.change("settings.window.workspace", "inspect")
    stage.demo("walker", 1.2)
    stage.still()
    assert stage.document.scene is not None
    path = Path(tempfile.mkdtemp()) / "theirs.rgtree"
    mesh = Clip.from_plain(stage.document.scene).at(stage.document.state.timeline.time)
    with build_tree(*mesh, "binned_sah", device="cpu") as made:
        made.save(path)
    raise_dock(stage, "tree")
    take_tree(stage.window.session, str(path))
    shown = stage.window.ray_tools.tree
    render = lambda: stage.document.state.settings.render  # noqa: E731
    stage.until(lambda: not stage.document.jobs and render().hierarchy == "theirs", "the tree")
    stage.until(lambda: not shown.is_old and shown.model.rowCount() == 1, "its root")
    shown.find_node(0)
    stage.until(lambda: shown.chosen == 0, "the node")
    stage.rest(1.0)
    return ()


def lesson(stage: Stage) -> Iterable[QWidget]:
    """The first question of a lesson, predicted and measured."""
    stage.document.change("settings.window.workspace", "explore")
    stage.window.opened_dialogs.show_lesson("refit-or-rebuild")
    shown = stage.window.opened_dialogs.lesson
    assert shown is not None
    stage.until(lambda: not stage.document.jobs and stage.document.scene is not None, "its scene")
    stage.at(1.2)
    stage.still()
    shown.choices.buttons()[0].click()
    shown.measure.click()
    stage.until(lambda: len(shown.steps) == 1 and not shown.is_measuring, "what was measured")
    stage.rest(0.5)
    return (shown,)


def raise_dock(stage: Stage, name: str) -> None:
    """Bring a panel to the front."""
    dock = next(one for one in stage.window.docks if one.objectName() == f"dock.{name}")
    dock.show()
    dock.raise_()
    stage.rest(0.3)


def hot_spots(stage: Stage) -> Iterable[QWidget]:
    stage.document.change("settings.window.workspace", "inspect")
    stage.document.change("settings.render.hierarchy", "lbvh")
    stage.demo("walker", 1.2)
    stage.still()
    raise_dock(stage, "hot_spots")
    hot = stage.window.hot_tools.hot
    hot.count.click()
    stage.until(lambda: hot.found is not None, "the counts")
    hot.cards[0].try_it.click()
    stage.until(lambda: hot.cards[0].finding.gain is not None, "the remedy")
    hot.lines.selectRow(1)
    stage.until(lambda: stage.window.hot_tools.marks.paid is not None, "the pixels")
    stage.rest(0.5)
    return ()


def divergence(stage: Stage) -> Iterable[QWidget]:
    stage.document.change("settings.window.workspace", "inspect")
    stage.demo("walker", 1.2)
    stage.still()
    raise_dock(stage, "divergence")
    panel = stage.window.hot_tools.divergence
    panel.count.click()
    stage.until(lambda: panel.found is not None, "the warps")
    panel.lines.selectRow(0)
    stage.rest(0.5)
    return ()


def advice(stage: Stage) -> Iterable[QWidget]:
    """When to rebuild the linear BVH of a knot that flies apart, measured while nothing else is done."""
    stage.document.change("settings.demo.triangles", 20_000)
    stage.document.change("settings.render.hierarchy", "lbvh")
    stage.demo("explode", 1.2)
    stage.still()
    stage.window.opened_dialogs.show_advice()
    shown = stage.window.opened_dialogs.advice
    assert shown is not None
    shown.resize(640, 700)
    shown.measure.click()
    stage.until(lambda: shown.found is not None, "the advice")
    stage.rest(0.5)
    return (shown,)


def sensor(stage: Stage) -> Iterable[QWidget]:
    """The rays of a lidar on the walker's head are counted, and drawn."""
    stage.document.change("settings.window.workspace", "inspect")
    stage.document.change("settings.render.hierarchy", "lbvh")
    stage.demo("walker", 1.2)
    stage.document.change("settings.rays.measured", "lidar:node=head:at=0,0.8,0:rows=24:fov=-60,5")
    stage.still()
    raise_dock(stage, "hot_spots")
    hot = stage.window.hot_tools.hot
    hot.count.click()
    stage.until(lambda: hot.found is not None, "the counts")
    hot.by.setCurrentIndex(2)
    hot.lines.selectRow(0)
    stage.until(stage.window.hot_tools.measured.marks.isVisible, "the rays")
    stage.rest(0.5)
    return ()
