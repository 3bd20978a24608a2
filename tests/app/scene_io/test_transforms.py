"""The float64 tools: transforms, tracks, joining, normals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from raygrove.app.scene_io import joining
from raygrove.app.scene_io.joining import groups_of_rows
from raygrove.app.scene_io.normals import smooth_normals
from raygrove.app.scene_io.transforms import (
    compose,
    decompose,
    global_matrices,
    pose_of,
    quaternions_of,
    rotation_matrix,
    sample,
    slerp,
)
from raygrove.gpu.scene import Node, Track
from tests.app.scene_io import writers

UNIT = arrays.arrays(np.float64, 4, elements=st.floats(-1, 1)).filter(lambda q: np.linalg.norm(q) > 0.1)
TRIPLE = arrays.arrays(np.float64, 3, elements=st.floats(-50, 50))
SCALE = arrays.arrays(np.float64, 3, elements=st.floats(0.1, 9))


@given(TRIPLE, UNIT, SCALE, st.booleans())
def test_decompose_undoes_compose(
    translation: np.ndarray, rotation: np.ndarray, scale: np.ndarray, is_mirrored: bool
) -> None:
    matrix = compose(translation, rotation, -scale if is_mirrored else scale)
    t, q, s, is_sheared = decompose(matrix[None])
    assert not is_sheared[0] and np.allclose(compose(t[0], q[0], s[0]), matrix, atol=1e-9)


@given(UNIT)
def test_quaternions_and_matrices_agree(q: np.ndarray) -> None:
    q = q / np.linalg.norm(q)
    back = quaternions_of(rotation_matrix(q)[None])[0]
    assert min(np.abs(back - q).max(), np.abs(back + q).max()) < 1e-9


def test_a_quarter_turn_is_where_it_should_be() -> None:
    turned = rotation_matrix((0, np.sqrt(0.5), 0, np.sqrt(0.5))) @ (1, 0, 0)
    assert np.allclose(turned, (0, 0, -1))


def test_a_shear_is_noticed() -> None:
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    assert decompose(np.stack([matrix, np.diag([1.0, 0.0, 2.0, 1.0])]))[3].tolist() == [True, False]


def test_tracks_are_held_outside_and_interpolated_inside() -> None:
    track = Track(np.array([1.0, 2.0, 4.0]), np.array([[0.0], [10.0], [30.0]]))
    assert [float(sample(track, t)[0]) for t in (0.0, 1.0, 1.5, 2.0, 3.0, 9.0)] == [0, 0, 5, 10, 20, 30]
    step = Track(track.times, track.values, "step")
    assert [float(sample(step, t)[0]) for t in (1.99, 2.0, 3.9, 4.0)] == [0, 10, 10, 30]
    cubic = Track(np.array([0.0, 2.0]), np.array([[[0.0], [1.0], [3.0]], [[3.0], [7.0], [0.0]]]), "cubic")
    assert float(sample(cubic, 1.0)[0]) == pytest.approx(4.0), "both tangents are the chord: a straight line"


def test_slerp_turns_evenly_the_short_way() -> None:
    half = slerp(np.array([0, 0, 0, 1.0]), -np.array([0, np.sqrt(0.5), 0, np.sqrt(0.5)]), 0.5)
    assert min(np.abs(half - s * np.array([0, np.sin(np.pi / 8), 0, np.cos(np.pi / 8)])).max() for s in (1, -1)) < 1e-12


@given(
    arrays.arrays(
        np.float32, st.tuples(st.integers(1, 40), st.just(2)), elements=st.sampled_from([0.0, -0.0, 1.0, 2.0, np.nan])
    )
)
def test_groups_are_those_of_equal_rows(rows: np.ndarray) -> None:
    groups, first = groups_of_rows([rows[:, :1], rows[:, 1:]])
    keys = [tuple("nan" if np.isnan(v) else float(v) + 0.0 for v in row) for row in rows]
    seen: dict[tuple, int] = {}
    expected = [seen.setdefault(key, len(seen)) for key in keys]
    assert groups.tolist() == expected and [keys[i] for i in first] == list(seen)


def test_groups_refine_earlier_groups() -> None:
    groups, first = groups_of_rows([np.array([1.0, 1.0, 1.0, 1.0], np.float32)], np.array([0, 1, 0, 1]))
    assert groups.tolist() == [0, 1, 0, 1] and first.tolist() == [0, 1]


def test_smooth_normals_weigh_by_area_and_cross_seams() -> None:
    positions, triangles = writers.sphere(16, 24)
    apart = positions[triangles].reshape(-1, 3).astype(np.float32)
    faces = np.arange(len(apart)).reshape(-1, 3)
    welded, flat = smooth_normals(apart, faces), smooth_normals(apart, faces, weld=False)
    assert np.einsum("ij,ij->i", welded, apart).min() > 0.99 > np.einsum("ij,ij->i", flat, apart).min()
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 3, 0], [0, 0, 1]], np.float32)
    normal = smooth_normals(corner, np.array([[0, 1, 2], [0, 3, 1]]))[0]
    assert np.allclose(normal, np.array([0, 1, 3]) / np.sqrt(10)), "areas 3 and 1, towards +Z and +Y"


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e15])
def test_smooth_normals_at_any_size(size: float) -> None:
    positions, triangles = writers.sphere()
    normals = smooth_normals((positions * size).astype(np.float32), triangles)
    assert np.einsum("ij,ij->i", normals, positions).min() > 0.9


def test_rows_whose_hashes_collide_are_never_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """With multipliers of zero all hashes are one: what is equal may stay apart, what differs may not meet."""
    monkeypatch.setattr(joining, "MULTIPLIERS", np.zeros(2, np.uint64))
    rows = np.array([[0, 1], [2, 3], [2, 3], [0, 1], [4, 4]], np.float32)
    groups, first = groups_of_rows([rows])
    for group in range(len(first)):
        assert (rows[groups == group] == rows[first[group]]).all()
    assert len(first) == 4, "neighbours are joined, and none else"


def test_nodes_that_only_stand_and_scale_come_apart_as_all_others_do() -> None:
    """Among turned ones, mirrored ones and ones without extent: exactly, in their own places."""
    turned = compose((1, 2, 3), (0, 0.6, 0, 0.8), (2, 2, 2))
    matrices = np.stack([np.diag([2.0, 3.0, 4.0, 1.0]), turned, np.diag([1.0, -1.0, 1.0, 1.0]), np.eye(4)])
    matrices[0, :3, 3] = (5, 6, 7)
    t, q, s, is_sheared = decompose(matrices)
    assert np.array_equal(s[0], (2, 3, 4)) and np.array_equal(t[0], (5, 6, 7)) and not is_sheared.any()
    assert np.array_equal(q[[0, 3]], [(0, 0, 0, 1)] * 2)
    for matrix, *parts in zip(matrices, t, q, s, strict=True):
        assert np.allclose(compose(*parts), matrix, atol=1e-9)


def test_the_pose_of_other_nodes_is_another() -> None:
    """The last one is kept for a tuple alone, and for that very tuple."""
    first, second = (Node("a", translation=(1, 0, 0)),), (Node("a", translation=(2, 0, 0)),)
    assert pose_of(first) is pose_of(first) and global_matrices(first)[0, 0, 3] == 1
    assert global_matrices(second)[0, 0, 3] == 2 and global_matrices(first)[0, 0, 3] == 1
    grown = list(first)
    assert global_matrices(grown).shape == (1, 4, 4)
    grown.append(second[0])
    assert global_matrices(grown).shape == (2, 4, 4)
