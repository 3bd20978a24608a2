"""The guide's pictures of the laboratory: steps for guide_pictures.py."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QAbstractButton

from raygrove.gpu.analysis.ray_log import Event
from raygrove.gpu.face.building import build as build_tree
from raygrove.gpu.face.clips import Clip
from tests.app.ui.guide_stage import Stage
from tests.app.ui.guide_steps import Taken
from tests.app.ui.walk.person import Steps


def inspect(stage: Stage, structure: str = "") -> Steps:
    """The walker in the workspace Inspect."""
    if structure:
        yield from stage.set("render.hierarchy", structure)
    yield from stage.demo("walker", 1.2)
    yield from stage.press("Ctrl+F8")
    yield from stage.still()


def follow(stage: Stage) -> Steps:
    """The ray of a pixel of the walker, seen from a corner, at the leaf that it enters first."""
    yield from inspect(stage)
    shown = stage.window.ray_tools.ray
    yield from stage.tab("Ray")
    yield from stage.shift_click(0.5, 0.5)
    yield from stage.until(lambda: shown.ray is not None, "the ray")
    yield from stage.press("9")
    yield from stage.still()
    assert shown.ray is not None
    leaves = np.flatnonzero(shown.ray.log.kinds == Event.LEAF_ENTERED)
    rows = shown.events
    yield from stage.row(rows.viewport(), rows.visualRect(rows.model().index(0, 0)))
    yield from stage.press("Down", int(leaves[0]))
    yield from stage.until(lambda: shown.at == leaves[0], "the leaf", 5.0)
    yield from stage.rest(0.5)


def ray(stage: Stage) -> Taken:
    yield from follow(stage)
    return None


def tree(stage: Stage) -> Taken:
    yield from follow(stage)
    yield from stage.tab("Hot spots")
    yield from stage.click(stage.window.hot_tools.hot.count)
    yield from stage.until(lambda: stage.window.hot_tools.hot.found is not None, "the counts")
    yield from stage.tab("Ray")
    shown = stage.window.ray_tools.tree
    yield from stage.click(stage.window.ray_tools.ray.show_node)
    yield from stage.until(lambda: shown.chosen is not None, "the node")
    yield from stage.fill(shown.levels.other, "binned_sah/bvh4")
    yield from stage.click(shown.levels.compare)
    yield from stage.until(lambda: len(shown.levels.model.trees) == 2, "the levels")
    yield from stage.rest(0.5)
    return None


def build(stage: Stage) -> Taken:
    yield from inspect(stage, "binned_sah")
    yield from stage.tab("Build")
    panel = stage.window.ray_tools.build.panel
    yield from stage.until(lambda: panel.replay is not None, "the steps")
    for _ in range(11):
        yield from stage.click(panel.on)
    yield from stage.rest(0.5)
    return None


def own_tree(stage: Stage) -> Taken:
    """A tree of a file over the walker: proved, and the structure from then on."""
    yield from inspect(stage)
    assert stage.document.scene is not None
    path = Path(tempfile.mkdtemp()) / "theirs.rgtree"
    mesh = Clip.from_plain(stage.document.scene).at(stage.document.state.timeline.time)
    with build_tree(*mesh, "binned_sah", device="cpu") as made:
        made.save(path)
    yield from stage.tab("Tree")
    yield from stage.menu("File", "Open a tree")
    yield from stage.choose_file(path)
    shown = stage.window.ray_tools.tree
    render = lambda: stage.document.state.settings.render  # noqa: E731
    yield from stage.until(lambda: not stage.document.jobs and render().hierarchy == "theirs", "the tree")
    yield from stage.still()
    yield from stage.until(lambda: not shown.is_old and shown.model.rowCount() == 1, "its root")
    yield from stage.row(shown.view.viewport(), shown.view.visualRect(shown.model.index(0, 0)))
    yield from stage.until(lambda: shown.chosen == 0, "the node")
    yield from stage.click(stage.find(QAbstractButton, text="1 notice"))
    yield from stage.rest(1.0)
    return None


def hot_spots(stage: Stage) -> Taken:
    yield from inspect(stage, "lbvh")
    yield from stage.tab("Hot spots")
    hot = stage.window.hot_tools.hot
    yield from stage.click(hot.count)
    yield from stage.until(lambda: hot.found is not None, "the counts")
    yield from stage.until(lambda: not any(card.is_open for card in hot.cards), "the remedies")
    yield from stage.row(hot.lines.viewport(), hot.lines.visualRect(hot.lines.model().index(1, 0)))
    yield from stage.until(lambda: stage.window.hot_tools.marks.paid is not None, "the pixels")
    yield from stage.rest(0.5)
    return None


def divergence(stage: Stage) -> Taken:
    yield from inspect(stage)
    yield from stage.tab("Divergence")
    panel = stage.window.hot_tools.divergence
    yield from stage.click(panel.count)
    yield from stage.until(lambda: panel.found is not None, "the warps")
    yield from stage.row(panel.lines.viewport(), panel.lines.visualRect(panel.lines.model().index(0, 0)))
    yield from stage.rest(0.5)
    return None


def sensor(stage: Stage) -> Taken:
    """The rays of a lidar on the walker's head are counted, and drawn."""
    yield from inspect(stage, "lbvh")
    yield from stage.set("rays.measured", "lidar:node=head:at=0,0.8,0:rows=24:fov=-60,5")
    yield from stage.still()
    yield from stage.tab("Hot spots")
    hot = stage.window.hot_tools.hot
    yield from stage.click(hot.count)
    yield from stage.until(lambda: hot.found is not None, "the counts")
    yield from stage.choose(hot.by, 2)
    yield from stage.row(hot.lines.viewport(), hot.lines.visualRect(hot.lines.model().index(0, 0)))
    yield from stage.until(stage.window.hot_tools.measured.marks.isVisible, "the rays")
    yield from stage.rest(0.5)
    return None
