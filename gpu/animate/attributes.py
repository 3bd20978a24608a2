"""Colours, sizes and the selection of spheres by their attributes (attributes.cu), after they are placed: what the
options choose, on the target.

Only attributes that something is done by lie on the target, all their key frames at once, or in memory of the host
that launches read where spheres' key frames are there (device.key_stream). Other ranges and other colour maps are
written into arrays that are there; another attribute makes other arrays.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..attributes import SIMULATED, Column, SphereOptions, color_range, column, range_of, size_range
from ..camera import Vector
from ..rows import Row
from ..scene import Scene
from ..stats import AttributeCounts
from ..target.base import Array, Target, UnitSource
from .pose import Pose
from .spheres import SphereAnimator
from .structs import AttributeObject
from .tables import MAX_BLOCKS

_UNIT = UnitSource("gpu/animate/attributes.cu")
BINS = 128
COLORS = 256
_USES = ("color", "size", "selection", "counted")


@dataclasses.dataclass(frozen=True)
class AttributeRow(Row):
    """The options as kernels read them."""

    color_low: float = 0.0
    color_high: float = 1.0
    missing: Vector = (0.0, 0.0, 0.0)
    size_low: float = 0.0
    size_high: float = 1.0
    smallest: float = 1.0
    largest: float = 1.0
    select_from: float = 0.0
    select_to: float = 0.0
    hides_others: bool = False
    count_low: float = 0.0
    count_high: float = 1.0


class SphereAttributes:
    """Does to the spheres of a scene what the options last taken say; nothing where they name no attribute of it.
    `first_placement` is the first of their objects among those that are posed."""

    def __init__(self, target: Target, scene: Scene, spheres: SphereAnimator, first_placement: int) -> None:
        self._target, self._scene, self._spheres, self._first_placement = target, scene, spheres, first_placement
        self.options = SphereOptions()
        self._names: tuple[str, ...] = ("", "", "")
        self._colors = np.zeros((COLORS, 3), np.float32)
        self._values: Array = None
        self.live: dict[tuple[int, str], Array] = {}
        """The numbers of what a simulation gives, by group and name: it writes them before each launch."""
        self._objects: Array = None
        self._row = target.zeros(AttributeRow.floats(), np.float32, "animation")
        self._color_map = target.zeros((COLORS, 3), np.float32, "animation")
        self._counts = target.zeros((2, BINS + 2), np.int32, "animation")

    @property
    def is_active(self) -> bool:
        """Whether anything is done by an attribute that the scene has."""
        return self._objects is not None

    def take(self, options: SphereOptions, colors: np.ndarray) -> bool:
        """Take other options and the linear colours (COLORS, 3) of their map, between two frames; the spheres are
        others from the next launch on. Whether launches are others than before, too. TargetError, and nothing is
        changed, where the attributes do not fit on the target."""
        is_other = (*options.names, options.counted) != (*self.options.names, self.options.counted)
        if is_other:
            self._upload(options)
        self.options = options
        if self.is_active:
            self._target.write(self._row, np.array(self._row_of(options).numbers(), np.float32))
            self._target.write(self._color_map, np.asarray(colors, np.float32))
        return is_other

    def launch(self, tiles: Array | None, pose: Pose, part: int) -> None:
        """For spheres of the tiles, placed by now. `part` 0 is what moves, 1 what does not: each has counts of its
        own."""
        surface = self._spheres.surface
        if not self.is_active or surface is None:
            return
        counts = self._counts[part]
        self._target.fill(counts, 0)
        if tiles is None:
            return
        self._target.launch(
            self._target.unit(_UNIT),
            "apply_attributes",
            len(tiles),
            tiles=tiles,
            tile_count=len(tiles),
            **pose.keys,
            objects=self._objects,
            values=self._values,
            options=self._row,
            color_map=self._color_map,
            centres=surface.centres,
            radii=surface.radii,
            colours=surface.colours,
            counts=counts,
            blocks=min(len(tiles), MAX_BLOCKS),
        )

    def counts(self) -> AttributeCounts | None:
        """How many spheres have how much of the counted attribute at the instant last launched; None where nothing is
        done by one. Waits."""
        if not self.is_active:
            return None
        counts = self._target.download(self._counts).sum(axis=0, dtype=np.int64)
        name = self.options.counted
        low, high = range_of(self._scene, name) or (0.0, 1.0)
        return AttributeCounts(name, counts[:BINS], low, high, int(counts[BINS]), int(counts[BINS + 1]))

    # -- where the attributes are others ------------------------------------------------------------------------------
    def _row_of(self, options: SphereOptions) -> AttributeRow:
        return AttributeRow(
            *color_range(options, self._scene),
            options.missing,
            *size_range(options, self._scene),
            options.smallest,
            options.largest,
            options.select_from,
            options.select_to,
            options.others == "hidden",
            *(range_of(self._scene, options.counted) or (0.0, 1.0)),
        )

    def _upload(self, options: SphereOptions) -> None:
        """The numbers behind the names of all groups, each once, and where they lie."""
        parts: list[np.ndarray] = []
        places: dict[tuple[int, str], tuple[int, int, int, int]] = {}
        table = np.zeros(max(1, len(self._spheres.objects)), AttributeObject.dtype())
        length = 0
        for index, thing in enumerate(self._spheres.objects):
            group = self._scene.spheres[thing.spheres]
            for use, name in zip(_USES, (*options.names, options.counted), strict=True):
                found = column(group, name) if name else None
                if found is not None and (thing.spheres, name) not in places:
                    places[thing.spheres, name] = (length, *_shape(found), 0)
                    parts.append(np.asarray(found.values, np.float32).reshape(-1))
                    length += found.values.size
                table[use][index] = places.get((thing.spheres, name), (0, 0, 0, 0))
            table["first_slot"][index] = self._spheres.firsts[index]
            table["posed"][index] = self._first_placement + index
            table["has_colours"][index] = self._spheres.has_own_colours(index)
        objects: Array = None
        values: Array = None
        if parts:
            self._target.unit(_UNIT)  # compiled before a frame needs it
            values = self._spheres.upload_rows(np.concatenate(parts), "animation")
            objects = self._target.upload(table.view(np.uint8), "animation")
        self._spheres.forget_colours(bool(parts), bool(table["color"]["width"].any()))
        self._values, self._objects = values, objects
        self.live = {
            (group, name): values[first : first + len(self._scene.spheres[group].centres) * width]
            for (group, name), (first, _, width, _) in places.items()
            if self._scene.spheres[group].gravity is not None and name in SIMULATED
        }


def _shape(found: Column) -> tuple[int, int]:
    """From key to key, and of one sphere, in numbers."""
    keys, count, width = found.values.shape
    return (count * width if keys > 1 else 0), width
