"""How much is asked about what is near the picked primitive: so many neighbours, and a ball around it."""

from __future__ import annotations

import math

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QFormLayout, QLabel, QSlider, QSpinBox, QWidget

from raygrove.gpu.stats import Surroundings

FEW, MOST = 8, 128
LARGEST = 1e9
STEPS, DECADES = 400, 4.0
"""Of the slider: from no ball, and 1e-4 of the scene's diagonal, to all of it."""


class NearControls(QWidget):
    """See the module. `changed` says that something else is asked; the count in the ball follows while the radius is
    turned or typed."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.count = QSpinBox(self)
        self.count.setObjectName("near_count")
        self.count.setRange(0, MOST)
        self.count.setValue(FEW)
        self.count.setToolTip(self.tr("How many of the nearest primitives are listed and marked."))
        self.radius = QDoubleSpinBox(self)
        self.radius.setObjectName("near_radius")
        self.radius.setDecimals(6)
        self.radius.setRange(0.0, LARGEST)
        self.radius.setStepType(QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        self.radius.setSpecialValueText(self.tr("no ball"))
        self.radius.setToolTip(
            self.tr("Counts and marks the primitives at most so far from the point, of spheres from centre to centre.")
        )
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setObjectName("near_slider")
        self.slider.setRange(0, STEPS)
        self.slider.setAccessibleName(self.tr("Radius of the ball"))
        self.slider.valueChanged.connect(self._slide)
        self._diagonal = 1.0
        self.found = QLabel(self)
        self.found.setWordWrap(True)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow(self.tr("Nearest"), self.count)
        form.addRow(self.tr("Ball radius"), self.radius)
        form.addRow("", self.slider)
        form.addRow(self.found)
        self.count.valueChanged.connect(self.changed)
        self.radius.valueChanged.connect(self._take_radius)
        self.show_found(None)

    def take_size(self, diagonal: float) -> None:
        """How large the scene is: what the slider's end stands for."""
        if diagonal > 0.0 and diagonal != self._diagonal:
            self._diagonal = diagonal
            self._place_slider()

    def _slide(self, step: int) -> None:
        self.radius.setValue(self._diagonal * 10.0 ** (DECADES * (step / STEPS - 1.0)) if step > 0 else 0.0)

    def _take_radius(self, radius: float) -> None:
        self._place_slider()
        self.changed.emit()

    def _place_slider(self) -> None:
        """Where the radius is, without saying so."""
        share = self.radius.value() / self._diagonal
        step = round(STEPS * (1.0 + math.log10(share) / DECADES)) if share > 0.0 else 0
        with QSignalBlocker(self.slider):
            self.slider.setValue(step)

    def show_found(self, found: Surroundings | str | None) -> None:
        """Say how many are in the ball, or why nobody knows."""
        sentence = found if isinstance(found, str) else ""
        if isinstance(found, Surroundings) and found.within is not None:
            how = self.tr("centre to centre") if found.of == "centres" else self.tr("by their surfaces")
            sentence = self.tr("{count} primitives within {radius}, {how}.").format(
                count=f"{found.within:,}", radius=f"{found.radius:g}", how=how
            )
        self.found.setText(sentence)
        self.found.setVisible(bool(sentence))
