"""What the whole window works with: made before any widget, and given to those who need it instead of the window."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QObject

from raygrove.app.camera.gestures import Gestures
from raygrove.app.document.document import Document
from raygrove.app.ui.session.choices import Choices
from raygrove.app.ui.session.figures import Figures
from raygrove.app.ui.session.frame_loop import FrameLoop
from raygrove.app.ui.session.inspection import Inspection
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.session.notices import Notices


@dataclasses.dataclass(frozen=True)
class Session:
    """One document that is worked on: what can be chosen for it, what is remembered from one start to the next, what
    draws it, what mouse and keys mean in its picture, where is said what happens, the frame that figures are of, and
    what is selected to be looked into."""

    document: Document
    choices: Choices
    memory: Memory
    loop: FrameLoop
    gestures: Gestures
    notices: Notices
    figures: Figures
    inspection: Inspection

    def belong_to(self, owner: QObject) -> None:
        """Let Qt end the parts that it knows together with the window."""
        self.loop.setParent(owner)
        self.notices.setParent(owner)
        self.figures.setParent(owner)
        self.inspection.setParent(owner)


def make_session(document: Document, began: dict[str, str] | None = None) -> Session:
    """A session on a document. Its pictures have no view yet (FrameLoop.set_view). `began`: see Memory."""
    memory = Memory(began)
    parts = (Choices(document), memory, FrameLoop(document), Gestures(), Notices(), Figures(), Inspection(document))
    return Session(document, *parts)
