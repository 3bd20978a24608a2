"""Previews of the built-in scenes: shipped, kept, drawn in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QProcess, Qt
from PySide6.QtGui import QImage

from raygrove.app.ui.window import previews as module
from raygrove.app.ui.window.previews import ROOT, SHIPPED, SIZE, SOURCES, Previews
from raygrove.gpu.target.base import Target
from tests.app.ui.window.shipped_previews import NAMES, draw


def test_previews_follow_the_code_that_makes_the_scenes() -> None:
    for folder, pattern in SOURCES:
        assert len([path for path in (ROOT / folder).glob(pattern) if path.is_file()]) > 10, folder


def test_a_preview_that_is_kept_is_given_at_once_and_others_are_drawn_later(
    qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Previews, "_next", lambda self: None)
    previews = Previews(tmp_path)
    given: list[str] = []
    previews.ready.connect(lambda name, picture: given.append(name))
    previews.ask([])
    image = QImage(SIZE[0], SIZE[1], QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    assert image.save(str(previews.path_of("orbit")))
    previews.path_of("walker").write_bytes(b"no picture")
    monkeypatch.setattr(module, "SHIPPED", tmp_path / "none")
    previews.ask(["orbit", "walker", "cloth"])
    assert given == ["orbit"] and previews._waiting == ["walker", "cloth"]


def test_what_is_not_drawn_yet_is_what_comes_with_the_program(
    qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Previews, "_next", lambda self: None)
    previews = Previews(tmp_path)
    given: dict[str, QImage] = {}
    previews.ready.connect(lambda name, picture: given.update({name: picture.toImage()}))
    previews.ask(NAMES)
    assert tuple(given) == NAMES == tuple(previews._waiting)
    assert all((image.width(), image.height()) == SIZE for image in given.values())


@pytest.mark.parametrize(
    "name", [name if name == "walker" else pytest.param(name, marks=pytest.mark.full) for name in NAMES]
)
def test_what_comes_with_the_program_is_what_is_drawn(name: str, tmp_path: Path) -> None:
    draw(name, tmp_path / "now.png")
    now, shipped = (
        np.asarray(Image.open(path).convert("RGB"), float) for path in (tmp_path / "now.png", SHIPPED / f"{name}.png")
    )
    assert np.abs(now - shipped).mean() < 1.0, f"python -m tests.app.ui.window.shipped_previews {name}"


def test_a_preview_is_drawn_by_the_engine_in_a_process_of_its_own(
    qtbot: Any, tmp_path: Path, host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SHIPPED", tmp_path / "none")
    previews = Previews(tmp_path)
    with qtbot.waitSignal(previews.ready) as caught:
        previews.ask(["walker"])
    name, picture = caught.args
    assert name == "walker" and (picture.width(), picture.height()) == SIZE
    colors = {picture.toImage().pixel(x, y) for x in range(0, SIZE[0], 16) for y in range(0, SIZE[1], 16)}
    assert len(colors) > 20, "there is something to see"
    assert [path.name for path in tmp_path.iterdir()] == [previews.path_of("walker").name], (
        "nothing half-written is left"
    )


def test_leaving_the_page_stops_the_drawing_at_once_and_leaves_nothing(qtbot: Any, tmp_path: Path) -> None:
    previews = Previews(tmp_path)
    previews.ask(["blob"])
    process = previews._process
    assert process is not None and process.waitForStarted(60000)
    previews.stop()
    assert process.state() == QProcess.ProcessState.Running, (
        "its end is news that only Qt's loop brings, unless somebody waits for it"
    )
    with qtbot.waitSignal(process.destroyed):
        pass
    assert not list(tmp_path.iterdir())
