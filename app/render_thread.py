"""The one thread that owns target, engine and stream. It draws the newest request, again and again, until there is nothing to add.

`submit` replaces the request that waits (the latest wins). A request whose picture still gains samples is drawn again without being
asked; then the thread sleeps. Callbacks are called on the render thread: hand over to your own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from app.pixel_slots import SlotExchange
from app.problem import Problem
from app.state import State
from gpu.scene import Moment, Scene
from gpu.stats import FrameStatistics


@dataclasses.dataclass(frozen=True)
class FrameRequest:
    """What to draw. `exchanges` holds one exchange a view of `state.views`; `is_moving` while the camera moves or the animation plays:
    then the resolution may shrink."""

    scene: Scene
    state: State
    moment: Moment
    exchanges: tuple[SlotExchange, ...]
    is_moving: bool = False


@dataclasses.dataclass(frozen=True)
class FinishedFrame:
    """A frame that lies in the exchanges' newest finished slots. `drawn` is its size, `samples` of `samples_wanted` are in it.
    `statistics` are those of the newest frame the target has timed (a frame or two earlier on CUDA); `frame_ms` is the render thread's time for
    the whole frame; `limited_by` names the phase that keeps the frame rate down where smaller pictures do not help, else ""."""

    request: FrameRequest
    frame_id: int
    drawn: tuple[int, int]
    samples: int
    samples_wanted: int
    statistics: FrameStatistics | None
    frame_ms: float
    target_name: str
    device_name: str
    limited_by: str = ""


class RenderThread:
    """See the module. `on_frame(FinishedFrame)`, `on_problem(Problem)` and `on_busy(sentence)` ("Compiling ...", "" when done)."""

    def __init__(
        self,
        on_frame: Callable[[FinishedFrame], None],
        on_problem: Callable[[Problem], None],
        on_busy: Callable[[str], None] = lambda sentence: None,
    ) -> None: ...

    def start(self) -> None:
        """Start the thread."""

    def submit(self, request: FrameRequest | None) -> None:
        """Draw this next; None: nothing (the scene was closed). Never waits."""

    def stop(self, timeout: float = 10.0) -> bool:
        """End the thread, giving engine and target back; True when it has ended."""
        raise NotImplementedError
