"""A GPU that is absent, too old, full or lost, simulated at the driver's wrapper on a machine without one.

`python -m tests.campaign.devices [--every N]`. First the ways in which there is no device, as the driver's own answers
say it; then a target that works until its n-th launch or request for memory, for each n, and ends there with an error
of the driver's: one that breaks the device for the process (as an illegal access or a device that fell off the bus
does) fails ever after, also where a target is made anew. The thread that draws must say one sentence each time, try
nothing by itself, go on living, and draw the right picture, bit by bit, once the CPU is chosen.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot, SlotExchange
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.problems.problem import Problem
from raygrove.app.problems.problems import problem_of
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import set_option
from raygrove.gpu import linux
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target import choose, cuda_driver
from raygrove.gpu.target.base import OutOfMemoryError, Target, TargetError, TargetOptions
from raygrove.gpu.target.host import HostTarget
from tests.campaign.failures import SIZE, Tally, state_of
from tests.waiting import PROCESS_S

PROPERTIES = {"name": b"A GPU", "major": 6, "minor": 1, "totalGlobalMem": 1 << 32, "multiProcessorCount": 20}
FULL = 2
"""The driver's number for memory that is spent; others do not break the device."""
STATUSES = (FULL, 1, *cuda_driver._LOST, 999)
"""Errors that a working device may give: memory, a wrong value, those that break it, one that nobody knows."""
CHOICE = ("lbvh", "bvh2", "smooth")
TOUCHING = ("launch", "empty", "zeros", "upload", "write", "download", "scratch", "unit", "begin_frame", "end_frame",
            "finished_frames", "synchronize", "free_bytes", "close")  # fmt: skip
"""Of a target all that asks the driver for something."""


# -- no device ---------------------------------------------------------------------------------------------------------
def driver_of(status: int, count: int = 0, version: int = 0, properties: dict[str, Any] = PROPERTIES) -> Any:
    """The libraries, over a driver that answers so."""
    runtime = SimpleNamespace(
        cudaGetDeviceCount=lambda: (status, count),
        cudaDriverGetVersion=lambda: (0, version),
        cudaRuntimeGetVersion=lambda: (0, 13000),
        cudaGetErrorString=lambda error: (0, f"error {error} in the driver's words".encode()),
        cudaError_t=int,
    )
    facts = SimpleNamespace(getDeviceProperties=lambda ordinal: properties)
    return cuda_driver.Cuda(SimpleNamespace(__version__="0", cuda=SimpleNamespace(runtime=facts)), None, runtime)


ABSENT: dict[str, tuple[Any, str]] = {
    "no driver": (driver_of(35), "there is no NVIDIA driver"),
    "a driver that is too old": (driver_of(35, version=11040), "knows CUDA 11.4 only"),
    "no device": (driver_of(100), "error 100 in the driver's words"),
    "a driver that counts none": (driver_of(0, 0), "reports no device"),
    "a device that is too old": (driver_of(0, 1), "compute capability 6.1"),
    "a driver and libraries of two versions": (driver_of(803), "error 803 in the driver's words"),
}
"""What the driver answers, and a part of the sentence."""


def _library_there() -> Any:
    """The driver's library is there: without it nothing asks further."""
    return mock.patch.object(linux, "has_library", lambda name: True)


@contextlib.contextmanager
def driver(answers: Any) -> Iterator[None]:
    """Inside, the driver is another."""
    with _library_there(), mock.patch.object(cuda_driver, "load", lambda: answers):
        yield


@contextlib.contextmanager
def no_libraries() -> Iterator[None]:
    """Inside, cuda-bindings are not installed."""
    with _library_there(), mock.patch.dict(sys.modules, {"cuda": None, "cuda.bindings": None}):
        cuda_driver.load.cache_clear()
        yield
    cuda_driver.load.cache_clear()


