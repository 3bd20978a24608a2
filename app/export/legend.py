"""The scale that explains a picture's colours, drawn into it: what the window lays over its lower left corner."""

from __future__ import annotations

from typing import Any

import numpy as np

WIDTH, HEIGHT, BAR, MARGIN, PADDING = 280, 64, 12, 12, 10
SWATCH, NO_VALUE = 9, "no value"
"""The side of the square in the colour of what has no value, and what stands beside it."""
LARGEST_SHARE = 0.6
"""Of the picture's sides: a smaller picture has no room for a legend."""
PLATE, TEXT, FONT_PIXELS, FONT_HEIGHT = (20, 20, 24, 215), (235, 235, 235, 255), 13, 18


def number_text(value: float) -> str:
    """A number of the scale in so few digits that three of them fit below its bar; counts in full."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:g}"


def end_texts(scale: Any, or_less: str, or_more: str) -> tuple[str, str, str]:
    """What stands below the bar: at its beginning, in the middle, at the end. Beyond an end colours are the same."""
    low, high = scale.low, scale.high
    first = number_text(low) + (or_less if scale.has_less else "")
    return first, number_text(low + 0.5 * (high - low)), number_text(high) + (or_more if scale.has_more else "")


def with_legend(pixels: np.ndarray, scale: Any) -> np.ndarray:
    """A copy of a picture (H, W, 4) uint8 with a scale (gpu/shade's Legend) in its lower left corner; the picture
    itself where it is too small."""
    height, width = pixels.shape[:2]
    if LARGEST_SHARE * width < WIDTH + MARGIN or LARGEST_SHARE * height < HEIGHT + MARGIN:
        return pixels
    from PIL import Image, ImageDraw, ImageFont  # a window starts without

    plate = Image.new("RGBA", (WIDTH, HEIGHT), (0, 0, 0, 0))
    draw, font = ImageDraw.Draw(plate), ImageFont.load_default(FONT_PIXELS)
    draw.rounded_rectangle((0, 0, WIDTH - 1, HEIGHT - 1), 5, PLATE)
    draw.text((PADDING, 4), scale.label, TEXT, font)
    across, top = WIDTH - 2 * PADDING, 8 + FONT_HEIGHT
    if scale.missing is not None:
        left = WIDTH - PADDING - draw.textlength(NO_VALUE, font)
        draw.text((left, 4), NO_VALUE, TEXT, font)
        draw.rectangle((left - 2 * SWATCH, 8, left - SWATCH, 8 + SWATCH), (*scale.missing, 255))
    colors = np.asarray(scale.colors, np.uint8)
    row = colors[np.linspace(0, len(colors) - 1, across).round().astype(int)]
    plate.paste(Image.fromarray(np.repeat(row[None], BAR, axis=0)), (PADDING, top))
    for share, text in zip((0.0, 0.5, 1.0), end_texts(scale, " or less", " or more"), strict=True):
        draw.text((PADDING + share * (across - draw.textlength(text, font)), top + BAR + 2), text, TEXT, font)
    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.alpha_composite(plate, (MARGIN, height - HEIGHT - MARGIN))
    return np.asarray(image)
