"""Parts of a form that share a row."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget


def side_by_side(*parts: QWidget) -> QHBoxLayout:
    """A row: lines take its room, other parts no more than they need."""
    row = QHBoxLayout()
    for part in parts:
        row.addWidget(part, 1 if isinstance(part, QLineEdit) else 0)
    if not any(isinstance(part, QLineEdit) for part in parts):
        row.addStretch(1)
    return row
