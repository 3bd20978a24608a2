"""The contract of a ray type: an integrator that draws one sample of a picture, or of some rows of it.

`prepare` does the host's part of a frame (options, memory); `render` only launches, so that a frame of unchanged shape
can be captured. All that changes from frame to frame is in the FrameContext; how the picture is shown and read is its
Presentation's.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np

from ..animate.animate import Surface
from ..rows import Row
from ..settings import option
from ..target.base import Array, Target, Unit, UnitSource
from ..trace.trace import Tracer
from .film import TONES
from .frame_context import FrameContext
from .materials import Materials
from .presentation import Presentation
from .ray_counts import RayCounts
from .surface_view import surface_view

Color = tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class PictureOptions:
    """What every ray type has: exposure and background."""

    exposure: float = option(
        0.0,
        "Brightens (or darkens) the picture; each step doubles the light.",
        minimum=-10.0,
        maximum=10.0,
        unit="stops",
    )
    tone: str = option(
        "none",
        "How light beyond a screen is brought into its range: cut off, pressed together with its hue kept "
        "(reinhard), or as film does.",
        choices=TONES,
    )
    background_below: Color = option(
        (0.2, 0.2, 0.22), "Linear colour of the background straight down.", minimum=0.0, maximum=100.0, is_color=True
    )
    background_above: Color = option(
        (0.32, 0.4, 0.52),
        "Linear colour of the background straight up; the same as below makes it constant.",
        minimum=0.0,
        maximum=100.0,
        is_color=True,
    )


@dataclasses.dataclass(frozen=True)
class EnvironmentOptions(PictureOptions):
    """What ray types have that show the scene's environment where rays hit nothing."""

    environment: float = option(1.0, "Factor on the light of the scene's environment.", minimum=0.0, maximum=1e4)
    environment_turn: float = option(
        0.0, "How far the environment is turned around the vertical.", minimum=-360.0, maximum=360.0, unit="degrees"
    )


@dataclasses.dataclass(frozen=True)
class PictureRow(Row):
    """What the options of a ray type begin with as kernels read them, where rays may meet nothing."""

    background_below: Color
    background_above: Color


class RayType(abc.ABC):
    """See the module. One instance a view; `name` is the command line's."""

    name: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type]
    Presentation: ClassVar[type[Presentation]] = Presentation
    shows_materials: ClassVar[bool] = True
    """Whether its pictures have the colours of materials and spheres, so that a scale of those explains them."""
    is_debug_view: ClassVar[bool] = False
    """Whether it shows what rays do or meet, and no light."""
    is_incoherent: ClassVar[bool] = False
    """Whether its frames last as long as incoherent rays: `auto` then is the layout that was faster for
    those."""

    def __init__(self, target: Target, materials: Materials) -> None:
        self.target, self.materials = target, materials
        self._packed: bytes = b""
        self._parameters: Array = None

    @classmethod
    def is_read(cls) -> bool:
        """Whether something is said of the pixel under the pointer (`Presentation.reading`)."""
        return cls.Presentation.reading is not Presentation.reading

    @abc.abstractmethod
    def parameters(self, options: Any, context: FrameContext) -> Row:
        """The options as its kernels read them: always a row of the same type."""

    def takes_other_kernels(self, options: Any) -> bool:
        """Take up options, before anything is compiled for them: whether `compile` has to see to other kernels than it
        did for those before."""
        return False

    @abc.abstractmethod
    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        """Compile what `render` launches: ahead of the first frame, so that no frame's times hold a compiler's."""

    @abc.abstractmethod
    def render(self, tracer: Tracer, context: FrameContext) -> None:
        """Trace and shade one sample of the frame's rows, and add it to its sums. Launches only."""

    def start_reader(self, options: Any, surface: Surface) -> Callable[[], None] | None:
        """What has to be called before the next frame, while the surface is as it is when the animation starts; None:
        nothing. What a picture depends on beside its own instant comes from there, so that an instant looks the same
        however it was come to. Between two frames; may wait."""
        return None

    def reserve(self, options: Any, context: FrameContext) -> None:
        """Take the memory of its own that a picture of this size needs. Between two frames, before `prepare`."""

    def prepare(self, options: Any, context: FrameContext) -> None:
        """Write the options to the target where they changed."""
        values = np.array(self.parameters(options, context).numbers(), np.float32)
        if self._parameters is None:
            self._parameters = self.target.zeros(len(values), np.float32, "shade")
        if values.tobytes() != self._packed:
            self._packed = values.tobytes()
            self.target.write(self._parameters, values)

    def shutter(self, options: Any) -> float:
        """Seconds that the shutter is open: each sample of the film then shows another instant of them. With several
        views in a frame the first one's instant is shown by all."""
        return 0.0

    def needs_whole_picture(self, options: Any, samples: int) -> bool:
        """Whether the sample behind `samples` others cannot be drawn some rows at a time, because a pixel's colour
        depends on those far away."""
        return False

    def adds_up(self, samples: int, options: Any) -> bool:
        """Whether the film of so many samples holds their sums alone: then they tell how much noise is left."""
        return True

    def needs_structure(self, light_count: int) -> bool:
        """Whether rays go through the structure even where the primary hits are given by somebody else."""
        return True

    @property
    def shape(self) -> Hashable:
        """What of the options decides which kernels `render` launches."""
        return ()

    @property
    def lacks_room(self) -> bool:
        """Whether its last sample is known to be wrong, as lists had too little room: it is drawn anew, with more."""
        return False

    def read_lack_of_room(self) -> Callable[[], bool]:
        """After a frame was issued: what tells, once that has finished, whether the ray type `lacks_room`."""
        return _has_room

    def ray_counts(self) -> RayCounts | None:
        """Counters of the secondary rays of the sample last rendered; None where there are none."""
        return None

    @property
    def notices(self) -> tuple[str, ...]:
        """What whoever looks at the picture of the last frame should know, in sentences: why it is black, say."""
        return ()

    def _unit(self, path: str) -> Unit:
        return self.target.unit(UnitSource(path, constants=self.materials.constants, rays_per_thread=0))

    def _packs(self, context: FrameContext) -> int:
        return context.rays.padded_count // self.target.lane_count

    def _surface_view(self, surface: Surface) -> np.ndarray:
        return surface_view(surface, self.materials)

    def _environment_view(self, options: Any) -> np.ndarray:
        """EnvironmentView of environment.cuh, of EnvironmentOptions. By value: what it holds belongs to a frame's
        shape."""
        return self.materials.environment.view(options.environment, options.environment_turn / 360.0)


def _has_room() -> bool:
    return False
