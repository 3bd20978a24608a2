"""A scene of gl_stage.py: CUDA, which a stand-in plays, refuses to go on sharing buffers with the window."""

from __future__ import annotations

from typing import Any

from OpenGL import GL

from raygrove.gpu.display import cuda_gl
from raygrove.gpu.display.pixel_buffer import PixelBuffer
from tests.app.stand_ins import gradient
from tests.app.ui.picture.gl_stage import array_of, draw_into, shown_view, wait_until
from tests.gpu.display.interop_stand_ins import OtherTarget, RecordingRuntime

REFUSED = {
    "cudaSetDevice": "cuda:1",
    "cudaGraphicsGLRegisterBuffer": "cuda:1",
    "cudaGraphicsUnmapResources": "",
    "cudaGraphicsMapResources": "",
}
"""What CUDA refuses while buffers are shared already: the first two when another device begins to draw."""


def refusals() -> dict[str, Any]:
    """For each refusal: what is said, whether the view copies now, how many of the buffers that were shared are left,
    and the picture that comes then."""
    answers: dict[str, Any] = {}
    usual = cuda_gl._runtime
    for refused, then in REFUSED.items():
        runtime = RecordingRuntime()
        cuda_gl._runtime = lambda found=runtime: found  # type: ignore[misc]
        window, view = shown_view()
        sentences: list[str] = []
        view.interop_failed.connect(sentences.append)
        view.use_target("cuda:0")
        draw_into(view, gradient(320, 240)[::-1], OtherTarget())
        shared = [slot for slot in view.exchange.slots if isinstance(slot, PixelBuffer)] if view.exchange else []
        numbers, was_shared = [slot.buffer_id for slot in shared], view.has_interop
        runtime.failing = refused
        view.use_target(then or "cuda:0")
        draw_into(view, gradient(320, 240)[::-1], OtherTarget())
        wait_until(lambda sentences=sentences: bool(sentences))  # type: ignore[misc]
        draw_into(view, gradient(320, 240), OtherTarget())
        wait_until(lambda shared=shared: not any(slot.buffer_id for slot in shared))  # type: ignore[misc]
        view.makeCurrent()
        left = sum(bool(GL.glIsBuffer(number)) for number in numbers)
        view.doneCurrent()
        answers |= {
            f"{refused}_counts": (len(numbers), was_shared, view.has_interop, left),
            f"{refused}_said": sentences,
            f"{refused}_shown": array_of(view.grabFramebuffer()),
        }
        window.close()
    cuda_gl._runtime = usual
    return answers
