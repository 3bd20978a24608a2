"""Morton orders: bounds whatever the blocks, order at every scale."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy import morton_order
from raygrove.gpu.hierarchy.morton_order import MortonOrder
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES, scene_of, soup

from .test_lbvh import morton_codes


@pytest.mark.parametrize("code_bits", [30, 60])
@pytest.mark.parametrize("scene_name", ["one", "soup", "degenerate", "coincident"])
def test_keys_and_prim_ids_are_sorted(exact_target: Target, scene_name: str, code_bits: int) -> None:
    scene, order = SCENES[scene_name](), MortonOrder(exact_target, code_bits)
    for _ in range(2):
        keys, prim_ids = order.sort(scene.upload(exact_target))
        codes = morton_codes(scene, code_bits)
        found = exact_target.download(keys)
        expected = np.argsort(codes, kind="stable")
        ids = found & np.uint64(0xFFFFFFFF) if prim_ids is None else exact_target.download(prim_ids)
        np.testing.assert_array_equal(ids, expected)
        np.testing.assert_array_equal(found >> np.uint64(32) if code_bits == 30 else found, codes[expected])


@pytest.mark.parametrize("blocks", [(16384, 64), (50, 64), (50, 7)])
def test_bounds_are_those_of_the_finite_points(
    target: Target, monkeypatch: pytest.MonkeyPatch, blocks: tuple[int, int]
) -> None:
    monkeypatch.setitem(morton_order._BOUNDS_BLOCKS, target.kind, blocks)
    order = MortonOrder(target, 30)
    for scene in (SCENES["degenerate"](), SCENES["one"](), soup(2000)):
        finite = scene.positions[np.isfinite(scene.positions).all(axis=1)]
        order.sort(scene.upload(target))
        np.testing.assert_array_equal(
            target.download(order.bounds), np.concatenate([finite.min(axis=0), finite.max(axis=0)])
        )


@pytest.mark.parametrize("code_bits", [30, 60])
@pytest.mark.parametrize("scale", [1e38, 1e-38, 1e-42])
def test_no_scale_is_too_large_or_too_small(exact_target: Target, scale: float, code_bits: int) -> None:
    """Places on a line, times the largest and the smallest floats there are: sorted from end to end, as far as floats
    tell them apart."""
    along = np.random.default_rng(3).permutation(np.linspace(-1, 1, 200))
    corners = np.zeros((200, 3, 3))
    corners[:, :, 0] = along[:, None]
    keys, prim_ids = MortonOrder(exact_target, code_bits).sort(
        scene_of((corners * scale).astype(np.float32)).upload(exact_target)
    )
    found = exact_target.download(keys)
    ids = (found & np.uint64(0xFFFFFFFF)).astype(int) if prim_ids is None else exact_target.download(prim_ids)
    steps = np.diff(along[ids])
    assert (steps >= -0.011).all() and along[ids][0] < -0.98 and along[ids][-1] > 0.98


def test_other_numbers_of_bits_are_refused(host_target: Target) -> None:
    with pytest.raises(ValueError, match="30 or 60 bits, not 45"):
        MortonOrder(host_target, 45)