def without_device(words: str, scene: Scene, tally: Tally) -> None:
    """Ask for a GPU that is not there: a sentence with the reason, then pictures by what is there."""
    tally.tried += 1
    asked = dataclasses.replace(
        state_of(*CHOICE), settings=set_option(state_of(*CHOICE).settings, "render.device", "cuda")
    )
    with contextlib.closing(FrameMaker()) as maker:
        try:
            maker.draw(scene, asked, Moment(0.0), (HostSlot(*SIZE),), False)
            tally.findings.append(f"{words}: a picture came from a GPU that is not there")
        except Exception as error:
            said = problem_of(error)
            is_right = said.exit_code == 4 and words in said.sentence and said.sentence.rstrip().endswith(".")
            tally.sentences += is_right
            tally.findings += [] if is_right else [f"{words}: {said.exit_code}, {said.sentence}"]
        auto = dataclasses.replace(asked, settings=set_option(asked.settings, "render.device", "auto"))
        if maker.draw(scene, auto, Moment(0.0), (HostSlot(*SIZE),), False).target_name != "host":
            tally.findings.append(f"{words}: auto did not take the CPU")
    if cuda_driver.cuda_available()[0] or not any("none" in text for _, text in cuda_driver.cuda_report()):
        tally.findings.append(f"{words}: the doctor says that there is a GPU")


# -- a device that fails -----------------------------------------------------------------------------------------------
class Fault:
    """The `number`-th call of a kind fails with the driver's `status`; where that breaks the device all calls do from
    then on. `count` is how many calls of the kind there were."""

    def __init__(self, method: str, number: int, status: int) -> None:
        self.method, self.number, self.status, self.count, self.has_come = method, number, status, 0, False

    def look(self, method: str) -> None:
        """Raise the error where it is due."""
        is_broken = self.has_come and self.status in cuda_driver._LOST
        if method == self.method and not is_broken:
            self.count += 1
            if self.count == self.number:
                self.has_come = is_broken = True
        if is_broken:
            raise self.error(method)

    def error(self, method: str) -> TargetError:
        """As the target of CUDA has it."""
        if self.status == FULL:
            return OutOfMemoryError("an array of a campaign", 1 << 30, 1 << 20)
        return cuda_driver.error_for(self.status, f"doing {method}")


def faulty_target(options: TargetOptions, fault: Fault) -> Target:
    """A target of the host that stands for a GPU: what it is asked goes by the fault first."""
    fault.look("make")
    target = HostTarget(options)
    for method in TOUCHING:
        setattr(target, method, _watched(getattr(target, method), method, fault))
    return target


def _watched(real: Callable[..., Any], method: str, fault: Fault) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        if method == "close":  # memory of the host that stands for the GPU's is given back all the same
            real(*arguments, **named)
            return fault.look(method)
        fault.look(method)
        return real(*arguments, **named)

    return call


class Drawer:
    """The thread that draws, whose GPU has a fault."""

    def __init__(self, scene: Scene, fault: Fault) -> None:
        self.scene, self.frames, self.problems = scene, list[FinishedFrame](), list[Problem]()
        self.calls = 0
        """Of the fault's kind until the first picture came."""
        self.exchange = SlotExchange((HostSlot(*SIZE), HostSlot(*SIZE)))

        def chosen(name: str, options: TargetOptions) -> Target:
            return faulty_target(options, fault) if name == "cuda" else choose(name, options)

        def hear(frame: FinishedFrame) -> None:
            self.calls = self.calls or fault.count
            self.frames.append(frame)

        self.thread = RenderThread(hear, self.problems.append,
                                   make_maker=lambda busy: _maker(busy, chosen))  # fmt: skip
        self.thread.start()

    def has_failed(self, fault: Fault) -> bool:
        """Whether what goes on behind a picture met the fault; then it was said. Raises TimeoutError where it was
        not."""
        end = time.monotonic() + PROCESS_S
        while fault.has_come and not self.problems:
            if time.monotonic() > end:
                raise TimeoutError("nothing was said")
            time.sleep(0.001)
        return fault.has_come

    def asked(self, device: str, again: bool = False) -> np.ndarray | None:
        """What comes of asking for a picture: its pixels, or None for a problem."""
        settings = state_of(*CHOICE).settings
        for key, value in (("render.device", device), ("update.always", False), ("display.still_samples", 1),
                           ("display.refine_samples", 1)):  # fmt: skip
            settings = set_option(settings, key, value)
        request = FrameRequest(self.scene, State(settings=settings), Moment(0.4), (self.exchange,))
        frames, problems, end = len(self.frames), len(self.problems), time.monotonic() + PROCESS_S
        (self.thread.retry if again else self.thread.submit)(request)
        while len(self.frames) == frames and len(self.problems) == problems:
            if time.monotonic() > end:
                raise TimeoutError("neither a picture nor a sentence came")
            time.sleep(0.001)
        if len(self.frames) == frames:
            return None
        slot = self.exchange.newest_finished()
        assert isinstance(slot, HostSlot)
        pixels = slot.pixels.copy()
        self.exchange.give_back(slot)
        return pixels


