"""Where in a widget a picture goes."""

from __future__ import annotations


def fitted(width: int, height: int, wide: int, tall: int) -> tuple[int, int, int, int]:
    """The largest rectangle (x, y, width, height) of the picture's aspect, centred in a widget of `wide` x `tall`
    pixels. A picture whose sides were rounded to whole pixels fills the widget."""
    if abs(width * tall - height * wide) <= 2 * max(wide, tall):
        return 0, 0, wide, tall
    scale = min(wide / width, tall / height)
    w, h = max(1, round(width * scale)), max(1, round(height * scale))
    return (wide - w) // 2, (tall - h) // 2, w, h
