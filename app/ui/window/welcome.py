"""The first page: the built-in scenes with their pictures, the files opened last, and Open."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QIcon, QPainter, QPainterPath, QPalette, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.ui.plain_text import Label, RichLabel, tip
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.widgets.list_rows import add_row
from raygrove.app.ui.window.previews import SIZE, Previews

MOST_COLUMNS = 3
SIDE_WIDTH = 190
CARD = QSize(180, 96)


class Card(QToolButton):
    """One built-in scene: its picture, title and sentence."""

    def __init__(self, info: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = info.name
        self.setObjectName(f"demo.{info.name}")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        self.setIconSize(CARD)
        words = {"triangles": self.tr("triangles"), "spheres": self.tr("spheres")}
        self.setText(
            f"{info.title}\n{info.triangles:,} {words[info.counted]}"
            + (self.tr(", moves") if info.seconds else self.tr(", still"))
        )
        self.setToolTip(info.sentence)
        self.setAccessibleDescription(info.sentence)
        self.setAutoRaise(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_picture(None)

    def show_picture(self, picture: QPixmap | None) -> None:
        """Show the preview, with round corners; None: an empty plate."""
        ratio = self.devicePixelRatioF()
        plate = QPixmap(round(CARD.width() * ratio), round(CARD.height() * ratio))
        plate.setDevicePixelRatio(ratio)
        plate.fill(Qt.GlobalColor.transparent)
        painter = QPainter(plate)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        area = QRectF(0, 0, CARD.width(), CARD.height())
        outline = QPainterPath()
        outline.addRoundedRect(area, 8, 8)
        painter.setClipPath(outline)
        painter.fillRect(area, self.palette().color(QPalette.ColorRole.Mid))
        if picture is not None:
            painter.drawPixmap(area, picture, QRectF(picture.rect()))
        painter.end()
        self.setIcon(QIcon(plate))


class WelcomePage(QScrollArea):
    """See the module. `demo_chosen` carries a name, `file_chosen` a path, `open_wanted` nothing."""

    demo_chosen = Signal(str)
    file_chosen = Signal(str)
    open_wanted = Signal()

    def __init__(self, demos: Sequence[Any], previews: Previews, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._previews = previews
        self._previews.ready.connect(self._show_picture)
        self.cards = {info.name: Card(info) for info in demos if not info.variant}
        self._columns = 0
        self._recent = QListWidget()
        self._recent.setObjectName("recent")
        self._recent.itemActivated.connect(lambda item: self.file_chosen.emit(item.data(Qt.ItemDataRole.UserRole)))
        self._recent.itemClicked.connect(lambda item: self.file_chosen.emit(item.data(Qt.ItemDataRole.UserRole)))
        self._recent_title = RichLabel(f"<h3>{self.tr('Recent files')}</h3>")
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(28, 20, 28, 20)
        column.addWidget(self._heading())
        self._grid = QGridLayout()
        self._grid.setSpacing(10)
        for card in self.cards.values():
            card.clicked.connect(functools.partial(self.demo_chosen.emit, card.name))
        self._place_cards(MOST_COLUMNS)
        row = QHBoxLayout()
        row.addLayout(self._grid)
        row.addLayout(self._side(), 1)
        column.addLayout(row)
        column.addStretch(1)
        self.setWidget(page)

    def show_recent(self, paths: Sequence[str]) -> None:
        """List the files opened last."""
        self._recent.clear()
        for path in paths:
            item = add_row(self._recent, recent_files.title_of(path, with_folder=False))
            item.setToolTip(tip(recent_files.title_of(path, with_folder=True)))
            item.setData(Qt.ItemDataRole.UserRole, path)
        self._recent.setVisible(bool(paths))
        self._recent_title.setVisible(bool(paths))

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the previews that are missing."""
        super().showEvent(event)
        self._previews.ask(self.cards)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave the machine to the scene that was opened."""
        self._previews.stop()
        super().hideEvent(event)

    def _heading(self) -> RichLabel:
        words = self.tr("Open an animated model, choose a structure, and see what every frame costs.")
        return RichLabel(f"<h1>Raygrove</h1><p>{words}</p>")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many cards in a row as there is room for."""
        super().resizeEvent(event)
        room = event.size().width() - SIDE_WIDTH
        self._place_cards(min(max(room // (CARD.width() + 18), 1), MOST_COLUMNS))

    def _place_cards(self, columns: int) -> None:
        if self._grid.count() and columns == self._columns:
            return
        self._columns = columns
        for place, card in enumerate(self.cards.values()):
            self._grid.addWidget(card, place // columns, place % columns)

    def _side(self) -> QVBoxLayout:
        side = QVBoxLayout()
        button = QPushButton(self.tr("Open a model…"))
        button.setObjectName("open")
        button.setMinimumSize(140, 40)
        button.clicked.connect(self.open_wanted)
        hint = Label(
            self.tr("or drop files here. Several files, or a numbered sequence, are the key frames of one scene.")
        )
        hint.setWordWrap(True)
        side.addWidget(button)
        side.addWidget(hint)
        side.addWidget(self._recent_title)
        side.addWidget(self._recent, 1)
        side.addStretch(0)
        return side

    def _show_picture(self, name: str, picture: QPixmap) -> None:
        if name in self.cards:
            self.cards[name].show_picture(picture)


assert SIZE[0] * CARD.height() == SIZE[1] * CARD.width()
