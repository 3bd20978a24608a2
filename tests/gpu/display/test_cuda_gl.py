"""CUDA-GL interop: the order of its calls by a runtime that only writes them down, and the sentence where there is no
device."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("OpenGL", reason="PyOpenGL is not installed: a bare GPU machine has no window")

from raygrove.gpu.display import cuda_gl, pixel_buffer
from raygrove.gpu.display.cuda_gl import CudaGl, InteropUnavailable
from raygrove.gpu.display.pixel_buffer import PixelBuffer
from tests.gpu.display.interop_stand_ins import FakeTarget, OtherTarget, RecordingRuntime


class RecordingGl:
    """Answers like PyOpenGL's GL module."""

    GL_PIXEL_UNPACK_BUFFER, GL_STREAM_DRAW = 1, 2

    def __init__(self, runtime: RecordingRuntime) -> None:
        self._runtime = runtime

    def glGenBuffers(self, count: int) -> int:
        return 17

    def glBindBuffer(self, place: int, buffer_id: int) -> None:
        pass

    def glBufferData(self, *arguments: Any) -> None:
        self._runtime.calls.append(("glBufferData", arguments[1]))

    def glDeleteBuffers(self, count: int, ids: list[int]) -> None:
        self._runtime.calls.append(("glDeleteBuffers", *ids))


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> RecordingRuntime:
    made = RecordingRuntime()
    monkeypatch.setattr(cuda_gl, "_runtime", lambda: made)
    monkeypatch.setattr(pixel_buffer, "GL", RecordingGl(made))
    return made


def test_a_frame_maps_waits_records_and_unmaps_in_this_order(runtime: RecordingRuntime) -> None:
    buffer = PixelBuffer(CudaGl(1), 320, 240)
    assert ("SetDevice", 1) in runtime.calls and ("glBufferData", 320 * 240 * 4) in runtime.calls
    runtime.calls.clear()
    buffer.lend()
    with buffer.image(FakeTarget(), 160, 120) as image:
        assert image.shape == (120, 160, 4)
    buffer.reclaim()
    assert runtime.calls == [
        ("GraphicsMapResources", 1, "resource", "gui stream"),
        ("GraphicsResourceGetMappedPointer", "resource"),
        ("EventRecord", "event1", "gui stream"),
        ("StreamWaitEvent", 77, "event1", 0),
        ("EventRecord", "event2", 77),
        ("StreamWaitEvent", "gui stream", "event2", 0),
        ("GraphicsUnmapResources", 1, "resource", "gui stream"),
    ]
    assert buffer.drawn == (160, 120)


def test_a_picture_of_another_target_is_staged(runtime: RecordingRuntime) -> None:
    buffer = PixelBuffer(CudaGl(1), 320, 240)
    buffer.lend()
    runtime.calls.clear()
    with buffer.image(OtherTarget(), 8, 4) as image:
        image[:] = 9
    assert buffer.staged is not None and buffer.staged.shape == (4, 8, 4) and (buffer.staged == 9).all()
    assert runtime.calls == []
    with buffer.image(OtherTarget(), 8, 4) as image:
        assert (image == 9).all(), "what is drawn over the picture, or enlarges it, finds it"
    with buffer.image(OtherTarget(), 16, 8) as image:
        image[:] = 5
    assert buffer.staged is not None and buffer.staged.shape == (8, 16, 4) and (buffer.staged == 5).all()
    with buffer.image(FakeTarget(), 8, 4):
        pass
    assert buffer.staged is None


def test_a_buffer_is_unmapped_and_unregistered_before_it_goes(runtime: RecordingRuntime) -> None:
    buffer = PixelBuffer(CudaGl(), 320, 240)
    buffer.lend()
    runtime.calls.clear()
    buffer.close()
    assert runtime.names() == [
        "GraphicsUnmapResources",
        "GraphicsUnregisterResource",
        "glDeleteBuffers",
        "EventDestroy",
        "EventDestroy",
    ]
    buffer.close()
    assert runtime.names()[-1] == "EventDestroy" and len(runtime.calls) == 5


def test_what_was_not_handed_over_is_not_drawn_into(runtime: RecordingRuntime) -> None:
    buffer = PixelBuffer(CudaGl(1), 320, 240)
    with pytest.raises(InteropUnavailable, match="not handed over"), buffer.map(FakeTarget()):
        pass
    buffer.lend()
    with pytest.raises(ValueError, match="does not fit"), buffer.image(FakeTarget(), 321, 240):
        pass


@pytest.mark.parametrize("size", [(0, 10), (10, -1), (16385, 10)])
def test_sizes_out_of_range_are_refused(runtime: RecordingRuntime, size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="from 1 to 16384"):
        PixelBuffer(CudaGl(), *size)


def test_a_refusal_clears_the_sticky_error_and_is_a_sentence(runtime: RecordingRuntime) -> None:
    runtime.failing = "cudaGraphicsGLRegisterBuffer"
    with pytest.raises(InteropUnavailable, match="could not register .* unknown error.* copied through main memory"):
        PixelBuffer(CudaGl(), 320, 240)
    assert "GetLastError" in runtime.names()
    assert runtime.names()[-3:] == ["glDeleteBuffers", "EventDestroy", "EventDestroy"], "nothing is left behind"


def test_what_refuses_the_render_thread_gives_the_picture_and_is_heard_by_the_window(runtime: RecordingRuntime) -> None:
    buffer, target = PixelBuffer(CudaGl(1), 320, 240), FakeTarget()
    buffer.lend()
    runtime.failing = "cudaStreamWaitEvent"
    with buffer.image(target, 8, 4) as image:
        image[:] = 7
    assert buffer.staged is not None and (buffer.staged == 7).all(), "by way of main memory"
    runtime.failing = ""
    with pytest.raises(InteropUnavailable, match="could not wait for an event"):
        buffer.reclaim()
    buffer.lend()
    runtime.failing = "cudaEventRecord"
    with buffer.image(target, 8, 4):
        assert not target.has_waited
    assert target.has_waited and buffer.staged is None, "nothing else orders what is shown behind what was drawn"
    runtime.failing = ""
    with pytest.raises(InteropUnavailable, match="could not record an event"):
        buffer.reclaim()
    buffer.lend()
    buffer.reclaim()


@pytest.mark.parametrize(
    "refused",
    ["cudaStreamWaitEvent", "cudaGraphicsUnmapResources", "cudaGraphicsUnregisterResource", "cudaEventDestroy"],
)
def test_a_buffer_goes_whatever_is_refused(runtime: RecordingRuntime, refused: str) -> None:
    buffer = PixelBuffer(CudaGl(1), 320, 240)
    buffer.lend()
    with buffer.image(FakeTarget(), 160, 120):
        pass
    runtime.calls.clear()
    runtime.failing = refused
    buffer.close()
    steps = [name for name in runtime.names() if name not in ("GetLastError", "GetErrorString")]
    assert steps == [
        "StreamWaitEvent",
        "GraphicsUnmapResources",
        "GraphicsUnregisterResource",
        "glDeleteBuffers",
        "EventDestroy",
        "EventDestroy",
    ]


def test_without_a_device_the_runtime_itself_says_why() -> None:
    bindings = pytest.importorskip("cuda.bindings.runtime", reason="cuda-bindings is not installed")
    code, count = bindings.cudaGetDeviceCount()
    if int(code) == 0 and count:
        pytest.skip("there is a CUDA device here")
    with pytest.raises(InteropUnavailable, match="could not select the device"):
        CudaGl()
