"""The window's questions and answers: which files, where to save, what this program and this machine are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QGuiApplication, QIcon, QImage
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from raygrove.app.camera.gestures import Gestures
from raygrove.app.document import saved_state
from raygrove.app.document.jobs import Job
from raygrove.app.export.images import save_png
from raygrove.app.scene_io import EXTENSIONS, PACKED, PARTICLE_ENDINGS, USD_ENDINGS, foreign_endings
from raygrove.app.ui.colors import scheme
from raygrove.app.ui.dialogs.button_box import fill_with_ink
from raygrove.app.ui.dialogs.cheat_sheet import CheatSheet
from raygrove.app.ui.session.program_job import output_of
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.svg_icons import drawn
from raygrove.gpu.brief import percent

REPORT_TIMEOUT_S = 60.0
SIGN_SIDE = 40
SETTINGS_FILES = "*.toml *.env"


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("dialogs", text)


def ask_for_files(parent: QWidget, folder: str, title: str = "") -> list[str]:
    """Which files to open; none where it was cancelled. `title` says what for, where that is not plain."""
    pictures = tr("Pictures with their state")
    files = " ".join(
        f"*.{ending}" for ending in (*EXTENSIONS, *USD_ENDINGS, *PARTICLE_ENDINGS, *foreign_endings(), *PACKED)
    )
    models = f"{tr('Models and pictures')} ({files} {files.upper()} *.png *.PNG)"
    filters = f"{models};;{pictures} (*.png *.PNG);;{tr('Settings')} ({SETTINGS_FILES});;{tr('All files')} (*)"
    title = title or tr("Open a model, or the key frames of one")
    paths, _ = QFileDialog.getOpenFileNames(parent, title, folder, filters)
    return list(paths)


def save_picture(session: Session, parent: QWidget, picture: QImage | None) -> None:
    """Ask for a name and write the picture as PNG, with the state that it shows inside."""
    frame, folder = session.loop.last_frame, session.memory.folder()
    if picture is None or picture.isNull() or frame is None:
        session.notices.show("warning", tr("There is no picture to save yet."), topic="picture")
        return
    path, _ = QFileDialog.getSaveFileName(
        parent, tr("Save the picture"), f"{folder}/raygrove.png" if folder else "raygrove.png", "PNG (*.png)"
    )
    if not path:
        return
    path = path if path.lower().endswith(".png") else f"{path}.png"
    pixels = pixels_of(picture)
    state = saved_state.at_moment(frame.request.state, frame.request.moment)
    texts = saved_state.texts_of(state, frame.statistics, f"{frame.device_name} ({frame.target_name})")
    title = tr("Saving {name}").format(name=Path(path).name)

    colours = session.document.state.settings.render.palette

    def write(indexed: tuple[np.ndarray, np.ndarray] | None) -> None:
        palette, shown = (None, pixels) if indexed is None else indexed

        def saved(job: Job) -> None:
            session.notices.tell(tr("Saved {path}").format(path=path))
            if colours and indexed is None:  # a failure, or another change came first
                session.notices.show("warning", tr("The picture was saved in all its colours: they were not chosen."))

        session.document.start_job(title, lambda job: save_png(Path(path), shown, texts, job.check, palette), saved)

    if colours:
        session.loop.ask("save picture", lambda maker: maker.in_few_colours(pixels, colours), write)
    else:
        write(None)


def may_quit(parent: QWidget, jobs: Iterable[Job]) -> bool:
    """Whether the program may end while these jobs run: asks where one of them would lose its work."""
    kept = [job for job in jobs if job.is_kept and not job.is_done]
    if not kept:
        return True
    names = ", ".join(job.title + (f" ({percent(job.progress)})" if job.progress else "") for job in kept)
    box = QMessageBox(QMessageBox.Icon.NoIcon, tr("Quit?"), tr("{jobs} is not done.").format(jobs=names), parent=parent)
    box.setIconPixmap(drawn("sign_question", scheme().text, SIGN_SIDE, parent.devicePixelRatioF()))
    box.setTextFormat(Qt.TextFormat.PlainText)  # names of files
    box.setInformativeText(tr("Quitting ends it. Finished pictures of a sequence stay, named .part."))
    quit_it = box.addButton(tr("Quit"), QMessageBox.ButtonRole.DestructiveRole)
    go_on = box.addButton(tr("Go on"), QMessageBox.ButtonRole.RejectRole)
    for button in (quit_it, go_on):
        button.setIcon(QIcon())
    box.setDefaultButton(go_on)
    fill_with_ink(go_on)
    box.exec()
    return box.clickedButton() is quit_it


def pixels_of(picture: QImage) -> np.ndarray:
    """A picture's pixels, (height, width, 4) uint8, row 0 on top."""
    image = picture.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 4 * image.width()].reshape(image.height(), image.width(), 4).copy()


def show_cheat_sheet(actions: Iterable[QAction], gestures: Gestures, parent: QWidget) -> None:
    """The keys and the mouse."""
    sheet = CheatSheet(actions, gestures, parent)
    sheet.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    sheet.show()


def show_about(window: QWidget) -> None:
    """What this is."""
    text = tr(
        "A viewer for dynamic scenes and a laboratory of acceleration structures. Every frame is animated, built, "
        "traced and measured."
    )
    box = QMessageBox(
        QMessageBox.Icon.NoIcon,
        tr("About Raygrove"),
        f"<h3>Raygrove</h3><p>{text}</p>",
        QMessageBox.StandardButton.Close,
        window,
    )
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setModal(False)
    box.show()


def copy_report(session: Session) -> None:
    """Put what this machine can do on the clipboard, found out in the background."""

    def report(job: Job) -> str:
        return output_of(job, ["doctor"], REPORT_TIMEOUT_S)

    def finished(job: Job) -> None:
        QGuiApplication.clipboard().setText(job.result)
        session.notices.tell(tr("The report is on the clipboard."))

    session.document.start_job(tr("Looking at this machine"), report, finished)
