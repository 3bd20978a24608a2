"""Very many meshes as a few long arrays: taken apart, put together, made safe and handed over as one by one."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import assimp, assimp_small, bounds, exchange, sanitise_meshes
from raygrove.app.scene_io.assimp_animation import AnimationReader
from raygrove.app.scene_io.exchange import ExchangeError
from raygrove.app.scene_io.mesh_stack import MeshStack, as_meshes, joined_stacks, stack_of, stacks_of
from raygrove.app.scene_io.overlap import boxes_met
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.gpu.scene import Material, Mesh, Node, Object, Scene
from tests.app.scene_io.exchanged import edited, read, written
from tests.app.scene_io.same import same
from tests.app.scene_io.test_many import opened, packed, random_mesh


def sound_meshes(seed: int, count: int = 120) -> list[Mesh]:
    random = np.random.default_rng(seed)
    return [dataclasses.replace(random_mesh(random, True), name=f"part {i}") for i in range(count)]


def scene_of(meshes: tuple[Mesh, ...], seed: int = 0) -> Scene:
    """Each mesh at a node of its own, half of which are turned, and the last mesh once more."""
    random = np.random.default_rng(seed)
    turns = random.normal(size=(len(meshes), 4)) * [1, 1, 1, 0] + [0, 0, 0, 2]
    turns[::2] = [0, 0, 0, 1]
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    nodes = [Node(f"n{i}", -1, tuple(random.normal(size=3) * 3), tuple(turns[i])) for i in range(len(meshes))]
    objects = [Object(i, i) for i in range(len(meshes))]
    return Scene("made", (*nodes, Node("again")), meshes, (*objects, Object(len(meshes), len(meshes) - 1)))


@pytest.mark.parametrize("seed", range(3))
def test_a_stack_is_its_meshes(seed: int) -> None:
    """As objects, by number, cut into parts, joined again, and in another order."""
    meshes = sound_meshes(seed)
    stack = stack_of(meshes)
    assert same(stack.meshes, tuple(meshes)) and same(stack[7], meshes[7]) and same(stack[3:5], tuple(meshes[3:5]))
    parts = list(stack.parts(100))
    assert len(parts) > 10 and max(len(part.positions) + len(part.triangles) for part in parts) <= 100
    assert same(joined_stacks(parts).meshes, tuple(meshes)) and [*stack.parts(1 << 30)] == [stack]
    order = np.random.default_rng(seed).permutation(len(meshes))[:70]
    assert same(stack.take(order).meshes, tuple(meshes[i] for i in order))
    assert same(tuple(mesh for part in stacks_of(meshes, 100) for mesh in part), tuple(meshes))


@pytest.mark.parametrize("seed", range(3))
def test_a_scene_with_a_stack_is_made_safe_as_with_its_meshes(seed: int) -> None:
    """The same normals, box, remarks and overlap, to the bits; and it stays a stack where nothing is left out."""
    meshes = sound_meshes(seed)
    stacked, plain = (sanitise(scene_of(some)) for some in (as_meshes(stack_of(meshes)), tuple(meshes)))
    assert isinstance(stacked.meshes, MeshStack) and isinstance(plain.meshes, tuple)
    assert same(tuple(stacked.meshes), plain.meshes) and same(stacked.objects, plain.objects)
    assert (stacked.lower, stacked.upper, stacked.remarks) == (plain.lower, plain.upper, plain.remarks)
    assert boxes_met(dataclasses.replace(stacked, lower=(0, 0, 0))) == boxes_met(
        dataclasses.replace(plain, lower=(0, 0, 0))
    )


def without_the_last_object(scene: Scene) -> Scene:
    return dataclasses.replace(scene, objects=scene.objects[:50])


def turned_round(scene: Scene) -> Scene:
    return dataclasses.replace(scene, objects=scene.objects[::-1])


def at_no_node(scene: Scene) -> Scene:
    return dataclasses.replace(scene, objects=(*scene.objects, Object(9999, 0), Object(0, -1), Object(0, 9999)))


def with_a_fault(scene: Scene) -> Scene:
    meshes = list(scene.meshes)
    meshes[5] = dataclasses.replace(meshes[5], material_ids=meshes[5].material_ids + np.int32(9))
    meshes[6] = dataclasses.replace(meshes[6], positions=meshes[6].positions * np.float32(np.nan))
    is_stack = isinstance(scene.meshes, MeshStack)
    return dataclasses.replace(scene, meshes=as_meshes(stack_of(meshes)) if is_stack else tuple(meshes))


@pytest.mark.parametrize("change", [without_the_last_object, turned_round, at_no_node, with_a_fault])
def test_what_is_wrong_in_a_stack_is_mended_as_in_its_meshes(change: Callable[[Scene], Scene]) -> None:
    """Meshes that no object shows, in another order, objects that show nothing, and faults of single meshes."""
    meshes = sound_meshes(1)
    stacked, plain = (sanitise(change(scene_of(some))) for some in (as_meshes(stack_of(meshes)), tuple(meshes)))
    assert same(tuple(stacked.meshes), plain.meshes) and same(stacked.objects, plain.objects)
    assert (stacked.lower, stacked.upper, stacked.remarks) == (plain.lower, plain.upper, plain.remarks)


def test_soundness_of_a_stack_is_that_of_each_mesh() -> None:
    random = np.random.default_rng(4)
    meshes = [random_mesh(random, random.random() > 0.3) for _ in range(200)]
    meshes = [mesh for mesh in meshes if sanitise_meshes._is_plain(mesh)]
    found = sanitise_meshes.are_sound(as_meshes(stack_of(meshes)), 2)
    assert found == sanitise_meshes.are_sound(meshes, 2) and 50 < sum(found) < len(meshes)
    counts = [Counter[str](), Counter[str]()]
    sound = [mesh for mesh, is_sound in zip(meshes, found, strict=True) if is_sound]
    stacked = sanitise_meshes.finish_meshes(as_meshes(stack_of(sound)), counts[0])
    assert same(tuple(stacked), sanitise_meshes.finish_meshes(sound, counts[1])) and +counts[0] == +counts[1]


def test_turned_small_meshes_have_the_box_of_their_vertices() -> None:
    """Of a stack and of single meshes, together or in portions: no larger than what is there."""
    meshes = sound_meshes(2)
    for some in (as_meshes(stack_of(meshes)), tuple(meshes)):
        scene = scene_of(some, 5)
        matrices = bounds.global_matrices(scene.nodes)
        points = [
            meshes[t.mesh].positions @ matrices[t.node][:3, :3].T + matrices[t.node][:3, 3] for t in scene.objects
        ]
        lower, upper = bounds.scene_box(scene)
        np.testing.assert_allclose(lower, np.concatenate(points).min(axis=0), rtol=1e-12)
        np.testing.assert_allclose(upper, np.concatenate(points).max(axis=0), rtol=1e-12)


def test_a_stack_is_handed_over_as_its_meshes() -> None:
    scene = sanitise(scene_of(as_meshes(stack_of(sound_meshes(3)))))
    back = read(written(scene))
    assert isinstance(back.meshes, tuple) and same(back.meshes, tuple(scene.meshes))
    assert same(dataclasses.replace(back, meshes=()), dataclasses.replace(scene, meshes=()))
    assert read(written(dataclasses.replace(scene, meshes=tuple(scene.meshes)))).upper == scene.upper


FIELDS = [field.name for field in dataclasses.fields(MeshStack)]


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", [None, -1, 1 << 30, 0, 5, "x", ["one"], {}])
def test_a_stack_that_lies_is_refused(name: str, value: Any) -> None:
    """Each of its columns is another array, or none: refused, or what comes out passes the check."""
    data = written(sanitise(scene_of(as_meshes(stack_of(sound_meshes(3, 20))))))

    def edit(document: Any) -> None:
        document["stack"][name] = value

    try:
        scene = read(edited(data, edit))
    except ExchangeError:
        return
    exchange.check(scene)


def wrong_counts(stack: MeshStack) -> dict[str, Any]:
    return {"vertex_counts": stack.vertex_counts + np.eye(1, len(stack), 2, np.int64)[0]}


def wrong_corner(stack: MeshStack) -> dict[str, Any]:
    """A corner that the mesh does not have, though the stack does."""
    triangles = stack.triangles.copy()
    triangles[0, 0] = stack.vertex_counts[0]
    return {"triangles": triangles}


def wrong_place(stack: MeshStack) -> dict[str, Any]:
    return {"positions": np.where(np.arange(3) == 1, np.float32(math.inf), stack.positions)}


def wrong_material(stack: MeshStack) -> dict[str, Any]:
    return {"material_ids": stack.material_ids + np.int32(1)}


def wrong_sum(stack: MeshStack) -> dict[str, Any]:
    """Counts below 0 that add up."""
    counts = stack.triangle_counts.copy()
    counts[1] += counts[0] + 1
    counts[0] = -1
    return {"triangle_counts": counts}


def no_names(stack: MeshStack) -> dict[str, Any]:
    return {"names": stack.names[1:]}


@pytest.mark.parametrize("lie", [wrong_counts, wrong_corner, wrong_place, wrong_material, wrong_sum, no_names])
def test_no_number_of_a_stack_is_believed(lie: Callable[[MeshStack], dict[str, Any]]) -> None:
    scene = sanitise(scene_of(as_meshes(stack_of(sound_meshes(3, 20)))))
    assert isinstance(scene.meshes, MeshStack) and scene.materials == (Material(),)
    bad = dataclasses.replace(scene.meshes, **lie(scene.meshes))
    with pytest.raises(ExchangeError):
        read(written(dataclasses.replace(scene, meshes=as_meshes(bad))))


def test_meshes_beside_a_stack_are_refused() -> None:
    """Which would be lost."""
    stack, scene = stack_of(sound_meshes(3, 20)), scene_of(tuple(sound_meshes(3, 2)))
    with pytest.raises(ValueError, match="beside the stack"):
        exchange._with_stack(scene, stack)
    assert exchange._with_stack(dataclasses.replace(scene, meshes=()), stack).meshes == as_meshes(stack)


def test_a_file_of_small_meshes_is_read_as_a_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is what it is mesh by mesh: names, points alone left out, colours remarked on."""
    path = packed(tmp_path / "stack.gltf", 48, kinds=True)
    document = json.loads(path.read_text())
    document["meshes"] = [one for i, one in enumerate(document["meshes"]) if i % 6 != 2]  # those of a moved texture
    document["nodes"] = document["nodes"][: len(document["meshes"])]
    document["scenes"] = [{"nodes": list(range(len(document["nodes"])))}]
    path.write_text(json.dumps(document))
    at_once = opened(path, monkeypatch)
    assert isinstance(at_once.meshes, MeshStack) and len(at_once.meshes) == 32 < len(document["meshes"])
    monkeypatch.setattr(assimp_small, "FEW", 1000)
    one_by_one = opened(path, monkeypatch)
    assert same(dataclasses.replace(at_once, meshes=tuple(at_once.meshes)), one_by_one)
    assert any("vertex colours" in remark.sentence and remark.count == 8 for remark in at_once.remarks)


