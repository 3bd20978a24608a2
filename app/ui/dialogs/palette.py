"""The command palette: type a few letters of what should happen, press Return. It lists what the menus hold when it
opens, and every setting.

A setting is changed in place: choose it and give its value, or type `samples = 16` at once; a value that it does not
take is said under the line.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QMenu, QVBoxLayout, QWidget
from shiboken6 import isValid

from raygrove.app.settings.settings import Settings, option_groups
from raygrove.app.ui.colors import ERROR_STYLE
from raygrove.app.ui.dialogs.setting_asker import SettingAsker, written
from raygrove.app.ui.dialogs.settings_dialog import page_title
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.form import title_of
from raygrove.app.ui.widgets.list_rows import add_row
from raygrove.gpu.settings import fields_of

ShowSettings = Callable[[str], object]
SHOWN = 60
SEPARATOR = " › "
PAGE = "…"
"""Stands among the values for the way to the page."""

DONE_MS = 4000
LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclasses.dataclass(frozen=True)
class Entry:
    """One thing to do: its path through the menus, its key, a sentence, and what runs it; or the setting that it asks
    for."""

    path: tuple[str, ...]
    key: str
    tip: str
    run: Callable[[], object]
    setting: str = ""
    value: str = ""
    """What a choice is called in settings files: `lbvh`."""

    name: str = ""
    """The command's, or that of the menu of choices it is in and a full stop."""

    sentence: str = ""
    """What the status bar says of it."""

    @property
    def text(self) -> str:
        """The path in one line."""
        return SEPARATOR.join(self.path)

    @property
    def searched(self) -> str:
        """What typed letters are looked for in: settings and choices are found by their names in files, too."""
        return " ".join(part for part in (self.text, self.setting, self.value) if part)


def entries_of(menus: Sequence[QAction], settings: Settings, show_settings: ShowSettings) -> list[Entry]:
    """Every command of the menus that can be given now, then every setting; `show_settings` opens the page of a
    table."""
    return list(_entries(menus, settings, show_settings))


def _entries(menus: Sequence[QAction], settings: Settings, show_settings: ShowSettings) -> Iterator[Entry]:
    """The same one by one: whoever stops in between may wait, also in other turns of the event loop."""
    for action in menus:
        yield from _below(action, (), "")
    yield from _settings(settings, show_settings)


def _below(action: QAction, path: tuple[str, ...], of: str) -> Iterator[Entry]:
    """An action, or what its menu holds; menus that are filled when they open are filled now. All actions of a menu are
    asked at once: a menu of choices that is closed forgets in the next turn which of them can be chosen."""
    if not isValid(action) or action.isSeparator() or not action.isVisible():
        return  # a menu that was filled anew meanwhile has others
    here = (*path, action.text().replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("….") or "?")
    menu = action.menu()
    if isinstance(menu, QMenu):
        if not menu.isVisible():  # else it has been filled, and somebody looks at it
            menu.aboutToShow.emit()
        name = menu.objectName()
        for inner in [
            one if isinstance(one.menu(), QMenu) else list(_below(one, here, name)) for one in menu.actions()
        ]:
            yield from _below(inner, here, name) if isinstance(inner, QAction) else inner
    elif action.isEnabled():
        tip = action.toolTip() if action.toolTip().rstrip("….") != here[-1] else ""
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        value = action.data() if isinstance(action.data(), str) else ""
        name = action.objectName() or f"{of}."
        yield Entry(here, key, tip, action.trigger, value=value, name=name, sentence=action.statusTip())


def _settings(settings: Settings, show_settings: ShowSettings) -> Iterator[Entry]:
    for table, options in option_groups(settings):
        for field in fields_of(options) if options is not None else ():
            path = (QCoreApplication.translate("MainWindow", "Settings"), page_title(table), title_of(field.name))
            show, name, sentence = functools.partial(show_settings, table), f"{table}.{field.name}", field.info.sentence
            yield Entry(path, "", f"{name}: {sentence}", show, name, sentence=sentence)


def fitting(words: str, entries: Sequence[Entry]) -> list[Entry]:
    """What fits the words, the best first: what is called so, what a file calls so, what begins so, commands, then
    settings; where there is none, what has the words in its sentence, and where that is nothing, what holds the letters
    with a few others between them. Of what is called alike, what a user does most comes first: scenes, structures,
    ray types, and last the open scene's own clips and cameras."""
    found, told, wanted = [], [], words.lower().split()
    for order, entry in enumerate(entries):
        value = rank(words, entry.searched)
        if value is not None:
            nearness = _nearness(words.lower().strip(), entry)
            found.append((nearness, _place(entry) if nearness < WITHIN else 0, value, order, entry))
        elif all(word in entry.sentence.lower() for word in wanted):
            told.append((bool(entry.setting), order, entry))
    found.sort(key=lambda one: one[:4])
    literal = [entry for nearness, *_, entry in found if nearness < SPREAD]
    told.sort(key=lambda one: one[:2])
    return literal or [entry for *_, entry in told] or [entry for *_, entry in found]


