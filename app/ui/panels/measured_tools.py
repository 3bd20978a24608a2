"""Which rays are measured, chosen in panels that count them; some of them are drawn over the picture meanwhile."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QObject

from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.settings.ray_options import are_shown
from raygrove.app.ui.panels.divergence_panel import DivergencePanel
from raygrove.app.ui.panels.hot_panel import HotPanel
from raygrove.app.ui.panels.inspectors import Inspectors
from raygrove.app.ui.picture.measured_marks import MeasuredMarks
from raygrove.app.ui.session import ray_choice
from raygrove.app.ui.session.session import Session
from raygrove.gpu.scene import Scene

WORKSPACE = "inspect"
"""Where they are drawn over the picture; a race draws them over its own."""


class MeasuredTools(QObject):
    """See the module. Nothing is asked for while the picture's own rays are measured."""

    def __init__(
        self, session: Session, inspectors: Inspectors, panels: Sequence[HotPanel | DivergencePanel], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._panels = session, panels
        self._is_asked, self._said = False, ""
        self.marks = MeasuredMarks(session.document)
        inspectors.laid_on.connect(self.marks.lie_on)
        for panel in panels:
            panel.measured.wanted.connect(functools.partial(self._measure, panel))
            panel.measured.file_wanted.connect(functools.partial(ray_choice.ask_for_file, session, panel))
            panel.measured.record_wanted.connect(functools.partial(ray_choice.ask_to_record, session, panel))
        session.document.observe(self._changed)
        session.document.on_scene.append(self._open)
        session.loop.frame_arrived.connect(self._take_frame)
        self._show()

    def _measure(self, panel: HotPanel | DivergencePanel, rays: str) -> None:
        """Measure these rays; what is wrong with them is said in the panel."""
        mistake = ray_choice.choose(self._session, rays)
        if mistake:
            panel.clear(mistake)

    def _show(self) -> None:
        for panel in self._panels:
            panel.show_measured(self._session.document.state.settings.rays.measured)

    def _changed(self, before: State, after: State) -> None:
        if before.settings.rays.measured != after.settings.rays.measured:
            self._said = ""
            self._show()
        if not self._is_drawn:
            self.marks.show_rays(None)

    def _open(self, scene: Scene | None) -> None:
        self._said = ""
        self._show()  # nodes have other names
        self.marks.show_rays(None)

    @property
    def _is_drawn(self) -> bool:
        settings = self._session.document.state.settings
        return settings.window.workspace == WORKSPACE and are_shown(settings.rays)

    def _take_frame(self, frame: FinishedFrame) -> None:
        if self._is_drawn and not self._is_asked:
            self._is_asked = True
            self._session.loop.ask("measured", lambda maker: maker.measured_ends(), self._take)

    def _take(self, ends: np.ndarray | str | None) -> None:
        """Draw them; what is wrong with them is said in the panels, once: each frame would say it."""
        self._is_asked = False
        self.marks.show_rays(ends if self._is_drawn and not isinstance(ends, str) else None)
        if self._is_drawn and isinstance(ends, str) and ends != self._said:
            self._said = ends
            for panel in self._panels:
                panel.clear(ends)
