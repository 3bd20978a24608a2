"""The keys of a window's commands and the ways of its gestures: the program's own, and the user's where they differ,
which are kept in keys.toml."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

from raygrove.app.camera.gestures import BY_NAME, GESTURES, MODIFIERS, Gestures
from raygrove.app.user_files import key_bindings
from raygrove.app.user_files.key_bindings import Bindings

PORTABLE = QKeySequence.SequenceFormat.PortableText
NATIVE = QKeySequence.SequenceFormat.NativeText


class Shortcuts(QObject):
    """See the module. A key belongs to one command or one gesture, a way of the mouse to one gesture."""

    def __init__(
        self, actions: Mapping[str, QAction], parent: QObject | None, gestures: Gestures | None = None
    ) -> None:
        super().__init__(parent)
        self.actions, self.gestures = actions, gestures or Gestures()
        self._own = {name: keys_of(action) for name, action in actions.items()} | {
            gesture.name: gesture.own for gesture in GESTURES
        }

    def names(self) -> list[str]:
        """Every command and gesture that can be bound."""
        return list(self._own)

    def kind(self, name: str) -> str:
        """A gesture's kind; `command` for a command."""
        return BY_NAME[name].kind if name in BY_NAME else "command"

    def title(self, name: str) -> str:
        """What people call it."""
        return BY_NAME[name].title if name in BY_NAME else title_of(self.actions[name])

    def keys(self, name: str) -> tuple[str, ...]:
        """The keys or ways that it has now."""
        return self.gestures.ways(name) if name in BY_NAME else keys_of(self.actions[name])

    def shown(self, name: str) -> str:
        """The same as people read them."""
        if name in BY_NAME and BY_NAME[name].kind != "key":
            return ", ".join(self.keys(name))
        return ", ".join(QKeySequence(key, PORTABLE).toString(NATIVE) for key in self.keys(name))

    def load(self) -> str:
        """Take the user's keys; returns a sentence where some cannot be taken, else an empty text."""
        try:
            found = key_bindings.load()
        except key_bindings.KeysError as error:
            return str(error)
        wrong = [f"{name} ({self.tr('there is no such command')})" for name in found if name not in self._own]
        known = {name: keys for name, keys in found.items() if name in self._own}
        for name in known:  # two may have changed places
            self._set(name, ())
        for name, keys in known.items():
            problem = self.problem_of(name, keys)
            if problem:
                wrong.append(f"{name} ({problem.rstrip('.')})")
            else:
                self._set(name, keys)
        for name in known:
            if not self.keys(name) and known[name] and not self.problem_of(name, self._own[name]):
                self._set(name, self._own[name])
        return f"{key_bindings.file_of_user()}: these keys cannot be taken: {', '.join(wrong)}." if wrong else ""

    def change(self, name: str, keys: tuple[str, ...]) -> str:
        """Give a command other keys, and keep them; returns a sentence where that cannot be, else an empty text."""
        problem = self.problem_of(name, keys)
        if problem:
            return problem
        before = self.keys(name)
        self._set(name, keys)
        try:
            key_bindings.save({name: None if keys == self._own[name] else keys})
        except (OSError, key_bindings.KeysError) as error:
            self._set(name, before)
            if isinstance(error, OSError):
                return f"{key_bindings.file_of_user()} cannot be written: {error.strerror}."
            return str(error)
        return ""

    def reset(self, name: str) -> str:
        """Give a command the program's own keys again."""
        return self.change(name, self._own[name])

    def reset_all(self) -> str:
        """The program's own keys for every command."""
        for name, keys in self._own.items():
            self._set(name, keys)
        try:
            key_bindings.remove()
        except OSError as error:
            return f"{key_bindings.file_of_user()} cannot be removed: {error.strerror}."
        return ""

    def changed(self) -> Bindings:
        """The keys that are not the program's own."""
        return {name: self.keys(name) for name, own in self._own.items() if self.keys(name) != own}

    def problem_of(self, name: str, keys: tuple[str, ...]) -> str:
        """Why it cannot have these keys, as a sentence; else an empty text."""
        kind = self.kind(name)
        if kind in ("command", "key"):
            return next((problem for problem in (self._problem_of_key(name, key) for key in keys) if problem), "")
        return self.gestures.problem_of(name, keys) or (self._problem_of_speed(keys) if name == "fly.fast" else "")

    def _set(self, name: str, keys: tuple[str, ...]) -> None:
        if name in BY_NAME:
            self.gestures.set(name, keys)
        else:
            self.actions[name].setShortcuts([QKeySequence(key, PORTABLE) for key in keys])

    def _problem_of_key(self, name: str, key: str) -> str:
        if not QKeySequence(key, PORTABLE).toString(PORTABLE):
            return self.tr("{key!r} is not a key.").format(key=key)
        flies = self.gestures.holders("key")
        if self.kind(name) == "key":
            if any(key.startswith(f"{modifier}+") for modifier in (*MODIFIERS, "Meta")):
                return self.tr("{key}: a key that flies has no modifier, since those say how fast.").format(key=key)
            taken = {key, *(f"{modifier}+{key}" for modifier in self.gestures.ways("fly.fast"))}
        else:
            taken = {key}
            for modifier in ("", *(f"{modifier}+" for modifier in self.gestures.ways("fly.fast"))):
                if key.startswith(modifier) and key[len(modifier) :] in flies:
                    return self.tr("{key} flies the camera while the picture has the focus; take another key.").format(
                        key=key
                    )
        title = BY_NAME[flies[key]].title if flies.get(key, name) != name else ""
        for other, action in self.actions.items():
            if other != name and taken & set(keys_of(action)):
                title = title or title_of(action)
        return (
            self.tr("{key} belongs to “{title}”; take it away there first.").format(key=key, title=title)
            if title
            else ""
        )

    def _problem_of_speed(self, modifiers: tuple[str, ...]) -> str:
        """What speeds flying up takes keys from commands."""
        taken = {f"{modifier}+{key}" for modifier in modifiers for key in self.gestures.holders("key")}
        for action in self.actions.values():
            for key in taken & set(keys_of(action)):
                return self.tr("{key} belongs to “{title}”; take it away there first.").format(
                    key=key, title=title_of(action)
                )
        return ""


def keys_of(action: QAction) -> tuple[str, ...]:
    """An action's keys as text that is the same on every system."""
    return tuple(key.toString(PORTABLE) for key in action.shortcuts())


def title_of(action: QAction) -> str:
    """What a command is called, without its mnemonic; a choice with the name of its menu before it."""
    text = action.text().replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("….")
    menu = action.property("menu")
    return f"{menu}: {text}" if menu else text