BESIDE = 3
"""Letters of a loose match that may stand between those typed, beyond as many as there are."""

WITHIN, SPREAD = 3, 5
"""The nearness of what has the words anywhere, and of what holds the letters with others between them."""


FIRST = ("file.demo.", "structure.hierarchy.", "structure.optimiser.", "render.ray_type.")
LAST = ("animation.clip.", "camera.through.")
"""Commands by the beginnings of their names: the program's own choices, and what is called as a file has it."""


def _place(entry: Entry) -> int:
    """Where an entry stands among those that fit as well: places in FIRST, others, those of LAST."""
    for place, name in enumerate(FIRST):
        if entry.name.startswith(name):
            return place
    return len(FIRST) + entry.name.startswith(LAST)


def _nearness(words: str, entry: Entry) -> int:
    """0 where an entry is called what was typed, up to SPREAD."""
    name, searched = entry.path[-1].lower(), entry.searched.lower()
    if words in (name, name.partition(" (")[0]):
        return 0 if not entry.setting else 3
    if words and words in (entry.value, entry.setting):
        return 1
    if words and name.startswith(words) and not entry.setting:
        return 2
    if all(word in searched for word in words.split()):
        return 4 if entry.setting else 3
    return SPREAD


def rank(words: str, text: str) -> float | None:
    """How badly a text fits what was typed, 0 the best; None where a word is not in it. Letters may be left out, in
    their order, but no more than were typed and a few."""
    lower = text.lower()
    total = 0.0
    for word in words.lower().split():
        place = lower.find(word)
        if place >= 0:
            is_start = place == 0 or not lower[place - 1].isalnum()
            total += (0.0 if is_start else 2.0) + place / 1000.0
            continue
        spread = _spread(word, lower)
        if spread is None:
            return None
        total += 5.0 + spread / 10.0
    return total + len(text) / 10000.0


def _spread(word: str, text: str) -> int | None:
    """The letters between the first and the last letter of a word whose letters stand in a text in order, at the place
    where they are nearest to each other; None where that is too far to be meant."""
    nearest, begin = None, text.find(word[0])
    while begin >= 0:
        at = begin
        for letter in word[1:]:
            at = text.find(letter, at + 1)
            if at < 0:
                return nearest
        if at - begin < 2 * len(word) + BESIDE and (nearest is None or at - begin < nearest):
            nearest = at - begin
        begin = text.find(word[0], begin + 1)
    return nearest


