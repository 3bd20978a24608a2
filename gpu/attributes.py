"""Spheres by their attributes: the options, and what a name stands for. Plain values.

A name is that of an attribute of any spheres of the scene: a number, or of a vector its length. `name.x`, `.y`, `.z`,
or `name.0` and on, is a component. `radius` and `position` are attributes of all spheres, as they are before nodes move
them. Between two key frames values are interpolated as centres are; where only one of the two has a value, the nearer
key frame decides. What is not finite is no value.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Iterator

import numpy as np

from .camera import Vector
from .scene import Attribute, Scene, Spheres
from .settings import option

COMPONENTS = "xyzw"
FAR = 1e30
OTHERS = ("hidden", "dimmed")
MAPS = ("viridis", "cividis", "inferno", "grey", "magma", "plasma", "spectrum", "blue_white_brown")
"""Names of color_maps.py of gpu/shade."""


@dataclasses.dataclass(frozen=True)
class SphereOptions:
    """Colours, sizes and the selection of spheres by their attributes."""

    color_by: str = option(
        "",
        "The attribute that colours spheres: a name of the file (of a vector its length), name.x for a component, "
        "radius or position.x; empty for their own colours.",
    )
    colors: str = option("viridis", "The colour map.", choices=MAPS)
    automatic: bool = option(True, "Let the colours span all values that the attribute takes in the whole animation.")
    minimum: float = option(
        0.0, "What gets the first colour, where the range is not automatic.", minimum=-FAR, maximum=FAR
    )
    maximum: float = option(
        1.0, "What gets the last colour, where the range is not automatic.", minimum=-FAR, maximum=FAR
    )
    missing: Vector = option(
        (1.0, 0.0, 1.0),
        "Linear colour of spheres that have no value: NaN in the file.",
        minimum=0.0,
        maximum=1.0,
        is_color=True,
    )
    size_by: str = option("", "The attribute that sizes spheres; empty for their own radii.")
    smallest: float = option(
        0.25, "Factor on the radius where the attribute is at its minimum.", minimum=0.0, maximum=1e3
    )
    largest: float = option(
        1.0, "Factor on the radius where the attribute is at its maximum.", minimum=0.0, maximum=1e3
    )
    size_automatic: bool = option(True, "Let sizes span all values that the attribute takes in the whole animation.")
    size_minimum: float = option(
        0.0, "What gets the smallest size, where that range is not automatic.", minimum=-FAR, maximum=FAR
    )
    size_maximum: float = option(
        1.0, "What gets the largest size, where that range is not automatic.", minimum=-FAR, maximum=FAR
    )
    select_by: str = option("", "The attribute that selects spheres; empty selects all.")
    select_from: float = option(-FAR, "Spheres with a smaller value are not selected.", minimum=-FAR, maximum=FAR)
    select_to: float = option(FAR, "Spheres with a greater value are not selected.", minimum=-FAR, maximum=FAR)
    others: str = option("hidden", "What becomes of spheres that are not selected.", choices=OTHERS)

    @property
    def names(self) -> tuple[str, str, str]:
        """The attributes of colours, sizes and the selection; empty for none."""
        return self.color_by, self.size_by, self.select_by

    @property
    def sizing(self) -> tuple[object, ...]:
        """What decides how large spheres are, and which of them are there."""
        sizes = (self.size_by, self.smallest, self.largest, self.size_automatic, self.size_minimum, self.size_maximum)
        return (*sizes, self.select_by, self.select_from, self.select_to, self.others)

    @property
    def counted(self) -> str:
        """The attribute whose histogram is kept: that of the selection, else of colours, else of sizes."""
        return self.select_by or self.color_by or self.size_by


@dataclasses.dataclass(frozen=True, eq=False)
class Column:
    """The numbers behind a name, of one group of spheres: `values` (K, N, C), K 1 where they do not change and C more
    than 1 where the value is their length."""

    values: np.ndarray
    unit: str = ""


def column(group: Spheres, name: str) -> Column | None:
    """What a name stands for in a group of spheres, without a copy; None where it has no such attribute."""
    known = {attribute.name: attribute for attribute in (*_of_all(group), *group.attributes)}
    if name in known:
        return Column(_columns(group, known[name]), known[name].unit)
    stem, _, part = name.rpartition(".")
    place = COMPONENTS.find(part) if len(part) == 1 and part in COMPONENTS else int(part) if part.isdecimal() else -1
    if stem not in known or place < 0:
        return None
    values = _columns(group, known[stem])
    return Column(values[..., place : place + 1], known[stem].unit) if place < values.shape[2] else None


def names_of(scene: Scene) -> tuple[str, ...]:
    """All names that stand for something in the scene, those of the file first, each vector before its components."""
    found: dict[str, None] = {}
    for group in scene.spheres:
        for attribute in group.attributes:
            found |= dict.fromkeys(_names(group, attribute))
    for group in scene.spheres:
        for attribute in _of_all(group):
            found |= dict.fromkeys(_names(group, attribute))
    return tuple(found)


def unit_of(scene: Scene, name: str) -> str:
    """The unit of what a name stands for; empty where it has none."""
    columns = (column(group, name) for group in scene.spheres)
    return next((found.unit for found in columns if found is not None and found.unit), "")


def label_of(scene: Scene, name: str) -> str:
    """The name and its unit, as a legend has it."""
    unit = unit_of(scene, name)
    return f"{name} ({unit})" if unit and len(unit) <= LONGEST_UNIT else name


LONGEST_UNIT = 16
"""A longer unit is a list of what numbers mean: no room for that beside a name."""
_RANGES: weakref.WeakKeyDictionary[Scene, dict[str, tuple[float, float, bool]]] = weakref.WeakKeyDictionary()


def range_of(scene: Scene, name: str) -> tuple[float, float] | None:
    """The least and the greatest value in all key frames of all spheres of the scene, the second above the first; None
    where there is none. Counted once for a scene and a name."""
    low, high, _ = _found(scene, name)
    return None if high < low else (low, high if high > low else _above(low))


def has_missing(scene: Scene, name: str) -> bool:
    """Whether a sphere of those that have the attribute lacks a value in a key frame in which it is there."""
    return _found(scene, name)[2]


def color_range(options: SphereOptions, scene: Scene) -> tuple[float, float]:
    """The values of the first and the last colour."""
    return _chosen(options.automatic, options.minimum, options.maximum, scene, options.color_by)


def size_range(options: SphereOptions, scene: Scene) -> tuple[float, float]:
    """The values of the smallest and the largest size."""
    return _chosen(options.size_automatic, options.size_minimum, options.size_maximum, scene, options.size_by)


SIMULATED = ("position", "position.x", "position.y", "position.z", "speed")
"""What a simulation gives of its spheres as they move (scene.Gravity); their values in the scene are those of the
start."""


def values_at(group: Spheres, sphere: int, time: float) -> tuple[Attribute, ...]:
    """The attributes of one sphere at an instant in seconds, (1,) or (1, C) each, float64."""
    return tuple(
        dataclasses.replace(one, values=_at(group, _columns(group, one)[:, sphere], time).reshape(_shape(group, one)))
        for one in group.attributes
    )


def curve_of(group: Spheres, sphere: int, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Times (K,) of the key frames and the values (K,) float64 of what a name stands for, of one sphere; NaN where it
    has none. One instant where nothing changes; None for an unknown name, and for what is simulated."""
    found = column(group, name)
    if found is None or (group.gravity is not None and name in SIMULATED):
        return None
    keys, values = group.key_frames, lengths(found.values[:, sphere].astype(np.float64))
    times = np.zeros(1) if keys is None else np.asarray(keys.times, np.float64)
    return times, np.broadcast_to(values, len(times)).copy()


