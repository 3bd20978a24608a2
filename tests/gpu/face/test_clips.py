"""Clips are what their arrays and files say at every instant, and trees over them follow."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.face.clips import numbers_of
from raygrove.gpu.target.base import Target
from raygrove.testing.closest_hits import triangle_hits

RANDOM = np.random.default_rng(8)
TRIANGLES = np.arange(300, dtype=np.int32).reshape(-1, 3)
FRAMES = RANDOM.random((4, 300, 3)).astype(np.float32)


def test_between_instants_vertices_move_straight() -> None:
    clip = rg.Clip(FRAMES, TRIANGLES, fps=2.0)
    assert clip.duration == 1.5
    for time, expected in (
        (-1.0, FRAMES[0]),
        (0.0, FRAMES[0]),
        (0.75, (FRAMES[1] + FRAMES[2]) / 2),
        (1.5, FRAMES[3]),
        (99.0, FRAMES[3]),
    ):
        vertices, triangles = clip.at(time)
        np.testing.assert_allclose(vertices, expected, atol=1e-6)
        np.testing.assert_array_equal(triangles, TRIANGLES)
    assert rg.Clip(FRAMES[:1], TRIANGLES).duration == 0.0


def test_a_tree_follows_a_clip(target: Target) -> None:
    clip, rays = rg.Clip(FRAMES, TRIANGLES, fps=2.0), (RANDOM.random((300, 3)), RANDOM.normal(size=(300, 3)))
    with rg.build(clip, "lbvh@refit", target=target) as tree:
        for time in (0.0, 0.3, 1.5, 0.3):
            tree.update(time)
            expected = triangle_hits(clip.at(time)[0][TRIANGLES], *(part.astype(np.float32) for part in rays))
            hits, sure = tree.trace(*rays), expected.is_certain
            np.testing.assert_array_equal(hits.prim_id[sure], expected.prim_id[sure])
        assert tree.update(0.3) == "nothing"
    with rg.build(clip.at(0.5), target=target) as tree, pytest.raises(rg.Error, match="a scene has no times"):
        tree.update(0.5)


def test_a_clip_becomes_plain_values_that_move_alike(host_target: Target) -> None:
    clip = rg.Clip(FRAMES, TRIANGLES, fps=2.0)
    again = rg.Clip.from_plain(clip.to_plain())
    for time in (0.0, 0.6, 1.4):
        np.testing.assert_allclose(again.at(time)[0], clip.at(time)[0], atol=1e-5)
    assert again.duration == clip.duration and again.to_plain().fps == 2.0


def test_files_and_built_in_scenes_are_opened(tmp_path: pathlib.Path) -> None:
    for frame in range(3):
        lines = [f"v {x} {y} {frame}\n" for x, y in ((0, 0), (1, 0), (0, 1))]
        (tmp_path / f"step_{frame}.obj").write_text("".join(lines) + "f 1 2 3\n")
    clip = rg.open(str(tmp_path / "step_*.obj"))
    assert clip.at(1.0 / 30.0)[0][:, 2].tolist() == pytest.approx([1.0] * 3, abs=1e-4)
    walker = rg.open("walker")
    assert 20_000 < len(walker.triangles) < 40_000
    assert not np.allclose(walker.at(0.0)[0], walker.at(1.0)[0])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: rg.Clip(FRAMES[0], TRIANGLES), r"vertices have the shape \(N, M, 3\); these are \(300, 3\)"),
        (lambda: rg.Clip(FRAMES, TRIANGLES + 1), r"Triangle 99 is \[298, 299, 300\], but there are 300 vertices"),
        (lambda: rg.Clip(FRAMES[:0], TRIANGLES), "vertices are those of one instant at least"),
        (lambda: rg.Clip(FRAMES, TRIANGLES, fps=0.0), "fps is a number above 0"),
        (lambda: rg.Clip(FRAMES, TRIANGLES).at(np.nan), "a time is a number of seconds"),
        (lambda: rg.open("nowhere.obj"), "or the name of a built-in scene: orbit"),
        (lambda: rg.open("galaxy"), "has no triangles"),
    ],
)
def test_what_is_no_clip_is_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(rg.Error, match=sentence):
        make()


def test_a_time_that_is_none_leaves_the_tree_and_is_said_each_time(host_target: Target) -> None:
    with rg.build(rg.Clip(FRAMES, TRIANGLES), "hploc@refit", target=host_target) as tree:
        for time in ("soon", "soon", np.inf, np.inf):
            with pytest.raises(rg.Error, match="a time is a number of seconds; it is"):
                tree.update(time)  # type: ignore[arg-type]
        assert tree.update() == "nothing" and tree.update(0.05) == "refit"


def test_all_frames_of_a_clip_of_arrays_end_with_its_last_instant() -> None:
    still = np.zeros((1, 3, 3), np.float32)
    assert [list(numbers_of(rg.Clip(np.repeat(still, count, axis=0), [[0, 1, 2]]), None, "")) for count in (1, 3)] == [
        [0],
        [0, 1, 2],
    ]
    walker = rg.open("walker")
    assert len(numbers_of(walker, None, "")) == round(walker.duration * walker.fps), "it begins again"
    assert numbers_of(walker, np.array([3, 5]), "") == [3, 5]


def test_a_sensor_hangs_on_a_node_that_moves() -> None:
    """A beam straight down from the head meets what the same ray meets that is given in the world."""
    walker = rg.open("walker")
    poses = walker.poses("head", [0.0, 0.7, walker.duration, walker.duration + 1.0])
    assert poses.shape == (4, 3, 4) and poses.dtype == np.float32
    np.testing.assert_array_equal(poses[2], poses[3])
    assert np.abs(poses[1, :, 3] - poses[0, :, 3]).max() > 0.05, "it walks"
    for pose in poses.astype(np.float64):
        np.testing.assert_allclose(pose[:, :3] @ pose[:, :3].T, np.eye(3), atol=1e-6)
    sensor = rg.sensors.pinhole(3, 3, fov=60.0)
    rays = sensor.rays(poses[1:2]).to_rays()
    np.testing.assert_allclose(rays.origins, np.tile(poses[1, :, 3], (9, 1)), atol=1e-6)
    looked = poses[1, :, :3].astype(np.float64) @ sensor.beams.T.astype(np.float64)
    np.testing.assert_allclose(rays.directions, looked.T, atol=1e-6)
    scene = walker.to_plain()
    head = next(one for one in scene.objects if scene.nodes[one.node].name == "head")
    for at, pose in zip((0.0, 0.7), poses[:2], strict=True):
        expected = scene.meshes[head.mesh].positions @ pose[:, :3].T + pose[:, 3]
        found = walker.at(at)[0].astype(np.float64)
        apart = [np.abs(found - row).max(axis=1).min() for row in expected]
        assert max(apart) < 1e-5, "the engine has the head's vertices there"


@pytest.mark.parametrize(
    ("node", "said"),
    [("nose", "no node called 'nose'"), (999, "the nodes have the numbers"), (True, "the nodes have the numbers")],
)
def test_nodes_that_there_are_not(node: Any, said: str) -> None:
    with pytest.raises(rg.Error, match=said):
        rg.open("walker").poses(node, 0.0)
    with pytest.raises(rg.Error, match="seconds"):
        rg.open("walker").poses("head", [np.nan])
    with pytest.raises(rg.Error):
        rg.Clip(FRAMES, TRIANGLES).poses("head", 0.0)
