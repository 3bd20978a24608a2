"""Settings from files in the window: opened, dropped, or read at the start; and the sentences about what could not be
used."""

from __future__ import annotations

import os
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from raygrove.app.document.document import Document
from raygrove.app.document.scene_trees import unread
from raygrove.app.document.state import State
from raygrove.app.problems.problems import problem_of
from raygrove.app.scene_io.limits import FOR_ALL, FOR_PARTICLES
from raygrove.app.ui.session.notices import Notices
from raygrove.app.ui.session.session import Session
from raygrove.app.user_files import presets
from raygrove.gpu.glyph_shapes import Glyphs
from raygrove.gpu.scene import Mesh, Scene, Spheres

PAUSE_MS = 400
"""How long settings that make a scene anew must rest before it is made."""


class Remaker(QObject):
    """Reads or makes the open scene again when a setting that it was made with changes: the number of its triangles,
    its scale, the bonds of its atoms."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(document.reopen)
        document.observe(self._changed)

    def _changed(self, before: State, after: State) -> None:
        if before.scene != after.scene:
            self._timer.stop()
        elif made_with(before, self._document.scene) != made_with(after, self._document.scene):
            self._timer.start()


def made_with(state: State, scene: Scene | None) -> object:
    """The settings that the open scene was made with."""
    importer, trees = state.settings.importer, unread(state.settings.trees)
    if state.scene.kind == "demo":
        demo = state.settings.demo
        sizes = (demo.sphere_radius, demo.sphere_pixels) if state.scene.names == ("spheres",) else ()
        return (demo.triangles, demo.seed, *sizes, importer.environment, trees)
    if state.scene.kind != "files":
        return None
    has_particles = scene is not None and bool(scene.spheres or scene.glyphs)
    names = FOR_ALL + (FOR_PARTICLES if has_particles else ())
    paced: tuple[Mesh | Spheres | Glyphs, ...] = ()
    if scene is not None:
        paced = (*scene.meshes, *scene.spheres, *scene.glyphs)
    # Key frames without times of their own come at the timeline's rate.
    fps = state.settings.timeline.fps if any(one.key_frames is not None for one in paced) else 0.0
    return (*(getattr(importer, name) for name in names), importer.environment, fps, trees)


def show_remarks(notices: Notices, sentences: Sequence[str]) -> None:
    """Say in one line what could not be used, the rest behind it."""
    if sentences:
        more = (
            QCoreApplication.translate("settings", " (and {count} more)").format(count=len(sentences) - 1)
            if len(sentences) > 1
            else ""
        )
        notices.show("warning", sentences[0] + more, "\n".join(sentences) if more else "", "settings")


def open_settings(session: Session, path: str) -> str:
    """File > Open of a settings file: its settings as one step of undo. Returns the scene that it names, which is to be
    opened next; an empty text for none, or where the file could not be used."""
    session.notices.clear("settings")
    remarks = take_file(session.document, path)
    if remarks is None:
        return ""
    session.memory.set_folder(path)
    show_remarks(session.notices, remarks)
    session.notices.tell(
        QCoreApplication.translate("settings", "Settings of {name}").format(name=os.path.basename(path))
    )
    return session.document.state.settings.start.scene


def take_file(document: Document, path: str) -> tuple[str, ...] | None:
    """The settings of a file as one step of undo; returns the sentences about what could not be used, None where it
    failed, which is reported."""
    try:
        settings, remarks = presets.load_file(path, document.state.settings)
    except (presets.SettingsError, OSError) as error:
        document.report(problem_of(error))
        return None
    document.end_merge()
    document.change("settings", settings)
    return remarks
