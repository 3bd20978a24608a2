"""What the window shows, as words on the clipboard: a command, a program of the library, or a file of settings. What
spells them is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication

from raygrove.app.edits.objects import ObjectsError
from raygrove.app.settings.file import load_user_settings
from raygrove.app.ui.session.session import Session
from raygrove.gpu.scene import Scene


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("copies", text)


def copy_command(session: Session, size: tuple[int, int]) -> None:
    """Put on the clipboard what draws the picture without a window, as large as it is shown (`size`, in pixels)."""
    from raygrove.app.frames import as_command

    own, _ = load_user_settings()
    _copy(
        session,
        lambda scene: as_command.command_line(session.document.state, scene, size, own),
        tr("Copied. The command draws this picture into {name}.").format(name=as_command.OUT),
    )


def copy_python(session: Session, size: tuple[int, int]) -> None:
    """Put a program of the library on the clipboard that draws the picture, as large as it is shown."""
    from raygrove.app.frames import as_python

    _copy(
        session,
        lambda scene: as_python.program(session.document.state, scene, size),
        tr("Copied. The program draws this picture into {name}.").format(name=as_python.OUT),
    )


def _copy(session: Session, make: Callable[[Scene], str], said: str) -> None:
    """Copy what `make` says of the open scene, or say why it cannot be said."""
    notices, scene = session.notices, session.document.scene
    if scene is None:
        notices.show("warning", tr("There is no picture to copy: open a scene first."), topic="copy")
        return
    try:
        text = make(scene)
    except ObjectsError as error:
        reason = str(error).rstrip(".")
        notices.show("warning", tr("The picture was not copied: {reason}.").format(reason=reason), topic="copy")
        return
    QGuiApplication.clipboard().setText(text)
    notices.clear("copy")
    notices.tell(said)


def copy_configuration(session: Session) -> None:
    """Put the settings on the clipboard, as a settings file has them."""
    from raygrove.app.frames import as_command

    QGuiApplication.clipboard().setText(as_command.configuration(session.document.state, session.document.scene))
    session.notices.tell(tr("Copied. Saved as a file with the ending .toml, it can be opened like a scene."))
