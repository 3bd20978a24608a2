"""Our own icons, from assets/icons: lines on a grid of 20, drawn in any colour and at any size without blur."""

from __future__ import annotations

import functools
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

FOLDER = Path(__file__).resolve().parents[3] / "assets" / "icons"
SIDE = 20


def names() -> tuple[str, ...]:
    """The icons that there are."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.svg")))


@functools.lru_cache(maxsize=256)
def drawn(name: str, color: str, side: int = SIDE, ratio: float = 1.0) -> QPixmap:
    """An icon of `side` device-independent pixels in a colour (#rrggbb), for a screen of that pixel ratio. KeyError
    where there is no such icon."""
    path = FOLDER / f"{name}.svg"
    if not path.is_file():
        raise KeyError(f"There is no icon named {name!r} in {FOLDER}.")
    text = path.read_text(encoding="utf-8").replace("currentColor", color)
    pixmap = QPixmap(round(side * ratio), round(side * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def svg_icon(name: str, palette: QPalette, ratio: float = 2.0) -> QIcon:
    """The same for buttons and lists: in the palette's text colour, dimmed where it is disabled."""
    icon = QIcon()
    for mode, group in (
        (QIcon.Mode.Normal, QPalette.ColorGroup.Active),
        (QIcon.Mode.Disabled, QPalette.ColorGroup.Disabled),
    ):
        color: QColor = palette.color(group, QPalette.ColorRole.WindowText)
        icon.addPixmap(drawn(name, color.name(), SIDE, ratio), mode)
    return icon