class Palette(QDialog):
    """See the module. `recent` holds the texts of what was run last, newest first; those come first while nothing is
    typed."""

    def __init__(
        self,
        session: Session,
        menus: Sequence[QAction],
        show_settings: ShowSettings,
        recent: list[str],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self.setObjectName("palette")
        self.setWindowTitle(self.tr("Commands"))
        self._recent = recent
        self._session, self._show_settings = session, show_settings
        self._found: list[Entry] = []
        self._values: list[str] = []
        self._coming = _entries(menus, session.document.state.settings, show_settings)
        self._entries = list(itertools.islice(self._coming, SHOWN))
        self._later = QTimer(self, interval=0)
        self._later.timeout.connect(self._take_more)
        self._later.start()
        self.asked: SettingAsker | None = None
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(self.tr("Type a command or a setting"))
        self.line.textChanged.connect(self._fill)
        self.line.returnPressed.connect(self.run)
        self.line.installEventFilter(self)
        self.said, self.error = Label(self), Label(self)
        self.said.setObjectName("said")
        self.error.setObjectName("error")
        self.error.setStyleSheet(ERROR_STYLE)
        for label in (self.said, self.error):
            label.setWordWrap(True)
            label.hide()
        self.list = QListWidget(self)
        self.list.setUniformItemSizes(True)
        self.list.itemActivated.connect(lambda item: self.run())
        self.list.itemClicked.connect(lambda item: self.run())
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        for widget in (self.said, self.line, self.error, self.list):
            column.addWidget(widget)
        self.resize(min(620, window.width()), min(420, window.height()))
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - self.width()) // 2, corner.y() + 60)
        self._fill("")

    def found(self) -> list[str]:
        """What is listed, best first."""
        return [entry.text for entry in self._found]

    def run(self) -> None:
        """Do what is marked, and close; ask for a setting's value first."""
        if self.asked is not None:
            self._answer(self.asked)
            return
        row = self.list.currentRow()
        if not 0 <= row < len(self._found):
            return
        entry = self._found[row]
        self._recent[:] = [entry.text, *(text for text in self._recent if text != entry.text)][:10]
        _, is_given, value = self.line.text().partition("=")
        if entry.setting:
            self.ask(entry.setting, value.strip() if is_given else None)
            return
        self.accept()
        entry.run()

    def ask(self, key: str, value: str | None = None) -> None:
        """Ask for the value of a setting; with `value`, take it at once and ask only where it does not fit."""
        asked = SettingAsker(self._session, key)
        problem = asked.set(value) if value is not None else ""
        if value is not None and not problem:
            self._done(asked)
            return
        self.asked = asked
        self.said.setText(f"{key}: {asked.sentence}")
        self.said.show()
        self.line.setPlaceholderText(self.tr("Its new value; Escape goes back"))
        self.line.setText(value if value is not None else "" if asked.is_closed else asked.value)
        self.line.selectAll()
        self._fill("" if value is None else value)
        self._say(problem)

    def reject(self) -> None:
        """Escape: from a value back to the commands, from the commands out."""
        if self.asked is None:
            super().reject()
            return
        self.asked = None
        self.said.hide()
        self.line.setPlaceholderText(self.tr("Type a command or a setting"))
        self.line.clear()
        self._fill("")

    def _answer(self, asked: SettingAsker) -> None:
        """Take what was typed, or what is marked in the list where that was not what was typed."""
        row = self.list.currentRow()
        marked = self._values[row] if 0 <= row < len(self._values) else ""
        if marked == PAGE:
            self.accept()
            self._show_settings(asked.key.rpartition(".")[0])
            return
        problem = asked.set(marked or self.line.text())
        if problem:
            self._say(problem)
        else:
            self._done(asked)

    def _done(self, asked: SettingAsker) -> None:
        self._session.notices.tell(f"{asked.key} = {asked.value}", DONE_MS)
        self.accept()

    def _say(self, problem: str) -> None:
        self.error.setText(problem)
        self.error.setVisible(bool(problem))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows in the line move the mark in the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in LIST_KEYS:
            step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}[
                Qt.Key(event.key())
            ]
            self.list.setCurrentRow(min(max(self.list.currentRow() + step, 0), self.list.count() - 1))
            return True
        return super().eventFilter(watched, event)

    def _take_more(self) -> None:
        """Some entries more, in turns of the event loop: nobody has typed, and those that are listed are the first."""
        more = list(itertools.islice(self._coming, SHOWN))
        self._entries += more
        if not more:
            self._later.stop()

    def _all(self) -> list[Entry]:
        """Every entry, those that were still to come, too."""
        self._entries += self._coming
        return self._entries

    def _fill(self, words: str) -> None:
        self._say("")
        if self.asked is not None:
            self._offer(self.asked, words)
            return
        words, is_given, _ = words.partition("=")
        entries = self._all() if words.strip() or is_given or self._recent else self._entries
        entries = [entry for entry in entries if entry.setting] if is_given else entries
        if words.strip():
            found = fitting(words, entries)
        else:
            places = {text: place for place, text in enumerate(self._recent)}
            found = sorted(entries, key=lambda entry: places.get(entry.text, len(places)))
        self._found = found[:SHOWN]
        self.list.clear()
        for entry in self._found:
            item = add_row(self.list, f"{entry.text}    {entry.key}" if entry.key else entry.text)
            item.setToolTip(entry.tip)
        self.list.setCurrentRow(0)

    def _offer(self, asked: SettingAsker, words: str) -> None:
        """List the values that fit what was typed, and the way to the setting's page; nothing marked means what was
        typed."""
        offers = asked.offers()
        typed = words.strip()
        is_open = not asked.is_closed
        self._values = [one for one in offers if is_open or typed == asked.value or typed.lower() in one.lower()] + [
            PAGE
        ]
        self.list.clear()
        for value in self._values:
            note = (
                self.tr("now")
                if value == asked.value
                else self.tr("default")
                if value == written(asked.field.default)
                else ""
            )
            text = self.tr("Open its page of the settings…") if value == PAGE else f"{value}    {note}"
            self.list.addItem(text.rstrip())
        exact = self._values.index(typed) if typed in self._values[:-1] else -1
        self.list.setCurrentRow(exact if is_open or len(self._values) == 1 else max(exact, 0))
