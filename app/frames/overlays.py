"""What is drawn over a finished picture: contours, collisions, the outline of what is selected, what lies in a
region, boxes of nodes, tiles with boxes of spheres, periodic boxes."""

from __future__ import annotations

from collections.abc import Sequence

from raygrove.app.document.state import State
from raygrove.app.frames.node_boxes import BoxReport, NodeBoxes
from raygrove.app.frames.periodic_boxes import PeriodicBoxes
from raygrove.gpu.engine import Engine, View
from raygrove.gpu.hierarchy.base import NoCollisionsError
from raygrove.gpu.region import RegionContents
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import Collisions


class Overlays:
    """Draws them in this order, where the state asks for them; keeps what stays from picture to picture. `collisions`
    are those of the picture, None where they are not shown."""

    def __init__(self) -> None:
        self._boxes, self._periodic_boxes = NodeBoxes(), PeriodicBoxes()
        self.collisions: Collisions | None = None
        self.contents: RegionContents | None = None

    @property
    def report(self) -> BoxReport | None:
        """What was drawn of the nodes' boxes; None for nothing."""
        return self._boxes.report

    def forget(self) -> None:
        """The engine goes."""
        self._boxes.forget()
        self.collisions = self.contents = None

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
        self.collisions = None
        for view in views if state.settings.collisions.show else ():
            self.collisions = _collisions(engine, view, state)
        if with_selection and state.selection.object >= 0:
            engine.paint_outline(views[0], state.selection.object)
        region = state.selection.region
        self.contents = engine.paint_region(views[0], region) if with_selection and region.is_there else None
        self._boxes.paint(engine, views[0], scene, state, moment, is_moving)
        for view in views if state.settings.tile_marks.are_on else ():
            engine.paint_tiles(view, state.settings.tile_marks, state.selection.object)
        for view in views:
            self._periodic_boxes.paint(engine, view, scene, state, moment)


def _collisions(engine: Engine, view: View, state: State) -> Collisions:
    try:
        return engine.paint_collisions(view, _between(state), state.settings.collisions.opacity)
    except NoCollisionsError as error:  # the picture is what it is without them
        return Collisions(why_not=str(error))


def _between(state: State) -> tuple[int, int]:
    """The objects whose collisions are shown; -1 is any."""
    is_one = state.settings.collisions.between == "selected"
    return (state.selection.object if is_one else -1, -1)
