"""Rows of a list of Qt's that Qt itself makes.

A `QListWidgetItem` made in Python is deleted, when its list goes, through a destructor of Shiboken's. In PySide6 6.11
that destructor reads, at times, a wrapper that is freed already, and the program ends with a segmentation fault (seen
when a sheet of the pipeline closed).
"""

from __future__ import annotations

from PySide6.QtWidgets import QListWidget, QListWidgetItem


def add_row(rows: QListWidget, text: str = "") -> QListWidgetItem:
    """A new last row with a text."""
    rows.addItem(text)
    return rows.item(rows.count() - 1)
