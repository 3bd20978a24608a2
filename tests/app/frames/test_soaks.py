"""Long use: switches and cancels by the thousand leave neither memory nor files behind. The small versions run always;
the full ones by `pytest -m full tests/app/frames/test_soaks.py`: 10,000 switches over every structure and layout (six
minutes on two busy cores), 200 cancels (a minute and a half). Those of the window's GL view, 1,000 events, and of kills
amid saves, 400, are `-m full` in tests/app too: six and ten minutes. `python -m raygrove.bench soaks` runs them and
keeps what they tell by `record_property`."""

from __future__ import annotations

import functools
import gc
import itertools
import os
import random
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames import exporting
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings import option_tables
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import TargetError
from tests.app.frames.whole_pictures import whole_picture
from tests.app.stand_ins import wait_for_exports
from tests.conftest import patience

SIZE = (32, 24)
PAGE = os.sysconf("SC_PAGE_SIZE")
FLAT_MIB = 24
"""What memory may grow between the time when combinations have been met often, and the end."""

ACTS_WITHIN_S = 0.5

Record = Callable[[str, object], None]


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def devices() -> list[tuple[str, int]]:
    """Devices of this machine, and threads of each: another number of threads is another target."""
    found = [("cpu", 1), ("cpu", 2)]
    try:
        choose("cuda").close()
    except (TargetError, OSError):
        return found
    return [*found, ("cuda", 0)]


class Switcher:
    """Draws another combination of structure, layout, ray type, target and scene each time, at another instant."""

    def __init__(self, structures: dict[str, tuple[str, ...]]) -> None:
        self.chance, self.maker, self.slot = random.Random(5), FrameMaker(), HostSlot(*SIZE)
        self.scenes: tuple[Scene, ...] = (make_demo("walker", 400), make_demo("cloth", 200), make_demo("explode", 150))
        pairs = [(name, layout) for name, layouts in structures.items() for layout in layouts]
        self.combinations = list(
            itertools.product(pairs, sorted(option_tables.ray_types()), devices(), range(len(self.scenes)))
        )
        self.met: set[object] = set()

    def switch(self) -> None:
        """One picture of another choice."""
        chosen = self.chance.choice(self.combinations)
        self.met.add(chosen)
        (name, layout), ray_type, (target, threads), scene = chosen
        settings = set_option(Settings(), "device.threads", threads)
        settings = set_option(settings, "ray_type.radiosity.points", 300)
        for key, value in (("device", target), ("hierarchy", name), ("layout", layout), ("ray_type", ray_type)):
            settings = set_option(settings, f"render.{key}", value)
        self.slot.pixels[:] = 0
        moment = Moment(self.chance.uniform(0.0, 1.0))
        outcome = whole_picture(self.maker, self.scenes[scene], State(settings=settings), moment, (self.slot,))
        assert outcome.target_name.startswith("host" if target == "cpu" else target), chosen
        assert self.slot.pixels[..., 3].min() == 255, chosen


def assert_flat(switcher: Switcher, count: int, record: Record) -> None:
    """Memory after `count` switches is what it was after half of them; by then each combination has been met."""
    first = resident()
    try:
        for _ in range(count // 2):
            switcher.switch()
        half = resident()
        for _ in range(count - count // 2):
            switcher.switch()
        last = resident()
    finally:
        switcher.maker.close()
    grown = (last - half) / 2**20
    record("switches", count)
    record("combinations", len(switcher.met))
    for name, found in (("at_first", first), ("after_half", half), ("at_last", last)):
        record(f"memory_{name}_mib", round(found / 2**20, 1))
    print(
        f"{count} switches over {len(switcher.met)} combinations: {grown:+.1f} MiB in the second half, "
        f"{half / 2**20:.0f} MiB before"
    )
    assert grown < FLAT_MIB, f"{grown:.1f} MiB more"


def test_switches_leave_memory_flat(record_property: Record) -> None:
    assert_flat(Switcher({"lbvh": ("bvh2", "bvh4"), "brute_force": ("records",)}), 160, record_property)


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_ten_thousand_switches_leave_memory_flat(record_property: Record) -> None:
    assert_flat(
        Switcher({name: kind.layouts() for name, kind in option_tables.builders().items()}), 10_000, record_property
    )


def write_sheet(path: Path, side: int = 120) -> None:
    """An OBJ that takes a while to open."""
    with path.open("w") as file:
        file.writelines(f"v {i % side} {i // side} {(i * 7) % 5}\n" for i in range(side * side))
        corners = (row * side + column + 1 for row in range(side - 1) for column in range(side - 1))
        file.writelines(f"f {i} {i + 1} {i + side}\nf {i + 1} {i + side + 1} {i + side}\n" for i in corners)


def cancel_at_random_moments(folder: Path, count: int, record: Record) -> None:
    """Start an opening, an export or a report, cancel it after a moment; it ends in time, and nothing of it is left."""
    chance, sheet, scene = random.Random(3), folder / "sheet.obj", make_demo("walker", 400)
    write_sheet(sheet)
    settings = set_option(set_option(Settings(), "render.device", "cpu"), "render.samples", 4)
    state, document, delays = State(settings=settings), Document(settings), []
    plans = [
        exporting.plan_of(state, scene, str(folder / out), range(4000))
        for out in ("one.mp4", "p_%04d.png", "z_%04d.exr", "one.json")
    ]
    first = half = resident()
    for index in range(count):
        half = resident() if index == count // 2 else half
        plan = plans[index // 2 % len(plans)]
        if index % 2:
            job = document.start_job(
                "export", functools.partial(exporting.export, state=state, scene=scene, plan=plan), lambda job: None
            )
        else:
            job = document.open_files([str(sheet)])
        time.sleep(chance.uniform(0.0, 0.6))
        began = time.perf_counter()
        document.cancel(job)
        while job in document.jobs:
            document.mailroom.poll()
            time.sleep(0.002)
        delays.append(time.perf_counter() - began)
        assert job.wait(60.0) and job.problem is None, job.problem
    wait_for_exports()
    record("cancels", count)
    worst = max(delays)
    record("slowest_ms", round(worst * 1e3, 1))
    last = resident()
    for name, found in (("at_first", first), ("after_half", half), ("at_last", last)):
        record(f"memory_{name}_mib", round(found / 2**20, 1))
    print(f"{count} cancels: the slowest acted within {worst * 1e3:.0f} ms")
    # A machine with more to do than processors may delay some; a cancel that waits delays most of its kind.
    for kind in (delays[::2], delays[1::2]):
        assert statistics.median(kind) < patience(ACTS_WITHIN_S), delays
    assert not [path for path in folder.rglob("*") if path.name.endswith(".tmp") or path.name.startswith(".")]
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("job:")] == []


def test_cancels_at_random_moments(tmp_path: Path, record_property: Record) -> None:
    cancel_at_random_moments(tmp_path, 20, record_property)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_two_hundred_cancels_at_random_moments(tmp_path: Path, record_property: Record) -> None:
    cancel_at_random_moments(tmp_path, 200, record_property)
