"""Cameras of the file where they are at a moment, against an independent evaluation of the same tracks."""

from __future__ import annotations

import dataclasses
import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.gpu import node_transforms
from raygrove.gpu.scene import Channel, Clip, Node, Scene, SceneCamera, Track
from tests.gpu.animate.reference import value_of, world_matrices

RNG = np.random.default_rng(5)
TIMES = np.array([0.25, 0.5, 1.5, 2.0], np.float32)


def track(width: int, interpolation: str) -> Track:
    shape = (4, 3, width) if interpolation == "cubic" else (4, width)
    return Track(TIMES, RNG.normal(size=shape).astype(np.float32), interpolation)


def flown_scene() -> Scene:
    """A camera on a boom that turns, on a cart that moves; the second clip moves nothing of it."""
    nodes = (
        Node("cart"),
        Node("boom", 0, (0.0, 2.0, 0.0)),
        Node("camera", 1, (0.0, 0.0, 5.0), scale=(2.0, 2.0, 2.0)),
        Node("other", 0),
    )
    channels = (
        Channel(0, "translation", track(3, "linear")), Channel(1, "rotation", track(4, "linear")), Channel(2,
        "translation", track(3, "cubic")),
        Channel(3, "scale", track(3, "step")),
    )  # fmt: skip
    clips = (Clip("flight", 2.0, channels), Clip("rest", 1.0, channels[3:]))
    return Scene(
        "flown",
        nodes,
        cameras=(SceneCamera("eye", 2, 30.0), SceneCamera("beside", 3)),
        clips=clips,
        lower=(-1, -1, -1),
        upper=(1, 1, 1),
    )


@given(st.floats(-1.0, 3.0), st.sampled_from(["linear", "step", "cubic"]), st.booleans())
def test_tracks_have_the_reference_value(time: float, interpolation: str, is_rotation: bool) -> None:
    made = track(4, interpolation)
    own, wanted = node_transforms.value_at(made, time, is_rotation), value_of(made, time, is_rotation)
    if (
        is_rotation and interpolation == "linear"
    ):  # as rotations: the length of a key outside its neighbours does not matter
        own, wanted = own / np.linalg.norm(own), wanted / np.linalg.norm(wanted)
    assert own == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("time", [0.0, 0.25, 0.4, 1.0, 1.9, 7.0])
def test_nodes_have_the_reference_matrix(time: float) -> None:
    scene = flown_scene()
    for clip in (0, 1):
        for node, wanted in enumerate(world_matrices(scene, time, clip)):
            assert node_transforms.world_matrix(scene, node, time, clip) == pytest.approx(wanted, abs=1e-6)


def test_at_rest_no_track_counts() -> None:
    scene = flown_scene()
    assert node_transforms.world_matrix(scene, 2)[:3, 3] == pytest.approx([0.0, 2.0, 5.0])
    assert node_transforms.is_animated(scene, 2, 0) and not node_transforms.is_animated(scene, 2, 1)


def test_the_documents_cameras_follow_the_head_and_undo() -> None:
    document, scene = Document(), flown_scene()
    document.change("settings.timeline.autoplay", False)
    document.set_scene(SceneReference("files", ("a.glb",)), scene)
    document.change("views.0.camera", 1)
    for time in (0.5, 1.75):
        document.move_head(dataclasses.replace(document.state.timeline, time=time))
        assert document.state.camera_of(0).eye == pytest.approx(world_matrices(scene, time, 0)[2][:3, 3])
    document.undo()
    assert document.state.timeline.time == 0.5
    assert document.state.camera_of(0).eye == pytest.approx(world_matrices(scene, 0.5, 0)[2][:3, 3])
    free = document.state.cameras[0]
    document.change("timeline", dataclasses.replace(document.state.timeline, time=1.0))
    assert document.state.cameras[0] == free


def test_a_closed_scene_is_not_kept() -> None:
    scene = flown_scene()
    node_transforms.world_matrix(scene, 2, 0.3)
    gone = weakref.ref(scene)
    del scene
    gc.collect()
    assert gone() is None
