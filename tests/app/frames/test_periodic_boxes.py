"""Periodic boxes over the picture: edges of skewed boxes and of their copies, at the instant and the node of their
particles, in exported pictures too."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.app.document.state import State
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.periodic_boxes import COLOR, edges_of, lines_of
from raygrove.app.settings.box_options import PeriodicBoxOptions
from raygrove.app.settings.settings import RenderOptions, Settings
from raygrove.gpu.scene import Moment, Node, Object, PeriodicBox, Scene, SphereKeys, Spheres
from raygrove.gpu.target.base import Target

SKEWED = np.array([[4.0, 0, 0], [1, 3, 0], [0.5, -1, 2]])


def scene_of(box: PeriodicBox | None, times: tuple[float, ...] = (0.0, 2.0)) -> Scene:
    """Two particles at a node that is moved and scaled."""
    centres = np.zeros((len(times), 2, 3), np.float32)
    keys = SphereKeys(np.array(times, np.float32), centres)
    spheres = Spheres("two", centres[0], np.full(2, 0.2, np.float32), key_frames=keys, box=box)
    nodes = (Node(), Node("", 0, (1.0, 2.0, 3.0), scale=(2.0, 2.0, 2.0)))
    return Scene("box", nodes, objects=(Object(1, spheres=0),), spheres=(spheres,))


def segments(lines: np.ndarray) -> set[tuple[tuple[float, ...], ...]]:
    return {tuple(sorted(tuple(np.round(end, 4)) for end in line)) for line in lines.tolist()}


def test_a_box_has_its_twelve_edges_and_copies_share_theirs() -> None:
    origin = np.array([0.5, 0.0, -1.0])
    corners = origin + np.array([[bits & 1, bits >> 1 & 1, bits >> 2] for bits in range(8)]) @ SKEWED
    pairs = [(a, a | 1 << axis) for a in range(8) for axis in range(3) if not a >> axis & 1]
    assert segments(edges_of(PeriodicBox(origin, SKEWED))) == segments(corners[np.array(pairs)])
    many = edges_of(PeriodicBox(origin, SKEWED, copies=(2, 1, 3)))
    assert len(many) == 2 * 4 + 3 * 4 + 3 * 2 == len(segments(many))
    lattice = (many - origin) @ np.linalg.inv(SKEWED)
    assert np.allclose(lattice, np.round(lattice)) and np.allclose(lattice.max(axis=(0, 1)), (2, 1, 3))


def test_it_lies_where_its_particles_are_at_each_instant() -> None:
    grown = PeriodicBox(np.array([[0.0, 0, 0], [2, 0, 0]]), np.stack([np.eye(3), 3.0 * np.eye(3)]))
    scene = scene_of(grown)
    for time, low, high in ((0.0, 0.0, 1.0), (1.0, 1.0, 3.0), (5.0, 2.0, 5.0), (-1.0, 0.0, 1.0)):
        lines = lines_of(scene, Moment(time), (), 0.5)
        assert lines is not None and lines.ends.dtype == np.float32 and lines.opacity == 0.5
        assert np.allclose([lines.ends[..., 0].min(), lines.ends[..., 0].max()], [1 + 2 * low, 1 + 2 * high]), time
        assert np.allclose(lines.ends[..., 1].min(), 2.0)
    assert lines_of(scene, Moment(), {0}, 0.5) is None and lines_of(scene_of(None), Moment(), (), 0.5) is None


def test_exported_pictures_have_it_where_it_is_asked_for(host_target: Target) -> None:
    scene = scene_of(PeriodicBox(np.full(3, -1.0, np.float32), 2.0 * np.eye(3, dtype=np.float32)))
    pictures = []
    for options in (PeriodicBoxOptions(), PeriodicBoxOptions(show=True, opacity=1.0)):
        settings = Settings(
            render=RenderOptions(width=60, height=44, hierarchy="brute_force", ray_type="flat"), periodic_box=options
        )
        state = dataclasses.replace(State(), settings=settings)
        state = dataclasses.replace(
            state, cameras=(dataclasses.replace(state.cameras[0], eye=(1.0, 2.0, 14.0), look_at=(1.0, 2.0, 3.0)),)
        )
        pictures.append(next(iter(render_frames(host_target, scene, state, [(0, 0.0)]))).pixels)
    changed = np.any(pictures[0] != pictures[1], axis=-1)
    assert 40 < changed.sum() < 0.5 * changed.size and np.all(pictures[1][changed][:, :3] == COLOR)
