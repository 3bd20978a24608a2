"""Scenes of very many small things: read, made safe and handed over together, and yet as one by one."""

from __future__ import annotations

import base64
import dataclasses
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, assimp_small, bounds, exchange, sanitise_graph, sanitise_meshes
from raygrove.app.scene_io.normals import smooth_normals
from raygrove.app.scene_io.portions import apart, portions, together
from raygrove.app.scene_io.read import read_files
from raygrove.app.scene_io.sanitise_materials import clean_material
from raygrove.app.scene_io.transforms import Pose, sample_many, sample_together
from raygrove.gpu.scene import Channel, Clip, Light, Material, Mesh, Node, Object, Scene, Track
from tests.app.scene_io.same import same
from tests.conftest import patience


def random_mesh(random: np.random.Generator, is_sound: bool) -> Mesh:
    """Some vertices and triangles, half of the meshes with normals and half with texture coordinates; what is not
    sound has one of the faults that files have."""
    count = int(random.integers(3, 12))
    positions = (random.normal(size=(count, 3)) * 10.0 ** random.integers(-3, 4)).astype(np.float32)
    positions[random.integers(count)] = positions[random.integers(count)]
    triangles = np.concatenate([random.permutation(count), random.integers(0, count, 12)])
    triangles = triangles[: len(triangles) // 3 * 3].reshape(-1, 3).astype(np.int32)
    has_normals, has_uvs = random.random(2) < 0.5
    normals = random.normal(size=(count, 3)).astype(np.float32) if has_normals else None
    uvs = random.random((count, 2)).astype(np.float32) if has_uvs else None
    mesh = Mesh("part", positions, triangles, np.zeros(len(triangles), np.int32), normals, uvs)
    return mesh if is_sound else with_fault(mesh, random)


def with_fault(mesh: Mesh, random: np.random.Generator) -> Mesh:
    """The mesh with one thing wrong in it."""
    positions, triangles = mesh.positions.copy(), mesh.triangles.copy()
    bad = [np.nan, np.inf, 2e18][random.integers(3)]
    kind = int(random.integers(6))
    if kind == 0:
        positions[random.integers(len(positions))] = bad
        return dataclasses.replace(mesh, positions=positions)
    if kind == 1:
        triangles[random.integers(len(triangles)), 1] = [-1, len(positions)][random.integers(2)]
        return dataclasses.replace(mesh, triangles=triangles)
    if kind == 2:
        return dataclasses.replace(mesh, positions=np.concatenate([positions, positions[:1]]), normals=None, uvs=None)
    if kind == 3:
        return dataclasses.replace(mesh, material_ids=mesh.material_ids + np.int32(9))
    if kind == 4:
        return dataclasses.replace(mesh, normals=np.where(np.arange(len(positions)) % 2, 0.0, positions.T).T.copy())
    return dataclasses.replace(mesh, uvs=np.full((len(positions), 2), np.nan, np.float32))


@pytest.mark.parametrize("seed", range(4))
def test_meshes_together_are_as_one_by_one(seed: int) -> None:
    """Each of 200 meshes, a third of them with a fault: found sound where it is, and finished to the same bits."""
    random = np.random.default_rng(seed)
    meshes = [random_mesh(random, random.random() > 0.3) for _ in range(200)]
    sound = sanitise_meshes.are_sound(meshes, 2)
    cleaned, counts = [], Counter[str]()
    for mesh, is_sound in zip(meshes, sound, strict=True):
        of_mesh = Counter[str]()
        clean = sanitise_meshes.clean_mesh(mesh, 2, 1, of_mesh)
        assert same(clean, mesh) or not is_sound, "what is called sound would not have been changed"
        assert not +of_mesh or not is_sound
        cleaned += [clean] if len(clean.triangles) else []
        counts += of_mesh
    assert 80 < sum(sound) < 180 and len(+counts) > 2, "both kinds are there"
    one_by_one, at_once = Counter[str](), Counter[str]()
    expected = [sanitise_meshes._finish_mesh(mesh, one_by_one) for mesh in cleaned]
    assert same(tuple(sanitise_meshes.finish_meshes(cleaned, at_once)), tuple(expected))
    assert +at_once == +one_by_one and at_once["normals"] and at_once["uvs"] and at_once["degenerate"]


def test_normals_of_meshes_one_after_another_share_nothing() -> None:
    """Two triangles at one place in two meshes: each keeps its own side."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    positions, triangles = np.concatenate([corners, corners]), np.array([[0, 1, 2], [3, 5, 4]])
    apart_ones = smooth_normals(positions, triangles, owners=np.repeat([0, 1], 3))
    assert np.array_equal(apart_ones, np.repeat([[0, 0, 1], [0, 0, -1]], 3, axis=0))
    assert np.array_equal(smooth_normals(positions, triangles), np.repeat([[0, 1, 0]], 6, axis=0)), "joined, none left"


def test_portions_hold_all_and_large_ones_come_alone() -> None:
    sizes = [3, 4, 50, 1, 1, 9]
    found = [list(some) for some in portions(list(range(6)), sizes, 10)]
    assert found == [[0, 1], [2], [3, 4], [5]]
    assert list(portions([], [], 10)) == []
    rows = np.arange(12).reshape(6, 2)
    parts = apart(rows, [1, 0, 5])
    assert [len(part) for part in parts] == [1, 0, 5] and np.array_equal(together(parts), rows)
    assert together([rows]) is rows


def packed(path: Path, count: int, kinds: bool = False) -> Path:
    """A glTF of `count` small meshes on as many nodes; with `kinds` some have normals, texture coordinates, a texture's
    transform or points alone."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "<f4")
    arrays = [corners, corners[::-1], corners[:, :2].copy(), np.array([0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2], "<u2")]
    data, views = b"", []
    for array in arrays:
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": array.nbytes})
        data += array.tobytes()
    kinds_of = [(5126, 4, "VEC3"), (5126, 4, "VEC3"), (5126, 4, "VEC2"), (5123, 12, "SCALAR")]
    primitives: list[dict[str, Any]] = [{"attributes": {"POSITION": 0}, "indices": 3, "material": 0}]
    if kinds:
        every = {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}
        primitives += [
            {"attributes": every, "indices": 3, "material": 0},
            {"attributes": every, "indices": 3, "material": 1},
            {"attributes": {"POSITION": 0, "TEXCOORD_0": 2}, "indices": 3},
            {"attributes": {"POSITION": 0}, "mode": 0},
            {"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 0}, "indices": 3},
        ]
    moved = {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [2, 3], "offset": [0.5, 0.25]}}}
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    document = {
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_texture_transform"],
        "buffers": [{"byteLength": len(data), "uri": f"data:;base64,{base64.b64encode(data).decode()}"}],
        "bufferViews": views,
        "accessors": [
            {"bufferView": i, "componentType": kind, "count": n, "type": name, "min": [0] * 3, "max": [1] * 3}
            if name == "VEC3"
            else {"bufferView": i, "componentType": kind, "count": n, "type": name}
            for i, (kind, n, name) in enumerate(kinds_of)
        ],
        "images": [{"uri": f"data:image/png;base64,{picture}"}],
        "textures": [{"source": 0}],
        "materials": [{"name": "plain"}, {"pbrMetallicRoughness": {"baseColorTexture": moved}}],
        "meshes": [{"name": f"m{i}", "primitives": [primitives[i % len(primitives)]]} for i in range(count)],
        "nodes": [{"mesh": i, "name": f"n{i}", "translation": [3 * i, i % 7, 0]} for i in range(count)],
        "scenes": [{"nodes": list(range(count))}],
        "scene": 0,
    }
    path.write_text(json.dumps(document))
    return path


def opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.chdir(path.parent)
    return read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)


def test_small_meshes_are_read_together_as_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "kinds.gltf", 48, kinds=True)
    at_once = opened(path, monkeypatch)
    monkeypatch.setattr(assimp_small, "FEW", 1000)
    one_by_one = opened(path, monkeypatch)
    assert same(at_once, one_by_one)
    assert len(at_once.meshes) == 40, "the eight of points alone are left out"
    assert {mesh.uvs is None for mesh in at_once.meshes} == {True, False}
    assert any("vertex colours" in remark.sentence and remark.count == 8 for remark in at_once.remarks)


def test_ten_thousand_meshes_open_in_a_tenth_of_what_a_hundred_thousand_may_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The goal is 5 s for 100,000 on two cores (docs/reliability.md): processor seconds, from the file to the scene."""
    path = packed(tmp_path / "many.gltf", 10_000)
    begun = time.process_time()
    with exchange.without_collections(), tempfile.TemporaryFile() as file:
        exchange.write(opened(path, monkeypatch), file)
        scene = exchange.read(file)
    assert time.process_time() - begun < patience(1.0)
    assert len(scene.meshes) == len(scene.objects) == 10_000 and scene.upper == (30_000 - 2, 7, 1)


def random_track(random: np.random.Generator, path: str, is_sound: bool) -> Channel:
    """A step or linear track of some keys; one that is not sound has a fault of those that files have."""
    count, width = int(random.integers(1, 9)), 4 if path == "rotation" else 3
    times = np.cumsum(random.random(count) + 0.01).astype(np.float32)
    values = (random.normal(size=(count, width)) * 3.0).astype(np.float32)
    node, kind = 1, int(random.integers(5))
    if not is_sound and kind == 0:
        times[random.integers(count)] = np.nan
    if not is_sound and kind == 1:
        values[random.integers(count)] = [np.inf, 0.0][random.integers(2)]
    if not is_sound and kind == 2:
        times = times[::-1].copy()
    if not is_sound and kind == 3:
        values = values[:, :2].copy()
    if not is_sound and kind == 4:
        node = 7
    return Channel(node, path, Track(times, values, ["step", "linear"][random.integers(2)]))


@pytest.mark.parametrize("seed", range(3))
def test_tracks_together_are_as_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """150 tracks, a third of them with a fault: cleaned to the same bits, and sampled to the same values."""
    random = np.random.default_rng(seed)
    paths = ["translation", "rotation", "scale"]
    channels = [random_track(random, paths[i % 3], i % 3 != seed) for i in random.permutation(150).tolist()]
    clips = tuple(Clip(f"c{i}", 1.0, tuple(channels[i : i + 5])) for i in range(0, 150, 5))
    scene, at_once, one_by_one = Scene("made", nodes=(Node(), Node())), Counter[str](), Counter[str]()
    scene = dataclasses.replace(scene, clips=clips)
    together_ones = sanitise_graph.clean_clips(scene, at_once)
    monkeypatch.setattr(sanitise_graph, "_sound_channels", lambda channels, count: [None] * len(channels))
    expected = sanitise_graph.clean_clips(scene, one_by_one)
    assert same(together_ones.clips, expected.clips) and +at_once == +one_by_one and at_once["track"]
    tracks = [c.track for clip in expected.clips for c in clip.channels if c.path == "rotation"]
    times = [np.append(random.random(int(random.integers(1, 7))) * 4.0 - 0.5, track.times[-1:]) for track in tracks]
    sampled = sample_together(tracks, times, True)
    parts = [sample_many(track, some, True) for track, some in zip(tracks, times, strict=True)]
    assert len(tracks) > 20 and np.array_equal(sampled, np.concatenate(parts))


def test_many_clips_and_channels_are_read_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty clips, each of which moves one node by its own number and holds another at rest: the tracks that move are
    there, those at rest are not, and the box is that of all ends."""
    path = packed(tmp_path / "clips.gltf", 20)
    document: dict[str, Any] = json.loads(path.read_text())
    times, ends = np.array([0, 2], "<f4"), np.array([[[3 * (i % 20), 0, 0], [0, 0, i + 1]] for i in range(40)], "<f4")
    data = times.tobytes() + ends.tobytes()
    document["buffers"].append({"byteLength": len(data), "uri": f"data:;base64,{base64.b64encode(data).decode()}"})
    document["bufferViews"].append({"buffer": 1, "byteLength": 8})
    document["accessors"].append(
        {"bufferView": 4, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [2]}
    )
    document["animations"] = []
    for i in range(40):
        document["bufferViews"].append({"buffer": 1, "byteOffset": 8 + 24 * i, "byteLength": 24})
        document["accessors"].append({"bufferView": 5 + i, "componentType": 5126, "count": 2, "type": "VEC3"})
        channel = {"sampler": 0, "target": {"node": i % 20, "path": "translation"}}
        sampler = {"input": 4, "output": 5 + i, "interpolation": ["LINEAR", "STEP"][i % 2]}
        document["animations"].append({"name": f"clip {i}", "samplers": [sampler], "channels": [channel]})
    path.write_text(json.dumps(document))
    scene = opened(path, monkeypatch)
    assert [clip.name for clip in scene.clips] == [f"clip {i}" for i in range(40)]
    for i, clip in enumerate(scene.clips):
        (moved,) = clip.channels
        assert scene.nodes[moved.node].name == f"n{i % 20}" and moved.path == "translation"
        assert moved.track.interpolation == ["linear", "step"][i % 2]
        assert np.allclose(moved.track.times, [0, 2]) and np.array_equal(moved.track.values, ends[i])
    assert scene.upper == (3 * 19 + 1, 7, 41), "the last clip ends 40 along z, with a corner of its mesh beyond"


