"""The signs of errors, warnings and what is merely said: lines in ink as all our icons; errors in their colour, too."""

from __future__ import annotations

from PySide6.QtGui import QPixmap

from raygrove.app.ui.colors import scheme
from raygrove.app.ui.widgets.svg_icons import SIDE, drawn


def sign(kind: str, ratio: float, side: int = SIDE) -> QPixmap:
    """The sign of "error", "warning" or "information", or of "none" of them, in the colours of now."""
    colors = scheme()
    return drawn(f"sign_{kind}", colors.error if kind == "error" else colors.text, side, ratio)
