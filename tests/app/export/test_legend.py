"""The scale in written pictures: its colours and place, and none where it has no room."""

from __future__ import annotations

import numpy as np

from raygrove.app.export.legend import BAR, HEIGHT, MARGIN, PADDING, SWATCH, WIDTH, end_texts, with_legend
from raygrove.gpu.shade.presentation import Legend

COLORS = np.linspace([0, 0, 255], [255, 128, 0], 256).astype(np.uint8)


def test_the_bar_has_the_colours_from_left_to_right() -> None:
    plain = np.full((300, 640, 4), (10, 200, 30, 255), np.uint8)
    found = with_legend(plain, Legend("speed (m/s)", 0.5, 2.0, COLORS))
    assert not (found == (255, 0, 255, 255)).all(axis=2).any()
    missing = with_legend(plain, Legend("speed (m/s)", 0.5, 2.0, COLORS, missing=(255, 0, 255)))
    assert (missing == (255, 0, 255, 255)).all(axis=2).sum() == (SWATCH + 1) ** 2, "what has no value has a square"
    changed = (found != plain).any(axis=2)
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    assert (rows[0], rows[-1]) == (300 - HEIGHT - MARGIN, 300 - MARGIN - 1), "the lower left corner"
    assert (columns[0], columns[-1]) == (MARGIN, MARGIN + WIDTH - 1) and (plain == (10, 200, 30, 255)).all()
    left, right = MARGIN + PADDING, MARGIN + WIDTH - PADDING - 1
    bar = [row for row in rows if tuple(found[row, left]) == (0, 0, 255, 255)]
    assert len(bar) == BAR and all(tuple(found[row, right]) == (255, 128, 0, 255) for row in bar)
    middle = found[bar[0], (left + right) // 2].astype(int)
    assert abs(middle - (*COLORS[127], 255)).max() <= 1
    assert found[:, :, 3].min() == 255


def test_small_pictures_stay_as_they_are() -> None:
    for shape in ((64, 64, 4), (90, 640, 4), (480, 300, 4)):
        plain = np.zeros(shape, np.uint8)
        assert with_legend(plain, Legend("x", 0.0, 1.0, COLORS)) is plain


def test_numbers_of_a_scale_are_short() -> None:
    scale = Legend("x", -1.0, 2.0, COLORS)
    assert end_texts(scale, " or less", " or more") == ("-1", "0.5", "2 or more")
    scale = Legend("x", -1.0, 2.0, COLORS, has_less=True, has_more=False)
    assert end_texts(scale, " or less", " or more") == ("-1 or less", "0.5", "2")
