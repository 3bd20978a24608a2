"""The open scene's files: read again when they change, and closed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAction, QPixmapCache

from raygrove.app.document.state import State
from raygrove.app.system.watch import Watcher
from raygrove.app.ui.session.session import Session
from raygrove.gpu.linux import give_memory_back

AT_REST_MS = 500
AT_REST_TIMES = 4
"""After a scene was closed, by when the first page is painted and the thread that draws has let go of its pictures;
and how often memory is given back after as long, as other programs may have the processors meanwhile."""


def give_all_back() -> None:
    """Forget what a closed scene has left in circles, for which nobody else looks so soon (collector.py), and what Qt
    has drawn of widgets at sizes that they had, up to 10 MiB: it is drawn anew where it is needed. Between blocks that
    stay until later the C library keeps as much again."""
    gc.collect()
    QPixmapCache.clear()
    give_memory_back()


class SceneFiles(QObject):
    """See the module. `cancel_jobs` ends what runs in the background."""

    def __init__(self, session: Session, cancel_jobs: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._cancel_jobs = session, cancel_jobs
        self._actions: Mapping[str, QAction] = {}
        self._at_rest, self._times_left = QTimer(self), 0
        self._at_rest.timeout.connect(self._give_back_at_rest)
        document = session.document
        self._watcher = watcher = Watcher(lambda: document.mailroom.post(self._file_changed))
        self.destroyed.connect(lambda: watcher.stop())
        document.observe(self._changed)
        document.on_scene.append(lambda scene: self._watch())

    def follow(self, actions: Mapping[str, QAction]) -> None:
        """Keep the marks of the commands as the state is."""
        self._actions = actions
        self._watch()

    def close_scene(self) -> None:
        """File > Close the scene: back to the welcome page; a file that is being opened is not opened. The device's
        memory is given back."""
        self._cancel_jobs()
        if self._session.document.scene is not None:
            self._session.document.close_scene()
            self._session.loop.ask("close", lambda maker: maker.close(), lambda found: self._give_back())

    def _give_back(self) -> None:
        """Now, and again at rest: painting the first page has taken and freed some megabytes meanwhile."""
        give_all_back()
        self._times_left = AT_REST_TIMES
        self._at_rest.start(AT_REST_MS)

    def _give_back_at_rest(self) -> None:
        is_closed = self._session.document.scene is None
        if is_closed:
            give_memory_back()
        self._times_left -= 1
        if not self._times_left or not is_closed:
            self._at_rest.stop()

    def toggle_watch(self) -> None:
        """File > Reload when the file changes."""
        document = self._session.document
        document.change("settings.window.watch", not document.state.settings.window.watch)

    def _changed(self, before: State, after: State) -> None:
        if before.settings.window.watch != after.settings.window.watch:
            self._watch()

    def _watch(self) -> None:
        """Watch the open scene's files, if that is wanted."""
        state = self._session.document.state
        is_wanted = state.settings.window.watch and state.scene.kind == "files"
        self._watcher.watch(state.scene.names if is_wanted else ())
        self._actions["file.watch"].setChecked(state.settings.window.watch)
        self._actions["file.close"].setEnabled(state.scene.kind != "none")

    def _file_changed(self) -> None:
        document = self._session.document
        if document.state.settings.window.watch:
            self._session.notices.tell(self.tr("The file has changed and is read again."))
            document.reopen()
