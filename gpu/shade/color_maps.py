"""Colour maps of heat maps, (MAP_COLORS, 3) uint8 sRGB. Light grows evenly along all of them but `spectrum`, which
trades that for more hues, and `blue_white_brown`, for values on both sides of a middle."""

from __future__ import annotations

import functools

import numpy as np

POINTS = {
    "viridis": ("440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"),
    "magma": ("000004", "180f3d", "440f76", "721f81", "9e2f7f", "cd4071", "f1605d", "fd9668", "feca8d", "fcfdbf"),
    "plasma": ("0d0887", "46039f", "7201a8", "9c179e", "bd3786", "d8576b", "ed7953", "fb9f3a", "fdca26", "f0f921"),
    "cividis": ("00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"),
    "inferno": ("000004", "1b0c41", "4a0c6b", "781c6d", "a52c60", "cf4446", "ed6925", "fb9b06", "f7d13d", "fcffa4"),
    "grey": ("000000", "ffffff"),
    "blue_white_brown": ("2166ac", "f7f7f7", "b35806"),
}
"""Equally spaced points of each map (viridis, magma, plasma, inferno: van der Walt and Smith 2015, CC0; cividis: Nunez,
Anderton and Renslow 2018; the ends of blue_white_brown: Brewer 2013)."""

NAMES = ("viridis", "cividis", "inferno", "grey", "magma", "plasma", "spectrum", "blue_white_brown")
"""All maps, the default first."""

MAP_COLORS = 256


@functools.cache
def color_map(name: str) -> np.ndarray:
    """The map of that name, one of NAMES; it can be read alone."""
    found = _spectrum() if name == "spectrum" else _between(name)
    found.setflags(write=False)
    return found


def _between(name: str) -> np.ndarray:
    """Straight between the points of a map."""
    points = np.array([[int(point[i : i + 2], 16) for i in (0, 2, 4)] for point in POINTS[name]], np.float64)
    places = np.linspace(0.0, len(points) - 1.0, MAP_COLORS)
    columns = [np.interp(places, np.arange(len(points)), points[:, channel]) for channel in range(3)]
    return np.round(np.stack(columns, axis=1)).astype(np.uint8)


def _spectrum() -> np.ndarray:
    """From dark blue by cyan, green and yellow to dark red: three humps of equal width, smooth at both feet."""
    places = np.linspace(0.0, 1.0, MAP_COLORS)[:, None]
    rise = np.clip(1.6 - np.abs(4.0 * places - np.array([3.05, 2.0, 0.95])), 0.0, 1.0)
    return np.round(255.0 * rise * rise * (3.0 - 2.0 * rise)).astype(np.uint8)
