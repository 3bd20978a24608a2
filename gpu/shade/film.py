"""The film: linear sums of the samples of one view, which sample comes next, and the key of what it shows.

It restarts when the key changes, and takes no further sample once it has its set number. Sums are three planes of float32 in ray order
(gpu/trace/ray_sources.cuh); `resolve` turns their mean into RGBA8.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..camera import Camera
from ..clip import HalfSpace
from ..target.base import Array, Target, UnitSource
from ..trace.trace import VIEW_FRAME, CameraRays, rays_of_picture, see_through
from . import srgb

_GOLDEN = np.array([0.7548776662466927, 0.5698402909980532])
"""Steps of the two-dimensional golden-ratio sequence (Roberts 2018): any number of first samples covers the pixel evenly."""


TONES = ("none", "reinhard", "filmic")
"""How linear colours become those of a screen, as tone.cuh numbers them."""


class Resolver:
    """What all films of a target share: the encoding tables and the kernel."""

    def __init__(self, target: Target) -> None:
        first_level, thresholds = srgb.encode_tables()
        self.first_level, self.thresholds = target.upload(first_level, "film"), target.upload(thresholds, "film")
        self.unit = target.unit(UnitSource("gpu/shade/film.cu", rays_per_thread=0))


class Film:
    """See the module. `samples` counts what the sums hold; `is_drawing` says whether this frame adds one; `generation` grows with new memory."""

    def __init__(self, target: Target, resolver: Resolver) -> None:
        self._target, self._resolver = target, resolver
        self._key: Hashable = None
        self._seen_from: Hashable = None
        self._frame = np.zeros((), VIEW_FRAME)
        self.frame = target.zeros(VIEW_FRAME.itemsize, np.uint8, "film")
        self.width = self.height = self.samples = self.generation = 0
        self.is_drawing = False
        self._memory: Array = None
        self._sums: Array = None

    @property
    def rays(self) -> CameraRays:
        """The primary rays of this frame; where it draws no sample, those of the one drawn last."""
        return CameraRays(self.frame, self.width, self.height)

    def first_rays(self) -> CameraRays:
        """The primary rays of the first sample of the picture, however many it has by now: each sample has its own. Outside a frame."""
        first = self._frame.copy()
        first["sample_index"], first["jitter"] = 0, sample_place(0, int(first["seed"]))
        return CameraRays(self._target.upload(first.reshape(1).view(np.uint8), "rays"), self.width, self.height)

    @property
    def sums(self) -> Array:
        """(3 * R,) float32: the planes of red, green and blue."""
        return self._sums

    def shows(self, camera: Camera, width: int, height: int, key: Hashable, seed: int = 0, clip: HalfSpace | None = None) -> bool:
        """Whether the next `begin` with these goes on with the samples there are."""
        return (key, camera, width, height, seed, clip) == self._key

    def begin(
        self,
        camera: Camera,
        width: int,
        height: int,
        key: Hashable,
        samples: int,
        seed: int = 0,
        exposure: float = 1.0,
        clip: HalfSpace | None = None,
        tone: str = "none",
    ) -> bool:
        """Take up a frame: restart where `key` or the size differs from what the film shows, choose the sample, write what kernels read.
        True where a sample is to be drawn."""
        key = (key, camera, width, height, seed, clip)
        if key != self._key:
            self._key, self.samples = key, 0
            self.width, self.height = width, height
            self._reserve(3 * rays_of_picture(width, height))
        self.is_drawing = self.samples < max(1, samples)
        self.samples += 1 if self.is_drawing else 0
        self._frame["sample_index"] = self.samples - 1
        self._frame["sample_count"] = self.samples
        if (camera, width, height, clip) != self._seen_from:
            self._seen_from = (camera, width, height, clip)
            see_through(self._frame, camera, width, height, clip)
        self._frame["seed"], self._frame["tone"] = seed, TONES.index(tone)
        self._frame["jitter"], self._frame["exposure"] = sample_place(int(self._frame["sample_index"]), seed), exposure
        self._target.write(self.frame, self._frame.reshape(1).view(np.uint8))
        return self.is_drawing

    def _reserve(self, count: int) -> None:
        # Capacity grows in steps, so that a window dragged larger, or a resolution that adapts, does not allocate at every size.
        if self._memory is None or len(self._memory) < count:
            self._memory = self._target.empty(count if self._memory is None else count + count // 8, np.float32, "film")
            self.generation += 1
        self._sums = self._memory[:count]

    def restart(self) -> None:
        """Forget the samples: the next frame draws the first one."""
        self._key = None

    def resolve(self, image: Array) -> None:
        """Write the mean of the samples into `image` (height, width, 4) uint8 of the target."""
        packs = rays_of_picture(self.width, self.height) // self._target.lane_count
        tables = (self._resolver.first_level, self._resolver.thresholds)
        self._target.launch(self._resolver.unit, "resolve_film", packs, self.frame, self._sums, packs, *tables, image)


def sample_place(index: int, seed: int) -> np.ndarray:
    """Where in its pixel a sample lies, float64 (2,) in [0, 1): the centre for the first sample of seed 0."""
    return (0.5 + (index + 7919 * seed) * _GOLDEN) % 1.0
