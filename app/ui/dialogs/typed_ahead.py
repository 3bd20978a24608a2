"""Keys that are typed once a dialog was asked for, and before the keyboard is its own. A dialog that is made when it is
first asked for takes a while, and a desktop gives it the keyboard a while later; meanwhile letters would be commands of
the window behind it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QWindow
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from raygrove.app.ui.session.later import call_once

OVER = (QEvent.Type.WindowActivate, QEvent.Type.Hide)
"""What a dialog hears when the keyboard is its own, or not wanted any more."""

PATIENCE_MS = 500
"""A display without a window manager gives the keyboard to no dialog: after so long it is asked for."""


class TypedAhead(QObject):
    """See the module. Keys that `window` would get go to `field`, until the dialog has the keyboard, is closed, or a
    mouse button is pressed outside of it. Made before the dialog is shown."""

    def __init__(self, dialog: QDialog, field: QWidget, window: QWidget) -> None:
        super().__init__(dialog)
        self._dialog, self._field, self._window = dialog, field, window
        application = QApplication.instance()
        assert application is not None
        self._application = application
        application.installEventFilter(self)
        call_once(self, PATIENCE_MS, dialog.activateWindow)

    def end(self) -> None:
        """Let keys go where they go."""
        self._application.removeEventFilter(self)
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the window's are the field's; those that are let go stay the window's, which may have seen them
        pressed."""
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget):
            if watched.window() is not self._dialog:
                self.end()
        elif kind in OVER and watched is self._dialog:
            self.end()
        elif kind == QEvent.Type.ShortcutOverride and (self._is_the_windows(watched) or self._is_the_dialogs(watched)):
            event.accept()  # no command of the window's, nor where the key is handed on, which asks anew
            return True
        elif isinstance(event, QKeyEvent) and kind == QEvent.Type.KeyPress and self._is_the_windows(watched):
            QApplication.sendEvent(self._field, event.clone())
            return True
        return False

    def _is_the_dialogs(self, watched: QObject) -> bool:
        return isinstance(watched, QWidget) and watched.window() is self._dialog

    def _is_the_windows(self, watched: QObject) -> bool:
        if QApplication.activePopupWidget() is not None:
            return False
        if isinstance(watched, QWindow):
            return watched is self._window.windowHandle()
        return isinstance(watched, QWidget) and watched.window() is self._window