def test_of_two_keys_at_one_time_the_last_counts_in_float32_too() -> None:
    """Among tracks that are looked at together."""
    times, values = np.array([0, 1, 1], np.float32), np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], np.float32)
    channels = tuple(Channel(0, path, Track(times, values)) for path in ("translation", "scale"))
    counts = Counter[str]()
    scene = sanitise_graph.clean_clips(Scene("made", nodes=(Node(),), clips=(Clip("c", 1.0, channels),)), counts)
    for channel in scene.clips[0].channels:
        assert channel.track.times.tolist() == [0, 1] and channel.track.values[:, 0].tolist() == [0, 2]
    assert counts["keys"] == 2


def test_lights_below_zero_and_any_index_of_refraction() -> None:
    """Light that would be taken away is left out; an index of refraction ends at 10."""
    lights = (Light("point", (1.0, -0.5, 1.0)), Light("point", (1.0, 0.0, 1.0)), Light("point", radius=-1.0))
    counts = Counter[str]()
    scene = sanitise_graph.clean_places(Scene("made", lights=lights), counts)
    assert scene.lights == (lights[1],) and counts["place"] == 2
    cleaned, wrong = clean_material(Material(ior=50.0), 0, counts)
    assert cleaned.ior == 10.0 and wrong == ["index of refraction 50, now 10"]


