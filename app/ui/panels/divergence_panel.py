"""Divergence: for whom the warps of a picture wait, as a map of its tiles of 8 x 4 pixels, figures, and the longest
warps first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table
from raygrove.app.ui.widgets.rays_choice import RaysChoice, SensorPlaces
from raygrove.app.ui.widgets.text_table import TextTable
from raygrove.gpu.brief import percent
from raygrove.gpu.shade.color_maps import color_map

if TYPE_CHECKING:
    from raygrove.gpu.analysis.divergence import Divergence

MOST_ROWS = 100
COLUMNS = ("tile", "steps", "node_steps", "primitive_steps", "idle")
CHOSEN = QColor("#FFD400")
COLORS = "viridis"
"""Of the tiles: what heat maps have by default."""


class TileMap(QWidget):
    """The steps of each tile by the colours of heat maps, up to the most. `clicked` carries a column and a row."""

    clicked = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumHeight(120)
        self._image: QImage | None = None
        self._shape, self._chosen = (0, 0), (-1, -1)

    def show_tiles(self, steps: np.ndarray | None) -> None:
        """(rows, columns) of steps; None for none."""
        self._image, self._chosen = None, (-1, -1)
        if steps is not None and steps.size:
            colors = color_map(COLORS)
            places = np.rint(steps / max(int(steps.max()), 1) * (len(colors) - 1)).astype(np.int64)
            pixels = np.ascontiguousarray(colors[places])
            self._shape = steps.shape
            self._image = QImage(
                pixels.tobytes(), steps.shape[1], steps.shape[0], 3 * steps.shape[1], QImage.Format.Format_RGB888
            ).copy()
        self.update()

    def choose(self, tile: tuple[int, int] | None) -> None:
        """Outline a tile."""
        self._chosen = tile or (-1, -1)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, 200)

    def _place(self) -> QRectF:
        """Where the map is: its tiles are twice as wide as high."""
        rows, columns = self._shape
        scale = min(self.width() / max(2 * columns, 1), self.height() / max(rows, 1))
        width, height = 2 * columns * scale, rows * scale
        return QRectF((self.width() - width) / 2, (self.height() - height) / 2, width, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._image is None:
            return
        painter, place = QPainter(self), self._place()
        painter.drawImage(place, self._image)
        column, row = self._chosen
        if column >= 0:
            wide, high = place.width() / self._shape[1], place.height() / self._shape[0]
            box = QRectF(place.x() + column * wide, place.y() + row * high, wide, high).adjusted(-2, -2, 2, 2)
            for color, width in ((QColor("black"), 3.0), (CHOSEN, 1.5)):
                painter.setPen(QPen(color, width))
                painter.drawRect(box)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place, at = self._place(), event.position()
        if self._image is not None and place.contains(at):
            column = int((at.x() - place.x()) / place.width() * self._shape[1])
            row = int((at.y() - place.y()) / place.height() * self._shape[0])
            self.clicked.emit(min(column, self._shape[1] - 1), min(row, self._shape[0] - 1))


class DivergencePanel(QWidget):
    """See the module. `wanted` asks for the figures; `chosen` carries a tile (column, row), or None, and `ray_wanted`
    one whose longest ray is to be followed; `seen` tells that the panel is shown."""

    wanted = Signal()
    chosen, ray_wanted = Signal(object), Signal(object)
    seen = Signal()

    def __init__(self, places: Callable[[], SensorPlaces] = SensorPlaces, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("divergence")
        self.measured = RaysChoice(places, self, is_narrow=True)
        self.found: Divergence | None = None
        self._order = np.zeros(0, np.int64)
        self._tile: tuple[int, int] | None = None
        self.count = QPushButton(self.tr("Count"), self)
        self.count.setToolTip(self.tr("Count the steps of the picture's warps, once: no later frame pays for it"))
        self.count.clicked.connect(self.ask)
        self.hint, self.figures, self.map = Label(self), Label(self), TileMap(self)
        self.figures.setObjectName("figures")
        for label in (self.hint, self.figures):
            label.setWordWrap(True)
        self.map.clicked.connect(self._choose_tile)
        titles = (
            ("", ""),  # what a warp is called: _name_warps
            (self.tr("Steps"), self.tr("What the warp takes")),
            (self.tr("At nodes"), self.tr("Steps in which any lane is at a node")),
            (self.tr("At primitives"), self.tr("Steps in which any lane tests a primitive")),
            (self.tr("Idle"), self.tr("Lanes that do nothing, over all steps")),
        )
        self.lines = TextTable(self.tr("Warps, the longest first"), titles, self)
        self.lines.fill_width()
        self.lines.row_chosen.connect(lambda row: self._choose(int(self._order[row])))
        self.follow = QPushButton(self.tr("Follow its longest ray"), self)
        self.follow.setToolTip(self.tr("Go to the ray of this warp that takes most steps, in the panel Ray"))
        self.follow.clicked.connect(lambda: self.ray_wanted.emit(self._tile))
        self.bar = PanelBar("divergence", self.table, self.text, self)
        self.bar.pause.hide()  # nothing comes unasked
        end = QHBoxLayout()
        end.addWidget(self.follow)
        end.addWidget(self.bar, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 4, 6, 4)
        column.setSpacing(4)
        column.addWidget(self.measured)
        for widget, stretch in ((self.count, 0), (self.hint, 0), (self.figures, 0), (self.map, 2), (self.lines, 3)):
            column.addWidget(widget, stretch)
        column.addLayout(end)
        self.clear()

    def show_measured(self, text: str) -> None:
        """Show which rays are measured."""
        self.measured.show_text(text)

    def ask(self) -> None:
        """Count the warps of the picture."""
        self.count.setEnabled(False)
        self.hint.setText(self.tr("Counting …"))
        self.wanted.emit()

    def take(self, found: Divergence | str | None) -> None:
        """What was counted, or why nothing was."""
        self.count.setEnabled(True)
        if found is None or isinstance(found, str):
            self.clear(found or self.tr("There is no picture by rays yet."))
            return
        self.found, self._order = found, found.order(MOST_ROWS)
        whole = self.tr("Primary rays as a GPU traces them: warps of 32, each 8 x 4 pixels.")
        given = self.tr("The rays that are measured, as they lie, 32 in a warp.")
        self.hint.setText(given if found.tiles is None else whole)
        self._name_warps(has_tiles=found.tiles is not None)
        text = self.tr(
            "{mean:.1f} steps on average, the longest {longest:,}. When 99 % of the warps have ended, it goes on for "
            "{last:,}. Idle lanes: {idle}; {nodes} at nodes, {primitives} at primitives."
        )
        figures = {"mean": found.mean, "longest": found.longest, "last": found.last(), "idle": percent(found.idle)}
        idle = {"nodes": percent(found.idle_at_nodes), "primitives": percent(found.idle_at_primitives)}
        self.figures.setText(text.format(**figures, **idle))
        self.map.show_tiles(None if found.tiles is None else found.map())
        self.map.setVisible(found.tiles is not None)
        self._tell(None)
        self.lines.show_rows([list(map(str, row.values())) for row in self.table()[1]])

    def clear(self, sentence: str = "") -> None:
        """Nothing is counted, and why."""
        self.found, self._order = None, np.zeros(0, np.int64)
        self.count.setEnabled(True)
        self.map.show_tiles(None)
        self.lines.show_rows([])
        self._name_warps(has_tiles=True)
        self.figures.setText("")
        self.hint.setText(sentence or self.tr("Press Count to see for whom the warps of the picture wait."))
        self._tell(None)

    def _name_warps(self, *, has_tiles: bool) -> None:
        """The first column's title."""
        tile = (self.tr("Tile"), self.tr("Column and row of 8 x 4 pixels"))
        self.lines.rows.entitle(0, *(tile if has_tiles else (self.tr("Warp"), self.tr("Its place among the others"))))

    def mark_old(self) -> None:
        """The picture is another by now."""
        if self.found is not None:
            self.hint.setText(self.tr("Of an earlier picture. Count anew."))
            self.follow.setEnabled(False)

    def showEvent(self, event: QShowEvent) -> None:
        """What was selected meanwhile is to be seen."""
        super().showEvent(event)
        self.seen.emit()

    def select_tile(self, tile: tuple[int, int]) -> None:
        """Show a tile, and its line where it is listed."""
        if self.found is None:
            return
        self.map.choose(tile)
        self._tile = tile
        self.follow.setEnabled(True)
        for place, warp in enumerate(self._order):
            if self.found.place(int(warp)) == tile:
                self.lines.selectRow(place)

    def table(self) -> Table:
        """The longest warps."""
        found = self.found
        if found is None:
            return COLUMNS, []
        from raygrove.gpu.analysis.divergence import LANES  # what has counted has imported it

        rows = []
        for warp in self._order:
            steps, place = int(found.steps[warp]), found.place(int(warp))
            busy = int(found.nodes[warp] + found.primitives[warp])
            name = str(int(warp)) if place is None else f"{place[0]}, {place[1]}"
            idle = percent(1.0 - busy / (LANES * steps)) if steps else ""
            at = (int(found.node_steps[warp]), int(found.primitive_steps[warp]))
            rows.append(dict(zip(COLUMNS, (name, steps, *at, idle), strict=True)))
        return COLUMNS, rows

    def text(self) -> str:
        """Figures and lines as text."""
        return "\n".join([self.figures.text(), *("\t".join(map(str, row.values())) for row in self.table()[1])])

    def _choose(self, warp: int) -> None:
        tile = self.found.place(warp) if self.found is not None else None
        self.map.choose(tile)
        self._tell(tile)

    def _choose_tile(self, column: int, row: int) -> None:
        self.select_tile((column, row))
        self._tell((column, row))

    def _tell(self, tile: tuple[int, int] | None) -> None:
        self._tile = tile
        self.follow.setEnabled(tile is not None)
        self.chosen.emit(tile)
