"""An engine and a target that draw nothing and take as long as they are told, and a frame maker on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raygrove.app.document.state import State
from raygrove.app.frames.enlarged import Enlarged
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.gpu.engine import View
from raygrove.gpu.region import Region, RegionContents
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics, HierarchyStatistics, ViewStatistics
from raygrove.gpu.target.base import NoDeviceError, TargetOptions
from raygrove.gpu.target.stopping import Stoppable, Stopped

SCENE = Scene("nothing")


class FakeTarget(Stoppable):
    """A target by name."""

    kind, device_name, compile_ms, can_stop = "host", "a test", 0.0, True
    quick: Any = None
    patience_s = 0.0

    def __init__(self, name: str) -> None:
        self.name, self.is_closed = name, False
        self.given_back: list[str] = []

    def forget_scratch(self) -> None:
        self.given_back.append("scratch")

    def give_idle_back(self) -> None:
        self.given_back.append("idle")

    def be_patient(self, seconds: float) -> None:
        self.patience_s = seconds

    def close(self) -> None:
        self.is_closed = True


class FakeEngine:
    """An engine of a machine that needs `full_ms` for 400 x 320 pixels and `build_ms` beside them."""

    full_ms, build_ms, hiccup_ms, has_rays, now = 10.0, 1.0, 0.0, True, 0.0
    left_noise: float | None = 0.0
    asked_for_noise = 0

    def __init__(self, target: Any, scene: Scene) -> None:
        self.target, self.scene, self.is_closed = target, scene, False
        self.tell: Callable[[FrameStatistics], None] = lambda statistics: None
        self.views: list[View] = []
        self.sizes: list[tuple[int, int]] = []
        self.last: FrameStatistics | None = None
        self.rows: list[int] = []
        self.left_sizes: list[tuple[int, int]] = []
        self.made_ready: list[tuple[int, int]] = []
        self._rows_ahead = 0
        self.hidden: tuple[int, ...] = ()
        self.outlined: list[int] = []
        self.regions: list[Region] = []

    def make_ready(self, moment: Moment, views: Sequence[View]) -> None:
        self.made_ready.append((views[0].pixels.width, views[0].pixels.height))

    def render_frame(self, moment: Moment, views: Sequence[View]) -> FrameStatistics:
        self.views = list(views)
        pixels = views[0].pixels
        whole_s = self.full_ms * pixels.width * pixels.height / 128e6
        if 0.0 < self.target.patience_s < whole_s:
            self.left_sizes.append((pixels.width, pixels.height))
            raise Stopped(is_build=False)
        if self.sizes[-1:] != [(pixels.width, pixels.height)]:
            self._rows_ahead = 0
        self.sizes.append((pixels.width, pixels.height))
        rows = min(views[0].most_rows or pixels.height, pixels.height - self._rows_ahead)
        self.rows.append(rows)
        self._rows_ahead = (self._rows_ahead + rows) % pixels.height
        if not self._rows_ahead:
            with pixels.map() as image:
                image[:] = 1
        rays = pixels.width * rows * self.has_rays
        trace = self.full_ms * self.has_rays * pixels.width * rows / 128000.0
        self.now += trace / 1000.0
        trace, self.hiccup_ms = trace + self.hiccup_ms, 0.0
        view = ViewStatistics(
            "lbvh", "bvh2", "smooth", "rebuild", "", {}, self.build_ms, 0.0, trace, 0.0, rays, 0.0,
            pixels.width, pixels.height, 1, HierarchyStatistics(),
        )  # fmt: skip
        self.last = FrameStatistics(
            moment.frame_id, moment.time, "host", 0, 0.5, trace + self.build_ms + 0.5, 0.1, 1, {}, (view,)
        )
        self.tell(self.last)
        return self.last

    samples_phases = False
    tries_arrangements = False

    def perf_counter(self) -> float:
        """The seconds that its pictures have taken: a clock for those who time them."""
        return self.now

    def is_whole(self, views: Sequence[View]) -> bool:
        return self._rows_ahead == 0

    def noise(self, view: View) -> float | None:
        self.asked_for_noise += 1
        return self.left_noise

    def tell_of_every_frame(self, to: Callable[[FrameStatistics], None]) -> None:
        self.tell = to

    def hide(self, objects: Sequence[int]) -> None:
        self.hidden = tuple(objects)

    def take_sphere_options(self, options: object) -> None:
        self.sphere_options = options

    def take_gravity_options(self, options: object) -> None:
        self.gravity_options = options

    def take_materials(self, materials: Sequence[object]) -> None:
        self.materials = tuple(materials)

    def take_lights(self, lights: Sequence[object]) -> None:
        self.lights = tuple(lights)

    def paint_contours(self, view: View, options: object) -> None:
        self.contours = options

    def paint_outline(self, view: View, object_id: int) -> None:
        self.outlined.append(object_id)

    def paint_region(self, view: View, region: Region) -> RegionContents:
        self.regions.append(region)
        return RegionContents(region, count=7)

    def flush(self) -> FrameStatistics | None:
        return self.last

    def close(self) -> None:
        self.is_closed = True


class Clock:
    """Stands in for `time` where pictures are timed: nothing passes between two looks but a
    microsecond, and what a test adds to `now`."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        """Seconds."""
        self.now += 1e-6
        return self.now


class NeverEnlarged(Enlarged):
    """Small pictures stay so: nothing is drawn that could be enlarged."""

    def fill(self, target: Any, slots: Sequence[Any]) -> None:
        """Not at all."""


class Makers:
    """A frame maker and everything it made."""

    def __init__(self, full_ms: float = 10.0, build_ms: float = 1.0) -> None:
        self.targets: list[FakeTarget] = []
        self.engines: list[FakeEngine] = []
        self.busy: list[str] = []
        self.full_ms, self.build_ms, self.hiccup_ms = full_ms, build_ms, 0.0
        self.maker = FrameMaker(self.busy.append, self.choose, self.engine)  # type: ignore[arg-type]
        self.maker._enlarged = NeverEnlarged()
        self.slot = HostSlot(400, 320)

    def choose(self, name: str, options: TargetOptions) -> FakeTarget:
        if name == "cuda":
            raise NoDeviceError("There is no GPU.")
        self.targets.append(FakeTarget(name))
        return self.targets[-1]

    def engine(self, target: Any, scene: Scene) -> FakeEngine:
        self.engines.append(FakeEngine(target, scene))
        self.engines[-1].full_ms, self.engines[-1].build_ms, self.engines[-1].hiccup_ms = (
            self.full_ms,
            self.build_ms,
            self.hiccup_ms,
        )
        return self.engines[-1]

    def draw_rows(
        self, state: State | None = None, *, scene: Scene = SCENE, time: float = 0.0, moving: bool = False
    ) -> Any:
        """What the render thread does once: a picture, or some rows of it."""
        return self.maker.draw(scene, state or State(), Moment(time), [self.slot], moving)

    def draw(self, state: State | None = None, **more: Any) -> Any:
        """A whole picture."""
        while not (outcome := self.draw_rows(state, **more)).is_whole:
            pass
        return outcome
