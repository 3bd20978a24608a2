"""The ray debugger and the tree browser at work: they ask the engine between two frames, follow the one selection, and
draw over the picture."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.panels.build_tools import BuildTools
from raygrove.app.ui.panels.inspectors import Inspectors, Place, tree_of
from raygrove.app.ui.panels.ray_panel import RayPanel
from raygrove.app.ui.panels.selection_line import put_above
from raygrove.app.ui.panels.tree_panel import TreePanel
from raygrove.app.ui.picture.ray_marks import RayMarks
from raygrove.app.ui.session.inspection import Inspected
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.scrolled import panel_of
from raygrove.gpu.scene import Scene

if TYPE_CHECKING:
    from raygrove.app.frames.questions import Picked
    from raygrove.gpu.analysis.followed_ray import FollowedRay
    from raygrove.gpu.analysis.hot_spots import HotSpots
    from raygrove.gpu.analysis.tree_rows import TreeNode


class RayTools(QObject):
    """See the module. Nothing is asked for while neither panel is seen."""

    def __init__(self, session: Session, inspectors: Inspectors, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._docks: dict[str, QDockWidget] = {}
        self.ray, self.tree = RayPanel(session.gestures), TreePanel(self._ask_tree)
        self.marks, self.build = RayMarks(session.document), BuildTools(session, inspectors, self)
        inspectors.laid_on.connect(self.marks.lie_on)
        inspectors.company += [self.ray, self.tree]
        for panel in (self.ray, self.tree, self.build.panel):
            put_above(panel, session)
        self._followed: tuple[float, float] | None = None
        self._is_restored = False
        self.ray.pixel_wanted.connect(lambda across, down: self.follow((across, down)))
        self.ray.stepped.connect(self._show_step)
        self.ray.node_wanted.connect(self._show_in_tree)
        self.ray.seen.connect(self._follow_selected)
        self.ray.all_wanted.connect(lambda is_on: session.document.change("settings.boxes.of_ray", is_on))
        self.ray.show_all_boxes(session.document.state.settings.boxes.of_ray)
        self.tree.node_chosen.connect(self._choose_node)
        self.tree.ray_wanted.connect(lambda: self._reveal_at(self.ray.node))
        self.tree.build_wanted.connect(lambda: session.inspection.panel_wanted.emit("build"))
        self.tree.seen.connect(self._open_selected)
        session.inspection.panel_wanted.connect(self._bring)
        session.inspection.changed.connect(self._take_selection)
        session.inspection.counted.connect(self._take_visits)
        session.loop.frame_arrived.connect(self._take_frame)
        session.document.observe(self._changed)
        session.document.on_scene.append(self._open)

    def places(self) -> tuple[Place, ...]:
        """Name, title, widget and side of each dock; none is shown at first."""
        right = Qt.DockWidgetArea.RightDockWidgetArea
        return (
            ("ray", self.tr("Ray"), self.ray, right),
            ("tree", self.tr("Tree"), self.tree, right),
            ("build", self.tr("Build"), self.build.panel, right),
        )

    def take_docks(self, window: QMainWindow, docks: list[QDockWidget]) -> None:
        """The docks that the window made of `places`: tabs of the heat map's place."""
        heat = next(dock for dock in docks if dock.objectName() == "dock.heat")
        for _, _, widget, _ in self.places():
            window.tabifyDockWidget(heat, next(dock for dock in docks if panel_of(dock) is widget))
        self._docks = {dock.objectName().removeprefix("dock."): dock for dock in docks}

    def follow(self, place: tuple[float, float]) -> None:
        """Follow the ray of a place of the picture as it is now, and select that."""
        is_heard = place != self._session.inspection.now.pixel and self.ray.isVisible()
        self._session.inspection.select(pixel=place, primitive=None)  # that was another ray's
        if not is_heard:
            self._ask_ray(place)

    # -- what is asked ------------------------------------------------------------------------------------------------
    def _ask_ray(self, place: tuple[float, float]) -> None:
        self._followed = place
        self.ray.show_pixel(place, self._size())
        self.ray.wait()
        self._session.loop.ask("ray", lambda maker: maker.follow_ray(*place), self._show_ray)

    def _ask_tree(self, question: Callable[[Any], Any], take: Callable[[Any], None]) -> None:
        self._session.loop.ask("tree", lambda maker: maker.ask_of_tree(question), take)

    def _show_ray(self, found: FollowedRay | None) -> None:
        if found is None or self._session.document.scene is not None:
            self.ray.show_ray(found, self._session.inspection.now.node)
        place = self._followed
        if found is not None and place is not None and self._session.inspection.now.primitive is None:
            take = functools.partial(self._take_hit, place)
            self._session.loop.ask("ray.hit", lambda maker: maker.pick(*place), take)

    def _take_hit(self, place: tuple[float, float], picked: Picked | None) -> None:
        """What the ray hit is selected with its pixel, whoever chose that."""
        if self._session.inspection.now.pixel == place:
            hit = picked.hit if picked is not None else None
            primitive, of = (hit.prim_id, hit.object_id) if hit is not None else (None, -1)
            self._session.inspection.select(primitive=primitive, object=of)

    # -- what happens -------------------------------------------------------------------------------------------------
    def _show_step(self, n: int) -> None:
        self.marks.show_ray(self.ray.ray, n)

    def _show_in_tree(self, node_id: int) -> None:
        self._session.inspection.select(node=node_id)
        self._bring("tree")

    def _bring(self, panel: str) -> None:
        """A panel comes to the front, and shows what is selected."""
        dock, now = self._docks.get(panel), self._session.inspection.now
        if dock is not None:
            dock.show()
            dock.raise_()
        if panel == "tree" and now.node is None and now.primitive is not None:
            self.tree.find_primitive(now.primitive)

    def _open_selected(self) -> None:
        """The tree is seen: the node that was selected meanwhile."""
        node, ray = self._session.inspection.now.node, self.ray.ray
        if node is not None and node != self.tree.chosen:
            path = ray.path(node) if ray is not None and self._followed is not None else ()
            self.tree.reveal(path) if path else self.tree.find_node(node)

    def _reveal_at(self, node_id: int | None) -> None:
        ray = self.ray.ray
        if ray is None or node_id is None:
            self.tree.explain(self.tr("No ray is followed: pick a pixel in the panel Ray."))
            return
        self.tree.reveal(ray.path(node_id))

    def _choose_node(self, node: TreeNode | None) -> None:
        self.marks.show_node(node)
        self._session.inspection.select(node=node.id if node is not None else None)
        if node is not None and self.ray.ray is not None:
            self.ray.go_to_node(node.id)

    def _take_selection(self, before: Inspected, after: Inspected) -> None:
        if after.pixel != before.pixel and after.pixel is not None and self.ray.isVisible():
            self._ask_ray(after.pixel)
        if after.node is not None and after.node != before.node and after.node != self.tree.chosen:
            self.ray.go_to_node(after.node)
            if self.tree.isVisible():
                self._open_selected()
        elif after.primitive is not None and after.primitive != before.primitive and self.tree.isVisible():
            self.tree.find_primitive(after.primitive)

    def _take_visits(self, found: HotSpots | None) -> None:
        from raygrove.gpu.analysis.tree_rows import NodeVisits  # what has counted has imported it

        self.tree.model.show_visits(None if found is None else NodeVisits.counted(found))

    def _follow_selected(self) -> None:
        """The panel is seen: the pixel that was selected meanwhile."""
        place = self._session.inspection.now.pixel
        self.ray.show_pixel(place, self._size())
        if place is not None and (self.ray.ray is None or place != self._followed):
            self._ask_ray(place)

    def _take_frame(self, frame: FinishedFrame) -> None:
        if self.ray.isVisible():
            self.ray.show_pixel(None, self._size())
            if self._is_restored:
                self._is_restored = False
                self._follow_selected()
        if self.tree.is_old and not self._session.document.state.timeline.is_playing:
            self.tree.look()

    def _changed(self, before: State, after: State) -> None:
        if before.settings.boxes.of_ray != after.settings.boxes.of_ray:
            self.ray.show_all_boxes(after.settings.boxes.of_ray)
            self.marks.refresh()
        if tree_of(before) != tree_of(after):
            self._followed = None
            self.ray.mark_old()
            self.tree.mark_old()
            self.marks.show_ray(None, -1)
            self.marks.show_node(None)
            self._session.inspection.select(node=None)  # its number is another node's there

    def _open(self, scene: Scene | None) -> None:
        self.ray.clear()
        self.tree.clear()
        self._is_restored = self._session.inspection.now.pixel is not None  # a saved picture's: followed in its first

    def _size(self) -> tuple[int, int]:
        frame = self._session.loop.last_frame
        return frame.request.size if frame is not None else (0, 0)
