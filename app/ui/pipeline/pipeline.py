"""The pipeline as the window's tool bar: the row of chips, and the sheets that they open."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QMainWindow, QToolBar

from raygrove.app.document.state import State
from raygrove.app.ui.commands.command import Command, Separator, Standing, Submenu, tr
from raygrove.app.ui.pipeline import sheets
from raygrove.app.ui.pipeline.chip import Chip
from raygrove.app.ui.pipeline.faces import NAMES, labels
from raygrove.app.ui.pipeline.offers import SheetContent
from raygrove.app.ui.pipeline.pipeline_bar import PipelineBar
from raygrove.app.ui.pipeline.sheet import Sheet
from raygrove.app.ui.pipeline.structure_sheet import counts_of, foresee, structure_sheet
from raygrove.app.ui.session.notices import Way
from raygrove.app.ui.session.session import Session

REST_MS = 1500
"""A scene is seen, and nothing chosen, before more is found out about it."""


class Opener(Protocol):
    """What of the window opens scenes."""

    def open_demo(self, name: str) -> None: ...
    def open_files(self, paths: list[str]) -> None: ...
    def ask_for_files(self) -> None: ...


class Dialogs(Protocol):
    """What opens the pages of options."""

    def show_settings(self, table: str = "") -> None: ...
    def show_structure_options(self) -> None: ...
    def show_ray_type_options(self) -> None: ...


class Pipeline(QToolBar):
    """See the module. A bar of the window `window` that stays where it is."""

    def __init__(self, session: Session, window: QMainWindow) -> None:
        super().__init__(tr("Pipeline"), window)
        self.setObjectName("bar.pipeline")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContentsMargins(0, 0, 0, 0)
        self._session = session
        self.bar = PipelineBar(session, self._open)
        self.addWidget(self.bar)
        window.addToolBar(Qt.ToolBarArea.TopToolBarArea, self)
        session.document.on_scene.append(lambda scene: self.bar.clear())
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._foresee)
        session.document.on_scene.append(lambda scene: self._rest.start())
        session.document.observe(self._wait_on)
        self._contents: dict[str, Callable[[], SheetContent]] = {}
        self.sheet: Sheet | None = None

    def connect_to(self, opener: Opener, dialogs: Dialogs) -> None:
        """What sheets open that stands elsewhere: scenes, and pages of options."""
        session, measured = self._session, self.bar.measured
        ask = Way("sheet.open", tr("Open a model…"), opener.ask_for_files)
        of_structure = Way("sheet.options", tr("Its options…"), dialogs.show_structure_options)
        of_rays = Way("sheet.options", tr("Its options…"), dialogs.show_ray_type_options)
        of_display = Way(
            "sheet.options", tr("All settings of it…"), functools.partial(dialogs.show_settings, "display")
        )
        self._contents = {
            "scene": lambda: sheets.scene_sheet(session, opener.open_demo, opener.open_files, ask),
            "motion": lambda: sheets.motion_sheet(session),
            "structure": lambda: structure_sheet(session, measured, self.bar.target_kind, of_structure),
            "update": lambda: sheets.update_sheet(session, measured),
            "rays": lambda: sheets.rays_sheet(session, measured, of_rays),
            "display": lambda: sheets.display_sheet(session, of_display),
        }

    def _wait_on(self, before: State, after: State) -> None:
        """Who chooses something waits for its picture, for which Python's lock is needed, too."""
        if self._rest.isActive() and before.settings is not after.settings:
            self._rest.start()

    def _foresee(self) -> None:
        """What structures would take of memory takes a while to find out for all of them: it is known before somebody
        opens their sheet. In a thread, so that the window answers meanwhile."""
        document, kind = self._session.document, self.bar.target_kind()
        if document.scene is not None:
            asked = (kind, counts_of(document), document.state.settings)
            threading.Thread(target=foresee, args=asked, name="predicted memory", daemon=True).start()

    def entries(self) -> Submenu:
        """The commands of the row, for the View menu."""
        opening = [
            Command(f"pipeline.{name}", f"{labels()[name]}…", functools.partial(self.open, name)) for name in NAMES
        ]
        show = Standing("view.pipeline", self.toggleViewAction())
        go = Command("pipeline.go", tr("&Go to the pipeline"), self.bar.go, "F4")
        return Submenu(tr("&Pipeline"), [go, *opening, Separator(), show])

    def open(self, name: str) -> None:
        """Open the sheet of a chip."""
        self.show()
        self._open(self.bar.chips[name])

    def _open(self, chip: Chip) -> None:
        sheet = Sheet(self._session.document, self._contents[chip.name](), self.window())
        self.sheet = sheet
        chip.set_open(True)

        def closed(is_kept: bool) -> None:
            chip.set_open(False)
            chip.setFocus(Qt.FocusReason.PopupFocusReason)
            self.sheet = None

        sheet.closed.connect(closed)
        sheet.open_below(chip)
