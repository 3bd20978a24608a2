"""Every builder, optimiser and layout with as many primitives as there can be: nothing runs and nothing is reserved,
but every launch says how many items and which numbers it would be given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.optimisers import optimiser_classes
from raygrove.gpu.hierarchy.primitives import MAX_WIDE_PRIMITIVES, sphere_primitives
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import MOST_ITEMS, Array, DeviceCount, Unit, item_count
from tests.gpu.target.recording import RecordingTarget

MOST = MAX_WIDE_PRIMITIVES - 1
BUILDERS = [name for name, kind in structures().items() if issubclass(kind, BvhHierarchy) and kind.most_wide_leaf > 0]
CHOICES = [(name, "bvh2", "none") for name in BUILDERS]
CHOICES += [("lbvh", layout, "none") for layout in structures()["lbvh"].layouts()]
CHOICES += [("lbvh", "bvh2", name) for name in optimiser_classes()]


class BoundlessTarget(RecordingTarget):
    """Arrays of any size, all of whose places are one; what works on them does nothing."""

    def __init__(self) -> None:
        super().__init__(is_dry=True)
        self.launches = 0

    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        return np.broadcast_to(np.zeros((), dtype), shape)

    zeros = empty

    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        return self.empty(shape, dtype, "scratch")

    def upload(self, values: np.ndarray, tag: str) -> Array:
        return values

    def fill(self, array: Array, value: float) -> None:
        pass

    def write(self, array: Array, values: np.ndarray) -> None:
        pass

    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str) -> Array:
        self.check_sort(keys, bits)
        return keys

    def sort_pairs(self, keys: Array, values: Array, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        self.check_sort(keys, bits)
        return keys, values

    def check_sort(self, keys: Array, bits: tuple[int, int]) -> None:
        assert len(keys) <= MOST_ITEMS and 0 <= bits[0] < bits[1] <= 8 * keys.itemsize

    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None:
        assert len(values) <= MOST_ITEMS

    def launch(self, unit: Unit, kernel: str, n: int | DeviceCount, /, **arguments: Any) -> None:
        self.launches += 1
        item_count(kernel, n)
        for name, value in arguments.items():
            if isinstance(value, int | np.integer):
                assert abs(int(value)) < 1 << 31, f"{kernel}, {name}: {value:,}"


@pytest.mark.parametrize(("name", "layout", "optimiser"), CHOICES)
def test_no_launch_needs_a_number_past_32_bits(name: str, layout: str, optimiser: str) -> None:
    target = BoundlessTarget()
    options = {"extra_references": 0.0} if name == "sbvh" else {}
    kind = structures()[name]
    made = kind(target, StructureChoice(kind.Options(**options), layout, optimiser=optimiser))
    assert isinstance(made, BvhHierarchy)
    spheres = sphere_primitives(target.empty((MOST, 3), np.float32, "test"), target.empty(MOST, np.float32, "test"))
    made.build(spheres)
    if made.capabilities.refit:
        made.refit(spheres)
    made.measure()
    made.traversal()
    assert target.launches > 3 and sum(made.memory()) < 1 << 37
    target.close()
