"""Hot spots for the scenario: a small picture's rays, counted; warps, and pixels that paid; and the tree, proved."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.analysis.frame_counter import FrameCounter
from raygrove.gpu.analysis.hot_frames import corners_of, divergence_of, hot_spots_of, paid_of
from raygrove.gpu.analysis.hot_lists import HotLists
from raygrove.gpu.analysis.hot_words import BY
from raygrove.gpu.analysis.proved_trees import proved, uploaded
from raygrove.gpu.analysis.tree_files import tree_of
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from tests.gpu.moving_scene import moving_scene


def run_hot_spots(target: Target) -> None:
    """Primary rays and rays to lights, of blocks that share counts."""
    view = View(ViewSettings(), Camera(eye=(0.0, 0.0, 4.0)), ArrayPixels(target, 72, 24))
    with Engine(target, moving_scene()) as engine:
        engine.render_frame(Moment(), [view])
        engine.flush()
        found = hot_spots_of(engine, view)
        assert found.counts.rays > 72 * 24 and found.visits[0] >= 72 * 24
        assert divergence_of(engine, view).longest > 0
        assert paid_of(engine, view, found, [0]).sum() >= 72 * 24
        corners = corners_of(engine, view)
        assert corners is not None
        boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
        for tree in (found.table, tree_of(found.table)):
            there = uploaded(target, tree, boxes)
            assert there is not None and proved(target, there) and proved(target, there, splits_references=True)
    for name, layout in (("lbvh", "bvh2"), ("median_sah", "kd8")):
        run_lists(target, name, layout)


def run_lists(target: Target, name: str, layout: str) -> None:
    """All lists of a picture, added up on the target."""
    settings = ViewSettings(hierarchy=name, layout=layout)
    view = View(settings, Camera(eye=(0.0, 0.0, 4.0)), ArrayPixels(target, 72, 24))
    with Engine(target, moving_scene()) as engine:
        engine.render_frame(Moment(), [view])
        engine.flush()
        counter = FrameCounter(engine, view)
        counter.count()
        lists = HotLists(engine, view, counter)
        for by in BY:
            assert sum(line.share for line in lists.read(by, 1 << 20).spots) > 0.9
