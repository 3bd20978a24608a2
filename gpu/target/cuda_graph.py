"""A frame's launches as a CUDA graph: captured once, replayed by one call.

The graph is instantiated a few times over, so that the times of one replay can be read while the next runs: each copy
records its phases into events of its own (external event-record nodes). A copy is launched again only when its last
launch is done, which also keeps the host from running more than `_COPIES` replays ahead of the device.

Those events are the dearer part of a launch: 5.9 of 7.6 microseconds of the host's time for a rebuild's graph on an
H200. So the body is captured twice, with them and without. While the clock samples phases, the graph with events is
replayed when it was not for `_PHASES_EVERY` replays or
`_PHASES_WITHIN_S` seconds, and the light one otherwise: what is shown of a frame's steps is never older than that.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from .base import TargetError
from .cuda_driver import Cuda, checked, error_for
from .cuda_timing import CudaClock, Replay, Span

_COPIES = 3
_PHASES_EVERY = 8
_PHASES_WITHIN_S = 0.05


class _Captured:
    """A graph of the driver, its spans, and its executable copies."""

    def __init__(self, graph: Any, spans: list[Span], launches: int) -> None:
        self.graph, self.spans, self.launches = graph, spans, launches
        self.replays: list[Replay] = []
        self.turn = 0


class CapturedGraph:
    """A captured body. Calling it replays the launches; `keep` are arrays that the graph uses and that must outlive
    it."""

    def __init__(
        self, cuda: Cuda, stream: int, clock: CudaClock, body: Callable[[], None], keep: Callable[[], tuple[Any, ...]]
    ) -> None:
        self._runtime, self._stream, self._clock = cuda.runtime, stream, clock
        self._launch, self._error = cuda.cupy.cuda.runtime.graphLaunch, cuda.cupy.cuda.runtime.CUDARuntimeError
        self._timed = self._light = None  # what is there when the second capture fails is given back
        self._timed = self._capture(body, with_phases=True)
        self._light = self._capture(body, with_phases=False)
        self._keep = keep()
        self._untimed = _PHASES_EVERY
        self._timed_at = 0.0

    def __call__(self) -> None:
        """Replay the launches, in the order of the stream."""
        captured = self._light if self._clock.samples_phases and not self._is_due() else self._timed
        assert captured is not None
        turn, captured.turn = captured.turn, (captured.turn + 1) % _COPIES
        if turn == len(captured.replays):
            captured.replays.append(self._instantiate(captured))
        replay = captured.replays[turn]
        self._clock.make_ready(replay)
        self._clock.begin_replay()
        try:
            self._launch(replay.executable, self._stream)
        except self._error as error:
            raise error_for(int(error.status), "launching a graph") from None
        self._clock.replayed(replay)

    def _is_due(self) -> bool:
        """Whether this replay times its phases, where they are sampled. Counts it."""
        now = time.perf_counter()
        self._untimed += 1
        if self._untimed < _PHASES_EVERY and now - self._timed_at < _PHASES_WITHIN_S:
            return False
        self._untimed, self._timed_at = 0, now
        return True

    def close(self) -> None:
        """Wait for the last replays and give the graph back."""
        captured = [one for one in (self._timed, self._light) if one is not None]
        self._timed, self._light, self._keep = None, None, ()
        for one in captured:
            events = {event for span in one.spans for event in (span.first, span.last)}
            for replay in one.replays:
                self._clock.make_ready(replay)
                events |= {*replay.spans.events, replay.done}
            for executable in {replay.executable for replay in one.replays}:
                self._runtime.cudaGraphExecDestroy(executable)
            self._runtime.cudaGraphDestroy(one.graph)
            self._clock.pool.give_back(list(events))

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the interpreter's end the driver may be gone
            self.close()

    def _capture(self, body: Callable[[], None], with_phases: bool) -> _Captured:
        with self._clock.capturing(with_phases) as spans:
            graph = self._record(body)
            return _Captured(graph, spans, self._clock.launches)

    def _record(self, body: Callable[[], None]) -> Any:
        mode = self._runtime.cudaStreamCaptureMode.cudaStreamCaptureModeThreadLocal
        checked(self._runtime.cudaStreamBeginCapture(self._stream, mode), "capturing a graph")
        try:
            body()
        except BaseException:
            status, graph = self._runtime.cudaStreamEndCapture(self._stream)
            if int(status) == 0 and int(graph):
                self._runtime.cudaGraphDestroy(graph)
            self._runtime.cudaGetLastError()
            raise
        return checked(self._runtime.cudaStreamEndCapture(self._stream), "capturing a graph")

    def _instantiate(self, captured: _Captured) -> Replay:
        """One more executable copy. The first records into the captured events, the others into events of their own;
        without events all copies are one, which the driver runs once at a time."""
        clock, is_light, first = self._clock, captured is self._light, not captured.replays
        if is_light and not first:
            return Replay(captured.replays[0].executable, [], clock.pool.take(), captured.launches, is_light)
        executable = int(checked(self._runtime.cudaGraphInstantiate(captured.graph, 0), "making a graph executable"))
        spans = captured.spans
        if not first:
            twins = self._redirect_events(executable)
            spans = [Span(span.name, twins[span.first], twins[span.last]) for span in spans]
        return Replay(executable, spans, clock.pool.take(), captured.launches, is_light)

    def _redirect_events(self, executable: int) -> dict[int, int]:
        """Give every event node of a copy a new event; returns the new events by the handle of the captured ones."""
        assert self._timed is not None
        twins: dict[int, int] = {}
        for node in self._nodes(self._runtime.cudaGraphNodeType.cudaGraphNodeTypeEventRecord):
            captured = int(checked(self._runtime.cudaGraphEventRecordNodeGetEvent(node)))
            twins[captured] = self._clock.pool.take()
            checked(
                self._runtime.cudaGraphExecEventRecordNodeSetEvent(executable, node, twins[captured]),
                "preparing a graph's clock",
            )
        missing = {event for span in self._timed.spans for event in (span.first, span.last)} - twins.keys()
        if missing:
            raise TargetError(
                "A captured graph lost events of its phases: an event was recorded outside the target's stream."
            )
        return twins

    @property
    def kernel_count(self) -> int:
        """The kernels of the graph, a library's among them."""
        return len(self._nodes(self._runtime.cudaGraphNodeType.cudaGraphNodeTypeKernel))

    def _nodes(self, kind: Any) -> list[Any]:
        graph = self._timed.graph if self._timed is not None else None
        count = checked(self._runtime.cudaGraphGetNodes(graph))[-1] if graph is not None else 0
        if not count:
            return []
        nodes = checked(self._runtime.cudaGraphGetNodes(graph, count))[0]
        return [node for node in nodes[:count] if checked(self._runtime.cudaGraphNodeGetType(node)) == kind]