def _maker(busy: Callable[[str], None], chosen: Callable[[str, TargetOptions], Target]) -> FrameMaker:
    maker = FrameMaker(busy, chosen)
    maker.compiles_ahead = False
    return maker


def fail_at(method: str, number: int, status: int, scene: Scene, expected: np.ndarray, tally: Tally) -> None:
    """A GPU that fails there: a sentence, once; the same again where it is asked to try again and the device is
    broken; and the right picture by the CPU."""
    fault, where = Fault(method, number, status), f"{method} {number}, error {status}"
    drawer = Drawer(scene, fault)
    tally.tried += 1
    try:
        if drawer.asked("cuda") is not None and not drawer.has_failed(fault):
            tally.tried -= 1  # a picture that is drawn faster needs fewer calls than the one that was counted
            return
        again = drawer.asked("cuda", again=True)
        is_broken = status in cuda_driver._LOST
        if (again is None) != is_broken or (again is not None and not np.array_equal(again, expected)):
            tally.findings.append(f"{where}: what came of trying again is wrong")
        found = drawer.asked("cpu")
        if found is None or not np.array_equal(found, expected):
            tally.findings.append(f"{where}: the CPU's picture is another one")
        said = [problem.sentence for problem in drawer.problems]
        wanted = "Start the program anew" if is_broken else "memory" if status == FULL else f"error {status}"
        if len(said) == 1 + is_broken and all(wanted in one and one.endswith(".") for one in said):
            tally.sentences += 1
        else:
            tally.findings.append(f"{where}: said {said}")
    except TimeoutError as error:
        tally.findings.append(f"{where}: {error}")
    finally:
        if not drawer.thread.stop(PROCESS_S):
            tally.findings.append(f"{where}: the thread does not end")


def run(every: int) -> dict[str, Tally]:
    """All of it; each `every`-th call alone, with the statuses in turn."""
    scene, tallies = make_demo("walker", 100), {"no device": Tally()}
    with no_libraries():
        without_device("cuda-bindings cannot be imported", scene, tallies["no device"])
    for answers, words in ABSENT.values():
        with driver(answers):
            without_device(words, scene, tallies["no device"])
    for method in ("launch", "empty"):
        counted, tally = Fault(method, 0, FULL), Tally()
        drawer = Drawer(scene, counted)
        expected = drawer.asked("cuda")
        drawer.thread.stop(PROCESS_S)
        assert expected is not None, drawer.problems
        statuses = itertools.cycle(STATUSES if method == "launch" else (FULL, *cuda_driver._LOST))
        for number in range(1, drawer.calls + 1, every):
            fail_at(method, number, next(statuses), scene, expected, tally)
        tallies[f"each {method}" if every == 1 else f"each {every}th {method}"] = tally
    return tallies


def main(arguments: list[str] | None = None) -> int:
    """Everything; a line for each kind, and 1 where there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="let each N-th call fail alone (1)")
    tallies = run(parser.parse_args(arguments).every)
    for what, tally in tallies.items():
        print(f"{what:24} {tally.tried:6,} faults {tally.sentences:6,} sentences {len(tally.findings):4} findings")
        print("".join(f"  {line}\n" for line in tally.findings[:10]), end="")
    return int(any(tally.findings for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
