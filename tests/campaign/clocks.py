"""Clocks that jump: what a program does with its files while the time of day goes back or ahead.

`python -m tests.campaign.clocks [--rounds N] [--seed N]`. In each round the clock jumps by a second up to twenty years,
either way, before every single look at it; stamps of files stay as they were. Settings, cameras, keys, the state that
is set aside, exports, results and the log are written and read back: each must be what was written, nobody may wait,
and nothing half-written may stay that a killed program left long ago.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from raygrove.app.document.log import LIMIT, Log
from raygrove.app.document.state import Bookmark, SceneReference
from raygrove.app.export.whole_files import write_bytes as export_bytes
from raygrove.app.settings import file as settings_file
from raygrove.app.settings import kept_files
from raygrove.app.settings.file import load_settings, save_settings
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.system.watch import signature
from raygrove.app.user_files import bookmarks, key_bindings, running_state
from raygrove.bench.store.folder import Store
from tests.campaign.failures import Tally

JUMPS_S = (1.0, 60.0, 3700.0, 90_000.0, 20 * 86_400.0, 20 * 365 * 86_400.0)
"""A leap second, a correction, summer time, a wrong day, a wrong month, a
battery that is empty. What a crash left is thrown away after 30 days: a clock so far ahead does that at once."""
SLOW_S = 5.0
"""Of this thread's processor time and of waiting; how long a busy disk takes is nobody's fault here."""
NOBODY = 999_999_999
"""A number that no process has."""


class JumpingClock:
    """The time of day, which jumps before each look; `count` is how often, `slept` how long the program has waited."""

    def __init__(self, chance: random.Random, jumps: tuple[float, ...] = JUMPS_S) -> None:
        self.chance, self.jumps, self.count, self.slept = chance, jumps, 0, 0.0
        self._real, self._sleep = time.time, time.sleep

    def time(self) -> float:
        """As `time.time`."""
        self.count += 1
        return max(self._real() + self.chance.choice((-1.0, 1.0)) * self.chance.choice(self.jumps), 0.0)

    def sleep(self, seconds: float) -> None:
        """As `time.sleep`."""
        self.slept += seconds
        self._sleep(seconds)

    def spent(self) -> float:
        """Seconds that this thread has worked or waited until now; other threads may be left of other tests."""
        return time.thread_time() + self.slept

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Inside, the program looks at this clock."""
        nanoseconds = lambda: int(self.time() * 1e9)  # noqa: E731 - stands for a function
        with mock.patch.multiple("time", time=self.time, time_ns=nanoseconds, sleep=self.sleep):
            yield


def round_of(folder: Path, clock: JumpingClock) -> Iterator[tuple[str, bool]]:
    """What is done in a round, and whether it went as it must."""
    number = clock.chance.randrange(1, 3600)
    settings = set_option(Settings(), "render.width", number)
    save_settings(settings, folder / "settings.toml")
    yield "settings", load_settings(folder / "settings.toml").render.width == number
    scene = SceneReference("demo", (f"scene {number}",))
    marks = (Bookmark("one", seconds=float(number)),)
    bookmarks.save(scene, marks, folder / "cameras.toml")
    yield "cameras", bookmarks.load(scene, folder / "cameras.toml") == marks
    key_bindings.save({"view.home": (f"F{number % 12 + 1}",)}, folder / "keys.toml")
    yield "keys", key_bindings.load(folder / "keys.toml") == {"view.home": (f"F{number % 12 + 1}",)}
    export_bytes(folder / "picture.png", bytes([number % 256]) * 90)
    yield "exports", (folder / "picture.png").read_bytes() == bytes([number % 256]) * 90
    store = Store.made(folder / "store")
    sha = store.put({"job": {"number": number}, "status": "done"})
    yield "results", store.get(sha)["job"] == {"number": number}
    log = Log()
    for entry in range(20):
        log.add("information", f"Entry {entry}.")
    said = [line.partition("  ")[2] for line in log.text().splitlines()]
    yield "log", said == [f"Entry {entry}." for entry in range(20)] and len(log.entries) <= LIMIT
    with mock.patch.object(clock, "jumps", JUMPS_S[:-1]):
        yield "what a crash left", _left_is_found(number)
    before = signature([str(folder / "picture.png")])
    os.utime(folder / "picture.png", (number, number))
    yield "watched files", before != signature([str(folder / "picture.png")]) != ()


def _left_is_found(number: int) -> bool:
    """The state of a program that is no more is found, whatever time its file is stamped with."""
    running_state.save({"number": str(number)})
    path = running_state.folder() / f"{NOBODY}.json"
    running_state.own_file().rename(path)
    found = running_state.left()
    if found is None or dict(found.texts) != {"number": str(number)}:
        return False
    running_state.forget(found)
    return not path.exists()


def leave_half_written(folder: Path, now: float) -> list[Path]:
    """What programs that were killed left, a year ago and, by a clock that was wrong, in a year; files of the user's
    that are locked while they are written can hold nothing of anybody who still writes."""
    made = []
    for name in ("settings.toml", "cameras.toml", "keys.toml"):
        for place, when in enumerate((now - 365 * 86_400.0, now + 365 * 86_400.0)):
            made.append(folder / f"{name}.left{place}.tmp")
            made[-1].write_bytes(b"half")
            os.utime(made[-1], (when, when))
    return made


def run(rounds: int, seed: int, folder: Path, jumps: tuple[float, ...] = JUMPS_S) -> tuple[Tally, int]:
    """The rounds; how much was done, and how often the clock jumped."""
    tally, clock = Tally(), JumpingClock(random.Random(seed), jumps)
    home: Callable[[], Path] = lambda: folder / "home" / "settings.toml"  # noqa: E731 - stands for a function
    left = leave_half_written(folder, time.time())
    with clock.in_use(), mock.patch.object(settings_file, "user_file", home):
        for _ in range(rounds):
            begun = clock.spent()
            for what, is_right in round_of(folder, clock):
                tally.tried += 1
                tally.findings += [] if is_right else [f"{what}: not what was written"]
                if (taken := clock.spent() - begun) > SLOW_S:
                    tally.findings.append(f"{what}: took {taken:.1f} s")
                begun = clock.spent()
    for what in ("settings.toml", "cameras.toml", "keys.toml"):  # by a clock that is right again
        kept_files.write_bytes(folder / what, (folder / what).read_bytes())
    tally.findings += [f"{path.name} was left for ever" for path in left if path.exists()]
    tally.findings += [f"{path.name} stays" for path in folder.rglob("*") if path.suffix in (".tmp", ".part")]
    return tally, clock.count


def main(arguments: list[str] | None = None) -> int:
    """Run, print what was done; 1 where there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500, help="how often everything is done (500)")
    parser.add_argument("--seed", type=int, default=1, help="another seed jumps otherwise (1)")
    names = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="raygrove-campaign-") as name:
        tally, jumps = run(names.rounds, names.seed, Path(name))
    print(f"{tally.tried:,} writes read back, {jumps:,} jumps of the clock, {len(tally.findings)} findings")
    print("".join(f"  {line}\n" for line in tally.findings[:10]), end="")
    return int(bool(tally.findings))


if __name__ == "__main__":
    sys.exit(main())
