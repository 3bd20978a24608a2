"""A colour as a button that shows it and opens a colour dialog; beside it how many times brighter it is, where it may
be brighter than white.

Options hold linear colours; what is shown and chosen is sRGB, as everywhere on a screen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QColorDialog, QHBoxLayout, QPushButton, QWidget

from raygrove.app.ui.widgets.number_boxes import FloatBox
from raygrove.gpu.shade import srgb

SWATCH = QSize(22, 14)
STRENGTH_WIDTH = 54
DIGITS = 6
"""Decimals of a colour that was chosen: finer than a screen tells apart."""


class ColorEdit(QWidget):
    """`edited` tells that a person has chosen another colour, while the dialog is open, too: its Cancel brings back the
    one before. `refused` carries what was typed as a strength and is none. `most` is the largest part of a colour."""

    edited = Signal()
    refused = Signal(str)

    def __init__(self, most: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value, self._color, self._strength = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0
        self.button = QPushButton(self)
        self.button.setObjectName("color")
        self.button.setAutoDefault(False)
        self.button.setIconSize(SWATCH)
        self.button.clicked.connect(self.choose)
        self.setFocusProxy(self.button)
        self.strength = FloatBox(self)
        self.strength.setObjectName("strength")
        self.strength.setPrefix("× ")
        self.strength.setRange(0.0, most)
        self.strength.setStepType(FloatBox.StepType.AdaptiveDecimalStepType)
        self.strength.setKeyboardTracking(False)
        self.strength.setButtonSymbols(FloatBox.ButtonSymbols.NoButtons)
        self.strength.setMaximumWidth(STRENGTH_WIDTH)
        self.strength.setToolTip(self.tr("How many times brighter than the colour on the button."))
        self.strength.valueChanged.connect(self._scale)
        self.strength.refused.connect(self.refused)
        self.strength.setVisible(most > 1.0)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.button, 1)
        row.addWidget(self.strength)
        self._show()

    def value(self) -> tuple[float, float, float]:
        """The linear colour."""
        return self._value

    def set_value(self, value: Sequence[float]) -> None:
        """Show a linear colour without telling anybody. What is brighter than white is a colour and its strength."""
        red, green, blue = value
        if (red, green, blue) == self._value:
            return  # which keeps the strength that somebody chose for a dark colour
        self._value, self._strength = (red, green, blue), max(1.0, *value)
        self._color = (red / self._strength, green / self._strength, blue / self._strength)
        self._show()

    def color(self) -> QColor:
        """The colour on the button."""
        red, green, blue = srgb.encode(np.array(self._color)).tolist()
        return QColor.fromRgbF(red, green, blue)

    def describe(self, title: str, sentence: str) -> None:
        """What a screen reader says of the parts."""
        for part, name in ((self.button, title), (self.strength, self.tr("{title}, strength").format(title=title))):
            part.setAccessibleName(name)
            part.setAccessibleDescription(sentence)

    def choose(self) -> None:
        """Open the colour dialog."""
        before = self._value
        dialog = QColorDialog(self.color(), self)
        dialog.setObjectName("color_dialog")
        dialog.setWindowTitle(self.button.accessibleName() or self.tr("Colour"))
        dialog.setOption(QColorDialog.ColorDialogOption.DontUseNativeDialog)  # others do not tell while one tries
        dialog.currentColorChanged.connect(self._take)
        dialog.rejected.connect(lambda: self._bring_back(before))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _take(self, color: QColor) -> None:
        red, green, blue = srgb.decode(np.array([color.redF(), color.greenF(), color.blueF()])).round(DIGITS).tolist()
        self._color = (red, green, blue)
        self._tell()

    def _scale(self, strength: float) -> None:
        self._strength = strength
        self._tell()

    def _tell(self) -> None:
        red, green, blue = (round(part * self._strength, DIGITS) for part in self._color)
        self._value = (red, green, blue)
        self._show()
        self.edited.emit()

    def _bring_back(self, value: tuple[float, float, float]) -> None:
        if value != self._value:
            self.set_value(value)
            self.edited.emit()

    def _show(self) -> None:
        color, swatch = self.color(), QPixmap(SWATCH)
        painter = QPainter(swatch)
        painter.setPen(self.palette().color(QPalette.ColorRole.Mid))
        painter.setBrush(color)
        painter.drawRect(0, 0, SWATCH.width() - 1, SWATCH.height() - 1)
        painter.end()
        icon = QIcon(swatch)
        icon.addPixmap(swatch, QIcon.Mode.Disabled)  # a grey one would be another colour
        self.button.setIcon(icon)
        self.button.setText(color.name())
        blocker = QSignalBlocker(self.strength)
        self.strength.setValue(self._strength)
        del blocker
