"""What the campaign of clocks that jump finds, on a small scale; where the time of day is asked for at all."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from raygrove.app.document.log import Log
from raygrove.app.settings import kept_files
from tests.campaign import clocks

ROOT = Path(__file__).resolve().parents[2]
ASKED_FOR = {
    "app/document/log.py": "entries are shown with it",
    "app/export/whole_files.py": "how old what lies there is",
    "app/settings/kept_files.py": "how old what lies there is",
    "app/ui/dialogs/suite_dialog.py": "whether a report is of this run",
    "app/ui/measuring/used_window.py": "told to another process",
    "app/ui/widgets/first_paint.py": "told to another process",
    "app/ui/window/first_picture.py": "told to another process",
    "app/user_files/running_state.py": "how old what a crash left is",
    "gpu/target/cache.py": "how old what lies there is",
}
"""Everything else goes by clocks that never jump (time.monotonic, time.perf_counter)."""


def test_nothing_is_lost_while_the_clock_jumps(tmp_path: Path) -> None:
    tally, jumps = clocks.run(8, 3, tmp_path)
    assert tally.tried == 64 and jumps > 100 and not tally.findings


def test_what_a_jump_would_break_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that is sorted by its times, and a sweep that waits for the time to come."""
    said = Log.text
    monkeypatch.setattr(Log, "text", lambda log: (log.entries.sort(key=lambda one: one.when), said(log))[1])
    monkeypatch.setattr(kept_files, "STALE_S", 500 * 86_400.0)
    tally, _ = clocks.run(2, 1, tmp_path)
    assert any(line.startswith("log:") for line in tally.findings)
    assert any("left for ever" in line for line in tally.findings)


def test_waiting_is_a_finding_and_a_slow_disk_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, sleep = os.fsync, time.sleep
    monkeypatch.setattr(clocks, "SLOW_S", 0.5)
    monkeypatch.setattr(os, "fsync", lambda file: (sleep(0.3), written(file))[1])
    assert not clocks.run(1, 1, tmp_path)[0].findings
    answers = iter([False, False, True])
    monkeypatch.setattr(kept_files, "POLL_S", 0.4)
    monkeypatch.setattr(kept_files, "_try", lambda _folder: next(answers, True))
    assert clocks.run(1, 1, tmp_path)[0].findings == ["settings: took 0.8 s"]


def test_the_time_of_day_is_asked_for_in_few_places() -> None:
    asks = re.compile(r"\btime\.time(_ns)?\(|datetime\.(now|today|utcnow)\(")
    found = {
        path.relative_to(ROOT).as_posix()
        for room in ("app", "gpu", "package")
        for path in (ROOT / room).rglob("*.py")
        if asks.search(path.read_text(encoding="utf-8"))
    }
    assert found - {"app/cli/job_running.py"} == set(ASKED_FOR), "a job's report says when it began"


def test_the_clock_of_a_campaign_does_jump() -> None:
    clock = clocks.JumpingClock(clocks.random.Random(1))
    with clock.in_use():
        looked = [time.time() for _ in range(30)]
    assert clock.count == 30 and min(looked) < time.time() - 80_000 and max(looked) > time.time() + 80_000
