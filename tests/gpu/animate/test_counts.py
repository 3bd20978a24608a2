"""Scenes whose vertices 32 bits cannot number: key frames stream rather than overflow, and what cannot is said. Arrays
here repeat one vertex."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.animate import tables
from raygrove.gpu.animate.key_schedule import LEAST_SLOTS, keyed_meshes, plan_sequences, slots_of
from raygrove.gpu.scene import Channel, Clip, KeyFrames, Mesh, MorphTargets, Node, Object, Scene, Track
from raygrove.gpu.target.base import TargetError

PLENTY = 1 << 50


def mesh(vertices: int, keys: int = 0, targets: int = 0) -> Mesh:
    nothing = np.zeros(1, np.float32)
    made = Mesh("large", np.broadcast_to(nothing, (vertices, 3)), np.zeros((0, 3), np.int32), np.zeros(0, np.int32))
    if keys:
        frames = KeyFrames(np.arange(keys, dtype=np.float32), np.broadcast_to(nothing, (keys, vertices, 3)))
        made = dataclasses.replace(made, key_frames=frames)
    if targets:
        moved = np.broadcast_to(nothing, (targets, vertices, 3))
        made = dataclasses.replace(made, morph_targets=MorphTargets(moved, None, np.zeros(targets, np.float32)))
    return made


def checked(*meshes: Mesh) -> tables.SourceTables:
    sequences = plan_sequences(keyed_meshes(meshes), PLENTY)
    sources = tables.source_tables(meshes, slots_of(len(meshes), sequences))
    tables.check_counts(
        Scene("huge", meshes=meshes, objects=tuple(Object(0, index) for index in range(len(meshes)))), sources
    )
    return sources


def test_keys_of_more_vertices_than_32_bits_number_stream() -> None:
    sources = checked(mesh(10_000_001, keys=300), mesh(50_000_000))
    assert LEAST_SLOTS < sources.slots[0] < 300 and sources.slots[1] == 1
    assert sources.vertices < 1 << 31 <= sources.vertices + sources.strides[0]
    assert checked(mesh(10_000_000, keys=200)).slots[0] == 200, "those that can be numbered all lie there"


@pytest.mark.parametrize(
    ("meshes", "sentence"),
    [
        (
            (mesh(400_000_000), mesh(400_000_000)),
            "huge has 800,000,000 vertices in all its objects, and at most 715,827,882 can be drawn",
        ),
        ((mesh(600_000_000, keys=4),), "vertices in its meshes and in the key frames"),
        ((mesh(300_000_000, targets=8),), "2,400,000,004 vertices in its morph targets"),
    ],
)
def test_what_cannot_be_numbered_is_a_sentence(meshes: tuple[Mesh, ...], sentence: str) -> None:
    with pytest.raises(TargetError, match=sentence):
        checked(*meshes)


def test_tracks_of_more_numbers_than_32_bits_count_are_a_sentence() -> None:
    track = Track(np.zeros(1, np.float32), np.broadcast_to(np.zeros(1, np.float32), (800_000_000, 3)))
    scene = Scene("long", (Node(),), clips=(Clip("all", 1.0, (Channel(0, "translation", track),)),))
    with pytest.raises(TargetError, match="long has 2,400,000,001 numbers in its animations"):
        tables.track_tables(scene)
