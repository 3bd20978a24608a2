"""The panel Build at work: it asks the engine between two frames, follows the one selection, and draws over the
picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject

from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.panels.build_panel import BuildPanel
from raygrove.app.ui.panels.inspectors import Inspectors, tree_of
from raygrove.app.ui.picture.build_marks import BuildMarks
from raygrove.app.ui.session.inspection import Inspected
from raygrove.app.ui.session.session import Session
from raygrove.gpu.scene import Scene

if TYPE_CHECKING:
    from raygrove.gpu.analysis.build_steps import BuildReplay


class BuildTools(QObject):
    """See the module. Nothing is asked for while the panel is not seen."""

    def __init__(self, session: Session, inspectors: Inspectors, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._of: object = None  # the picture whose tree was asked for
        self._gone_to: int | None = None  # the node whose step was shown last
        self.panel, self.marks = BuildPanel(), BuildMarks(session.document)
        inspectors.laid_on.connect(self.marks.lie_on)
        self.panel.wanted.connect(self._ask)
        self.panel.stepped.connect(self.marks.show_step)
        self.panel.tree_wanted.connect(self._show_in_tree)
        self.panel.seen.connect(self._see)
        session.inspection.changed.connect(self._take_selection)
        session.loop.frame_arrived.connect(self._take_frame)
        session.document.observe(self._changed)
        session.document.on_scene.append(self._open)

    def _ask(self) -> None:
        frame = self._session.loop.last_frame
        self._of = tree_of(frame.request.state) if frame is not None else None
        if frame is not None:
            self.panel.wait()
        question = lambda inspector: inspector.build_replay()  # noqa: E731
        self._session.loop.ask("build", lambda maker: maker.ask_of_tree(question), self._take)

    def _take(self, found: BuildReplay | str | None) -> None:
        self.panel.take(found)
        self._go_to(self._session.inspection.now.node)

    def _see(self) -> None:
        """The panel comes to the front: the step of the node that was selected meanwhile; else the one that it was
        at."""
        node = self._session.inspection.now.node
        if node != self._gone_to:
            self._go_to(node)

    def _go_to(self, node: int | None) -> None:
        replay = self.panel.replay
        self._gone_to = node
        if node is None or replay is None or replay.table.event_ids is None:
            return
        rows = np.flatnonzero(replay.table.event_ids == node)
        if len(rows):
            self.panel.go_to_row(int(rows[0]))

    def _show_in_tree(self) -> None:
        """The node that is selected, where this step made it, else the largest that it made."""
        replay, at, inspection = self.panel.replay, self.panel.at, self._session.inspection
        if replay is None or replay.table.event_ids is None:
            return
        if inspection.now.node not in replay.table.event_ids[replay.nodes_of(at)]:
            self._gone_to = replay.largest_of(at)  # the step stays the one that is shown
            inspection.select(node=self._gone_to)
        inspection.panel_wanted.emit("tree")

    def _take_selection(self, before: Inspected, after: Inspected) -> None:
        if after.node != before.node and self.panel.isVisible():
            self._go_to(after.node)

    def _take_frame(self, frame: FinishedFrame) -> None:
        if tree_of(frame.request.state) != self._of:
            self.panel.mark_old()
        if self.panel.is_old and not self._session.document.state.timeline.is_playing:
            self.panel.look()

    def _changed(self, before: State, after: State) -> None:
        if tree_of(before) != tree_of(after):
            self.panel.mark_old()
            self.marks.show_step(None)

    def _open(self, scene: Scene | None) -> None:
        self.panel.take(None)
