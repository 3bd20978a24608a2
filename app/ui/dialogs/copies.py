"""What the window shows, as words on the clipboard: a command, or a file of settings."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication

from raygrove.app.edits.objects import ObjectsError
from raygrove.app.frames import as_command
from raygrove.app.settings.file import load_user_settings
from raygrove.app.ui.session.session import Session


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("copies", text)


def copy_command(session: Session, size: tuple[int, int]) -> None:
    """Put on the clipboard what draws the picture without a window, as large as it is shown (`size`, in pixels)."""
    document, notices = session.document, session.notices
    if document.scene is None:
        notices.show("warning", tr("There is no picture to copy: open a scene first."), topic="copy")
        return
    own, _ = load_user_settings()
    try:
        line = as_command.command_line(document.state, document.scene, size, own)
    except ObjectsError as error:
        notices.show("warning", tr("The command was not copied: {reason}").format(reason=error), topic="copy")
        return
    QGuiApplication.clipboard().setText(line)
    notices.clear("copy")
    notices.tell(tr("Copied. The command draws this picture into {name}.").format(name=as_command.OUT))


def copy_configuration(session: Session) -> None:
    """Put the settings on the clipboard, as a settings file has them."""
    QGuiApplication.clipboard().setText(as_command.configuration(session.document.state, session.document.scene))
    session.notices.tell(tr("Copied. Saved as a file with the ending .toml, it can be opened like a scene."))
