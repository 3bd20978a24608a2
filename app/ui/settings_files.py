"""Settings from files in the window: opened, dropped, or read at the start; and the sentences about what could not be used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from app import presets
from app.document import Document
from app.problems import problem_of
from app.state import State

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow

PAUSE_MS = 400
"""How long settings that make a scene anew must rest before it is made."""


class Remaker(QObject):
    """Reads or makes the open scene again when a setting that it was made with changes: the number of its triangles, its scale."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(document.reopen)
        document.observe(self._changed)

    def _changed(self, before: State, after: State) -> None:
        if before.scene != after.scene:
            self._timer.stop()
        elif made_with(before) != made_with(after):
            self._timer.start()


def made_with(state: State) -> object:
    """The settings that the open scene was made with."""
    importer = state.settings.importer
    own = {"demo": state.settings.demo, "files": (importer.scale, importer.texture_size)}.get(state.scene.kind)
    return own if own is None else (own, importer.environment)


def show_remarks(window: MainWindow, sentences: Sequence[str]) -> None:
    """Say in one line what could not be used, the rest behind it."""
    if sentences:
        more = QCoreApplication.translate("settings", " (and {count} more)").format(count=len(sentences) - 1) if len(sentences) > 1 else ""
        window.banners.show_message("warning", sentences[0] + more, "\n".join(sentences) if more else "", "settings")


def open_settings(window: MainWindow, path: str) -> None:
    """File > Open of a settings file: its settings as one step of undo, and its scene if it names one."""
    window.banners.clear("settings")
    remarks = take_file(window.document, path)
    if remarks is None:
        return
    window.memory.set_folder(path)
    show_remarks(window, remarks)
    window.statusBar().showMessage(QCoreApplication.translate("settings", "Settings of {name}").format(name=os.path.basename(path)), 5000)
    scene = window.document.state.settings.start.scene
    if scene:
        window.open_files([scene])


def take_file(document: Document, path: str) -> tuple[str, ...] | None:
    """The settings of a file as one step of undo; returns the sentences about what could not be used, None where it failed, which is reported."""
    try:
        settings, remarks = presets.load_file(path, document.state.settings)
    except (presets.SettingsError, OSError) as error:
        document.report(problem_of(error))
        return None
    document.end_merge()
    document.change("settings", settings)
    return remarks
