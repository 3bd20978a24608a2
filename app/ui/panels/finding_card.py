"""A finding of hot spots as a card: its sentence, what may help, and buttons that show who pays, count what the remedy
saves, and race it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from raygrove.app.settings.titles import in_titles, structure_title
from raygrove.app.ui.plain_text import Label
from raygrove.gpu.brief import percent

if TYPE_CHECKING:
    from raygrove.gpu.analysis.hot_findings import HotFinding


class FindingCard(QFrame):
    """See the module. `shown`, `counted` and `tried` carry it."""

    shown, counted, tried = Signal(object), Signal(object), Signal(object)

    def __init__(self, finding: HotFinding, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.finding = finding
        self.setObjectName("finding")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.sentence, self.help = Label(finding.sentence, self), Label(self)
        for label in (self.sentence, self.help):
            label.setWordWrap(True)
        self.show_it, self.count_it = QPushButton(self.tr("Show"), self), QPushButton(self.tr("Count it"), self)
        self.show_it.setToolTip(self.tr("Light up the pixels that pay for it"))
        self.count_it.setToolTip(
            self.tr("Build the remedy beside the picture, and count what the same rays cost with it")
        )
        self.show_it.setVisible(bool(finding.nodes or finding.primitives))
        self.try_it = QPushButton(self.tr("Try"), self)
        self.try_it.setToolTip(self.tr("Add the remedy to the race, beside the configuration that was counted"))
        for button in (self.count_it, self.try_it):
            button.setVisible(bool(finding.configuration))
        self.show_it.clicked.connect(lambda: self.shown.emit(self.finding))
        self.count_it.clicked.connect(self._count)
        self.try_it.clicked.connect(lambda: self.tried.emit(self.finding))
        row = QHBoxLayout()
        row.addWidget(self.help, 1)
        row.addWidget(self.show_it)
        row.addWidget(self.count_it)
        row.addWidget(self.try_it)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 4, 6, 4)
        column.setSpacing(3)
        column.addWidget(self.sentence)
        column.addLayout(row)
        self.take(finding)

    def take(self, finding: HotFinding) -> None:
        """The finding, with what its remedy gains where that is known by now."""
        self.finding = finding
        self.count_it.setEnabled(finding.gain is None)
        if finding.gain is None:
            self.help.setText(self.tr("May help: {remedy}.").format(remedy=in_titles(finding.remedy)))
        elif finding.gain > 1.005:
            text = self.tr("{structure} saves {saved} (counted).")
            saved = percent(1.0 - 1.0 / finding.gain)
            self.help.setText(text.format(structure=structure_title(finding.configuration), saved=saved))
        else:
            text = self.tr("{structure} saves nothing (counted).")
            self.help.setText(text.format(structure=structure_title(finding.configuration)))

    def _count(self) -> None:
        self.count_it.setEnabled(False)
        self.help.setText(self.tr("Building {name} …").format(name=structure_title(self.finding.configuration)))
        self.counted.emit(self.finding)
