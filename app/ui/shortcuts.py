"""Edit > Keys: every command with its keys, to be changed, each key for one command only."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import key_bindings
from app.key_bindings import Bindings

FLIGHT = frozenset(f"{modifier}{letter}" for letter in "WASDQE" for modifier in ("", "Shift+"))
"""Keys that fly while the picture has the focus: no command may have them."""

PORTABLE = QKeySequence.SequenceFormat.PortableText
NATIVE = QKeySequence.SequenceFormat.NativeText


class Shortcuts(QObject):
    """The keys of a window's actions: the program's own, and the user's where they differ, which are kept in keys.toml."""

    def __init__(self, actions: Mapping[str, QAction], parent: QObject) -> None:
        super().__init__(parent)
        self.actions = actions
        self._own = {name: keys_of(action) for name, action in actions.items()}

    def load(self) -> str:
        """Take the user's keys; returns a sentence where some cannot be taken, else an empty text."""
        try:
            found = key_bindings.load()
        except key_bindings.KeysError as error:
            return str(error)
        wrong = []
        for name, keys in found.items():
            problem = self._problem_of(name, keys)
            if name not in self.actions or problem:
                wrong.append(f"{name} ({problem or 'there is no such command'})")
            else:
                self._set(name, keys)
        return f"{key_bindings.file_of_user()}: these keys cannot be taken: {', '.join(wrong)}." if wrong else ""

    def change(self, name: str, keys: tuple[str, ...]) -> str:
        """Give a command other keys, and keep them; returns a sentence where that cannot be, else an empty text."""
        problem = self._problem_of(name, keys)
        if problem:
            return problem
        before = keys_of(self.actions[name])
        self._set(name, keys)
        try:
            key_bindings.save(self.changed())
        except OSError as error:
            self._set(name, before)
            return f"{key_bindings.file_of_user()} cannot be written: {error.strerror}."
        return ""

    def reset(self, name: str) -> str:
        """Give a command the program's own keys again."""
        return self.change(name, self._own[name])

    def reset_all(self) -> str:
        """The program's own keys for every command."""
        for name, keys in self._own.items():
            self._set(name, keys)
        try:
            key_bindings.save({})
        except OSError as error:
            return f"{key_bindings.file_of_user()} cannot be removed: {error.strerror}."
        return ""

    def changed(self) -> Bindings:
        """The keys that are not the program's own."""
        return {name: keys_of(action) for name, action in self.actions.items() if keys_of(action) != self._own[name]}

    def _set(self, name: str, keys: tuple[str, ...]) -> None:
        self.actions[name].setShortcuts([QKeySequence(key, PORTABLE) for key in keys])

    def _problem_of(self, name: str, keys: tuple[str, ...]) -> str:
        for key in keys:
            if not QKeySequence(key, PORTABLE).toString(PORTABLE):
                return self.tr("{key!r} is no key.").format(key=key)
            if key in FLIGHT:
                return self.tr("{key} flies the camera while the picture has the focus; take another key.").format(key=key)
            holder = next((other for other, action in self.actions.items() if other != name and key in keys_of(action)), None)
            if holder is not None:
                title = title_of(self.actions[holder])
                return self.tr("{key} belongs to “{title}”; take it away there first.").format(key=key, title=title)
        return ""


def keys_of(action: QAction) -> tuple[str, ...]:
    """An action's keys as text that is the same on every system."""
    return tuple(key.toString(PORTABLE) for key in action.shortcuts())


def title_of(action: QAction) -> str:
    """An action's text without its mnemonic."""
    return action.text().replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("….")


class KeysDialog(QDialog):
    """The page of keys."""

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shortcuts = shortcuts
        self.setObjectName("keys")
        self.setWindowTitle(self.tr("Keys"))
        self.resize(640, 600)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Search the commands and keys"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.tree = QTreeWidget(self)
        self.tree.setRootIsDecorated(False)
        self.tree.setHeaderLabels([self.tr("Command"), self.tr("Keys"), self.tr("Name in keys.toml")])
        self.tree.currentItemChanged.connect(lambda item, before: self._turn_to(item))
        self.editor = QKeySequenceEdit(self)
        self.editor.setMaximumSequenceLength(1)
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self._items: dict[str, QTreeWidgetItem] = {}
        self._fill()
        column = QVBoxLayout(self)
        column.addWidget(self.search)
        column.addWidget(self.tree, 1)
        column.addLayout(self._row())
        column.addWidget(self.note)
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.reject)
        reset_all = box.addButton(self.tr("Reset all"), QDialogButtonBox.ButtonRole.ResetRole)
        reset_all.setObjectName("reset_all")
        reset_all.clicked.connect(lambda: self._did(shortcuts.reset_all()))
        column.addWidget(box)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)

    def turn_to(self, name: str) -> None:
        """Mark a command."""
        self.tree.setCurrentItem(self._items[name])

    def _row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(QLabel(self.tr("New key"), self))
        row.addWidget(self.editor, 1)
        buttons = (
            ("set", self.tr("Take this key"), lambda name: self._shortcuts.change(name, (self._typed(),)) if self._typed() else ""),
            ("add", self.tr("Take it too"), lambda name: self._shortcuts.change(name, self._with_typed(name))),
            ("none", self.tr("No key"), lambda name: self._shortcuts.change(name, ())),
            ("reset", self.tr("Reset"), self._shortcuts.reset),
        )
        for name, title, act in buttons:
            button = QPushButton(title, self)
            button.setObjectName(name)
            button.clicked.connect(lambda checked=False, act=act: self._did(act(self._current()) if self._current() else ""))
            row.addWidget(button)
        return row

    def _typed(self) -> str:
        return self.editor.keySequence().toString(PORTABLE)

    def _with_typed(self, name: str) -> tuple[str, ...]:
        have = keys_of(self._shortcuts.actions[name])
        return have if not self._typed() or self._typed() in have else (*have, self._typed())[-key_bindings.KEYS_LIMIT :]

    def _current(self) -> str:
        item = self.tree.currentItem()
        return item.text(2) if item is not None else ""

    def _turn_to(self, item: QTreeWidgetItem | None) -> None:
        self.editor.clear()
        self.note.clear()

    def _did(self, problem: str) -> None:
        self.note.setText(problem)
        self._show_keys()

    def _fill(self) -> None:
        for name, action in self._shortcuts.actions.items():
            self._items[name] = QTreeWidgetItem(self.tree, [title_of(action), "", name])
        self._show_keys()
        self.tree.resizeColumnToContents(0)
        self.tree.setCurrentItem(next(iter(self._items.values())))

    def _show_keys(self) -> None:
        changed = self._shortcuts.changed()
        for name, item in self._items.items():
            item.setText(1, ", ".join(key.toString(NATIVE) for key in self._shortcuts.actions[name].shortcuts()))
            font = item.font(1)
            font.setBold(name in changed)
            item.setFont(1, font)

    def _filter(self, words: str) -> None:
        wanted = words.lower().split()
        for item in self._items.values():
            text = " ".join(item.text(column) for column in range(3)).lower()
            item.setHidden(not all(word in text for word in wanted))
