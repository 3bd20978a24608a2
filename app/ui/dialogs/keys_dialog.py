"""Edit > Keys: every command, choice and gesture with its keys, to be changed; what stands in the way is said under the
field as it is typed."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QKeySequenceEdit,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.camera.gestures import ways_of
from raygrove.app.ui.colors import ERROR_STYLE
from raygrove.app.ui.commands.shortcuts import PORTABLE, Shortcuts
from raygrove.app.ui.dialogs.button_box import button_box
from raygrove.app.ui.plain_text import Label
from raygrove.app.user_files import key_bindings

LEAST_LETTERS = 8
"""Of a gesture in the list: on a narrow screen it gives way to the buttons."""


class KeyField(QStackedWidget):
    """Takes a key, or a way of the mouse from a list; which of them, the kind of what is bound says."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.editor = QKeySequenceEdit(self)
        self.editor.setMaximumSequenceLength(1)
        self.editor.setAccessibleName(self.tr("New key"))
        self.ways = QComboBox(self)
        self.ways.setObjectName("ways")
        self.ways.setAccessibleName(self.tr("New gesture"))
        self.ways.setMinimumContentsLength(LEAST_LETTERS)
        self.ways.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.addWidget(self.editor)
        self.addWidget(self.ways)

    def turn_to(self, kind: str) -> None:
        """Take ways of this kind, and begin empty."""
        self.editor.clear()
        self.ways.clear()
        self.ways.addItems(["", *ways_of(kind)])
        self.setCurrentWidget(self.editor if kind in ("command", "key") else self.ways)

    def typed(self) -> str:
        """What stands in the field."""
        return (
            self.editor.keySequence().toString(PORTABLE)
            if self.currentWidget() is self.editor
            else self.ways.currentText()
        )


class KeysDialog(QDialog):
    """See the module."""

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shortcuts = shortcuts
        self.setObjectName("keys")
        self.setWindowTitle(self.tr("Keys and mouse"))
        self.resize(720, 600)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Search the commands, keys and gestures"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.tree = QTreeWidget(self)
        self.tree.setRootIsDecorated(False)
        self.tree.setHeaderLabels([self.tr("Command or gesture"), self.tr("Keys"), self.tr("Name in keys.toml")])
        self.tree.currentItemChanged.connect(lambda item, before: self._turn_to())
        self.field = KeyField(self)
        self.field.setMaximumHeight(self.field.sizeHint().height())
        self.editor, self.ways = self.field.editor, self.field.ways
        self.editor.keySequenceChanged.connect(lambda key: self._check())
        self.ways.currentTextChanged.connect(lambda way: self._check())
        self.note = Label(self)
        self.note.setObjectName("error")
        self.note.setWordWrap(True)
        self.note.setStyleSheet(ERROR_STYLE)
        self._items: dict[str, QTreeWidgetItem] = {}
        self._lay_out()
        self._fill()
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)

    def turn_to(self, name: str) -> None:
        """Mark a command or a gesture."""
        self.tree.setCurrentItem(self._items[name])
        self.tree.scrollToItem(self._items[name])

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.addWidget(self.search)
        column.addWidget(self.tree, 1)
        column.addLayout(self._row())
        column.addWidget(self.note)
        box = button_box(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.reject)
        reset_all = box.addButton(self.tr("Reset all"), QDialogButtonBox.ButtonRole.ResetRole)
        reset_all.setObjectName("reset_all")
        reset_all.clicked.connect(lambda: self._did(self._shortcuts.reset_all()))
        column.addWidget(box)

    def _row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(Label(self.tr("New"), self))
        row.addWidget(self.field, 1)
        buttons = (
            (
                "set",
                self.tr("Take this"),
                lambda name: self._shortcuts.change(name, (self.field.typed(),)) if self.field.typed() else "",
            ),
            ("add", self.tr("Take it too"), lambda name: self._shortcuts.change(name, self._with_typed(name))),
            ("none", self.tr("None"), lambda name: self._shortcuts.change(name, ())),
            ("reset", self.tr("Reset"), self._shortcuts.reset),
        )
        for name, title, act in buttons:
            button = QPushButton(title, self)
            button.setObjectName(name)
            button.clicked.connect(
                lambda checked=False, act=act: self._did(act(self._current()) if self._current() else "")
            )
            row.addWidget(button)
        return row

    def _with_typed(self, name: str) -> tuple[str, ...]:
        have, typed = self._shortcuts.keys(name), self.field.typed()
        return have if not typed or typed in have else (*have, typed)[-key_bindings.KEYS_LIMIT :]

    def _current(self) -> str:
        item = self.tree.currentItem()
        return item.text(2) if item is not None else ""

    def _turn_to(self) -> None:
        if self._current():
            self.field.turn_to(self._shortcuts.kind(self._current()))
        self.note.clear()

    def _check(self) -> None:
        """Say what stands in the way of what was typed, before anybody presses a button."""
        typed = self.field.typed()
        self.note.setText(self._shortcuts.problem_of(self._current(), (typed,)) if typed and self._current() else "")

    def _did(self, problem: str) -> None:
        self.note.setText(problem)
        self._show_keys()

    def _fill(self) -> None:
        for name in self._shortcuts.names():
            self._items[name] = QTreeWidgetItem(self.tree, [self._shortcuts.title(name), "", name])
        self._show_keys()
        self.tree.resizeColumnToContents(0)
        self.tree.setColumnWidth(0, min(self.tree.columnWidth(0), 340))
        self.tree.setCurrentItem(next(iter(self._items.values())))

    def _show_keys(self) -> None:
        changed = self._shortcuts.changed()
        for name, item in self._items.items():
            item.setText(1, self._shortcuts.shown(name))
            font = item.font(1)
            font.setBold(name in changed)
            item.setFont(1, font)

    def _filter(self, words: str) -> None:
        wanted = words.lower().split()
        for item in self._items.values():
            text = " ".join(item.text(column) for column in range(3)).lower()
            item.setHidden(not all(word in text for word in wanted))
