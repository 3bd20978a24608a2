"""Light from all directions: what is chosen is what is found there, as often as the density says."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.scene import Environment
from raygrove.gpu.shade.environment import EnvironmentMap, sampling_tables
from raygrove.gpu.target.base import Target, UnitSource
from tests.gpu.near import are_near

COUNT = 1 << 14


def run(target: Target, kernel: str, sky: EnvironmentMap, rows: np.ndarray, turn: float = 0.0) -> np.ndarray:
    unit, n = target.unit(UnitSource("tests/gpu/shade/environment.cu", rays_per_thread=0)), rows.shape[1]
    results = target.zeros((7 if kernel == "choose" else 4, n), np.float32, "test")
    given = target.upload(np.ascontiguousarray(rows, np.float32), "test")
    rows_by_name = {"numbers" if kernel == "choose" else "directions": given}
    environment = sky.view(2.0, turn)
    target.launch(unit, kernel, n // target.lane_count, environment=environment, **rows_by_name, n=n, results=results)
    return target.download(results).astype(np.float64)


def sky_of(seed: int) -> np.ndarray:
    pixels = np.random.default_rng(seed).uniform(0.0, 1.0, (10, 22, 3)) ** 6
    pixels[3, 5], pixels[7] = 40.0, 0.0
    return pixels.astype(np.float32)


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_what_is_chosen_is_found_there(target: Target, turn: float) -> None:
    sky = EnvironmentMap(target, Environment("sky", sky_of(1)))
    chosen = run(target, "choose", sky, np.random.default_rng(2).random((3, COUNT)), turn)
    found = run(target, "look", sky, chosen[:3], turn)
    assert are_near(np.linalg.norm(chosen[:3], axis=0), np.ones(1), abs=1e-5)
    same = np.abs(found[:3] - chosen[3:6]).max(axis=0) < 1e-4
    assert same.mean() > 0.998, "but at the edges of texels"
    assert are_near(found[3][same], chosen[6][same], rel=1e-3)


def test_the_density_integrates_to_one_and_follows_the_light(target: Target) -> None:
    pixels = sky_of(3)
    sky = EnvironmentMap(target, Environment("sky", pixels))
    index = np.arange(COUNT) + 0.5
    z, angle = 1.0 - 2.0 * index / COUNT, np.pi * (1.0 + 5.0**0.5) * index
    side = np.sqrt(1.0 - z * z)
    found = run(target, "look", sky, np.stack([side * np.cos(angle), z, side * np.sin(angle)]))
    assert found[3].mean() * 4.0 * np.pi == pytest.approx(1.0, abs=0.01)
    chosen = run(target, "choose", sky, np.random.default_rng(4).random((3, COUNT)))
    whole = found[:3].mean(axis=1) * 4.0 * np.pi
    assert (chosen[3:6] / chosen[6]).mean(axis=1) == pytest.approx(whole, rel=0.03)


def test_directions_are_where_the_picture_has_them(target: Target) -> None:
    pixels = np.zeros((4, 8, 3), np.float32)
    pixels[0], pixels[3] = (0, 0, 1), (0, 1, 0)  # up is blue, down is green
    pixels[1:3, 3:5] = (1, 0, 0)  # the middle column is towards -z
    pixels[1:3, 5:7] = (1, 1, 0)  # right of it +x
    sky = EnvironmentMap(target, Environment("sky", pixels))
    directions = np.array([[0, 0, 0, 1.0, np.nan, 0.0], [1, -1, 0, 0.0, np.nan, 0.0], [0, 0, -1, 0.0, np.nan, 0.0]])
    found = run(target, "look", sky, np.pad(directions, ((0, 0), (0, 10))))[:3].T / 2.0
    assert found[:4].tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0]]


def test_black_is_never_chosen_unless_all_is() -> None:
    rows, columns = sampling_tables(sky_of(5))
    assert rows[7] == rows[6] and rows[-1] == 1.0 and np.all(np.diff(rows) >= 0) and np.all(columns[:, -1] == 1.0)
    rows, columns = sampling_tables(np.zeros((3, 6, 3), np.float32))
    assert np.all(np.diff(rows, prepend=0.0) > 0.3) and np.all(np.diff(columns[1], prepend=0.0) > 0.1)
