"""Pixels that paid, lit up."""

from __future__ import annotations

import numpy as np

from raygrove.app.ui.picture.paid_marks import lit_image


def test_who_paid_more_is_more_opaque() -> None:
    image = lit_image(np.array([[0, 1], [4, 100]], np.int32))
    alphas = [image.pixelColor(x, y).alpha() for y in (0, 1) for x in (0, 1)]
    assert alphas[0] == 0 and alphas[1] < alphas[2] < alphas[3] and image.pixelColor(1, 1).red() == 255
    alike = lit_image(np.full((2, 2), 7, np.int32)).pixelColor(1, 1).alpha()
    assert alike == alphas[1] < alphas[3], "what all paid alike hides nothing"
