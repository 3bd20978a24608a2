"""Spin boxes that say what they do not take. Qt's own swallow the keys of a number out of range, so that nobody learns
why."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox, QWidget

from raygrove.gpu.brief import filled

WIDEST = 110
"""Pixels that a box asks for at most: one that could show every number of its range would not fit on a page."""

DIGITS, MOST_DECIMALS = 7, 12
USUAL, FRAME = "-12345.67", 16
"""A number of seven digits, and what a box has around it."""

Verdict = tuple[QValidator.State, str, int]


class _Frank:
    """What both boxes do differently from Qt's; stands before the Qt class among their bases."""

    refused: Any
    _unit = ""

    def take_unit(self: Any, unit: str) -> None:
        """Say that unit behind the number."""
        self._unit = unit
        self.valueChanged.connect(self._agree)
        self._agree()

    def setValue(self, value: float) -> None:
        """Show it, whether or not anybody is told."""
        super().setValue(value)  # type: ignore[misc]
        self._agree()

    def _agree(self: Any) -> None:
        """One step, two steps."""
        number = self.textFromValue(self.value())
        suffix = filled(f"{{number}} {self._unit}", number=number).removeprefix(number) if self._unit else self.suffix()
        if suffix != self.suffix():
            self.setSuffix(suffix)

    def sizeHint(self) -> QSize:
        """No wider than a number that somebody would type."""
        return super().sizeHint().boundedTo(QSize(WIDEST, 1000))  # type: ignore[misc]

    def minimumSizeHint(self) -> QSize:
        """No wider than a number that somebody would type."""
        return super().minimumSizeHint().boundedTo(QSize(WIDEST, 1000))  # type: ignore[misc]

    def validate(self, text: str, place: int) -> Verdict:
        """Take the keys; whether the number will do is judged when it is finished."""
        return _judged(super().validate(text, place), text, place)  # type: ignore[misc]

    def fixup(self: Any, text: str) -> str:
        """A number was finished that will not do."""
        self.refused.emit(text.removeprefix(self.prefix()).removesuffix(self.suffix()).strip())
        if self.specialValueText() and self.value() == self.minimum():
            return str(self.specialValueText())
        return f"{self.prefix()}{self.textFromValue(self.value())}{self.suffix()}"


class IntBox(_Frank, QSpinBox):
    """A whole number. `refused` carries what was typed when it is no number of the range; the last good one stays."""

    refused = Signal(str)


class FloatBox(_Frank, QDoubleSpinBox):
    """A number, otherwise as IntBox."""

    refused = Signal(str)


class ExactBox(FloatBox):
    """A number of any size as one would write it: at most seven digits, no zeros at its end. What is not edited stays
    exactly what it is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDecimals(MOST_DECIMALS)

    def textFromValue(self, value: float) -> str:
        """The number without its unit."""
        whole = len(str(int(abs(value)))) if abs(value) >= 1.0 else 1
        text = self._written(value, max(DIGITS - whole, 0))
        return text if value == 0.0 or text.strip("-") != "0" else self._written(value, MOST_DECIMALS)

    def valueFromText(self, text: str) -> float:
        """The number that was typed; the whole of the one that is there, where its text was left as it is."""
        bare = text.removeprefix(self.prefix()).removesuffix(self.suffix()).strip()
        return self.value() if bare == self.textFromValue(self.value()) else super().valueFromText(text)

    def sizeHint(self) -> QSize:
        """As wide as its longest usual number."""
        return QSize(max(super().sizeHint().width(), self.number_width()), super().sizeHint().height())

    def number_width(self) -> int:
        """Pixels in which a usual number is seen whole."""
        return self.fontMetrics().horizontalAdvance(USUAL) + FRAME

    def _written(self, value: float, decimals: int) -> str:
        text = self.locale().toString(float(value), "f", decimals).replace(self.locale().groupSeparator(), "")
        point = self.locale().decimalPoint()
        return text.rstrip("0").rstrip(point) if point in text else text


def _judged(verdict: Verdict, text: str, place: int) -> Verdict:
    return (QValidator.State.Intermediate, text, place) if verdict[0] == QValidator.State.Invalid else verdict
