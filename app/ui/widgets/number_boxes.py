"""Spin boxes that say what they do not take. Qt's own swallow the keys of a number out of range, so that nobody learns
why."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

WIDEST = 110
"""Pixels that a box asks for at most: one that could show every number of its range would not fit on a page."""

Verdict = tuple[QValidator.State, str, int]


class _Frank:
    """What both boxes do differently from Qt's; stands before the Qt class among their bases."""

    refused: Any

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
        self.refused.emit(_bare(text, self.suffix()))
        return self.textFromValue(self.value()) + self.suffix()


class IntBox(_Frank, QSpinBox):
    """A whole number. `refused` carries what was typed when it is no number of the range; the last good one stays."""

    refused = Signal(str)


class FloatBox(_Frank, QDoubleSpinBox):
    """A number, otherwise as IntBox."""

    refused = Signal(str)


def _judged(verdict: Verdict, text: str, place: int) -> Verdict:
    return (QValidator.State.Intermediate, text, place) if verdict[0] == QValidator.State.Invalid else verdict


def _bare(text: str, suffix: str) -> str:
    return text.removesuffix(suffix).strip()
