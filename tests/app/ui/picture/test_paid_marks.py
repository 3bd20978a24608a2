"""Pixels that paid, lit up over a picture that is made narrower and as wide as before again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget

from raygrove.app.ui.picture.paid_marks import PaidMarks, lit_image, same_proportions


def test_marks_hide_while_the_picture_shows_other_things_at_their_places(qtbot: Any) -> None:
    picture, marks = QWidget(), PaidMarks()
    qtbot.addWidget(picture)
    picture.resize(800, 560)
    picture.show()
    marks.lie_on(picture)
    marks.show_paid(np.eye(28, 40, dtype=np.int64))
    assert marks.isVisible()
    picture.resize(420, 460)
    qtbot.waitUntil(lambda: not marks.isVisible())
    picture.resize(400, 281)
    qtbot.waitUntil(marks.isVisible)
    picture.resize(420, 460)
    marks.show_tile((0.1, 0.1, 0.2, 0.2))
    assert marks.isVisible(), "marked anew at this size"


@pytest.mark.parametrize(
    "size, other, is_same",
    [((800, 560), (400, 281), True), ((800, 560), (420, 460), False), ((8, 4), (0, 0), True), ((0, 0), (9, 9), True)],
)
def test_proportions(size: tuple[int, int], other: tuple[int, int], is_same: bool) -> None:
    assert same_proportions(size, other) == is_same == same_proportions(other, size)


def test_who_paid_more_is_more_opaque() -> None:
    image = lit_image(np.array([[0, 1], [4, 100]], np.int32))
    alphas = [image.pixelColor(x, y).alpha() for y in (0, 1) for x in (0, 1)]
    assert alphas[0] == 0 and alphas[1] < alphas[2] < alphas[3] and image.pixelColor(1, 1).red() == 255
    alike = lit_image(np.full((2, 2), 7, np.int32)).pixelColor(1, 1).alpha()
    assert alike == alphas[1] < alphas[3], "what all paid alike hides nothing"
