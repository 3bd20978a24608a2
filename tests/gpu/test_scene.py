"""What a scene tells of itself."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.scene import KeyFrames, Mesh, Object, Scene


def moving(times: list[float]) -> Mesh:
    """A triangle with keys at some times."""
    corners = np.zeros((3, 3), np.float32)
    keys = KeyFrames(np.array(times, np.float32), np.zeros((len(times), 3, 3), np.float32))
    return Mesh("triangle", corners, np.array([[0, 1, 2]], np.int32), np.zeros(1, np.int32), key_frames=keys)


@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        ([[0.0, 0.5, 2.0], [0.0, 0.25, 2.0]], [0.0, 0.25, 0.5, 2.0]),
        ([[3.0, 1.0, 1.0]], [1.0, 3.0]),
        ([[]], []),
        ([], []),
    ],
)
def test_key_times_are_ascending_and_each_is_there_once(sequences: list[list[float]], expected: list[float]) -> None:
    meshes = tuple(moving(times) for times in sequences)
    scene = Scene("keys", meshes=meshes, objects=tuple(Object(0, index) for index in range(len(meshes))))
    assert scene.key_times().tolist() == expected and scene.key_times().dtype == np.float64
