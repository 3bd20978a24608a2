"""Animation from files to vertices: real models in every clip against float64, generated twins, and animation that is
broken."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import SceneError, load
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.app.scene_io.transforms import Pose, global_matrices
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.scene import Channel, Clip, Mesh, Moment, MorphTargets, Node, Object, Scene, Skin, Track
from raygrove.gpu.target.base import Target
from tests.app.scene_io import writers
from tests.data import data_file
from tests.gpu.animate import reference

# Name, joints, morph targets, clips.
MODELS = (
    ("CesiumMan.glb", 19, 0, 1),
    ("Fox.glb", 24, 0, 3),
    ("phoenix_bird.glb", 89, 0, 1),
    ("AnimatedMorphSphere.glb", 0, 2, 1),
    ("MorphStressTest/glTF/MorphStressTest.gltf", 0, 8, 3),
    ("animation_with_skeleton.fbx", 14, 0, 1),
    ("box_nested_animation.dae", 1, 0, 1),
    ("CesiumMilkTruck.glb", 0, 0, 1),
)


def assert_plays(target: Target, scene: Scene, clip: int) -> None:
    """Every vertex as in float64 at three instants, inside the bounds that the camera is fitted to, and something has
    moved."""
    animator, seen = Animator(target, scene), []
    lower, upper = np.array(scene.lower), np.array(scene.upper)
    size = float(np.linalg.norm(upper - lower))
    for share in (0.0, 0.27, 0.61):
        time = float(np.float32(scene.duration(clip) * share))
        surface = animator.at(Moment(time, clip))
        positions, normals = target.download(surface.positions), target.download(surface.normals)
        expected, expected_normals = reference.surface(scene, time, clip)
        assert (
            np.abs(positions - expected).max() < 1e-5 * size
            and np.mean(np.sum(normals * expected_normals, axis=1) > 0.999) > 0.99
        )
        assert (positions >= lower - 0.02 * size).all() and (positions <= upper + 0.02 * size).all()
        seen.append(positions)
    assert max(np.abs(other - seen[0]).max() for other in seen[1:]) > 1e-3 * size


@pytest.mark.parametrize(
    ("name", "joints", "targets", "clips"), MODELS, ids=[model[0].rsplit("/", 1)[-1] for model in MODELS]
)
def test_real_models_play_every_clip(host_target: Target, name: str, joints: int, targets: int, clips: int) -> None:
    scene = load([data_file(f"animated/{name}")])
    assert max(0 if mesh.skin is None else len(mesh.skin.joints) for mesh in scene.meshes) == joints
    assert max(0 if mesh.morph_targets is None else len(mesh.morph_targets.weights) for mesh in scene.meshes) == targets
    assert len(scene.clips) == clips and not any(
        "bend" in remark.sentence or "base shape" in remark.sentence for remark in scene.remarks
    )
    for clip in range(clips):
        assert_plays(host_target, scene, clip)


def test_a_generated_strip_is_bent_and_lifted(host_target: Target, tmp_path: Path) -> None:
    scene = load([writers.write_skinned_glb(tmp_path / "strip.glb")])
    names = [node.name for node in scene.nodes]
    turn = Track(np.array([0.0, 1.0], np.float32), np.array([[0, 0, 0, 1], [0, 0, 0.70710678, 0.70710678]], np.float32))
    channels = (*scene.clips[0].channels, Channel(names.index("high"), "rotation", turn))
    scene = dataclasses.replace(scene, clips=(dataclasses.replace(scene.clips[0], channels=channels),))
    animator = Animator(host_target, scene)
    at_rest = host_target.download(animator.at(Moment(0.0)).positions)
    assert np.allclose(at_rest, scene.meshes[0].positions, atol=1e-6)
    bent = host_target.download(animator.at(Moment(1.0)).positions)
    expected, _ = reference.surface(scene, 1.0)
    top = np.isclose(scene.meshes[0].positions[:, 1], 2.0)
    lifted = scene.meshes[0].positions[top] + [0.0, 1.0, 0.0]
    assert np.allclose(bent, expected, atol=1e-5)
    assert np.allclose(bent[top], np.stack([1.0 - lifted[:, 1], 1.0 + lifted[:, 0], lifted[:, 2]], axis=1), atol=1e-5)


def test_targets_without_normals_get_those_of_their_shape() -> None:
    positions, triangles = writers.sphere(48, 64)
    stretched = positions * np.float32([0.0, 2.0, 0.0])
    mesh = Mesh(
        "ball",
        positions,
        triangles,
        np.zeros(len(triangles), np.int32),
        morph_targets=MorphTargets(stretched[None], None, np.ones(1)),
    )
    made = sanitise(Scene("", meshes=(mesh,), objects=(Object(0, 0),))).meshes[0]
    assert made.morph_targets is not None and made.morph_targets.normals is not None and made.normals is not None
    of_target = made.normals + made.morph_targets.normals[0]
    expected = positions / [1.0, 3.0, 1.0]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert (
        np.mean(np.sum(of_target * expected, axis=1)) > 0.99 > 0.95 > np.mean(np.sum(made.normals * expected, axis=1))
    )


CUBIC = {
    "translation": np.array([[0, 0, 0], [0, 1, 0], [3, 0, 0], [0, -2, 0], [2, 2, 0], [0, 0, 0]], np.float32),
    "rotation": np.array(
        [[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0], [0, 0.5, 0, 0], [0, 0.6, 0, 0.8], [0, 0, 0, 0]], np.float32
    ),
    "weights": np.array([7, 0, 0.5, 0.25, 1, 7], np.float32),
}


def write_cubic_glb(path: Path, kind: str = "CUBICSPLINE", name: str = "body") -> Path:
    """The strip with nothing but its morph target, moved by three cubic tracks of two keys; with `kind` STEP only the
    weights, 0 then 1."""
    glb = writers.Glb()
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    primitive = {
        "attributes": {"POSITION": glb.accessor(points, "VEC3")},
        "indices": glb.accessor(np.array([0, 1, 2], np.uint32), "SCALAR"),
        "targets": [{"POSITION": glb.accessor(np.tile(np.float32([0, 0, 1]), (3, 1)), "VEC3")}],
    }
    times = glb.accessor(np.array([0.0, 2.0], np.float32), "SCALAR")
    tracks = CUBIC if kind == "CUBICSPLINE" else {"weights": np.array([0, 1], np.float32)}
    widths = {"translation": "VEC3", "rotation": "VEC4", "weights": "SCALAR"}
    samplers = [
        {"input": times, "output": glb.accessor(values, widths[path]), "interpolation": kind}
        for path, values in tracks.items()
    ]
    channels = [{"sampler": index, "target": {"node": 0, "path": path}} for index, path in enumerate(tracks)]
    glb.json |= {
        "nodes": [{"name": name, "mesh": 0} if name else {"mesh": 0}],
        "meshes": [{"primitives": [primitive], "weights": [0.0]}],
        "animations": [{"name": "curve", "samplers": samplers, "channels": channels}],
    }
    return glb.save(path)


@pytest.mark.parametrize("name", ["body", ""])
def test_cubic_tracks_keep_their_tangents(host_target: Target, tmp_path: Path, name: str) -> None:
    scene = load([write_cubic_glb(tmp_path / "curve.glb", name=name)])
    tracks = {channel.path: channel.track for channel in scene.clips[0].channels}
    assert {track.interpolation for track in tracks.values()} == {"cubic"} and not any(
        "cubic" in remark.sentence for remark in scene.remarks
    )
    for path, values in CUBIC.items():
        assert np.array_equal(tracks[path].values, values.reshape(2, 3, -1)), path
    assert_plays(host_target, scene, 0)
    half = host_target.download(Animator(host_target, scene).at(Moment(1.0)).positions)
    # Hermite at the middle: (a + b) / 2 + span / 8 x (out-tangent of a - in-tangent of b).
    weight = 0.5 * (0.0 + 1.0) + 2.0 / 8.0 * (0.5 - 0.25)
    turn = np.array([0.0, 0.3, 0.0, 0.9]) + 2.0 / 8.0 * np.array([0.0, 0.5, 0.0, 0.0])
    x, z = turn[1] / np.linalg.norm(turn), turn[3] / np.linalg.norm(turn)
    way = np.array([1.75, 2.0, 0.0])
    assert np.allclose(half[0], way + weight * np.array([2 * x * z, 0.0, 1 - 2 * x * x]), atol=1e-5)


def test_steps_of_weights_stay_steps(tmp_path: Path) -> None:
    (channel,) = load([write_cubic_glb(tmp_path / "steps.glb", "STEP")]).clips[0].channels
    assert (
        channel.path == "weights"
        and channel.track.interpolation == "step"
        and channel.track.values.tolist() == [[0.0], [1.0]]
    )


def test_cubic_tracks_that_cannot_be_read_exactly_are_counted(tmp_path: Path) -> None:
    def make_sparse(document: dict[str, Any]) -> None:
        """The first value is given once more, as one that differs."""
        indices = document["accessors"][document["meshes"][0]["primitives"][0]["indices"]]["bufferView"]
        for sampler in document["animations"][0]["samplers"]:
            output = document["accessors"][sampler["output"]]
            first = {
                "indices": {"bufferView": indices, "componentType": 5125},
                "values": {"bufferView": output["bufferView"]},
            }
            output["sparse"] = {"count": 1, **first}

    path = writers.edit_glb(write_cubic_glb(tmp_path / "sparse.glb"), make_sparse)
    scene = load([path])
    assert {channel.track.interpolation for channel in scene.clips[0].channels} == {"linear"} and remark_of(
        scene, "cubic key frames"
    ) == 2


# -- what is broken ---------------------------------------------------------------------------------------------------


def remark_of(scene: Scene, words: str) -> int:
    """The count of the remark with these words, 0 where there is none."""
    return sum(remark.count for remark in scene.remarks if words in remark.sentence)


def write_moving_glb(path: Path, times: list[float], nodes: list[dict[str, Any]]) -> Path:
    """A triangle at the last node; the first one moves along X by one from key to key."""
    glb = writers.Glb()
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    primitive = {
        "attributes": {"POSITION": glb.accessor(corners, "VEC3")},
        "indices": glb.accessor(np.array([0, 1, 2], np.uint32), "SCALAR"),
    }
    animation: dict[str, Any] = {"name": "move", "samplers": [], "channels": []}
    if times:
        ways = np.array([[k, 0, 0] for k in range(len(times))], np.float32)
        keys = {"input": glb.accessor(np.array(times, np.float32), "SCALAR"), "output": glb.accessor(ways, "VEC3")}
        animation |= {"samplers": [keys], "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]}
    glb.json |= {"nodes": nodes, "meshes": [{"primitives": [primitive]}], "animations": [animation]}
    nodes[-1]["mesh"] = 0
    return glb.save(path)


def chain(count: int) -> list[dict[str, Any]]:
    """Nodes each of which holds the next."""
    return [*({"name": f"link {k}", "children": [k + 1]} for k in range(count - 1)), {"name": f"link {count - 1}"}]


def test_a_clip_without_keys_is_left_out_and_counted(tmp_path: Path) -> None:
    scene = load([write_moving_glb(tmp_path / "keyless.glb", [], chain(2))])
    assert scene.clips == () and scene.duration() == 0.0
    empty = Clip(
        "empty", 2.0, (Channel(0, "translation", Track(np.zeros(0, np.float32), np.zeros((0, 3), np.float32))),)
    )
    made = sanitise(dataclasses.replace(scene, clips=(Clip("void", 1.0), empty)))
    assert made.clips == () and remark_of(made, "Clips without a usable key frame") == 2


@pytest.mark.parametrize(
    ("times", "kept", "values"), [([0.0, 2.0, 1.0], [0, 1, 2], [0, 2, 1]), ([0.0, 1.0, 1.0], [0, 1], [0, 2])]
)
def test_keys_out_of_order_or_at_one_time_are_sorted_and_counted(
    tmp_path: Path, times: list[float], kept: list[float], values: list[float]
) -> None:
    scene = load([write_moving_glb(tmp_path / "order.glb", times, chain(1))])
    (channel,) = scene.clips[0].channels
    assert channel.track.times.tolist() == kept and channel.track.values[:, 0].tolist() == values
    assert remark_of(scene, "out of order or at the same time") == 1


def test_weights_that_do_not_add_up_are_scaled_and_counted(tmp_path: Path) -> None:
    plain = load([writers.write_skinned_glb(tmp_path / "plain.glb")])
    heavy = load([writers.write_skinned_glb(tmp_path / "heavy.glb", weigh=3.0)])
    assert remark_of(plain, "do not add up to one") == 0 and remark_of(heavy, "do not add up to one") == 6
    for scene in (plain, heavy):
        assert scene.meshes[0].skin is not None and np.allclose(
            scene.meshes[0].skin.weights.sum(axis=1), 1.0, atol=1e-6
        )
    skin = Skin(
        np.zeros(1), np.eye(4)[None], np.zeros((3, 4), np.int32), np.array([[2.0, 2, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]])
    )
    mesh = Mesh("", np.eye(3, dtype=np.float32), np.array([[0, 1, 2]]), np.zeros(1), skin=skin)
    made = sanitise(Scene("", meshes=(mesh,), objects=(Object(0, 0),)))
    assert remark_of(made, "do not add up to one") == 2 and made.meshes[0].skin.weights.tolist() == [
        [0.5, 0.5, 0, 0],
        [1, 0, 0, 0],
        [1, 0, 0, 0],
    ]


def test_a_skin_with_more_joints_than_nodes_plays(host_target: Target) -> None:
    rng = np.random.default_rng(3)
    skin = Skin(
        np.array([0, 1, 0, 1, 1]),
        np.tile(np.eye(4), (5, 1, 1)),
        rng.integers(0, 5, (3, 4)),
        rng.uniform(0.1, 1.0, (3, 4)),
    )
    mesh = Mesh("", np.eye(3, dtype=np.float32), np.array([[0, 1, 2]]), np.zeros(1), skin=skin)
    turn = Track(np.array([0.0, 1.0]), np.array([[0, 0, 0, 1], [0, 0.6, 0, 0.8]]))
    clip = Clip("", 1.0, (Channel(1, "rotation", turn),))
    scene = sanitise(Scene("", (Node(), Node("", 0)), (mesh,), (Object(0, 0),), clips=(clip,)))
    assert scene.meshes[0].skin is not None and len(scene.meshes[0].skin.joints) == 5
    assert_plays(host_target, scene, 0)
    strange = dataclasses.replace(mesh, skin=dataclasses.replace(skin, joints=np.array([0, 1, 2, 3, 4])))
    made = sanitise(Scene("", (Node(), Node("", 0)), (strange,), (Object(0, 0),)))
    assert made.meshes[0].skin is None and remark_of(made, "do not fit") == 1


def test_a_chain_of_20_000_nodes_plays(host_target: Target, tmp_path: Path) -> None:
    scene = load([write_moving_glb(tmp_path / "deep.glb", [0.0, 1.0], chain(20_000))])
    assert len(scene.nodes) == 20_000 and scene.upper[0] == pytest.approx(2.0)
    animator = Animator(host_target, scene)
    assert np.allclose(host_target.download(animator.at(Moment(0.0)).positions)[0], (0, 0, 0))
    assert np.allclose(host_target.download(animator.at(Moment(1.0)).positions)[0], (1, 0, 0))


def test_a_circle_of_nodes_gets_a_sentence(tmp_path: Path) -> None:
    path = write_moving_glb(tmp_path / "circle.glb", [0.0, 1.0], chain(3))
    writers.edit_glb(path, lambda document: document["nodes"][2].update(children=[1]))
    with pytest.raises(SceneError, match="hangs from itself"):
        load([path])


@pytest.mark.parametrize(("first", "said"), [(0, "no kind of picture that is known"), (41, "cannot be decoded (")])
def test_an_embedded_texture_that_does_not_decode_is_named_and_the_model_plays(
    host_target: Target, tmp_path: Path, first: int, said: str
) -> None:
    path = writers.write_animated_glb(tmp_path / "wave.glb")
    data = bytearray(path.read_bytes())
    start = data.index(b"\x89PNG") + first
    data[start : start + 8] = b"\xee" * 8
    path.write_bytes(data)
    scene = load([path])
    (sentence,) = (remark.sentence for remark in scene.remarks)
    assert (
        sentence.startswith("Textures inside the file")
        and "image 0" in sentence
        and said in sentence
        and "0x" not in sentence
    )
    assert sentence.endswith("Export the model again, or give it textures as PNG or JPEG.") and scene.textures == ()
    assert scene.materials[0].base_color == (0.5, 0.25, 1.0, 1.0)
    assert_plays(host_target, scene, 0)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda skin: skin["joints"].extend([90, 91]), "joints[2] = 90, and there are 3 nodes"),
        (lambda skin: skin.update(joints=[]), "contradicts itself"),
        (lambda skin: skin.update(joints=skin["joints"] * 6), "contradicts itself"),
    ],
    ids=["at nodes that are not there", "none", "each many times"],
)
def test_a_file_whose_skin_has_strange_joints_opens_with_a_remark_or_says_why_not(
    tmp_path: Path, edit: Any, said: str
) -> None:
    path = writers.write_skinned_glb(tmp_path / "strip.glb")
    writers.edit_glb(path, lambda document: edit(document["skins"][0]))
    try:
        found = " ".join(remark.sentence for remark in load([path]).remarks)
    except SceneError as error:
        found = str(error)
        assert found.endswith("Check that the file is whole and of the type its name says.")
    assert said in found


def test_a_scale_of_zero_opens_and_stays_finite(host_target: Target, tmp_path: Path) -> None:
    path = write_moving_glb(tmp_path / "flat.glb", [0.0, 1.0], chain(2))
    writers.edit_glb(path, lambda document: document["nodes"][1].update(scale=[1.0, 0.0, 1.0]))
    surface = Animator(host_target, load([path])).at(Moment(1.0))
    positions, normals = host_target.download(surface.positions), host_target.download(surface.normals)
    assert np.allclose(positions, [[1, 0, 0], [2, 0, 0], [1, 0, 0]]) and np.isfinite(normals).all()


def test_matrices_of_all_nodes_at_once_are_those_of_one_by_one() -> None:
    rng = np.random.default_rng(2)
    nodes = tuple(
        Node(
            "",
            int(rng.integers(-1, k)) if k else -1,
            tuple(rng.normal(size=3)),
            tuple(rng.normal(size=4)),
            tuple(rng.uniform(-2, 2, 3)),
        )
        for k in range(60)
    )
    clip = Clip("", 1.0, (Channel(7, "translation", Track(np.array([0.0, 1.0]), np.array([[0.0, 0, 0], [5, 0, 0]]))),))
    scene = Scene("", nodes, clips=(clip,))
    assert np.allclose(
        global_matrices(nodes), reference.world_matrices(dataclasses.replace(scene, clips=()), 0.0, 0), atol=1e-9
    )
    assert np.allclose(Pose(nodes).matrices(clip, 0.5), reference.world_matrices(scene, 0.5, 0), atol=1e-9)
    assert global_matrices(()).shape == (0, 4, 4)
