"""What the render thread is asked for, and what it gives: a request for a frame, and the frame."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from raygrove.app.frames.contestants import as_drawn

if TYPE_CHECKING:
    from raygrove.app.document.state import Selection, State
    from raygrove.app.frames.node_boxes import BoxReport
    from raygrove.app.frames.pixel_slots import SlotExchange
    from raygrove.app.settings.settings import Settings
    from raygrove.gpu.display.sphere_look import SpherePicture
    from raygrove.gpu.region import RegionContents
    from raygrove.gpu.scene import Moment, Scene
    from raygrove.gpu.stats import Collisions, FrameStatistics


@dataclasses.dataclass(frozen=True)
class FrameRequest:
    """What to draw. `exchanges` holds one exchange a view of `state.views`; `is_moving` while the camera moves or the
    animation plays: then the resolution may shrink and a picture has one sample."""

    scene: Scene
    state: State
    moment: Moment
    exchanges: tuple[SlotExchange, ...]
    is_moving: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height asked for, of the first view; nothing without one."""
        return (self.exchanges[0].width, self.exchanges[0].height) if self.exchanges else (0, 0)

    def shows_same(self, other: FrameRequest | None) -> bool:
        """Whether both ask for the same picture in the same place; then samples go on adding up."""
        return (
            other is not None
            and self.choice_equals(other)
            and (
                self.state.cameras == other.state.cameras
                and (self.state.hidden, _painted(self.state)) == (other.state.hidden, _painted(other.state))
                and (self.moment.time, self.moment.clip) == (other.moment.time, other.moment.clip)
                and self.is_moving == other.is_moving
                and all(mine is theirs for mine, theirs in zip(self.exchanges, other.exchanges, strict=False))
            )
        )

    def choice_equals(self, other: FrameRequest | None) -> bool:
        """Whether both draw the same scene with the same settings at the same size: what failed for one fails for the
        other."""
        return (
            other is not None
            and self.scene is other.scene
            and self.size == other.size
            and drawn_alike(self.state.settings, other.state.settings)
            and self.state.views == other.state.views
        )

    def is_refused_like(self, other: FrameRequest) -> bool:
        """Whether a structure that refused the other's triangles is given the same ones: the picture's size is nothing
        to it, the instant is."""
        return (
            self.scene is other.scene
            and (self.state.settings, self.state.views, self.state.hidden)
            == (other.state.settings, other.state.views, other.state.hidden)
            and (self.moment.time, self.moment.clip) == (other.moment.time, other.moment.clip)
        )

    def is_paced_like(self, other: FrameRequest) -> bool:
        """Whether a picture of one tells how slow the other is, and is waited for where it is slow: another instant,
        another camera or another light is no other choice, another structure, ray type or size is."""
        mine, theirs = self.state.settings, other.state.settings
        return (
            self.scene is other.scene
            and as_drawn(self.state).views == as_drawn(other.state).views
            and all(getattr(mine, name) == getattr(theirs, name) for name in ("render", "device", "display", "update"))
            and len(self.exchanges) == len(other.exchanges)
            and all(mine is theirs for mine, theirs in zip(self.exchanges, other.exchanges, strict=True))
        )

    def has_same_structure(self, other: FrameRequest | None) -> bool:
        """Whether the tree that one is drawn by is of use to the other: as it is, or, of another instant, refitted."""
        return other is not None and self.scene is other.scene and _structure(self.state) == _structure(other.state)

    def needs_same(self, other: FrameRequest) -> bool:
        """Whether both need the same kernels for the same scene."""
        mine, theirs = self.state.settings, other.state.settings
        return (
            self.scene is other.scene
            and as_drawn(self.state).views == as_drawn(other.state).views
            and all(
                getattr(mine, name) == getattr(theirs, name)
                for name in ("render", "device", "hierarchy", "optimiser", "ray_type")
            )
        )


def drawn_alike(one: Settings, other: Settings) -> bool:
    """Whether pictures by these settings are the same: what is counted of one changes nothing in it."""
    return one == other or dataclasses.replace(one, hot_spots=other.hot_spots) == other


def _painted(state: State) -> Selection:
    """What is selected and drawn by the engine: marks of a pixel lie over the picture."""
    return dataclasses.replace(state.selection, pixel=())


def _structure(state: State) -> tuple[object, ...]:
    """What is said of the structures: another value has them made anew, or built of other triangles."""
    state = as_drawn(state)
    settings, views = state.settings, tuple(dataclasses.replace(view, camera=0, ray_type="") for view in state.views)
    names = ("device", "hierarchy", "optimiser", "layout", "traversal", "triangle_test")
    render = (getattr(settings.render, name) for name in names)
    return (views, state.hidden, *render, settings.device, settings.hierarchy, settings.optimiser)


@dataclasses.dataclass(frozen=True)
class FinishedFrame:
    """A frame that lies in its exchanges as the newest finished slot. `drawn` is the size of the first view's
    picture, `samples` of `samples_wanted` are in it. `statistics` are those of the newest frame the target has timed
    (a frame or two earlier on CUDA); `frame_ms` is the render thread's time for the whole frame. `boxes` and
    `collisions` say what was drawn over it, None for nothing, and `contents` what lies in the region that is
    selected. `last_update` is the frame that built or refitted the structure last. `preparing_ms` of `frame_ms` went
    into what this picture was the first to need, kernels above all; `whole_ms` is what a picture of full size is
    thought to take, 0 where that is not known. With `spheres` the slots hold nothing new: the window draws those
    itself. `noise` is what a picture at rest has left of it."""

    request: FrameRequest
    frame_id: int
    drawn: tuple[int, int]
    samples: int
    samples_wanted: int
    statistics: FrameStatistics | None
    frame_ms: float
    target_name: str
    device_name: str
    boxes: BoxReport | None = None
    collisions: Collisions | None = None
    contents: RegionContents | None = None
    last_update: FrameStatistics | None = None
    preparing_ms: float = 0.0
    whole_ms: float = 0.0
    spheres: SpherePicture | None = None
    noise: float | None = None

    @property
    def device(self) -> str:
        """The device as --device names it: cpu, or cuda:N."""
        return "cpu" if self.target_name == "host" else self.target_name
