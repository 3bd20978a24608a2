"""The sanitiser on scenes made by hand: what is dropped, what is kept, what is counted."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from raygrove.app.scene_io import SceneError
from raygrove.app.scene_io.exchange import check
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.app.scene_io.transforms import global_matrices
from raygrove.gpu.scene import (
    ABSENT,
    Channel,
    Clip,
    KeyFrames,
    Light,
    Material,
    Mesh,
    MorphTargets,
    Node,
    Object,
    Scene,
    SceneCamera,
    Skin,
    Spheres,
    Texture,
    Track,
)

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)


def mesh(**changes: object) -> Mesh:
    """A tetrahedron with some fields replaced."""
    plain = Mesh("tetrahedron", CORNERS.copy(), FACES.copy(), np.zeros(len(changes.get("triangles", FACES)), np.int32))  # type: ignore[arg-type]
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def scene(one: Mesh, **changes: object) -> Scene:
    """One object of one mesh."""
    return dataclasses.replace(Scene("made", meshes=(one,), objects=(Object(0, 0),)), **changes)  # type: ignore[arg-type]


def count_of(result: Scene, words: str) -> int:
    """The count of the remark with these words, 0 where there is none."""
    return sum(remark.count for remark in result.remarks if words in remark.sentence)


def test_a_clean_scene_stays_as_it_is() -> None:
    result = sanitise(scene(mesh()))
    assert (
        result.remarks == ()
        and np.array_equal(result.meshes[0].positions, CORNERS)
        and np.array_equal(result.meshes[0].triangles, FACES)
    )
    assert (result.lower, result.upper, result.origin) == ((0, 0, 0), (1, 1, 1), (0, 0, 0))
    check(result)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2e18])
def test_triangles_at_a_bad_vertex_are_dropped(value: float) -> None:
    positions = CORNERS.copy()
    positions[3, 1] = value
    result = sanitise(scene(mesh(positions=positions)))
    assert (
        result.triangle_count == 1
        and count_of(result, "not a number") == 3
        and count_of(result, "no triangle uses") == 1
    )
    assert len(result.meshes[0].positions) == 3 and result.upper == (1, 1, 0)


def test_indices_out_of_range_are_dropped_and_the_rest_renumbered() -> None:
    triangles = np.array([[0, 1, 2], [0, 1, 4], [-1, 0, 1], [1, 2, 3]], np.int64)
    result = sanitise(scene(mesh(triangles=triangles)))
    assert result.triangle_count == 2 and count_of(result, "index out of range") == 2
    assert np.array_equal(result.meshes[0].positions[result.meshes[0].triangles], CORNERS[[[0, 1, 2], [1, 2, 3]]])


def test_degenerate_triangles_are_kept_and_counted() -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], np.float32)
    triangles = np.array([[0, 1, 2], [1, 1, 3], [0, 1, 3]], np.int32)
    result = sanitise(scene(mesh(positions=positions, triangles=triangles)))
    assert result.triangle_count == 3 and count_of(result, "without any area") == 2
    assert np.isfinite(result.meshes[0].normals).all()


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(SceneError, match="made has no triangles: all 4 of them"):
        sanitise(scene(mesh(positions=np.full((4, 3), np.nan, np.float32))))
    with pytest.raises(SceneError, match="no triangles"):
        sanitise(Scene("void"))


def test_spheres_alone_are_a_scene() -> None:
    spheres = Spheres("balls", np.array([[0, 0, 0], [np.nan, 0, 0], [3, 0, 0]]), np.array([1.0, 1.0, 0.5]))
    result = sanitise(Scene("balls", spheres=(spheres,), objects=(Object(0, spheres=0),)))
    assert result.spheres[0].radii.tolist() == [1.0, ABSENT, 0.5] and count_of(result, "Spheres") == 1
    assert result.lower == (-1, -1, -1) and result.upper == (3.5, 1, 1)


def test_normals_are_made_and_mended() -> None:
    normals = np.tile(np.array([[0, 0, 2]], np.float32), (4, 1))
    normals[1], normals[2] = np.nan, 0.0
    result = sanitise(scene(mesh(normals=normals, uvs=np.full((4, 2), np.inf, np.float32))))
    assert count_of(result, "usable normal") == 2 and count_of(result, "Texture coordinates") == 4
    assert (
        np.allclose(np.linalg.norm(result.meshes[0].normals, axis=1), 1.0, atol=1e-6)
        and (result.meshes[0].uvs == 0.0).all()
    )
    assert np.allclose(result.meshes[0].normals[0], (0, 0, 1))


def test_key_frames_count_for_every_vertex_and_for_the_bounds() -> None:
    positions = np.stack([CORNERS, CORNERS + 5, CORNERS])
    positions[1, 3, 0] = np.nan
    result = sanitise(scene(mesh(key_frames=KeyFrames(np.array([0.0, 1.0, 2.0]), positions))))
    keys = result.meshes[0].key_frames
    assert (
        result.triangle_count == 1
        and keys is not None
        and keys.positions.shape == (3, 3, 3)
        and keys.normals is not None
    )
    assert result.upper == (6, 6, 5)


@pytest.mark.parametrize("times", [[0.0, 0.0, 1.0], [0.0, np.nan, 1.0], [2.0, 1.0, 0.0]])
def test_key_frames_without_an_order_are_left_out(times: list[float]) -> None:
    result = sanitise(scene(mesh(key_frames=KeyFrames(np.array(times), np.stack([CORNERS] * 3)))))
    assert result.meshes[0].key_frames is None and count_of(result, "do not fit") == 1


def test_skins_and_targets_that_do_not_fit_are_left_out_and_weights_made_whole() -> None:
    good = Skin(np.array([0]), np.eye(4)[None], np.array([[0, 9, 0, 0]] * 4), np.array([[2.0, np.nan, 2.0, -1.0]] * 4))
    skin = sanitise(scene(mesh(skin=good))).meshes[0].skin
    assert skin is not None and np.allclose(skin.weights, [[0.5, 0, 0.5, 0]] * 4) and skin.joint_ids.max() == 0
    bad = sanitise(
        scene(
            mesh(
                skin=dataclasses.replace(good, joints=np.array([7])),
                morph_targets=MorphTargets(CORNERS[None, :2], None, np.ones(1)),
            )
        )
    )
    assert bad.meshes[0].skin is None and bad.meshes[0].morph_targets is None and count_of(bad, "do not fit") == 2


def test_materials_and_textures_are_corrected() -> None:
    materials = (
        Material("a", (np.nan, 2.0, -1.0, 1.0), 7.0, np.nan, (np.inf, 1.0, 0.0), 5),
        Material("b", base_color_texture=0),
    )
    textures = (Texture("odd", np.zeros((3, 3), np.uint8)),)
    result = sanitise(
        scene(mesh(material_ids=np.array([0, 1, 2, -1], np.int32)), materials=materials, textures=textures)
    )
    first = result.materials[0]
    assert (
        first.base_color == (0.8, 1.0, 0.0, 1.0)
        and (first.metallic, first.roughness) == (1.0, 0.6)
        and first.emission == (0.0, 1.0, 0.0)
    )
    assert first.base_color_texture == -1 and result.textures[0].pixels.shape == (1, 1, 4)
    assert (
        count_of(result, "a material that the file does not have") == 2
        and count_of(result, "texture that cannot be used") == 1
    )
    assert result.meshes[0].material_ids.tolist() == [0, 1, 0, 0]


def test_what_is_wrong_with_a_material_is_named_with_it_and_replaced() -> None:
    nan = float("nan")
    glass = Material(
        "glass",
        transmission=nan,
        ior=0.0,
        attenuation_color=(nan, 0.5, 2.0),
        attenuation_distance=float("inf"),
        alpha_mode="odd",
    )
    air = Material("", ior=0.5, normal_scale=nan, normal_texture=3, emission_texture=-7, metallic_roughness_texture=0)
    result = sanitise(
        scene(
            mesh(),
            materials=(glass, air, Material("fine", ior=2.4)),
            textures=(Texture("one", np.zeros((1, 1, 4), np.uint8)),),
        )
    )
    first, second, third = result.materials
    assert (first.transmission, first.ior, first.attenuation_color, first.attenuation_distance) == (
        0.0,
        1.5,
        (1.0, 0.5, 1.0),
        0.0,
    )
    assert (
        first.alpha_mode == "opaque"
        and (second.ior, second.normal_scale) == (1.0, 1.0)
        and third == Material("fine", ior=2.4)
    )
    assert second.texture_ids == (-1, 0, -1, -1) and count_of(result, "texture that cannot be used") == 1
    (remark,) = [remark for remark in result.remarks if "replaced" in remark.sentence]
    assert remark.count == 2 and "glass (transmission nan, attenuation colour nan 0.5 2" in remark.sentence
    assert "number 1 (normal scale nan, index of refraction 0.5, now 1)" in remark.sentence


def test_nodes_come_parents_first_and_circles_are_cut() -> None:
    nodes = (
        Node("child", 2, (1, 0, 0)), Node("lost", 99), Node("root", -1, (0, 5, 0), (0, 0, 0, 2)), Node("a", 4),
        Node("b", 3),
        Node("bad", -1, (np.nan, 0, 0)),
    )  # fmt: skip
    joint = Skin(np.array([0]), np.eye(4, dtype=np.float32)[None], np.zeros((4, 4), np.int32), np.ones((4, 4)))
    clip = Clip("c", 1.0, (Channel(0, "translation", Track(np.array([0.0]), np.array([[1.0, 2.0, 3.0]]))),))
    result = sanitise(
        scene(mesh(skin=joint), nodes=nodes, objects=(Object(0, 0),), clips=(clip,), cameras=(SceneCamera("eye", 0),))
    )
    names = [node.name for node in result.nodes]
    assert all(node.parent < index for index, node in enumerate(result.nodes)) and sorted(names) == sorted(
        n.name for n in nodes
    )
    child = names.index("child")
    assert (
        result.objects[0].node
        == result.cameras[0].node
        == result.clips[0].channels[0].node
        == result.meshes[0].skin.joints[0]
        == child
    )
    assert names[result.nodes[child].parent] == "root" and np.allclose(
        global_matrices(result.nodes)[child][:3, 3], (1, 5, 0)
    )
    assert result.nodes[names.index("root")].rotation == (0, 0, 0, 1) and count_of(result, "wrong parent") == 3


def test_tracks_are_sorted_finite_and_normalised() -> None:
    tangled = Track(
        np.array([2.0, 0.0, 1.0, np.nan]), np.array([[0, 0, 0, 3.0], [0, 2.0, 0, 0], [np.inf, 0, 0, 1], [0, 0, 0, 1]])
    )
    empty = Track(np.zeros(0), np.zeros((0, 3)))
    narrow = Track(np.zeros(1), np.zeros((1, 2)))
    channels = (
        Channel(0, "rotation", tangled),
        Channel(0, "scale", empty),
        Channel(0, "translation", narrow),
        Channel(9, "scale", empty),
    )
    result = sanitise(scene(mesh(), clips=(Clip("c", np.nan, channels), Clip("void", 1.0))))
    (clip,) = result.clips
    (channel,) = clip.channels
    assert clip.duration == 2.0 and channel.track.times.tolist() == [0.0, 2.0]
    assert np.allclose(channel.track.values, [[0, 1, 0, 0], [0, 0, 0, 1]]) and count_of(result, "Tracks") == 4


def test_lights_and_cameras_that_cannot_be_are_left_out() -> None:
    lights = (
        Light("point"),
        Light("point", (np.nan, 0, 0)),
        Light("directional", direction=(0, 0, 0)),
        Light("point", node=9),
        Light("odd"),
    )
    result = sanitise(
        scene(mesh(), lights=lights, cameras=(SceneCamera("a", 0), SceneCamera("b", 5), SceneCamera("c", 0, 190.0)))
    )
    assert (
        len(result.lights) == 1
        and [camera.name for camera in result.cameras] == ["a"]
        and count_of(result, "Lights or cameras") == 6
    )


def test_the_bounds_follow_a_clip() -> None:
    turn = Track(np.array([0.0, 1.0]), np.array([[0, 0, 0, 1.0], [0, 0, 1.0, 0]]))
    slide = Track(np.array([0.0, 1.0]), np.array([[0, 0, 0.0], [7.0, 0, 0]]))
    nodes = (Node("slider"), Node("turner", 0))
    clip = Clip("c", 1.0, (Channel(0, "translation", slide), Channel(1, "rotation", turn)))
    result = sanitise(scene(mesh(), nodes=nodes, objects=(Object(1, 0),), clips=(clip,)))
    assert (
        result.upper[0] >= 7.0 - 1e-6
        and result.upper[2] == pytest.approx(1.0)
        and result.lower[1] <= -1.0 + 1e-6
        and result.lower[0] >= -1.5
    )


@pytest.mark.parametrize("limit", [0, 5000])
def test_the_bounds_of_a_skin_follow_its_joints(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The object's own node does not count; exact and by the joints' boxes, which are the same for one joint that only
    slides."""
    monkeypatch.setattr("raygrove.app.scene_io.bounds.EXACT_SKIN_VERTICES", limit)
    slide = Track(np.array([0.0, 1.0]), np.array([[0, 0, 0.0], [7.0, 0, 0]]))
    skin = Skin(
        np.array([1]), np.eye(4, dtype=np.float32)[None], np.zeros((4, 4), np.int32), np.array([[1.0, 0, 0, 0]] * 4)
    )
    nodes = (Node("body", -1, (100.0, 0.0, 0.0)), Node("joint", -1, (0.0, 2.0, 0.0)))
    clip = Clip("c", 1.0, (Channel(1, "translation", slide),))
    result = sanitise(scene(mesh(skin=skin), nodes=nodes, clips=(clip,)))
    assert result.lower == pytest.approx((0.0, 0.0, 0.0)) and result.upper == pytest.approx((8.0, 3.0, 1.0))


@given(
    arrays.arrays(np.float32, (6, 3), elements=st.floats(width=32)),
    arrays.arrays(np.int64, (5, 3), elements=st.integers(-2, 7)),
)
def test_whatever_comes_in_kernels_may_trust_what_goes_out(positions: np.ndarray, triangles: np.ndarray) -> None:
    good = (np.abs(positions) <= 1e18).all(axis=1)
    expected = sum(all(0 <= i < 6 and good[i] for i in row) for row in triangles)
    try:
        result = sanitise(scene(mesh(positions=positions, triangles=triangles)))
    except SceneError:
        assert expected == 0
        return
    check(result)
    assert result.triangle_count == expected and np.isfinite(result.meshes[0].normals).all()
    assert np.isfinite([*result.lower, *result.upper]).all()
