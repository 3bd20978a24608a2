"""How the tree of the picture came to be, over a slider: the step in words, and what planes of a split would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSlider, QVBoxLayout, QWidget

from raygrove.app.ui.panels.cost_chart import CostChart
from raygrove.app.ui.plain_text import Label

if TYPE_CHECKING:
    from raygrove.gpu.analysis.build_steps import BuildReplay, BuildStep

STEP_MS = 300


class BuildPanel(QWidget):
    """See the module. `stepped` carries the BuildStep that is shown, or None; `wanted` asks for the replay of the
    picture's tree, `tree_wanted` for a node of the step to be seen in the tree; `seen` says that the panel is shown."""

    stepped = Signal(object)
    wanted, tree_wanted, seen = Signal(), Signal(), Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("build")
        self.replay: BuildReplay | None = None
        self.is_old = True
        self.heading, self.sentence = Label(self), Label(self)
        self.sentence.setWordWrap(True)
        self.heading.setWordWrap(True)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName(self.tr("Step of the build"))
        self.slider.valueChanged.connect(self._show)
        self.back, self.play, self.on = (QPushButton(text, self) for text in ("<", self.tr("Play"), ">"))
        self.back.setAccessibleName(self.tr("A step back"))
        self.on.setAccessibleName(self.tr("A step on"))
        self.play.setCheckable(True)
        self.back.clicked.connect(lambda: self.go(self.at - 1))
        self.on.clicked.connect(lambda: self.go(self.at + 1))
        self._timer = QTimer(self, interval=STEP_MS)
        self._timer.timeout.connect(self._step_on)
        self.play.toggled.connect(self._play)
        self.chart = CostChart(self)
        self.in_tree = QPushButton(self.tr("Show in tree"), self)
        self.in_tree.setToolTip(self.tr("Go to the node that this step made, or to its largest, in the panel Tree"))
        self.in_tree.clicked.connect(self.tree_wanted)
        row, rows = QHBoxLayout(), QVBoxLayout(self)
        for widget in (self.back, self.play, self.on, self.in_tree):
            row.addWidget(widget)
        rows.setContentsMargins(6, 6, 6, 6)
        rows.addWidget(self.heading)
        rows.addWidget(self.slider)
        rows.addLayout(row)
        rows.addWidget(self.sentence)
        rows.addWidget(self.chart, 1)
        rows.addStretch(0)
        self.take(None)

    @property
    def at(self) -> int:
        """The step that is shown."""
        return self.slider.value()

    @property
    def step(self) -> BuildStep | None:
        """The one that is shown."""
        return self.replay[self.at] if self.replay is not None and len(self.replay) else None

    def take(self, found: BuildReplay | str | None) -> None:
        """Another replay, begun at its first step; a sentence or None where there is none."""
        before = self.replay
        self.replay = None if found is None or isinstance(found, str) else found
        self.is_old = self.is_old or self.replay is None  # it may have been marked since it was asked for
        count = len(self.replay) if self.replay is not None else 0
        is_same = type(before) is type(self.replay) and before is not None and len(before) == count
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, max(count - 1, 0))
            self.slider.setValue(self.slider.value() if is_same else 0)
        for widget in (self.slider, self.back, self.play, self.on):
            widget.setEnabled(count > 1)
        nothing = found if isinstance(found, str) else self.tr("There is no picture by rays yet.")
        self.heading.setText(self.replay.title if self.replay is not None else nothing)
        self._show()

    def wait(self) -> None:
        """The steps were asked for: those of millions of nodes take a while."""
        if self.replay is None:
            self.heading.setText(self.tr("Working out how the tree came to be …"))

    def mark_old(self) -> None:
        """The picture's tree is another one, or will be."""
        if not self.is_old:
            self.is_old = True
            self.play.setChecked(False)
            self.heading.setText(self.tr("The tree has changed; it is read anew with the next picture that stands."))

    def go(self, n: int) -> None:
        """Show a step, the nearest that there is."""
        self.slider.setValue(n)

    def go_to_row(self, row: int) -> None:
        """Show the step that made a node of the table, where one did."""
        n = self.replay.step_of(row) if self.replay is not None else None
        if n is not None:
            self.go(n)

    def look(self) -> None:
        """Ask for the newest tree, where the panel is seen and shows another."""
        if self.isVisible() and self.is_old:
            self.is_old = False
            self.wanted.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Whoever looks wants to see a tree."""
        super().showEvent(event)
        self.look()
        self.seen.emit()
        self.stepped.emit(self.step)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing of it stays over the picture."""
        super().hideEvent(event)
        self.play.setChecked(False)
        self.stepped.emit(None)

    def _show(self) -> None:
        step = self.step
        self.sentence.setText(step.sentence if step is not None else "")
        self.chart.show_costs(step.costs if step is not None else None)
        self.in_tree.setEnabled(self.replay is not None and len(self.replay.nodes_of(self.at)) > 0)
        self.stepped.emit(step if self.isVisible() else None)

    def _play(self, is_on: bool) -> None:
        if is_on:
            if self.at == self.slider.maximum():
                self.go(0)
            self._timer.start()
        else:
            self._timer.stop()

    def _step_on(self) -> None:
        self.go(self.at + 1)
        if self.at == self.slider.maximum():
            self.play.setChecked(False)
