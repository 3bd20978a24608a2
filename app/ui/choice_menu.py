"""Menus of which one entry counts: a structure, a layout, a ray type. They ask the registries each time they open."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget


class ChoiceMenu(QMenu):
    """`choices` gives (value, title, tip, is_enabled) when the menu opens, `current` the value that counts, `choose` takes another."""

    def __init__(
        self,
        title: str,
        choices: Callable[[], Iterable[tuple[str, str, str, bool]]],
        current: Callable[[], str],
        choose: Callable[[str], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, parent)
        self._choices, self._current, self._choose = choices, current, choose
        self.setToolTipsVisible(True)
        self._group = QActionGroup(self)
        self._group.triggered.connect(lambda action: self._choose(action.data()))
        self.aboutToShow.connect(self.refresh)
        self.addAction(self.tr("(nothing yet)")).setEnabled(False)

    def refresh(self) -> None:
        """List what can be chosen now, with a mark at what counts."""
        for action in self._group.actions():
            self._group.removeAction(action)
        self.clear()
        current = self._current()
        for value, title, tip, is_enabled in self._choices():
            action = QAction(title, self)
            action.setData(value)
            action.setCheckable(True)
            action.setChecked(value == current)
            action.setToolTip(tip or title)
            action.setEnabled(is_enabled)
            self._group.addAction(action)
            self.addAction(action)

    def values(self) -> list[str]:
        """What can be chosen, as listed last."""
        return [action.data() for action in self._group.actions()]

    def trigger(self, value: str) -> None:
        """Choose by value, as a click does."""
        next(action for action in self._group.actions() if action.data() == value).trigger()
