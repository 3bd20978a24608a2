"""Scenes take what is a mesh, refuse what is none by sentences, and become plain scenes for the viewer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu import scene as plain
from raygrove.gpu.target.base import Target

V, T = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.float32), np.array([[0, 1, 2]], np.int32)
POSES = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))


@pytest.mark.parametrize(
    ("arguments", "named", "sentence"),
    [
        ((V[:, :2], T), {}, r"vertices have the shape \(N, 3\); these are \(3, 2\) of float32"),
        ((V.astype(complex), T), {}, "vertices are numbers; these are .* of complex128"),
        ((V, T.astype(float)), {}, "triangles are whole numbers; these are .* of float64"),
        ((V, T + [0, 0, 1 << 32]), {}, "triangles are whole numbers that int32 holds; .* to 4,294,967,298"),
        ((V, np.array([[0, 1, 1 << 63]], np.uint64)), {}, "triangles are whole numbers that int32 holds"),
        ((V, T + 1), {}, r"Triangle 0 is \[1, 2, 3\], but there are 3 vertices"),
        ((V, T), {"transforms": POSES[0]}, r"transforms have the shape \(N, 3, 4\); these are \(3, 4\)"),
        ((V, T), {"transforms": POSES, "groups": [1, 2, 3]}, "groups are a whole number for each of the 2 instances"),
        ((V, T), {"groups": 0.5}, "groups are a whole number"),
        ((V, T), {"groups": -2}, "groups are from -1 to"),
        ((V, T), {"masks": 1 << 32}, "masks are from -1 to 4294967295"),
    ],
)
def test_what_is_no_mesh_is_a_sentence(host_target: Target, arguments: Any, named: Any, sentence: str) -> None:
    scene = rg.Scene(target=host_target)
    with pytest.raises(rg.Error, match=sentence) as raised:
        scene.add_mesh(*arguments, **named)
    assert isinstance(raised.value, ValueError) and raised.value.where == "Scene.add_mesh" and not scene.meshes


def test_corners_are_taken_unseen_where_nobody_looks(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    assert scene.add_mesh(V, T + 1, check=False).triangles.tolist() == [[1, 2, 3]]


def test_what_is_assigned_is_checked(host_target: Target) -> None:
    mesh = rg.Scene(target=host_target).add_mesh(V, T, transforms=POSES)
    for name, value, sentence in (
        ("vertices", V[:2], r"vertices have the shape \(3, 3\)"),
        ("transforms", POSES[:1], "transforms are those of 2 instances"),
        ("groups", [1], "groups are a whole number"),
        ("masks", "all", "masks are a whole number"),
    ):
        with pytest.raises(rg.Error, match=sentence):
            setattr(mesh, name, value)
    mesh.masks = np.array([1, 1 << 31], np.uint32)
    assert mesh.masks.tolist() == [1, -(1 << 31)] and mesh.groups.tolist() == [rg.ALL] * 2


def test_groups_and_masks_are_assigned_and_not_written_into(host_target: Target) -> None:
    mesh = rg.Scene(target=host_target).add_mesh(V, T, groups=0)
    for values in (mesh.groups, mesh.masks):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1
    mesh.groups = [1]
    assert mesh.groups.tolist() == [1]


def test_triangles_that_are_not_finite_are_never_hit(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    scene.add_mesh(np.concatenate([V, V + [0, 0, np.nan]]), [[0, 1, 2], [3, 4, 5]], transforms=POSES)
    with rg.build(scene, "hploc") as tree:
        hits = tree.trace([[0.2, 0.2, 1.0]], [0.0, 0.0, -1.0])
        assert hits.t.tolist() == [1.0] and tree.statistics.inactive_count == 2


def test_a_scene_becomes_plain_values(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    poses = POSES.copy()
    poses[1, :, 3] = 0.0, 0.0, 2.0
    scene.add_mesh(V, T, transforms=poses, color=(1.0, 0.0, 0.0), name="robot")
    scene.add_mesh(V * 3, T)
    found = scene.to_plain()
    assert [mesh.name for mesh in found.meshes] == ["robot 0", "robot 1", "mesh 1"] and found.triangle_count == 3
    assert found.upper == (3.0, 3.0, 2.0) and found.materials[0].base_color == (1.0, 0.0, 0.0, 1.0)
    np.testing.assert_array_equal(found.meshes[1].positions, V + [0, 0, 2])
    with rg.Engine(host_target, found) as engine:
        view = rg.View(rg.ViewSettings(), rg.Camera(), rg.ArrayPixels(host_target, 8, 8))
        engine.render_frame(rg.Moment(), [view])
    assert rg.Scene(target=host_target).to_plain().triangle_count == 0


def test_readers_of_other_packages_make_plain_scenes_by_these_names() -> None:
    scene_type: Any = rg.Scene
    mesh_type: Any = rg.Mesh
    mesh = mesh_type("grid", V, T, np.zeros(1, np.int32))
    made = scene_type("heights", meshes=(mesh,), objects=(rg.Object(0, 0),))
    assert isinstance(made, plain.Scene) and isinstance(mesh, plain.Mesh) and isinstance(scene_type("x"), plain.Scene)
    assert isinstance(rg.Scene("cpu"), rg.Scene) and isinstance(scene_type(name="y"), plain.Scene)


@pytest.mark.parametrize("configuration", ["two_level", "lbvh"])
def test_scenes_whose_groups_are_in_no_order_are_judged(host_target: Target, configuration: str) -> None:
    """Triangles of a group lie side by side in the tree; boxes, hits and references have the scene's numbers."""
    poses = np.tile(np.eye(3, 4, dtype=np.float32), (4, 1, 1))
    poses[:, 0, 3] = 0.0, 5.0, 9.0, 14.0
    scene = rg.Scene(target=host_target)
    robots = scene.add_mesh(V, T, transforms=poses, groups=np.array([2, 0, 1, 0]))
    scene.add_mesh(V + np.float32(50.0), T)
    expected = np.repeat([0.0, 5.0, 9.0, 14.0, 50.0], len(T))
    with rg.build(scene, configuration) as tree:
        np.testing.assert_array_equal(tree.primitive_boxes()[:, 0] // 1, expected // 1)
        assert tree.validate().is_valid and not rg.diagnose(tree)
        robots.transforms = poses + np.float32(1.0)
        assert not tree.validate().is_valid, "the tree is of another pose now"


def test_devices_are_named(host_target: Target) -> None:
    with pytest.raises(rg.Error, match="There is no device 'gpu'"):
        rg.Scene(device="gpu")
    with pytest.raises(rg.Error, match="the scene is on host and the tree was to be on"):
        rg.build(rg.Scene(target=host_target), device="cpu")
    with pytest.raises(rg.Error, match="both a device and a target"):
        rg.build((V, T), device="cpu", target=host_target)
    one, other = rg.Scene(device="cpu"), rg.Scene(device="host")
    assert one._device is other._device, "one device, however it is called"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((V,), "there are no triangles: give a rg.Scene, a rg.Clip"),
        ((V, T, "hploc", "lbvh"), "there are 2 configurations"),
        ((V, T, 7), "a configuration is a text"),
        (((V, T), "hploc@sometimes"), "no update policy 'sometimes'"),
    ],
)
def test_what_cannot_be_built_is_a_sentence(host_target: Target, words: Any, sentence: str) -> None:
    with pytest.raises(rg.Error, match=sentence):
        rg.build(*words, target=host_target)
