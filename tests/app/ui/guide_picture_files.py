"""Pictures of the window as PNG files with a palette of 256, in which the colours of the interface and of the phases
are kept exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from PySide6.QtGui import QColor, QImage

from raygrove.app.ui.colors import DARK, LIGHT

FLAT = 64
"""So many of the colours that are met most are kept as they are: surfaces, texts and their edges."""

STEP = 10
"""Colours of pictures are this far apart where they shade off: dots of two mix one between."""

BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) / 16.0 - 15.0 / 32.0


def save(picture: QImage, path: Path, is_dark: bool = False) -> None:
    """See the module."""
    pixels = pixels_of(picture)
    colors, places = chosen_colors(pixels, is_dark)
    made = Image.fromarray(places.reshape(pixels.shape[:2]), "P")
    made.putpalette(colors.astype(np.uint8).tobytes())
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save(path, optimize=True)


def pixels_of(picture: QImage) -> np.ndarray:
    """(height, width, 3) uint8."""
    image = picture.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def theme_colors(is_dark: bool) -> np.ndarray:
    """Those of the interface and of the phases, (n, 3)."""
    scheme = DARK if is_dark else LIGHT
    names = ("window", "panel", "field", "text", "secondary", "disabled", "border", "error", "selected", "other")
    texts = [*scheme.phases.values(), *(getattr(scheme, name) for name in names)]
    return np.array([QColor(text).getRgb()[:3] for text in texts], np.int64)


def chosen_colors(pixels: np.ndarray, is_dark: bool) -> tuple[np.ndarray, np.ndarray]:
    """256 colours at most: the theme's, those that are met most, and what is left over for all others; and which of
    them each pixel has, its own where that is among them."""
    flat = pixels.reshape(-1, 3).astype(np.int64)
    codes, which, counts = np.unique(flat @ (65536, 256, 1), return_inverse=True, return_counts=True)
    met = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1)
    kept = np.unique(np.concatenate([theme_colors(is_dark), met[np.argsort(-counts)[:FLAT]]]), axis=0)
    kept_codes = kept @ (65536, 256, 1)
    rest = ~np.isin(codes, kept_codes)[which]
    colors = kept
    if rest.any():
        strip = Image.fromarray(flat[rest].astype(np.uint8)[None], "RGB")
        reduced = strip.quantize(256 - len(kept), kmeans=2, dither=Image.Dither.NONE).getpalette() or []
        colors = np.concatenate([kept, np.array(reduced, np.int64).reshape(-1, 3)])[:256]
    dots = np.tile(BAYER, [-(-size // 4) for size in pixels.shape[:2]])[: pixels.shape[0], : pixels.shape[1]]
    mixed = np.where(rest[:, None], flat + np.rint(STEP * dots).astype(np.int64).reshape(-1, 1), flat)
    mixed_codes, which = np.unique(mixed.clip(0, 255) @ (65536, 256, 1), return_inverse=True)
    met = np.stack([mixed_codes >> 16, mixed_codes >> 8 & 255, mixed_codes & 255], axis=1)
    nearest = np.empty(len(met), np.uint8)
    for first in range(0, len(met), 4096):
        away = ((met[first : first + 4096, None] - colors[None]) ** 2 * (2, 4, 3)).sum(axis=2)
        nearest[first : first + 4096] = away.argmin(axis=1)
    return colors, nearest[which]
