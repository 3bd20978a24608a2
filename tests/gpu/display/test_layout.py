"""Where the picture goes in its widget."""

from __future__ import annotations

import pytest

from raygrove.gpu.display.layout import fitted


@pytest.mark.parametrize(
    ("picture", "widget", "expected"),
    [
        ((100, 50), (200, 100), (0, 0, 200, 100)),
        ((100, 100), (300, 100), (100, 0, 100, 100)),
        ((100, 100), (100, 300), (0, 100, 100, 100)),
        ((244, 192), (974, 765), (0, 0, 974, 765)),
        ((1, 1000), (10, 10), (4, 0, 1, 10)),
    ],
)
def test_the_aspect_is_kept_and_the_picture_centred(
    picture: tuple[int, int], widget: tuple[int, int], expected: tuple[int, int, int, int]
) -> None:
    assert fitted(*picture, *widget) == expected
