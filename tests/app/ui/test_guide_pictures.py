"""The guide's pictures: those that are taken are those that stand there, and their colours are the program's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor, QImage

from raygrove.app.ui.colors import DARK, LIGHT
from tests.app.ui import guide_laboratory, guide_pages, guide_steps
from tests.app.ui.guide_picture_files import save
from tests.app.ui.guide_pictures import ABOVE, LABORATORY, NAMES, OUT, PAGES

LARGEST = 250_000
"""Bytes of a picture in docs."""


def place_of(name: str) -> Path:
    return (OUT.parent if name in ABOVE else OUT) / f"{name}.png"


def test_each_picture_is_taken_by_its_steps_and_stands_in_the_docs() -> None:
    assert {path.stem for path in OUT.glob("*.png")} == set(NAMES) - set(ABOVE)
    root = OUT.parents[2]
    pages = [*(root / "docs").rglob("*.md"), root / "README.md"]
    texts = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert set(PAGES) == set(guide_pages.PAGES)
    for name in NAMES:
        steps = guide_laboratory if name in LABORATORY else guide_pages if name in PAGES else guide_steps
        assert callable(getattr(steps, name))
        assert f"images/{'' if name in ABOVE else 'guide/'}{name}.png)" in texts, name
        assert place_of(name).stat().st_size < LARGEST, name


@pytest.mark.parametrize("name", ["window", "timeline", "statistics", "model"])
def test_pictures_have_the_colours_of_the_phases(name: str) -> None:
    """Each phase of the statistics is marked in its colour: reduced to a palette, two had become one."""
    pixels = np.asarray(Image.open(place_of(name)).convert("RGB")).reshape(-1, 3)
    codes = np.unique(pixels.astype(np.int64) @ (65536, 256, 1))
    phases = (DARK if name == "window" else LIGHT).phases
    assert not [phase for phase, color in phases.items() if int(color[1:], 16) not in codes]


def test_a_picture_of_many_colours_keeps_those_of_the_phases(tmp_path: Path) -> None:
    made = QImage(256, 256, QImage.Format.Format_RGB888)
    for x in range(256):
        for y in range(256):
            made.setPixelColor(x, y, QColor(x, y, (x * y) % 256))
    for place, color in enumerate(LIGHT.phases.values()):
        made.setPixelColor(place, 0, QColor(color))
    save(made, tmp_path / "made.png")
    seen = Image.open(tmp_path / "made.png").convert("RGB")
    near = np.asarray(seen, np.int64)
    found = [f"#{code:06X}" for code in near[0, : len(LIGHT.phases)] @ (65536, 256, 1)]
    assert found == list(LIGHT.phases.values())
    wanted = np.stack(np.meshgrid(np.arange(256), np.arange(256)), axis=2)
    assert np.abs(near[..., :2] - wanted)[1:].mean() < 24, "and the others are near"
