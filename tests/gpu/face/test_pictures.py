"""Pictures by many cameras are those of one camera after the other, and what the engine reads of the same scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.target.base import Target

RANDOM = np.random.default_rng(2)
CAMERAS = [
    rg.Camera(eye=(0.5, 0.5, 4.0), look_at=(0.5, 0.5, 0.0), fov=40.0),
    rg.Camera(eye=(4.0, 1.0, 0.0), look_at=(0.5, 0.5, 0.5), fov=70.0),
    rg.Camera(eye=(0.5, 5.0, 0.5), look_at=(0.5, 0.5, 0.5), up=(1.0, 0.0, 0.0), fov=30.0),
]
PARALLEL = rg.Camera(eye=(3.0, 2.0, 4.0), look_at=(0.5, 0.5, 0.5), orthographic=True, height=1.8)


def scene_on(target: Target) -> rg.Scene:
    scene = rg.Scene(target=target)
    poses = np.tile(np.eye(3, 4, dtype=np.float32), (3, 1, 1))
    poses[:, :, 3] = RANDOM.random((3, 3))
    vertices = RANDOM.random((60, 3)) * 0.8
    scene.add_mesh(vertices, np.arange(60).reshape(-1, 3), transforms=poses, groups=[0, 1, 2], color=(1.0, 0.0, 0.0))
    scene.add_mesh(vertices + 0.3, np.arange(60).reshape(-1, 3), color=(0.0, 1.0, 0.0))
    return scene


@pytest.mark.parametrize("cameras", [CAMERAS, [CAMERAS[0], PARALLEL, CAMERAS[1]]], ids=["perspective", "mixed"])
def test_many_cameras_see_what_the_engine_sees(target: Target, cameras: list[rg.Camera]) -> None:
    scene = scene_on(target)
    seen = rg.render(scene, cameras, size=(40, 30), outputs=("color", "depth", "object_id", "normal"))
    host = {name: np.array(target.download(seen[name])) for name in ("color", "depth", "object_id", "normal")}
    assert host["color"].shape == (3, 30, 40, 3) and host["color"].dtype == np.uint8 and len(list(seen)) == 4
    with rg.Engine(target, scene.to_plain()) as engine:
        for number, camera in enumerate(cameras):
            view = rg.View(rg.ViewSettings(), camera, rg.ArrayPixels(target, 40, 30), name=str(number))
            engine.render_frame(rg.Moment(), [view])
            buffers = engine.buffers(view)
            same = host["object_id"][number] == buffers["object_id"]
            assert same.mean() > 0.98 and (buffers["object_id"] >= 0).sum() > 30
            at = same & (buffers["object_id"] >= 0)
            np.testing.assert_allclose(host["depth"][number][at], buffers["depth"][at], rtol=1e-3)
            assert np.median(np.abs(host["normal"][number][at] - buffers["normal"][at])) < 1e-3
            colors, ids = host["color"][number], host["object_id"][number]
            assert not colors[ids < 0].any() and (colors[ids == 3][:, 1] > 0).all() and not colors[ids == 3][:, 0].any()
            assert np.isinf(host["depth"][number][ids < 0]).all()
            eye = np.asarray(camera.eye) - camera.look_at
            facing = np.abs(host["normal"][number] @ (eye / np.linalg.norm(eye)))
            if camera.orthographic:  # all its rays meet a face at the same angle: the colour follows the normal alone
                greens, order = colors[ids == 3][:, 1], np.argsort(facing[ids == 3])
                assert (np.diff(greens[order].astype(int)) >= -1).all() and np.ptp(greens) > 20


def test_cameras_have_groups_and_the_scene_is_followed(host_target: Target) -> None:
    scene = scene_on(host_target)
    seen = rg.render(scene, [CAMERAS[0]] * 3, size=(20, 20), outputs=["object_id"], groups=[0, 1, rg.ALL]).object_id
    assert set(np.unique(seen[0])) <= {-1, 0, 3} and set(np.unique(seen[1])) <= {-1, 1, 3} and 2 in seen[2]
    before = rg.render(scene, CAMERAS[0], size=(20, 20), outputs=("depth",)).depth
    scene.meshes[0].vertices = np.asarray(scene.meshes[0].vertices) - [0.0, 0.0, 0.5]  # in front of the other
    after = rg.render(scene, CAMERAS[0], size=(20, 20), outputs=("depth",)).depth
    assert not np.array_equal(before, after) and scene.own_tree is not None
    scene.close()
    with pytest.raises(rg.Error, match="the scene is closed"):
        rg.render(scene, CAMERAS)


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"outputs": ("colour",)}, "outputs are some of color, depth, object_id, normal"),
        ({"outputs": "depth"}, "outputs are some of"),
        ({"size": (0, 4)}, r"size is \(width, height\) in pixels"),
        ({"cameras": [None]}, "camera 0 is no rg.Camera"),
        ({"scene": 3}, "pictures are of a rg.Scene or a tree"),
    ],
)
def test_what_is_no_picture_is_a_sentence(host_target: Target, named: dict[str, Any], sentence: str) -> None:
    given = {"scene": scene_on(host_target), "cameras": CAMERAS, **named}
    with pytest.raises(rg.Error, match=sentence):
        rg.render(given.pop("scene"), given.pop("cameras"), **given)
