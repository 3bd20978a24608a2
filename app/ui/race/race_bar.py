"""What stands below the pictures of a race: how they are shown, who joins, and the report."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from raygrove.app.settings.race_options import MOST, RaceOptions, contestants_of, pair_of
from raygrove.app.ui.colors import ERROR_STYLE
from raygrove.app.ui.pipeline.offers import Offer, Row
from raygrove.app.ui.pipeline.segments import SegmentRow
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.elided_label import ElidedLabel
from raygrove.app.ui.widgets.rays_choice import RaysChoice, SensorPlaces
from raygrove.gpu.analysis.race import LETTERS

HEIGHT, SPACE = 36, 6
NARROW = 640
WHOLE = Qt.ItemDataRole.UserRole + 1
"""Where an entry of a list has its whole text."""
LEAST_LETTERS = 4
"""Of what is chosen in a list."""


class RaceBar(QWidget):
    """See the module. Those that carry a text say what was chosen, the others what was pressed; `height_changed` tells
    that it needs more rows than before, or fewer."""

    mode_wanted = Signal(str)
    pair_wanted = Signal(str)
    lines_wanted = Signal(str)
    add_wanted = Signal()
    report_wanted = Signal()
    height_changed = Signal()

    def __init__(
        self, options: Callable[[], RaceOptions], places: Callable[[], SensorPlaces], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("race.bar")
        self._options = options
        self.modes = SegmentRow(
            Row("race.mode", self.tr("Pictures"), self._offers, lambda: options().mode, self.mode_wanted.emit), self
        )
        self.pair = QComboBox(self)
        self.pair.setObjectName("race.pair")
        self.pair.setAccessibleName(self.tr("The two that are compared"))
        self.pair.activated.connect(lambda place: self.pair_wanted.emit(self.pair.itemData(place)))
        self.lines = QComboBox(self)
        self.lines.setObjectName("race.lines")
        self.lines.setAccessibleName(self.tr("Lines over the clip"))
        self.lines.setToolTip(self.tr("What each contestant costs over the clip, as a line below the pictures"))
        names = (self.tr("Lines: total"), self.tr("Lines: update"), self.tr("Lines: trace"), self.tr("No lines"))
        for value, name in zip(("total", "update", "trace", "off"), names, strict=True):
            self.lines.addItem(name, value)
        self.lines.activated.connect(lambda place: self.lines_wanted.emit(self.lines.itemData(place)))
        self.rays = RaysChoice(places, self)
        self.said, self.wrong = ElidedLabel("", self), Label("", self)
        self.wrong.setWordWrap(True)
        self.wrong.setStyleSheet(ERROR_STYLE)
        for label, name in ((self.said, "race.said"), (self.wrong, "race.wrong")):
            label.setObjectName(name)
            label.hide()
        self.add = QPushButton(self.tr("+ Add"), self)
        self.add.setObjectName("race.add")
        self.add.setToolTip(self.tr("Let the configuration that is chosen in the pipeline take part"))
        self.add.clicked.connect(self.add_wanted)
        self.report = QPushButton(self.tr("Save report…"), self)
        self.report.setObjectName("race.report")
        self.report.setToolTip(self.tr("Run the whole clip in the background, seven times, and write what was found"))
        self.report.clicked.connect(self.report_wanted)
        head, tail, self._rows = QHBoxLayout(), QHBoxLayout(), QBoxLayout(QBoxLayout.Direction.LeftToRight)
        for widget in (self.modes, self.pair, self.lines, self.rays.kind):
            (head if widget in (self.modes, self.pair) else tail).addWidget(widget)
            if isinstance(widget, QComboBox):  # in a narrow window they give way, not the modes
                widget.setMinimumContentsLength(LEAST_LETTERS)
                widget.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)  # their texts follow the width
        head.addStretch(0)
        tail.addStretch(1)
        for button in (self.add, self.report):
            button.setMaximumWidth(button.fontMetrics().horizontalAdvance(button.text()) + 20)  # all has room at 900
            tail.addWidget(button)
        for line, part in enumerate((head, tail)):
            part.setSpacing(SPACE)
            self._rows.addLayout(part, line)
        self._rows.setSpacing(SPACE)
        self._parts = head, tail
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.setSpacing(4)
        column.addLayout(self._rows)
        column.addWidget(self.said)
        column.addWidget(self.wrong)
        column.addWidget(self.rays)

    def sizeHint(self) -> QSize:
        """What it needs at its width."""
        return QSize(400, self.heightForWidth(self.width()))

    def heightForWidth(self, width: int) -> int:
        """One row, a second one where not all has room beside each other, one for rays that are not the picture's, a
        line for what is to be known, and what is wrong as a whole."""
        said = 0 if self.said.isHidden() else self.said.sizeHint().height() + 4
        wrong = 0 if self.wrong.isHidden() else self.wrong.heightForWidth(width - 8) + 4
        return HEIGHT + said + wrong + (HEIGHT - 4) * ((not self.rays.is_of_picture) + self._is_in_two(width))

    def _is_in_two(self, width: int) -> bool:
        return sum(part.minimumSize().width() + SPACE for part in self._parts) > width

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window lists leave out what their tips say, too: "total" for "Lines: total"; in a narrower one
        there are two rows."""
        super().resizeEvent(event)
        directions = QBoxLayout.Direction
        self._rows.setDirection(directions.TopToBottom if self._is_in_two(self.width()) else directions.LeftToRight)
        for box in (self.lines, self.rays.kind):
            for place in range(box.count()):
                whole = box.itemData(place, WHOLE) or box.itemText(place)
                box.setItemData(place, whole, WHOLE)
                box.setItemText(place, whole.rpartition(": ")[2] if self.width() < NARROW else whole)

    def refresh(self) -> None:
        """Show what is chosen now."""
        options = self._options()
        count = len(contestants_of(options))
        self.modes.refresh()
        self.modes.setMinimumWidth(self.modes.sizeHint().width())
        self.add.setEnabled(count < MOST)
        pairs = [(one, other) for one in range(count) for other in range(count) if one != other]
        if [self.pair.itemData(place) for place in range(self.pair.count())] != [_letters(*pair) for pair in pairs]:
            self.pair.clear()
            for one, other in pairs:
                words = self.tr("{one}, {other}").format(one=LETTERS[one], other=LETTERS[other])
                self.pair.addItem(words, _letters(one, other))
        self.pair.setCurrentIndex(max(self.pair.findData(_letters(*pair_of(options))), 0))
        self.lines.setCurrentIndex(self.lines.findData(options.lines))
        self.pair.setVisible(options.mode != "grid" and count > 1)

    def show_rays(self, text: str) -> None:
        """Show which rays are measured."""
        self.rays.show_text(text)
        self.rays.setVisible(not self.rays.is_of_picture)

    def say(self, sentence: str, is_wrong: bool = False) -> None:
        """What is to be known of what is shown, or what is wrong with what was typed."""
        before = self.wrong.text(), self.said.isHidden()
        for label, text in ((self.said, "" if is_wrong else sentence), (self.wrong, sentence if is_wrong else "")):
            label.setText(text)
            label.setToolTip(text)
            label.setVisible(bool(text))
        if (self.wrong.text(), self.said.isHidden()) != before:
            self.height_changed.emit()

    def _offers(self) -> list[Offer]:
        refusal = "" if len(contestants_of(self._options())) > 1 else self.tr("It takes two.")
        return [
            Offer("grid", self.tr("Grid"), self.tr("All pictures side by side.")),
            Offer("split", self.tr("Split"), self.tr("Two pictures with a line to drag between them."), refusal),
            Offer(
                "difference",
                self.tr("Difference"),
                self.tr("How many steps more the rays of one take than those of the other; other hits are outlined."),
                refusal,
            ),
        ]


def _letters(one: int, other: int) -> str:
    return LETTERS[one] + LETTERS[other]