@pytest.mark.parametrize("seed", range(3))
def test_boxes_of_straight_ways_hold_every_instant(seed: int) -> None:
    """Chains of nodes, turned and scaled, that translations alone move: the box is that of very many instants, taken
    one by one, though only those of the keys are looked at."""
    random = np.random.default_rng(seed)
    turns = random.normal(size=(6, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    nodes = tuple(
        Node(f"n{i}", i - 1, tuple(random.normal(size=3)), tuple(turns[i]), tuple(random.uniform(0.5, 2.0, 3)))
        for i in range(6)
    )
    keys = [np.sort(random.choice(40, 4, replace=False)).astype(np.float32) / 7 for _ in range(3)]
    channels = tuple(
        Channel(node, "translation", Track(times, random.normal(size=(4, 3)).astype(np.float32), kind))
        for node, times, kind in zip((1, 2, 5), keys, [("linear", "step")[seed % 2]] * 3, strict=True)
    )
    mesh = Mesh("part", random.normal(size=(4, 3)).astype(np.float32), np.array([[0, 1, 2], [1, 2, 3]], np.int32),
                np.zeros(2, np.int32))  # fmt: skip
    clip = Clip("walk", 6.0, channels)
    scene = Scene("chain", nodes, (mesh,), (Object(3, 0), Object(5, 0)), clips=(clip,))
    assert len(bounds.sample_times(clip)) <= 12, "the keys alone"
    dense = Scene("dense", nodes, scene.meshes, scene.objects)
    pose, points = Pose(nodes), bounds._points_of(scene.meshes)[0][0]
    instants = np.unique(np.concatenate([np.linspace(0.0, 6.0, 2001), *keys]))
    moved = [(points @ m[:3, :3].T + m[:3, 3]) for t in instants for m in pose.matrices(clip, float(t))[[3, 5]]]
    lower, upper = bounds.scene_box(scene)
    rest = bounds.scene_box(dense)
    np.testing.assert_allclose(lower, np.minimum(np.min(moved, axis=(0, 1)), rest[0]), atol=1e-9)
    np.testing.assert_allclose(upper, np.maximum(np.max(moved, axis=(0, 1)), rest[1]), atol=1e-9)


def test_curves_are_looked_at_between_their_keys() -> None:
    """What turns, or is curved by tangents, is farthest out between keys."""
    times = np.array([0.0, 1.0], np.float32)
    turned = Track(times, np.array([[0, 0, 0, 1], [0, 0, 1, 0]], np.float32))
    bent = Track(times, np.array([[[0, 0, 0], [0, 0, 0], [0, 40, 0]], [[0, -40, 0], [1, 0, 0], [0, 0, 0]]], np.float32),
                 "cubic")  # fmt: skip
    triangle = Mesh("t", np.array([[1, 0, 0], [1.1, 0, 0], [1, 0, 0.1]], np.float32), np.array([[0, 1, 2]], np.int32),
                    np.zeros(1, np.int32))  # fmt: skip
    for path, track in (("rotation", turned), ("translation", bent)):
        scene = Scene("s", (Node("n"),), (triangle,), (Object(0, 0),),
                      clips=(Clip("c", 1.0, (Channel(0, path, track),)),))  # fmt: skip
        assert bounds.scene_box(scene)[1][1] > 0.9, path
    assert len(bounds.sample_times(Clip("w", 1.0, (Channel(0, "weights", turned),)))) == 1, "boxes hold all of them"
    mixed = [
        Channel(0, "translation", Track(times, np.eye(2, 3, dtype=np.float32), kind)) for kind in ("linear", "step")
    ]
    assert len(bounds.sample_times(Clip("m", 1.0, tuple(mixed)))) > 2, "a step may come just after a line's end"


@pytest.mark.parametrize("seed", range(3))
def test_arrays_alike_lie_in_rows_and_come_back(seed: int) -> None:
    """Arrays of a few shapes and types, whatever their order: each comes back to the bit, whether alone or in a row."""
    random = np.random.default_rng(seed)
    shapes = [(4, 3), (4, 3), (4, 3), (2,), (0, 3), (1500, 3), (1500, 3), (7, 4, 4)]
    kept = []
    for shape in [shapes[i] for i in np.sort(random.integers(0, len(shapes), 300))] + shapes:
        kind = exchange.DTYPES[random.integers(3)]
        kept.append(random.integers(0, 99, shape).astype(kind))
    with tempfile.TemporaryFile() as file:
        table = exchange._write_arrays(kept, file)
        file.seek(0)
        memory = np.frombuffer(file.read(), np.uint8)
    for order in (np.arange(len(kept)), random.permutation(len(kept))):  # a table may name them in any order
        found = exchange._views(table[order], memory)
        assert len(found) == len(kept)
        for one, number in zip(found, order.tolist(), strict=True):
            assert one.dtype == kept[number].dtype and np.array_equal(one, kept[number])


def test_the_children_of_a_node_come_in_the_order_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many children some have children of their own: each is where its parents put it."""
    nodes: list[dict[str, Any]] = [{"name": f"n{i}", "mesh": 0, "translation": [i, 0, 0]} for i in range(60)]
    nodes[0]["children"] = list(range(1, 40))
    nodes[7]["children"] = list(range(40, 59))
    nodes[50]["children"] = [59]
    document = json.loads(packed(tmp_path / "deep.gltf", 1).read_text())
    document |= {"nodes": nodes, "scenes": [{"nodes": [0]}]}
    (tmp_path / "deep.gltf").write_text(json.dumps(document))
    scene = opened(tmp_path / "deep.gltf", monkeypatch)
    names = [node.name for node in scene.nodes]
    order = ["n0", *(f"n{i}" for i in range(1, 8)), *(f"n{i}" for i in range(40, 51)), "n59"]
    order += [*(f"n{i}" for i in range(51, 59)), *(f"n{i}" for i in range(8, 40))]
    assert [name for name in names if name in set(order)] == order
    parents = {node.name: names[node.parent] for node in scene.nodes if node.parent >= 0 and node.name in set(order)}
    assert parents["n59"] == "n50" and parents["n44"] == "n7" and parents["n30"] == "n0"
    assert [names[thing.node] for thing in scene.objects] == order
