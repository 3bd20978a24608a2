"""What the program tells its user, whoever says it: notices that stand until they are closed, sentences of the status
line, and the log of both. No widget here: what lies over the picture and the status line follow the signals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from raygrove.app.document.log import Log

STATUS_MS = 5000


@dataclasses.dataclass(frozen=True)
class Way:
    """One thing that can be done about a message, as a button: its object name, its title and what it runs."""

    name: str
    title: str
    run: Callable[[], object]


@dataclasses.dataclass(frozen=True)
class Notice:
    """A message of `kind` error, warning or information; one with the `topic` of an older one takes its place."""

    kind: str
    sentence: str
    details: str = ""
    topic: str = ""
    ways: tuple[Way, ...] = ()


class Notices(QObject):
    """See the module. `shown` carries each Notice, `cleared` the topic of one that is over, `told` a sentence for the
    status line and for how many milliseconds it stands there."""

    shown = Signal(object)
    cleared = Signal(str)
    told = Signal(str, int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.log = Log()

    def show(self, kind: str, sentence: str, details: str = "", topic: str = "", ways: tuple[Way, ...] = ()) -> None:
        """Show a message, and write it into the log."""
        self.shown.emit(Notice(kind, sentence, details, topic, ways))
        self.log.add(kind, sentence, details)

    def clear(self, topic: str) -> None:
        """Take a message away, if it stands."""
        self.cleared.emit(topic)

    def tell(self, sentence: str, milliseconds: int = STATUS_MS) -> None:
        """Say something in the status line."""
        self.told.emit(sentence, milliseconds)
