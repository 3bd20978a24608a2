"""Menus of which one entry counts: a structure, a layout, a ray type. They ask the registries each time they open.

Every entry is an action that lives as long as the menu, so that it can have a key; a key for what cannot be chosen now
says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QWidget

from raygrove.app.ui.commands.menu import Menu
from raygrove.app.ui.plain_text import menu_text
from raygrove.app.ui.plain_text import tip as as_tip

Offers = Iterable[tuple[str, str, str, bool]]


class ChoiceMenu(Menu):
    """`choices` gives (value, title, tip, is_enabled) when the menu opens, `current` the value that counts, `choose`
    takes another. `refused` carries a sentence when a key asks for what cannot be chosen."""

    refused = Signal(str)

    def __init__(
        self,
        title: str,
        choices: Callable[[], Offers],
        current: Callable[[], str],
        choose: Callable[[str], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, parent)
        self._choices, self._current, self._choose = choices, current, choose
        self._all: dict[str, QAction] = {}
        self._group = QActionGroup(self)  # of which one counts: drawn as radio marks
        self._offered: list[str] = []
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.refresh)
        self.aboutToHide.connect(lambda: QTimer.singleShot(0, self._wake))
        self.addAction(self.tr("(nothing yet)")).setEnabled(False)

    def prepare(self, offers: Offers | None = None) -> dict[str, QAction]:
        """The actions of these choices, or of those that are offered now, by value; made before anybody opens the menu,
        so that keys can be given."""
        return {
            value: self._action(value, title) for value, title, _, _ in (self._choices() if offers is None else offers)
        }

    def refresh(self) -> None:
        """List what can be chosen now, with a mark at what counts."""
        for action in self.actions():  # clear() would delete those that only this menu shows
            self.removeAction(action)
        self._offered = []
        current = self._current()
        for value, title, tip, is_enabled in self._choices():
            action = self._action(value, title)
            action.setText(menu_text(title))
            action.setChecked(value == current)
            action.setToolTip(as_tip(tip or title))
            action.setStatusTip(tip or title)
            action.setEnabled(is_enabled)
            self._offered.append(value)
            self.addAction(action)
        QTimer.singleShot(0, self._wake)

    def values(self) -> list[str]:
        """What can be chosen, as listed last."""
        return list(self._offered)

    def trigger(self, value: str) -> None:
        """Choose by value, as a click does."""
        self._all[value].trigger()

    def _action(self, value: str, title: str) -> QAction:
        action = self._all.get(value)
        if action is None:
            action = self._all[value] = QAction(title, self)
            action.setData(value)
            action.setCheckable(True)
            self._group.addAction(action)
            action.setProperty("menu", self.title().replace("&", ""))
            action.triggered.connect(lambda checked=False: self._take(value))
        return action

    def _wake(self) -> None:
        """While the menu is closed no entry is disabled: its key answers, if only with the reason why it cannot be
        chosen."""
        if not self.isVisible():
            for action in self._all.values():
                action.setEnabled(True)

    def _take(self, value: str) -> None:
        """Choose, if that is offered now."""
        offers = {offer[0]: offer for offer in self._choices()}
        found = offers.get(value)
        if found is not None and found[3]:
            self._choose(value)
        else:
            tip = found[2] if found is not None else self.tr("This cannot be chosen now.")
            self.refused.emit(f"{self.title().replace('&', '')}: {self._all[value].text().replace('&&', '&')}. {tip}")
        for other, action in self._all.items():
            action.setChecked(other == self._current())