@pytest.mark.parametrize("strings", [2, 8192])
def test_texts_of_assimp_are_what_each_is(strings: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain, empty, as long as they can be, cut at a zero byte, and in no encoding."""
    monkeypatch.setattr(assimp, "STRINGS", strings)
    for words in (
        [b"one", b"", b"three", b"x" * 1023],
        ["Bäume".encode(), b"a\0b", b"\xff\xfe", b"", b"end"],
        [b"a\0b", b"end"],
        [b""],
        [],
    ):
        many = (assimp.String * max(len(words), 1))()
        for one, word in zip(many, words, strict=False):
            one.length = len(word)
            ctypes.memmove(ctypes.addressof(one) + assimp.String.data.offset, word, len(word))
        size = ctypes.sizeof(assimp.String)
        found = assimp.texts(ctypes.addressof(many) + size * np.arange(len(words), dtype=np.int64))
        assert found == [one.text for one in many][: len(words)]


@pytest.mark.parametrize(("ticks", "seconds"), [(0.0, 2.0), (-1.0, 2.0), (math.nan, 2.0), (100.0, 0.5)])
def test_a_clip_that_says_no_rate_has_25_ticks_a_second(ticks: float, seconds: float) -> None:
    """50 ticks of a node that moves along x."""
    keys = np.zeros(2, assimp.VECTOR_KEY)
    keys["time"], keys["value"] = [0, 50], [[0, 0, 0], [7, 0, 0]]
    of_node = assimp.NodeAnim(position_count=2, positions=keys.ctypes.data)
    of_node.name = assimp.String(4, b"door")
    clip = assimp.Animation(duration=50.0, ticks_per_second=ticks, channel_count=1)
    clip.channels = (ctypes.POINTER(assimp.NodeAnim) * 1)(ctypes.pointer(of_node))
    scene = assimp.Scene(animation_count=1)
    scene.animations = (ctypes.POINTER(assimp.Animation) * 1)(ctypes.pointer(clip))
    (found,) = AnimationReader(scene, [Node("door")], {"door": 0}, {}).read()
    assert found.duration == seconds and found.name == "clip 1"
    assert found.channels[0].track.times.tolist() == [0, seconds] and found.channels[0].track.values[1, 0] == 7