def lengths(values: np.ndarray) -> np.ndarray:
    """The numbers of (..., C): the only one, or the length of the vector."""
    return values[..., 0] if values.shape[-1] == 1 else np.linalg.norm(values, axis=-1)


def _of_all(group: Spheres) -> Iterator[Attribute]:
    keys = group.key_frames
    yield Attribute("radius", group.radii if keys is None or keys.radii is None else keys.radii)
    yield Attribute("position", group.centres if keys is None else keys.centres)


def _columns(group: Spheres, attribute: Attribute) -> np.ndarray:
    values = attribute.values if group.has_keys(attribute) else attribute.values[None]
    return values.reshape(*values.shape[:2], -1)


def _names(group: Spheres, attribute: Attribute) -> list[str]:
    width = _columns(group, attribute).shape[2]
    parts = COMPONENTS[:width] if width <= len(COMPONENTS) else map(str, range(width))
    return [attribute.name, *(f"{attribute.name}.{part}" for part in parts if width > 1)]


def _shape(group: Spheres, attribute: Attribute) -> tuple[int, ...]:
    return (1, *attribute.values.shape[2 if group.has_keys(attribute) else 1 :])


def _chosen(automatic: bool, low: float, high: float, scene: Scene, name: str) -> tuple[float, float]:
    found = range_of(scene, name) if automatic else (low, high)
    low, high = found or (0.0, 1.0)
    return low, high if high > low else _above(low)


def _found(scene: Scene, name: str) -> tuple[float, float, bool]:
    known = _RANGES.setdefault(scene, {})
    if name not in known:
        known[name] = _range(scene, name)
    return known[name]


def _range(scene: Scene, name: str) -> tuple[float, float, bool]:
    """The least value, the greatest, and whether one is missing."""
    low, high, is_missing = np.inf, -np.inf, False
    for group in scene.spheres:
        found, radii = column(group, name), column(group, "radius")
        assert radii is not None, "all spheres have one"
        for key, frame in enumerate(() if found is None else found.values):
            values = lengths(frame)
            is_value = np.isfinite(values)
            if not is_value.all():
                there = lengths(radii.values[key if len(radii.values) > 1 else 0]) > 0.0
                is_missing = is_missing or bool((there & ~is_value).any())
                values = values[is_value]
            if len(values):
                low, high = min(low, float(values.min())), max(high, float(values.max()))
    return low, high, is_missing


def _above(low: float) -> float:
    """The end of a range that begins with `low` and has no end of its own, above it as a float32 too."""
    return low + max(1.0, abs(low) * 1e-3)


def _at(group: Spheres, values: np.ndarray, time: float) -> np.ndarray:
    """Of (K, C) those at a time; where one of two neighbours is not finite, the nearer one's."""
    if len(values) == 1 or group.key_frames is None:
        return values[0].astype(np.float64)
    times = np.asarray(group.key_frames.times, np.float64)
    after = int(np.clip(np.searchsorted(times, time, side="right"), 1, len(times) - 1))
    span = times[after] - times[after - 1]
    share = float(np.clip((time - times[after - 1]) / span, 0.0, 1.0)) if span > 0.0 else 0.0
    before, behind = values[after - 1].astype(np.float64), values[after].astype(np.float64)
    nearer = before if share < 0.5 else behind
    with np.errstate(invalid="ignore"):
        mixed = before + (behind - before) * share
    return np.where(np.isfinite(before) & np.isfinite(behind), mixed, nearer)
