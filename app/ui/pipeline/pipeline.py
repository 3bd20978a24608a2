"""The pipeline as the window's tool bar: the row of chips, and what opens where one is clicked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMainWindow, QMenu, QToolBar

from raygrove.app.ui.commands.command import Command, Standing, Submenu, tr
from raygrove.app.ui.pipeline.chip import Chip
from raygrove.app.ui.pipeline.pipeline_bar import PipelineBar
from raygrove.app.ui.session.session import Session

MENUS = {
    "motion": "animation.motion",
    "structure": "structure.hierarchy",
    "update": "structure.update",
    "rays": "render.ray_type",
}


class Pipeline(QToolBar):
    """See the module. A bar of the window `window` that stays where it is."""

    def __init__(self, session: Session, window: QMainWindow) -> None:
        super().__init__(tr("Pipeline"), window)
        self.setObjectName("bar.pipeline")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContentsMargins(0, 0, 0, 0)
        self.bar = PipelineBar(session, self._open)
        self.addWidget(self.bar)
        window.addToolBar(Qt.ToolBarArea.TopToolBarArea, self)
        session.document.on_scene.append(lambda scene: self.bar.clear())
        self._menus: Mapping[str, QMenu] = {}
        self._others: Mapping[str, Callable[[], object]] = {}

    def follow(self, menus: Mapping[str, QMenu], others: Mapping[str, Callable[[], object]]) -> None:
        """What chips open: menus of choices by their names, or by the chip's name something else."""
        self._menus, self._others = menus, others

    def entries(self) -> Submenu:
        """The commands of the row, for the View menu."""
        return Submenu(
            tr("&Pipeline"),
            [
                Command("pipeline.go", tr("&Go to the pipeline"), self.bar.go, "F4"),
                Standing("view.pipeline", self.toggleViewAction()),
            ],
        )

    def _open(self, chip: Chip) -> None:
        if chip.name in MENUS:
            chip.set_open(True)
            self._menus[MENUS[chip.name]].exec(chip.mapToGlobal(QPoint(0, chip.height())))
            chip.set_open(False)
        else:
            self._others[chip.name]()
