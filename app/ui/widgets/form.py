"""A form made from an options dataclass: a field's type, range, unit and sentence become an editor, its limits and its
tooltip."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.ui.colors import ERROR_STYLE
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.color_edit import ColorEdit
from raygrove.app.ui.widgets.number_boxes import ExactBox, FloatBox, IntBox
from raygrove.gpu.settings import OptionError, OptionField

_INT_LIMIT = 2**31 - 1
_FLOAT_LIMIT = 1e12
EXACT_UNITS = ("scene units", "degrees", "frames/s")
"""Units of numbers that may be of any size, come from moving the camera, or are read better without zeros."""

NAMES = {
    "hierarchy": "structure",
    "fov": "field of view",
    "fps": "frame rate",
    "minimum_fps": "minimum frame rate",
    "primary": "first hits",
}
"""Options that people call otherwise."""


def title_of(name: str) -> str:
    """An option's name as a label: `cost_ratio` is "Cost ratio"."""
    words = NAMES.get(name, name).replace("_", " ")
    return words[:1].upper() + words[1:]


class Editor(QWidget):
    """One option's editor. `edited` carries a value of the option's type; a value that cannot be read shows its error
    here instead."""

    edited = Signal(object)

    def __init__(
        self,
        field: OptionField,
        choices: Sequence[str] = (),
        parent: QWidget | None = None,
        choice_title: Callable[[str, str], str] = lambda _, choice: choice,
    ) -> None:
        super().__init__(parent)
        self._choice_title = choice_title
        self.field = field
        self._choices = tuple(choices) or field.info.choices
        self._error = Label(self)
        self._error.setObjectName("error")
        self._error.setWordWrap(True)
        self._error.hide()
        self.input = self._make_input()
        self.input.setObjectName(field.name)
        self.input.setToolTip(tooltip_of(field))
        self.input.setAccessibleName(title_of(field.name))
        self.input.setAccessibleDescription(field.info.sentence)
        if isinstance(self.input, ColorEdit):
            self.input.describe(title_of(field.name), field.info.sentence)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.input)
        column.addWidget(self._error)

    def value(self) -> Any:
        """The value as shown. Raises OptionError for a text that is none."""
        if isinstance(self.input, QCheckBox):
            return self.input.isChecked()
        if isinstance(self.input, QComboBox):
            return self.input.currentData() if self.input.currentIndex() >= 0 else self.input.currentText()
        if isinstance(self.input, QSpinBox | QDoubleSpinBox | ColorEdit):
            return self.input.value()
        if isinstance(self.input, QLineEdit):
            return self._read(self.input.text())
        return tuple(box.value() for box in self.input.findChildren(QDoubleSpinBox))

    def set_value(self, value: Any) -> None:
        """Show a value without telling anybody."""
        self.show_error("")
        boxes = self.input.findChildren(QDoubleSpinBox) if type(self.input) is QWidget else [self.input]
        parts = list(value) if type(self.input) is QWidget else [value]
        for box, part in zip(boxes, parts, strict=True):
            blocker = QSignalBlocker(box)
            _show(box, part)
            del blocker

    def show_error(self, sentence: str) -> None:
        """Say at the field what is wrong with it; an empty sentence takes it back."""
        self._error.setText(sentence)
        self._error.setStyleSheet(ERROR_STYLE if sentence else "")
        self._error.setVisible(bool(sentence))

    def choices(self) -> dict[str, str]:
        """What it can be where that is a list, each with its title."""
        return {choice: self._choice_title(self.field.name, choice) for choice in self._choices}

    @property
    def error(self) -> str:
        """The error shown, or an empty text."""
        return self._error.text()

    def _make_input(self) -> QWidget:
        field = self.field
        if field.type is bool:
            box = QCheckBox(self)
            box.toggled.connect(self._emit)
            return box
        if self._choices:
            combo = QComboBox(self)
            for choice, title in self.choices().items():
                combo.addItem(title, choice)
                combo.setItemData(combo.count() - 1, choice, Qt.ItemDataRole.ToolTipRole)
            combo.currentIndexChanged.connect(self._emit)
            return combo
        if field.type in (int, float) and not _needs_text(field):
            return self._number(field.type)
        if field.info.is_color:
            color = ColorEdit(field.info.maximum or 1.0, self)
            color.edited.connect(self._emit)
            color.refused.connect(self._refuse)
            return color
        if typing.get_origin(field.type) is tuple:
            row = QWidget(self)
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            line.setSpacing(4)
            for axis, _ in zip("xyz", typing.get_args(field.type), strict=False):
                part = self._number(float)
                part.setAccessibleName(f"{title_of(field.name)} {axis}")
                line.addWidget(part)
            return row
        edit = QLineEdit(self)
        edit.editingFinished.connect(self._emit)
        return edit

    def _number(self, kind: type) -> IntBox | FloatBox:
        info = self.field.info
        low, high = info.minimum, info.maximum
        box: IntBox | FloatBox
        if kind is int:
            box = IntBox(self)
            box.setRange(int(low) if low is not None else -_INT_LIMIT, int(high) if high is not None else _INT_LIMIT)
            box.setStepType(
                QSpinBox.StepType.AdaptiveDecimalStepType if box.maximum() > 1000 else QSpinBox.StepType.DefaultStepType
            )
        else:
            is_exact = typing.get_origin(self.field.type) is tuple or info.unit in EXACT_UNITS
            box = ExactBox(self) if is_exact else FloatBox(self)
            if not is_exact:
                box.setDecimals(_decimals(self.field))
            box.setRange(low if low is not None else -_FLOAT_LIMIT, high if high is not None else _FLOAT_LIMIT)
            box.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        box.setKeyboardTracking(False)
        if self.field.info.unit == "degrees":
            box.setSuffix("°")
        else:
            box.take_unit(_unit(self.field))
        box.setSpecialValueText(self.tr(info.least) if info.least else "")
        box.valueChanged.connect(self._emit)
        box.refused.connect(self._refuse)
        return box

    def _refuse(self, text: str) -> None:
        kept = self.tr("{value} stays.").format(value=_listed(self.value()))
        self.show_error(f"{text or self.tr('nothing')}: {self.tr('it takes')} {self.field.allowed()}. {kept}")

    def _read(self, text: str) -> Any:
        kind = self.field.type
        try:
            value = kind(text.strip()) if kind in (int, float) else text.strip()
        except ValueError:
            raise OptionError(self.field.name, text, self.field.allowed()) from None
        return self.field.checked(value)

    def _emit(self) -> None:
        try:
            value = self.value()
        except OptionError as error:
            self.show_error(str(error))
            return
        self.show_error("")
        self.edited.emit(value)


