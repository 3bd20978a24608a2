"""Where the window stands on its screen."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow

from raygrove.app.ui.session.memory import Memory


def restore(window: QMainWindow, memory: Memory) -> None:
    """Put a window where it was, or where it begins, before it is seen: what is laid out in it stays as it is."""
    memory.restore_window(window)
    fit_to_screen(window)


def fit_to_screen(window: QMainWindow) -> None:
    """Let a window be no larger than its screen, and lie on it as a whole: what was remembered may be of another
    screen, or of another scale."""
    if window.isMaximized() or window.isFullScreen():
        return
    room, frame = window.screen().availableGeometry(), window.frameGeometry()
    margins = frame.size() - window.size()
    window.resize(window.size().boundedTo(room.size() - margins))
    frame = window.frameGeometry()
    left = max(min(frame.left(), room.right() + 1 - frame.width()), room.left())
    top = max(min(frame.top(), room.bottom() + 1 - frame.height()), room.top())
    if (left, top) != (frame.left(), frame.top()):
        window.move(left, top)
