"""Lane packs of 1, 8 and 16 against numpy: the same text, one number or a vector at a time.

The host's packs have three bodies (AVX-512, AVX2, plain vectors): `processors` compiles for each that this machine can
run.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import numpy as np
import pytest

from raygrove.gpu.target.base import Target
from raygrove.testing import make_target

from .units import run_kernel

PACKS = 37
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, -3e38, 2.0, 0.5]


def can_run(architecture: str) -> bool:
    """Whether this processor knows an x86-64 level."""
    needed = {
        "x86-64": (),
        "x86-64-v3": ("avx2", "fma", "bmi2"),
        "x86-64-v4": ("avx2", "avx512f", "avx512vl", "avx512dq", "avx512bw"),
    }
    flags = pathlib.Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split()
    return set(needed[architecture]) <= set(flags)


@pytest.fixture(
    scope="module", params=["x86-64", "x86-64-v3", "x86-64-v4", pytest.param("cuda", marks=pytest.mark.cuda)]
)
def processors(request: pytest.FixtureRequest) -> Iterator[Target]:
    """A host target for each level of vector instructions, and CUDA."""
    if request.param != "cuda" and not can_run(request.param):
        pytest.skip(f"this processor has no {request.param} instructions")
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "cuda":
            patch.setenv("RAYGROVE_HOST_FLAGS", f"-march={request.param}")
        made = make_target("cuda" if request.param == "cuda" else "host", contraction=False)
        yield made
        made.close()


@pytest.fixture(params=[1, 8, 16])
def width(request: pytest.FixtureRequest, processors: Target) -> int:
    """Lanes of a pack; CUDA works one at a time."""
    if processors.kind == "cuda" and request.param > 1:
        pytest.skip("a CUDA thread works one lane")
    return int(request.param)


def numbers(width: int, seed: int) -> np.ndarray:
    """PACKS packs of floats, awkward ones among them."""
    random = np.random.default_rng(seed)
    values = random.normal(scale=10, size=PACKS * width).astype(np.float32)
    places = random.integers(0, len(values), len(values) // 2)
    values[places] = random.choice(np.array(SPECIAL, np.float32), len(places))
    return values


def as_bits(is_set: np.ndarray, width: int) -> np.ndarray:
    return (is_set.reshape(PACKS, width).astype(np.int64) << np.arange(width)).sum(1)


def test_reals(processors: Target, width: int) -> None:
    a, b = numbers(width, 1), numbers(width, 2)
    places = np.random.default_rng(3).integers(0, len(a), len(a)).astype(np.int32)
    rows = run_kernel(
        processors,
        "lanes",
        "compute_reals",
        PACKS,
        a,
        b,
        places,
        PACKS,
        np.zeros((21, len(a)), np.float32),
        width=width,
    )[-1]
    with np.errstate(all="ignore"):
        lanes = np.tile(np.arange(width, dtype=np.float32), PACKS)
        # With a NaN, the host's min and max give the second argument, CUDA's the other one (vec.cuh).
        chosen, larger = np.where(a < b, a, b), np.where(a > b, a, b)
        smaller = chosen
        if processors.kind == "cuda":
            smaller, larger = np.fmin(a, b), np.fmax(a, b)
        expected = [a + b, a - b, a * b, a / b, -a, smaller, larger, np.abs(a), np.sqrt(np.abs(a)), chosen]
        expected += [a + 2, 2 - a, a * 3, 1 / b, a[places], lanes, np.full_like(a, 7.5)]
        expected += [a / 4, np.floor(a), np.ceil(a), np.full_like(a, 2.5)]
    for row, (found, wanted) in enumerate(zip(rows, expected, strict=True)):
        np.testing.assert_array_equal(found, wanted.astype(np.float32), err_msg=f"row {row}")


def test_integers(processors: Target, width: int) -> None:
    random = np.random.default_rng(4)
    a, b = (random.integers(-1000, 1000, PACKS * width).astype(np.int32) for _ in range(2))
    rows = run_kernel(
        processors, "lanes", "compute_ints", PACKS, a, b, PACKS, np.zeros((13, len(a)), np.int32), width=width
    )[-1]
    lanes = np.tile(np.arange(width), PACKS)
    expected = [
        a + b,
        a - b,
        a * b,
        a & b,
        a | b,
        a + 5,
        a & 255,
        a * 4,
        a >> 3,
        np.where(a < b, a, b),
        np.full_like(a, -9),
        lanes,
        np.bitwise_count(a.view(np.uint32)),
    ]
    np.testing.assert_array_equal(rows, np.array(expected))


def test_masks(processors: Target, width: int) -> None:
    a, b = numbers(width, 5), numbers(width, 6)
    a[::7] = b[::7]
    a[:width], b[:width] = 1, 2
    a[width : 2 * width], b[width : 2 * width] = 2, 1
    i = np.random.default_rng(7).integers(0, 6, len(a)).astype(np.int32)
    rows = run_kernel(
        processors, "lanes", "compute_masks", PACKS, a, b, i, PACKS, np.zeros((14, PACKS), np.uint32), width=width
    )[-1]
    less, positive, pack = a < b, a > 0, np.arange(PACKS)
    comparisons = [less, a <= b, a > b, a >= b, a == b, less & positive, less | positive, ~less]
    expected = [as_bits(c, width) for c in comparisons]
    expected += [less.reshape(PACKS, width).any(1), less.reshape(PACKS, width).all(1)]
    expected += [
        (pack * 40503) & (2**width - 1),
        pack % 2 * (2**width - 1),
        as_bits(i == 3, width),
        as_bits(i < 3, width),
    ]
    for row, (found, wanted) in enumerate(zip(rows, expected, strict=True)):
        np.testing.assert_array_equal(found, wanted, err_msg=f"row {row}")


def test_folds(processors: Target, width: int) -> None:
    random = np.random.default_rng(8)
    a, b = (random.normal(size=PACKS * width).astype(np.float32) for _ in range(2))
    a[:width], b[:width] = 2, 1
    out = [np.zeros(PACKS, np.float32), np.zeros(PACKS, np.float32), np.zeros_like(a)]
    _, _, minima, maxima, shifted = run_kernel(processors, "lanes", "fold_lanes", PACKS, a, b, PACKS, *out, width=width)
    packed, is_set = a.reshape(PACKS, width), (a < b).reshape(PACKS, width)
    largest = np.finfo(np.float32).max
    np.testing.assert_array_equal(minima, np.where(is_set, packed, largest).min(1))
    np.testing.assert_array_equal(maxima, np.where(is_set, packed, -largest).max(1))
    np.testing.assert_array_equal(shifted, np.roll(packed, -1, axis=1).ravel())


def test_inverse_directions_are_clamped(processors: Target, width: int) -> None:
    directions = np.resize(np.array([0.0, -0.0, 1e-30, -1e-30, 0.5, -2.0, 1.0, 1e-19], np.float32), PACKS * width)
    _, inverses = run_kernel(
        processors, "lanes", "invert_directions", PACKS, directions, PACKS, np.zeros_like(directions), width=width
    )
    assert np.all(np.isfinite(inverses * np.float32(1e18)))
    tiny = np.abs(directions) < 1e-20
    np.testing.assert_array_equal(inverses[~tiny], 1 / directions[~tiny])
    np.testing.assert_allclose(np.abs(inverses[tiny]), 1e20, rtol=1e-6)
    assert np.all((inverses < 0) == (directions < 0))


def test_fours_come_from_a_place_of_each_lane(processors: Target, width: int) -> None:
    random = np.random.default_rng(8)
    fours, places = random.random((50, 4)).astype(np.float32), random.integers(0, 50, PACKS * width).astype(np.int32)
    *_, rows = run_kernel(
        processors,
        "lanes",
        "load_fours_from",
        PACKS,
        fours,
        places,
        PACKS,
        np.zeros((4, PACKS * width), np.float32),
        width=width,
    )
    np.testing.assert_array_equal(rows, fours[places].T)