class OptionForm(QWidget):
    """The options of one dataclass, a row each. `changed` carries an option's name and its new value; `show_error` puts
    an answer at its field."""

    changed = Signal(str, object)

    def __init__(
        self,
        fields: Sequence[OptionField],
        choices: Mapping[str, Sequence[str]] | None = None,
        parent: QWidget | None = None,
        choice_title: Callable[[str, str], str] = lambda _, choice: choice,
    ) -> None:
        super().__init__(parent)
        self.editors: dict[str, Editor] = {}
        self._rows = QFormLayout(self)
        self._rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for field in fields:
            editor = Editor(field, (choices or {}).get(field.name, ()), self, choice_title)
            editor.edited.connect(lambda value, name=field.name: self.changed.emit(name, value))
            label = Label(title_of(field.name), self)
            label.setToolTip(tooltip_of(field))
            label.setBuddy(editor.input)
            self._rows.addRow(label, editor)
            self.editors[field.name] = editor

    def set_values(self, options: Any, before: Any = None) -> None:
        """Show the values of an instance; with the instance `before`, only those that differ, so that a field with an
        error keeps it."""
        for name, editor in self.editors.items():
            value = getattr(options, name)
            if (before is None or getattr(before, name) != value) and not _is_shown(editor, value):
                editor.set_value(value)

    def show_error(self, name: str, sentence: str) -> None:
        """Put a sentence at a field."""
        self.editors[name].show_error(sentence)

    def filter(self, words: str) -> int:
        """Show the rows that hold every word in their name, sentence or choices; returns how many there are."""
        wanted = words.lower().split()
        count = 0
        for editor in self.editors.values():
            info = editor.field.info
            name, choices = editor.field.name, editor.choices()
            text = " ".join([name, title_of(name), info.sentence, *choices, *choices.values()]).lower()
            is_match = all(word in text for word in wanted)
            self._rows.setRowVisible(editor, is_match)
            count += is_match
        return count


def make_narrow(editor: Editor) -> None:
    """Let numbers side by side be as narrow as what they show, without arrows: for panels."""
    for box in editor.findChildren(ExactBox) if type(editor.input) is QWidget else ():
        box.setMinimumWidth(box.number_width())
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        box.setButtonSymbols(QDoubleSpinBox.ButtonSymbols.NoButtons)


def tooltip_of(field: OptionField) -> str:
    """The sentence, what is allowed and the default."""
    default = str(field.default).lower() if isinstance(field.default, bool) else field.default
    return (
        f"<p>{field.info.sentence}</p><p>Takes {field.allowed()}. Default: "
        f"{default if default != '' else 'nothing'}.</p>"
    )


def _listed(value: Any) -> str:
    return ", ".join(f"{one:g}" for one in value) if isinstance(value, tuple) else str(value)


def _unit(field: OptionField) -> str:
    """The unit behind a number; three of scene units have no room for it beside each other, and say it in their tip."""
    unit = field.info.unit
    return "" if unit == "scene units" and typing.get_origin(field.type) is tuple else unit


def _decimals(field: OptionField) -> int:
    """Three, unless the default or a limit needs more."""
    numbers = [
        *(field.default if isinstance(field.default, tuple) else (field.default,)),
        field.info.minimum,
        field.info.maximum,
    ]
    return 3 if all(number is None or round(number, 3) == number for number in numbers) else 6


def _needs_text(field: OptionField) -> bool:
    low, high = field.info.minimum, field.info.maximum
    limit = _INT_LIMIT if field.type is int else math.inf
    return any(bound is not None and abs(bound) > limit for bound in (low, high))


def _is_shown(editor: Editor, value: Any) -> bool:
    try:
        return bool(editor.value() == value) and not editor.error
    except OptionError:
        return False


def _show(box: QWidget, value: Any) -> None:
    if isinstance(box, ColorEdit):
        box.set_value(value)
    elif isinstance(box, QCheckBox):
        box.setChecked(bool(value))
    elif isinstance(box, QComboBox):
        if box.findData(value) < 0:
            box.addItem(str(value), value)
        box.setCurrentIndex(box.findData(value))
    elif isinstance(box, QLineEdit):
        box.setText("" if value is None else str(value))
    elif isinstance(box, QSpinBox):
        box.setValue(int(value))
    elif isinstance(box, QDoubleSpinBox):
        box.setValue(float(value))
