"""The film: exact sRGB, samples that add up, restarts, and the order of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.shade import srgb
from raygrove.gpu.shade.film import TONES, Film, Resolver, sample_place
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import pixel_order


def fill_sums(target: Target, film: Film, colors: np.ndarray) -> None:
    """Give the film the colours (height, width, 3) of its pixels."""
    x, y = pixel_order(film.width, film.height)
    inside = (x < film.width) & (y < film.height)
    planes = np.zeros((3, len(x)), np.float32)
    planes[:, inside] = colors[y[inside], x[inside]].T
    target.write(film.sums, planes.reshape(-1))


def begin(
    film: Film, width: int, height: int, key: str = "key", samples: int = 1, most_rows: int = 0, **shown: Any
) -> bool:
    """Take the film to its next sample; whether there is one."""
    film.next_sample(key, width, height, samples, most_rows)
    film.begin(Camera(), **shown)
    return film.is_drawing


def resolved(target: Target, film: Film) -> np.ndarray:
    pixels = ArrayPixels(target, film.width, film.height)
    with pixels.map() as image:
        film.resolve(image)
    return pixels.download()


def oracle(linear: np.ndarray) -> np.ndarray:
    """sRGB bytes in float64, rounded half up."""
    return np.floor(srgb.encode(linear.astype(np.float64)) * 255.0 + 0.5).astype(np.uint8)


def test_the_transfer_function_is_the_standards() -> None:
    assert srgb.encode(np.array([0.0, 0.0031308, 0.18, 0.5, 1.0])) == pytest.approx(
        [0.0, 0.04045, 0.46136, 0.73536, 1.0], abs=1e-5
    )
    bytes_ = np.arange(256) / 255.0
    assert np.allclose(srgb.encode(srgb.decode(bytes_)), bytes_, atol=1e-7)
    assert np.array_equal(srgb.decode_table()[:256], bytes_.astype(np.float32))


def test_bytes_are_exactly_rounded(target: Target) -> None:
    # Every threshold between two bytes with its neighbours in float32, random values, and what lies outside.
    edges = srgb.decode((np.arange(1, 256) - 0.5) / 255.0).astype(np.float32)
    near = [edges]
    for direction in (-np.inf, np.inf):
        moved = edges
        for _ in range(3):
            moved = np.nextafter(moved, np.float32(direction))
            near.append(moved)
    rng = np.random.default_rng(0)
    outside = np.array([-1.0, -0.0, 0.0, 1e-40, 1.0, 1.5, 1e30, np.inf], np.float32)
    values = np.concatenate([*near, rng.uniform(0, 1, 60_000), rng.uniform(0, 0.01, 20_000), outside]).astype(
        np.float32
    )
    values = np.resize(values, (149, 211, 3))
    film = Film(target, Resolver(target))
    assert begin(film, 211, 149)
    fill_sums(target, film, values)
    image = resolved(target, film)
    assert np.array_equal(image[..., :3], oracle(values))
    assert np.all(image[..., 3] == 255)


def test_what_is_not_a_number_is_black(target: Target) -> None:
    film = Film(target, Resolver(target))
    begin(film, 8, 8)
    fill_sums(target, film, np.full((8, 8, 3), np.nan, np.float32))
    assert np.all(resolved(target, film)[..., :3] == 0)


def test_exposure_and_mean(target: Target) -> None:
    film = Film(target, Resolver(target))
    for sample in range(4):
        assert begin(film, 13, 5, "key", 4, exposure=2.0)
        assert film.samples == sample + 1
    fill_sums(target, film, np.full((5, 13, 3), 0.25 * 4, np.float32))
    assert np.all(resolved(target, film)[..., :3] == oracle(np.array(0.5)))
    assert not begin(film, 13, 5, "key", 4, exposure=1.0)
    assert film.samples == 4
    assert np.all(resolved(target, film)[..., :3] == oracle(np.array(0.25)))


def test_the_film_restarts_when_its_key_changes(target: Target) -> None:
    film = Film(target, Resolver(target))
    begin(film, 16, 16, "key", 3)
    for size, key in (((16, 16), "seen from elsewhere"), ((17, 16), "seen from elsewhere"), ((16, 16), "other")):
        assert begin(film, *size, key, 3) and film.samples == 1
    begin(film, 16, 16, "other", 3)
    assert film.samples == 2
    begin(film, 16, 16, "other", 9)
    assert film.samples == 3, "asking for more samples goes on where it was"
    film.restart()
    begin(film, 16, 16, "other", 9)
    assert film.samples == 1


def test_memory_grows_in_steps_and_never_for_a_smaller_picture(target: Target) -> None:
    film = Film(target, Resolver(target))
    begin(film, 320, 240)
    reserved = target.memory()["film"]
    for size in ((160, 120), (320, 240), (8, 8)):
        begin(film, *size)
        assert target.memory()["film"] == reserved
    begin(film, 328, 240)
    grown = target.memory()["film"]
    begin(film, 344, 240)
    assert target.memory()["film"] == grown


def test_samples_cover_the_pixel_from_its_centre() -> None:
    assert np.array_equal(sample_place(0, 0), [0.5, 0.5])
    places = np.array([sample_place(index, 0) for index in range(64)])
    counts = np.histogram2d(places[:, 0], places[:, 1], bins=4, range=[[0, 1], [0, 1]])[0]
    assert counts.min() >= 2 and counts.max() <= 6
    assert not np.array_equal(sample_place(0, 1), sample_place(0, 0))


@pytest.mark.parametrize("tone", TONES)
def test_tones_press_light_together(target: Target, tone: str) -> None:
    random = np.random.default_rng(3)
    values = np.concatenate([random.uniform(0, 2, (60, 7, 3)), 10.0 ** random.uniform(-4, 6, (60, 7, 3))]).astype(
        np.float32
    )
    film = Film(target, Resolver(target))
    begin(film, 7, 120, tone=tone, exposure=0.5)
    fill_sums(target, film, values)
    x = values.astype(np.float64) * 0.5
    light = x @ [0.2126, 0.7152, 0.0722]
    wanted = {
        "none": x,
        "reinhard": x / (1 + light[..., None]),
        "filmic": x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14),
    }[tone]
    image = resolved(target, film)[..., :3].astype(int)
    assert np.abs(image - oracle(wanted)).max() <= 1
    assert (image == 255).all(axis=-1).mean() < {"none": 0.7, "reinhard": 0.02, "filmic": 0.5}[tone]
