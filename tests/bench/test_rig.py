"""The rig that skinning and morphing are measured with: of the size asked for, everything at work, as in float64."""

from __future__ import annotations

import numpy as np

from raygrove.bench.rig import make_rig
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from tests.gpu.animate.test_animate import assert_shows


def test_the_rig_is_what_the_goal_speaks_of() -> None:
    mesh = make_rig(100_000).meshes[0]
    assert (
        len(mesh.positions) == 100_000
        and mesh.skin is not None
        and mesh.morph_targets is not None
        and mesh.morph_targets.normals is not None
    )
    assert (np.count_nonzero(mesh.skin.weights, axis=1) >= 3).all() and np.mean(
        np.count_nonzero(mesh.skin.weights, axis=1)
    ) > 3.9
    assert np.allclose(mesh.skin.weights.sum(axis=1), 1.0, atol=1e-6) and mesh.triangles.max() == 99_999


def test_the_rig_bends_as_in_float64(target: Target) -> None:
    scene = make_rig(2_000, joints=8, targets=3)
    animator = Animator(target, scene)
    for time in (0.0, 0.3, 1.7):
        assert_shows(target, animator, scene, Moment(time))
