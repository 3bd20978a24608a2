"""Cards of the built-in scenes, in groups under a heading each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPainterPath, QPalette, QPixmap
from PySide6.QtWidgets import QGridLayout, QToolButton, QVBoxLayout, QWidget

from raygrove.app.ui.plain_text import Label

CARD = QSize(165, 88)
GAP = 8
MOST_COLUMNS = 4
SCALES, SMALLER = (2.0, 1.75, 1.5, 1.25, 1.0, 0.85, 0.8), 0.85
"""How many times as large plates may be so that all are on the page, and how large so that one more stands in a row."""
TEXT_HEIGHT = 72
"""Pixels of what stands above and below a plate: heading, title, how much it is, gaps."""


class Card(QToolButton):
    """One built-in scene: its picture, its title and how much it is; its sentence is the tip."""

    def __init__(self, info: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = info.name
        self.setObjectName(f"demo.{info.name}")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        self._size = CARD
        self._picture: QPixmap | None = None
        words = {"triangles": self.tr("triangles"), "spheres": self.tr("spheres")}
        self._text = f"{info.title}\n{info.triangles:,} {words[info.counted]}"
        self._motion = self.tr(", moves") if info.seconds else self.tr(", still")
        self.setToolTip(info.sentence)
        self.setAccessibleDescription(info.sentence)
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.fit(CARD)

    def fit(self, size: QSize) -> None:
        """Have a plate of that size. Below a small one there is no room to say whether it moves: its tip does."""
        self._size = size
        self.setIconSize(size)
        self.setText(self._text + (self._motion if size.width() >= CARD.width() else ""))
        self.show_picture(self._picture)

    def show_picture(self, picture: QPixmap | None) -> None:
        """Show the preview, with round corners; None: an empty plate."""
        self._picture = picture
        ratio = self.devicePixelRatioF()
        plate = QPixmap(self._size * ratio)
        plate.setDevicePixelRatio(ratio)
        plate.fill(Qt.GlobalColor.transparent)
        painter = QPainter(plate)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        area = QRectF(0, 0, self._size.width(), self._size.height())
        outline = QPainterPath()
        outline.addRoundedRect(area, 4, 4)
        painter.setClipPath(outline)
        painter.fillRect(area, self.palette().color(QPalette.ColorRole.Midlight))
        if picture is not None:
            painter.drawPixmap(area, picture, QRectF(picture.rect()))
        painter.end()
        self.setIcon(QIcon(plate))

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has another plate."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_picture"):
            self.show_picture(self._picture)


class CardGroups(QVBoxLayout):
    """Groups of cards, as many columns as fit; a group that is wider goes on in the next rows. Cards that are in no
    group stand last, under `rest`."""

    def __init__(self, groups: Mapping[str, Sequence[str]], cards: Mapping[str, Card], rest: str) -> None:
        super().__init__()
        named = {name for names in groups.values() for name in names}
        left = [name for name in cards if name not in named]
        wanted = {**groups, rest: left}
        found = {title: [cards[name] for name in names if name in cards] for title, names in wanted.items()}
        self._groups = [(Label(title), members) for title, members in found.items() if members]
        self._grid = QGridLayout()
        self._grid.setSpacing(GAP)
        self._columns, self._plate = 0, CARD
        for heading, _ in self._groups:
            font = heading.font()
            font.setBold(True)
            heading.setFont(font)
        self.addLayout(self._grid)
        self.addStretch(1)
        self.fit(MOST_COLUMNS * (CARD.width() + 3 * GAP), 0)

    @property
    def row_width(self) -> int:
        """Pixels of a whole row."""
        return self._columns * (self._plate.width() + 2 * GAP)

    def fit(self, width: int, height: int) -> bool:
        """Take the largest plates with which all cards are on a page of so many pixels. Where there are none, and False
        says so, as many columns as stand beside each other."""
        for plate in [CARD * scale for scale in SCALES]:
            columns = _columns(width, plate)
            if self._rows(columns) * (plate.height() + TEXT_HEIGHT) <= height:
                self._take(columns, plate)
                return True
        columns, plate = _columns(width, CARD), CARD
        if _columns(width, CARD * SMALLER) > columns:
            columns, plate = columns + 1, CARD * SMALLER
        self._take(columns, plate)
        return False

    def _take(self, columns: int, plate: QSize) -> None:
        if plate != self._plate:
            self._plate = plate
            for _, members in self._groups:
                for card in members:
                    card.fit(plate)
        if columns == self._columns:
            return
        if self._columns:
            self._grid.setColumnStretch(self._columns, 0)
        self._columns = columns
        for place, heading, cards in self._placed(columns):
            row, column, span = place
            if heading is not None:
                self._grid.addWidget(heading, 2 * row, column, 1, span)
            for number, card in enumerate(cards):
                self._grid.addWidget(card, 2 * row + 1, column + number)
        self._grid.setColumnStretch(columns, 1)

    def _rows(self, columns: int) -> int:
        return 1 + max(row for (row, _, _), _, _ in self._placed(columns))

    def _placed(self, columns: int) -> list[tuple[tuple[int, int, int], Label | None, list[Card]]]:
        """Row, column and width of each part of a group: in the first row that has room for it."""
        filled: list[int] = []
        placed: list[tuple[tuple[int, int, int], Label | None, list[Card]]] = []
        for heading, cards in self._groups:
            for first in range(0, len(cards), columns):
                part = cards[first : first + columns]
                row = next((row for row, used in enumerate(filled) if used + len(part) <= columns), len(filled))
                if row == len(filled) or first:
                    row = len(filled)
                    filled.append(0)
                placed.append(((row, filled[row], len(part)), heading if first == 0 else None, part))
                filled[row] += len(part)
        return placed


def _columns(width: int, plate: QSize) -> int:
    """How many cards with such plates stand beside each other."""
    return min(max(width // (plate.width() + 2 * GAP), 1), MOST_COLUMNS)
