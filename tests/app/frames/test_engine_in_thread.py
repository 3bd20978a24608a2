"""The render thread with a real engine on the host: a built-in scene, real pictures, another choice while it runs."""

from __future__ import annotations

import threading
import time

import numpy as np

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.pixel_slots import HostSlot, SlotExchange
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.problems.problem import Problem
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.scene import Moment
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target


def test_pictures_are_those_of_a_render_without_a_window(host_target: Target) -> None:
    scene = make_demo("walker", 500)
    settings = set_option(set_option(Settings(), "render.device", "cpu"), "display.still_samples", 1)
    state = State(settings=set_option(settings, "display.refine_samples", 1))
    state = replaced(replaced(state, "settings.render.width", 48), "settings.render.height", 36)
    state = replaced(state, "settings.render.samples", 3)
    frames: list[FinishedFrame] = []
    problems: list[Problem] = []
    arrived = threading.Condition()

    def hear(frame: FinishedFrame) -> None:
        with arrived:
            frames.append(frame)
            arrived.notify()

    thread = RenderThread(hear, problems.append)
    thread.start()
    exchange = SlotExchange((HostSlot(48, 36), HostSlot(48, 36)))
    pictures = {}
    try:
        for ray_type in ("flat", "steps", "smooth"):
            asked = replaced(state, "settings.render.ray_type", ray_type)
            thread.submit(FrameRequest(scene, asked, Moment(0.5), (exchange,)))
            end = time.monotonic() + 60.0
            while not (frames and frames[-1].request.state is asked and frames[-1].samples == 3):
                assert not problems and time.monotonic() < end, problems
                with arrived:
                    arrived.wait(0.01)
                slot = exchange.newest_finished()
                if slot is not None:
                    assert isinstance(slot, HostSlot)
                    pictures[ray_type] = slot.pixels.copy()
                    exchange.give_back(slot)
            last = exchange.newest_finished()
            if last is not None:
                assert isinstance(last, HostSlot)
                pictures[ray_type] = last.pixels.copy()
                exchange.give_back(last)
            (expected,) = render_frames(host_target, scene, asked, [(0, 0.5)])
            assert np.array_equal(pictures[ray_type], expected.pixels), ray_type
            assert frames[-1].statistics is not None and frames[-1].statistics.views[0].samples == 3
            assert frames[-1].statistics.views[0].structure.sah_cost is not None
    finally:
        assert thread.stop(60.0)
    assert len({picture.tobytes() for picture in pictures.values()}) == 3


def test_auto_falls_to_the_host_only_where_no_gpu_can_be_used() -> None:
    target = choose("auto")
    assert target.kind in ("host", "cuda")
    target.close()
