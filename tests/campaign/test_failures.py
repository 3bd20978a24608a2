"""What campaigns of refusals and soaks find, on a small scale; that they do find what is planted."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.target.base import OutOfMemoryError, TargetError
from tests.campaign import failures, soak
from tests.campaign.failures import CHOICES, refuse_bytes, refuse_each, state_of, writers

NO_MEMORY = OutOfMemoryError("an array of a test", 1 << 30, 1 << 20)
NO_DEVICE = TargetError("The device has failed: an illegal address was encountered.")


@pytest.mark.parametrize(("method", "error"), [("empty", NO_MEMORY), ("launch", NO_DEVICE)])
def test_what_is_refused_is_said_and_the_next_picture_is_right(method: str, error: TargetError) -> None:
    tally = refuse_each(method, error, state_of(*CHOICES[0]), make_demo("walker", 100), every=17)
    assert tally.tried >= 3 and tally.sentences == tally.tried and not tally.findings


def test_a_refusal_that_nobody_hears_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    real = failures.drawn

    def deaf(*arguments: Any) -> Any:
        try:
            return real(*arguments)
        except TargetError:
            return None

    monkeypatch.setattr(failures, "drawn", deaf)
    tally = refuse_each("launch", NO_DEVICE, state_of(*CHOICES[0]), make_demo("walker", 100), every=30)
    assert tally.tried and len(tally.findings) == tally.tried and "nothing was said" in tally.findings[0]


@pytest.mark.parametrize("name", sorted(writers(Path("."))))
def test_a_file_is_whole_wherever_the_disk_ends(name: str, tmp_path: Path) -> None:
    tally = refuse_bytes(name, tmp_path, every={"any.bin": 3000, "table.json": 500, "cameras.toml": 300}.get(name, 60))
    assert tally.tried >= 1 and tally.sentences == tally.tried and not tally.findings


def test_a_file_that_is_written_in_place_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, Callable[[], object]] = {"a.txt": lambda: (tmp_path / "a.txt").write_bytes(b"new words")}
    monkeypatch.setattr(failures, "writers", lambda folder: made)
    tally = refuse_bytes("a.txt", tmp_path, every=4)
    assert tally.tried == 3 and any("neither the old file nor the new" in line for line in tally.findings)


def test_a_soak_sees_what_grows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    kept: list[int] = []
    monkeypatch.setattr(soak.Soak, "step", lambda self: self.counts.update(["draw"]))
    assert soak.main(["--minutes", "0.002", "--combinations", "1"]) == 0

    def leak(self: soak.Soak) -> None:
        time.sleep(0.01)
        self.counts.update(["draw"])
        kept.append(os.open("/", os.O_RDONLY))

    monkeypatch.setattr(soak.Soak, "step", leak)
    try:  # long enough for steps between the looks on a busy machine
        assert soak.main(["--minutes", "0.05", "--combinations", "1"]) == 1
    finally:
        for descriptor in kept:
            os.close(descriptor)
    assert "descriptors" in capsys.readouterr().out.splitlines()[-1]


def test_a_soak_does_what_people_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its steps once, with the cheapest of choices."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    one = soak.Soak(tmp_path, 3, 1)
    one.opened = one.opened[:1]
    one.choices = [(("brute_force", "records"), "flat")]
    for step in (one.draw, one.open, one.export):
        step()
    assert [path for path in tmp_path.iterdir() if path.suffix in (".png", ".json", ".csv")]
    assert soak.taken_by(tmp_path)["files"] == 0
    one.maker.close()
