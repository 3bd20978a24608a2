"""A frame's launches as a CUDA graph: captured once, replayed by one call.

The graph is instantiated a few times over, so that the times of one replay can be read while the next runs: each copy records its phases into
events of its own (external event-record nodes). A copy is launched again only when its last launch is done, which also keeps the host from
running more than `_COPIES` replays ahead of the device.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from .base import TargetError
from .cuda_driver import Cuda, checked
from .cuda_timing import CudaClock, Replay, Span

_COPIES = 3


class CapturedGraph:
    """A captured body. Calling it replays the launches; `keep` are arrays that the graph uses and that must outlive it."""

    def __init__(self, cuda: Cuda, stream: int, clock: CudaClock, body: Callable[[], None], keep: Callable[[], tuple[Any, ...]]) -> None:
        self._runtime, self._stream, self._clock = cuda.runtime, stream, clock
        self._body, self._graph = body, None
        with clock.capturing() as spans:
            self._graph = self._capture(body)
            self._launches = clock.launches
        self._spans = spans
        self._keep = keep()
        self._replays: list[Replay] = []
        self._turn = 0

    def __call__(self) -> None:
        """Replay the launches, in the order of the stream."""
        turn, self._turn = self._turn, (self._turn + 1) % _COPIES
        if turn == len(self._replays):
            self._replays.append(self._instantiate())
        replay = self._replays[turn]
        self._clock.make_ready(replay)
        checked(self._runtime.cudaGraphLaunch(replay.executable, self._stream), "launching a graph")
        self._clock.replayed(replay)

    def close(self) -> None:
        """Wait for the last replays and give the graph back."""
        if self._graph is None:
            return
        events = {int(event): event for span in self._spans for event in (span.first, span.last)}
        for replay in self._replays:
            self._clock.make_ready(replay)
            self._runtime.cudaGraphExecDestroy(replay.executable)
            events |= {int(event): event for event in replay.spans.events}
            events[int(replay.done)] = replay.done
        self._runtime.cudaGraphDestroy(self._graph)
        self._clock.pool.give_back(list(events.values()))
        self._graph, self._replays, self._spans, self._keep = None, [], [], ()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the interpreter's end the driver may be gone
            self.close()

    def _capture(self, body: Callable[[], None]) -> Any:
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

    def _instantiate(self) -> Replay:
        """One more executable copy. The first records into the captured events, the others into events of their own."""
        executable = checked(self._runtime.cudaGraphInstantiate(self._graph, 0), "making a graph executable")
        spans = self._spans
        if self._replays:
            twins = self._redirect_events(executable)
            spans = [Span(span.name, twins[int(span.first)], twins[int(span.last)]) for span in self._spans]
        return Replay(executable, spans, self._clock.pool.take(), self._launches)

    def _redirect_events(self, executable: Any) -> dict[int, Any]:
        """Give every event node of a copy a new event; returns the new events by the handle of the captured ones."""
        twins: dict[int, Any] = {}
        for node in self._event_nodes():
            captured = int(checked(self._runtime.cudaGraphEventRecordNodeGetEvent(node)))
            twins[captured] = self._clock.pool.take()
            checked(self._runtime.cudaGraphExecEventRecordNodeSetEvent(executable, node, twins[captured]), "preparing a graph's clock")
        missing = {int(event) for span in self._spans for event in (span.first, span.last)} - twins.keys()
        if missing:
            raise TargetError("A captured graph lost events of its phases: an event was recorded outside the target's stream.")
        return twins

    @property
    def kernel_count(self) -> int:
        """The kernels of the graph, a library's among them."""
        return len(self._nodes(self._runtime.cudaGraphNodeType.cudaGraphNodeTypeKernel))

    def _event_nodes(self) -> list[Any]:
        return self._nodes(self._runtime.cudaGraphNodeType.cudaGraphNodeTypeEventRecord)

    def _nodes(self, kind: Any) -> list[Any]:
        count = checked(self._runtime.cudaGraphGetNodes(self._graph))[-1]
        if not count:
            return []
        nodes = checked(self._runtime.cudaGraphGetNodes(self._graph, count))[0]
        return [node for node in nodes[:count] if checked(self._runtime.cudaGraphNodeGetType(node)) == kind]
