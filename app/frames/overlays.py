"""What is drawn over a finished picture: contours, the outline of what is selected, boxes of nodes, periodic boxes."""

from __future__ import annotations

from collections.abc import Sequence

from raygrove.app.document.state import State
from raygrove.app.frames.node_boxes import BoxReport, NodeBoxes
from raygrove.app.frames.periodic_boxes import PeriodicBoxes
from raygrove.gpu.engine import Engine, View
from raygrove.gpu.scene import Moment, Scene


class Overlays:
    """Draws them in this order, where the state asks for them; keeps what stays from picture to picture."""

    def __init__(self) -> None:
        self._boxes, self._periodic_boxes = NodeBoxes(), PeriodicBoxes()

    @property
    def report(self) -> BoxReport | None:
        """What was drawn of the nodes' boxes; None for nothing."""
        return self._boxes.report

    def forget(self) -> None:
        """The engine goes."""
        self._boxes.forget()

    def paint(
        self,
        engine: Engine,
        views: Sequence[View],
        scene: Scene,
        state: State,
        moment: Moment,
        *,
        is_moving: bool,
        with_selection: bool,
    ) -> None:
        """Draw over the pictures that the views' last frame made."""
        for view in views if state.settings.contours.are_on else ():
            engine.paint_contours(view, state.settings.contours)
        if with_selection and state.selection.object >= 0:
            engine.paint_outline(views[0], state.selection.object)
        self._boxes.paint(engine, views[0], scene, state, moment, is_moving)
        for view in views:
            self._periodic_boxes.paint(engine, view, scene, state, moment)
