"""The field of the status bar that says what draws, and how its pictures come into the window."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton, QWidget

from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.dialogs import questions
from raygrove.app.ui.plain_text import tip
from raygrove.app.ui.session.session import Session


class DeviceField(QToolButton):
    """See the module. Where the CPU stands in for a GPU that is missing, it says so; a click copies a report of the
    machine."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("device")
        self.setAutoRaise(True)
        self.clicked.connect(lambda: questions.copy_report(session))
        self.hide()

    def show_frame(self, frame: FinishedFrame, way: str) -> None:
        """Say what has drawn a frame, and by which `way` it was shown."""
        is_cpu, asked = frame.target_name == "host", frame.request.state.settings.render.device
        name = f"{frame.device_name} ({frame.device})" if not is_cpu else frame.device_name
        what = self.tr("Rendering on the CPU: {name}") if is_cpu else self.tr("GPU: {name}")
        text = f"{what.format(name=name)}, {way}".replace("&", "&&")
        if self.text() == text:
            return
        lack = self.tr("There is no NVIDIA GPU that can be used.") + " " if is_cpu and asked == "auto" else ""
        self.setText(text)
        self.setToolTip(tip(lack + self.tr("A click copies a report of this machine.")))
        self.setAccessibleDescription(lack)
        self.show()
