"""A finding of hot spots as a card: its sentence, what its remedy saves, and buttons that show who pays and race it."""

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
    """See the module. `shown` and `tried` carry it."""

    shown, tried = Signal(object), Signal(object)

    def __init__(self, finding: HotFinding, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.finding = finding
        self._has_failed = False
        self.setObjectName("finding")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.sentence, self.help = Label(finding.sentence, self), Label(self)
        for label in (self.sentence, self.help):
            label.setWordWrap(True)
        self.show_it = QPushButton(self.tr("Show"), self)
        self.show_it.setToolTip(self.tr("Light up the pixels that pay for it"))
        self.show_it.setVisible(bool(finding.nodes or finding.primitives))
        self.try_it = QPushButton(self.tr("Try"), self)
        self.try_it.setToolTip(self.tr("Add the remedy to the race, beside the configuration that was counted"))
        self.try_it.setVisible(bool(finding.configuration))
        self.show_it.clicked.connect(lambda: self.shown.emit(self.finding))
        self.try_it.clicked.connect(lambda: self.tried.emit(self.finding))
        row = QHBoxLayout()
        row.addWidget(self.help, 1)
        row.addWidget(self.show_it)
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
        self.setHidden(not finding.is_told)
        if finding.gain is None:
            self.help.setText(self.tr("May help: {remedy}.").format(remedy=in_titles(finding.remedy)))
        elif finding.gain > 1.005:
            text = self.tr("{structure} saves {saved} (counted).")
            saved = percent(1.0 - 1.0 / finding.gain)
            self.help.setText(text.format(structure=self._name, saved=saved))
        else:
            text = self.tr("{structure} saves nothing (counted).")
            self.help.setText(text.format(structure=self._name))

    @property
    def _name(self) -> str:
        """What the remedy is built by; its policy says that it is the counted tree, as it is when it is new."""
        title, is_same = structure_title(self.finding.configuration), "@" in self.finding.configuration
        return self.tr("{structure}, built anew,").format(structure=title) if is_same else title

    @property
    def is_open(self) -> bool:
        """Whether what its remedy saves is still to be counted."""
        return bool(self.finding.configuration) and self.finding.gain is None and not self._has_failed

    def show_building(self) -> None:
        """Its remedy is built now."""
        self.help.setText(self.tr("Building {name} …").format(name=structure_title(self.finding.configuration)))

    def fail(self, why: str) -> None:
        """Its remedy could not be counted."""
        self._has_failed = True
        self.help.setText(why)
