"""What the machine refuses: each allocation, each launch and each written byte in turn.

`python -m tests.campaign.failures [--every N] [--device cuda]`. Pictures are drawn while the target's n-th request for
memory fails, or its n-th launch does, as a driver's would; files are written while the system takes only so many bytes
of one (RLIMIT_FSIZE, which a full disk is like: a write is cut short and the next one fails). Each must end in one
sentence; the next picture must be the right one, bit by bit, and of a file the old text or the new one be there whole.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from raygrove.app.document.state import Bookmark, SceneReference, State
from raygrove.app.export.images import save_png
from raygrove.app.export.outputs import write_table
from raygrove.app.export.whole_files import write_atomically
from raygrove.app.frames import refinement
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.file import save_settings
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.user_files import bookmarks, key_bindings
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import OutOfMemoryError, Target, TargetError
from raygrove.gpu.target.cuda import CudaTarget
from raygrove.gpu.target.host import HostTarget

SIZE = (32, 24)
CHOICES = (("lbvh", "bvh2", "smooth"), ("sbvh", "bvh4", "ao"), ("ploc", "bvh2", "path"), ("sah_events", "kd8", "steps"))
TARGETS: dict[str, type[Target]] = {"cpu": HostTarget, "cuda": CudaTarget}
MOST = 3000
"""Requests and launches of a picture, at most: what counts further never ends."""


@dataclasses.dataclass
class Tally:
    """How often something was refused, how often it ended in a sentence, and what else became of it."""

    tried: int = 0
    sentences: int = 0
    findings: list[str] = dataclasses.field(default_factory=list)


def state_of(structure: str, layout: str, ray_type: str, device: str = "cpu") -> State:
    """A choice, with one thread where it is on the host."""
    settings = Settings()
    chosen = {"device": device, "hierarchy": structure, "layout": layout, "ray_type": ray_type}
    for key, value in chosen.items():
        settings = set_option(settings, f"render.{key}", value)
    settings = set_option(set_option(settings, "display.adapt_resolution", False), "update.always", True)
    return State(settings=set_option(settings, "device.threads", 1))


@contextlib.contextmanager
def failing(method: str, number: int, error: TargetError, kind: type[Target] = HostTarget) -> Iterator[list[int]]:
    """The `number`-th call of a method of such targets raises `error`; the list holds how many calls there were."""
    real, count = getattr(kind, method), [0]

    def call(self: Target, *arguments: Any, **named: Any) -> Any:
        count[0] += 1
        if count[0] == number:
            raise error.with_traceback(None)  # the same one again: it would keep the frames of all before
        return real(self, *arguments, **named)

    setattr(kind, method, call)
    try:
        yield count
    finally:
        setattr(kind, method, real)


def drawn(maker: FrameMaker, scene: Scene, state: State) -> np.ndarray:
    """The pixels of two instants, so that what moves is updated, too."""
    slot, pictures = HostSlot(*SIZE), []
    for at in (0.0, 0.4):
        maker.draw(scene, state, Moment(at), (slot,), False)
        pictures.append(np.array(slot.pixels))
    return np.stack(pictures)


@mock.patch.object(refinement, "WHOLE_LIMIT_MS", math.inf)  # else clocks decide who is filtered
def refuse_each(method: str, error: TargetError, state: State, scene: Scene, every: int = 1) -> Tally:
    """Each `every`-th call refused, in a maker of its own."""
    tally, kind = Tally(), TARGETS[state.settings.render.device]
    maker = FrameMaker()
    with failing(method, 0, error, kind) as count:
        expected = drawn(maker, scene, state)
    maker.close()
    for number in range(1, min(count[0], MOST) + 1, every):
        maker = FrameMaker()
        tally.tried += 1
        try:
            with failing(method, number, error, kind):
                drawn(maker, scene, state)
            tally.findings.append(f"{method} {number} was refused and nothing was said")
        except TargetError as said:
            tally.sentences += str(said).rstrip().endswith(".")
        except Exception as other:
            tally.findings.append(f"{method} {number}: {type(other).__name__}: {other}")
        try:
            maker.close()  # as the render thread does, which drops what may be broken
            if not np.array_equal(drawn(maker, scene, state), expected):
                tally.findings.append(f"{method} {number}: the next picture is another one")
            maker.close()
        except Exception as other:
            tally.findings.append(f"{method} {number}, the next picture: {type(other).__name__}: {other}")
    return tally


def writers(folder: Path) -> dict[str, Callable[[], object]]:
    """What the program writes for its user, each as a call that writes once; old files lie there before."""
    state, pixels = State(scene=SceneReference("demo", ("orbit",))), np.zeros((16, 16, 4), np.uint8)
    settings = set_option(Settings(), "render.width", 640)
    marks = tuple(Bookmark(f"view {n}", seconds=n + 1.0) for n in range(8))
    rows = [{"frame": n, "seconds": n / 7.0} for n in range(40)]
    return {
        "settings.toml": lambda: save_settings(settings, folder / "settings.toml"),
        "cameras.toml": lambda: bookmarks.save(state.scene, marks, folder / "cameras.toml"),
        "keys.toml": lambda: key_bindings.save({"view.home": ("H",)}, folder / "keys.toml"),
        "picture.png": lambda: save_png(folder / "picture.png", pixels, {"note": "x" * 500}),
        "table.csv": lambda: write_table(folder / "table.csv", rows),
        "table.json": lambda: write_table(folder / "table.json", rows),
        "any.bin": lambda: write_atomically(folder / "any.bin", lambda file: file.write(bytes(9000))),
    }


def refuse_bytes(name: str, folder: Path, every: int = 1) -> Tally:
    """The file written anew while the system takes 0, `every`, 2 `every` ... bytes of it, each in a process of its
    own, until it is whole."""
    tally = Tally()
    write = writers(folder)[name]
    write()
    new = (folder / name).read_bytes()
    old = b"# what was there before\n" if name.endswith(".toml") else b"old"
    for limit in range(0, len(new), every):
        (folder / name).write_bytes(old)
        tally.tried += 1
        outcome = _in_a_process(write, limit)
        found = (folder / name).read_bytes()
        if found not in (old, new) and not found.startswith(old.rstrip()):
            tally.findings.append(f"{name} at {limit} bytes: {len(found)} bytes are neither the old file nor the new")
        elif outcome == "sentence":
            tally.sentences += 1
        else:
            tally.findings.append(f"{name} at {limit} bytes: {outcome}")
        if left := [path.name for path in folder.iterdir() if path.name.endswith(".tmp") or path.name[0] == "."]:
            tally.findings.append(f"{name} at {limit} bytes left {left}")
    return tally


def _in_a_process(write: Callable[[], object], limit: int) -> str:
    """What became of a call whose files end at `limit` bytes."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        said = "nothing was said"
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            write()
        except Exception as error:
            is_sentence = isinstance(error, OSError) or str(error).rstrip().endswith(".")
            said = "sentence" if is_sentence else f"{type(error).__name__}: {error}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(pid, 0)
    return said or "the process ended without a word"


