"""Undo and redo over immutable values."""

from __future__ import annotations

from typing import Generic, TypeVar

Value = TypeVar("Value")

LIMIT = 500
_OPEN = "open step"
"""The key of all changes of an open step."""


class History(Generic[Value]):
    """The values before and after the present one. Changes with the same key, one after another, count as one. Each
    step has a `scope`: what part of the value it changed, for whoever restores only that."""

    def __init__(self) -> None:
        self._past: list[tuple[Value, str]] = []
        self._future: list[tuple[Value, str]] = []
        self._key: str | None = None
        self._is_open = False

    @property
    def can_undo(self) -> bool:
        """Whether there is a value to go back to."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether there is a value to go forward to."""
        return bool(self._future)

    def record(self, before: Value, key: str | None, scope: str = "") -> None:
        """Remember the value before a change, unless the change continues the last one."""
        key = _OPEN if self._is_open else key
        if key is None or key != self._key:
            self._past.append((before, scope))
            del self._past[:-LIMIT]
        self._future.clear()
        self._key = key

    def end_merge(self) -> None:
        """The next change starts a step of its own, whatever its key; nothing in an open step."""
        self._key = self._key if self._is_open else None

    def open_step(self) -> None:
        """All changes from here to `close_step` count as one, whatever their keys."""
        self._key, self._is_open = None, True

    def close_step(self) -> None:
        """The next change starts a step of its own."""
        self._key, self._is_open = None, False

    def undo(self, present: Value) -> tuple[Value, str]:
        """The value before and the step's scope; `present` can be redone. The present one where there is none."""
        return self._step(self._past, self._future, present)

    def redo(self, present: Value) -> tuple[Value, str]:
        """The value after an undone change and the step's scope."""
        return self._step(self._future, self._past, present)

    def _step(
        self, source: list[tuple[Value, str]], other: list[tuple[Value, str]], present: Value
    ) -> tuple[Value, str]:
        self._key = None
        if not source:
            return present, ""
        value, scope = source.pop()
        other.append((present, scope))
        return value, scope
