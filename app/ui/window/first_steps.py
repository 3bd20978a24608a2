"""What begins on the first page: opening a model or a tree, a built-in scene, a race."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from raygrove.app.document.jobs import Job
from raygrove.app.ui.dialogs.tree_dialog import ask_for_tree
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.window.welcome import WelcomePage
from raygrove.app.ui.window.workspaces import KEY
from raygrove.gpu.scene import Scene

RACED = "explode"
"""The built-in scene whose triangles fly apart: refitting and rebuilding differ most there."""


class FirstSteps(QObject):
    """See the module. It lives as long as the window of `page`; the others are what that does."""

    def __init__(
        self,
        session: Session,
        window: QWidget,
        page: WelcomePage,
        open_files: Callable[[list[str]], None],
        open_demo: Callable[[str], None],
        ask_for_files: Callable[[str], None],
    ) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._open_demo, self._ask_for_files = open_demo, ask_for_files
        self._awaited: Job | None = None
        page.demo_chosen.connect(open_demo)
        page.file_chosen.connect(lambda path: open_files([path]))
        page.open_wanted.connect(lambda: ask_for_files(""))
        page.tree_wanted.connect(self.open_tree)
        page.race_wanted.connect(self.race)
        self._session.document.on_scene.append(self._take_scene)

    def race(self) -> None:
        """Two structures, those that the settings name, on the same instants of a scene."""
        self._session.document.change(KEY, "race")
        self._open_demo(RACED)

    def open_tree(self) -> None:
        """Ask for a tree over the open scene; without one for the scene first, and for the tree once it is there."""
        document = self._session.document
        if document.scene is not None:
            ask_for_tree(self._session, self._window)
            return
        said = self.tr("A tree is over a scene: open the scene first, then the file of the tree.")
        self._session.notices.show("information", said, topic="tree")
        before = set(document.jobs)
        self._ask_for_files(self.tr("Open the scene that the tree is over"))
        self._awaited = next((job for job in document.jobs if job not in before), None)

    def _take_scene(self, scene: Scene | None) -> None:
        job, self._awaited = self._awaited, None
        if job is None or scene is None or job.problem is not None or job.is_cancelled:
            return
        QTimer.singleShot(0, self, lambda: ask_for_tree(self._session, self._window))