def main(arguments: list[str] | None = None) -> int:
    """Everything in turn; a line for each, and 1 where there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="refuse each N-th alone (1)")
    words = "what draws; files are written where it is the CPU (cpu)"
    parser.add_argument("--device", choices=tuple(TARGETS), default="cpu", help=words)
    names = parser.parse_args(arguments)
    begun, found = time.monotonic(), 0
    scene = make_demo("walker", 100)
    refusals = {
        "empty": OutOfMemoryError("an array of a campaign", 1 << 30, 1 << 20),
        "launch": TargetError("The device has failed: an illegal address was encountered."),
    }

    def say(what: str, tally: Tally) -> None:
        nonlocal found
        found += len(tally.findings)
        print(f"{what:40} {tally.tried:6,} refused {tally.sentences:6,} sentences {len(tally.findings):4} findings")
        print("".join(f"  {line}\n" for line in tally.findings[:10]), end="", flush=True)

    for method, error in refusals.items():
        for choice in CHOICES:
            tally = refuse_each(method, error, state_of(*choice, names.device), scene, names.every)
            say(f"{method}: {' '.join(choice)}", tally)
    with tempfile.TemporaryDirectory(prefix="raygrove-campaign-") as name:
        for file in writers(Path(name)) if names.device == "cpu" else ():
            folder = Path(name) / file.replace(".", "_")
            folder.mkdir()
            say(f"bytes: {file}", refuse_bytes(file, folder, names.every))
    print(f"{time.monotonic() - begun:,.0f} s")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
