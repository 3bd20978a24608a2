"""The film: linear sums of the samples of one view, which sample comes next, and the key of what it shows.

It restarts when the key changes, and takes no further sample once it has its set number. A sample may come some rows at
a time, one frame after the other; the film knows how far it is, so that whoever is interrupted leaves a picture that
can be shown, and goes on where it was. Sums are three planes of
float32 in ray order (gpu/trace/ray_sources.cuh); `resolve` turns their mean into RGBA8.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

import numpy as np

from ..animate.animate import Surface
from ..camera import Camera
from ..clip import HalfSpace
from ..target.base import Array, Target, UnitSource
from ..trace.trace import TILE_SIDE, VIEW_FRAME, CameraRays, pixel_order, rays_of_picture, see_through
from . import srgb
from .frame_context import FrameContext

_GOLDEN = np.array([0.7548776662466927, 0.5698402909980532])
"""Steps of the two-dimensional golden-ratio sequence (Roberts 2018): any number of first samples covers the pixel
evenly."""


TONES = ("none", "reinhard", "filmic")
"""How linear colours become those of a screen: tone.cuh."""


class Resolver:
    """What all films of a target share: the encoding tables and the kernel."""

    def __init__(self, target: Target) -> None:
        first_level, thresholds = srgb.encode_tables()
        self.first_level, self.thresholds = target.upload(first_level, "film"), target.upload(thresholds, "film")
        self.unit = target.unit(UnitSource("gpu/shade/film.cu", rays_per_thread=0))


@dataclasses.dataclass(frozen=True)
class Sample:
    """What a frame is to draw: of the sample `index`, counted from 0, `rows` rows from `first_row` on; nothing where
    not `is_drawn`."""

    index: int
    first_row: int
    rows: int
    is_drawn: bool


class Film:
    """See the module. `samples` counts those that all rows hold, `rows_ahead` the rows from the top that hold one
    more; `generation` grows with new memory, `begun` with every picture that begins anew."""

    def __init__(self, target: Target, resolver: Resolver) -> None:
        self._target, self._resolver = target, resolver
        self.begun = 0
        self._key: Hashable = None
        self._seen_from: Hashable = None
        self._frame = np.zeros((), VIEW_FRAME)
        self.frame = target.zeros(VIEW_FRAME.itemsize, np.uint8, "film")
        self.width = self.height = self.samples = self.rows_ahead = self.generation = 0
        self.sample = Sample(0, 0, 0, False)
        self._memory: Array = None
        self._part: Array = None
        self._sums: Array = None

    @property
    def is_drawing(self) -> bool:
        """Whether this frame adds anything."""
        return self.sample.is_drawn

    @property
    def is_begun(self) -> bool:
        """Whether it holds anything."""
        return self.samples > 0 or self.rows_ahead > 0

    @property
    def is_partial(self) -> bool:
        """Whether this frame draws only some rows of the picture."""
        return self.sample.rows < self.height

    def first_rays(self, into: Array | None = None) -> CameraRays:
        """The primary rays of the first sample of the whole picture, however many it has by now: each sample has its
        own. Outside a frame. Waits, unless there is an array of VIEW_FRAME's bytes to write `into`."""
        first = self._frame.copy()
        first["sample_index"], first["jitter"], first["first_row"] = 0, sample_place(0, int(first["seed"])), 0
        frame = first.reshape(1).view(np.uint8)
        if into is not None:
            self._target.write(into, frame)
        return CameraRays(self._target.upload(frame, "rays") if into is None else into, self.width, self.height)

    @property
    def sums(self) -> Array:
        """(3 * R,) float32: the planes of red, green and blue."""
        return self._sums

    def samples_of(self, key: Hashable, width: int, height: int) -> int:
        """How many samples there are of what `key` stands for."""
        return self.samples if (key, width, height) == self._key else 0

    def next_sample(self, key: Hashable, width: int, height: int, samples: int, most_rows: int = 0) -> Sample:
        """Decide what this frame draws: the rows that the sample under way still lacks, at most `most_rows` (0: all)
        in whole tiles; begins anew where `key` or the size differs from what the film shows. With all `samples`
        there it draws nothing, and stays at the last one."""
        if (key, width, height) != self._key:
            self._key, self.samples, self.rows_ahead = (key, width, height), 0, 0
            self.begun += 1
            self.width, self.height = width, height
            self._reserve(3 * rays_of_picture(width, height))
        if self.samples >= max(1, samples):
            self.sample = Sample(self.samples - 1, 0, height, False)
            return self.sample
        first, rows = self.rows_ahead, height - self.rows_ahead
        if most_rows:
            rows = min(rows, max(1, most_rows // TILE_SIDE) * TILE_SIDE)
        self.sample = Sample(self.samples, first, rows, True)
        if self.is_partial:
            self._reserve_part(3 * rays_of_picture(width, rows))
        self.rows_ahead = first + rows
        if self.rows_ahead == height:
            self.samples, self.rows_ahead = self.samples + 1, 0
        return self.sample

    def begin(
        self, camera: Camera, seed: int = 0, exposure: float = 1.0, clip: HalfSpace | None = None, tone: str = "none"
    ) -> None:
        """Write what kernels read of the sample that was decided last."""
        frame, sample = self._frame, self.sample
        seen_from = (camera, self.width, self.height, clip)
        if seen_from != self._seen_from:
            self._seen_from = seen_from
            see_through(frame, camera, self.width, self.height, clip)
        frame["sample_index"], frame["sample_count"] = sample.index, self.samples
        frame["first_row"], frame["rows_ahead"] = sample.first_row, self.rows_ahead
        frame["seed"], frame["tone"] = seed, TONES.index(tone)
        frame["jitter"], frame["exposure"] = sample_place(sample.index, seed), exposure
        self._target.write(self.frame, frame.reshape(1).view(np.uint8))

    def context(self, camera: Camera, surface: Surface, diagonal: float) -> FrameContext:
        """What the sample that was decided last is drawn by."""
        sample = self.sample
        return FrameContext(
            camera=camera,
            surface=surface,
            diagonal=diagonal,
            width=self.width,
            height=self.height,
            sample_index=sample.index,
            first_row=sample.first_row,
            rows=sample.rows,
            frame=self.frame,
            sums=self.sums_of_rows(),
        )

    # -- some rows of the picture ---------------------------------------------------------------------------------
    def sums_of_rows(self) -> Array:
        """Where the sample of this frame's rows is added: (3 * R,) float32, the planes of these rows' rays. `take_rows`
        brings there what they hold, `put_rows` back."""
        if not self.is_partial:
            return self._sums
        return self._part[: 3 * rays_of_picture(self.width, self.sample.rows)]

    def take_rows(self) -> None:
        """Launches only."""
        self._move_rows("take_rows")

    def put_rows(self) -> None:
        """Launches only."""
        self._move_rows("put_rows")

    def _move_rows(self, kernel: str) -> None:
        if self.is_partial:
            count = rays_of_picture(self.width, self.sample.rows)
            sums = {"sums": self._sums, "part": self.sums_of_rows()}
            self._target.launch(self._resolver.unit, kernel, count, frame=self.frame, ray_count=count, **sums)

    def linear(self) -> np.ndarray:
        """(height, width, 3) float64: the mean of the samples that each row holds, before exposure and tone; zero where
        there is none yet. Waits."""
        x, y = pixel_order(self.width, self.height)
        inside = (x < self.width) & (y < self.height)
        x, y = x[inside], y[inside]
        sums = self._target.download(self._sums).reshape(3, -1)[:, inside].astype(np.float64)
        counts = self.samples + (y < self.rows_ahead)
        image = np.zeros((self.height, self.width, 3))
        image[y, x] = np.where(counts > 0, sums, 0.0).T / np.maximum(counts, 1)[:, None]
        return image

    def _reserve(self, count: int) -> None:
        # Capacity grows in steps, so that a window dragged larger, or a resolution that adapts, does not allocate at
        # every size.
        if self._memory is None or len(self._memory) < count:
            self._memory = self._target.empty(count if self._memory is None else count + count // 8, np.float32, "film")
            self.generation += 1
        self._sums = self._memory[:count]

    def _reserve_part(self, count: int) -> None:
        # No scratch memory: where another view's rows needed more of it, these would be drawn into what was there
        # before, and brought back from what is there now.
        if self._part is None or len(self._part) < count:
            self._part = self._target.empty(count, np.float32, "film")
            self.generation += 1

    def restart(self) -> None:
        """Forget the samples: the next frame draws the first one."""
        self._key = None

    def resolve(self, image: Array) -> None:
        """Write the mean of the samples into `image` (height, width, 4) uint8 of the target."""
        packs = rays_of_picture(self.width, self.height) // self._target.lane_count
        self._target.launch(
            self._resolver.unit,
            "resolve_film",
            packs,
            frame=self.frame,
            sums=self._sums,
            pack_count=packs,
            first_level=self._resolver.first_level,
            thresholds=self._resolver.thresholds,
            image=image,
        )


def sample_place(index: int, seed: int) -> np.ndarray:
    """Where in its pixel a sample lies, float64 (2,) in [0, 1): the centre for the first sample of seed 0."""
    return (0.5 + (index + 7919 * seed) * _GOLDEN) % 1.0
