"""The ray that is debugged, drawn over the picture: the ray, the box it is in, those it tested and missed, and the node
that is selected."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QLineF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from raygrove.app.camera.projection import box_lines, line_places
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.ui.picture.overlay import Overlay
from raygrove.gpu.analysis.followed_ray import FollowedRay
from raygrove.gpu.analysis.ray_log import CULLED, Event
from raygrove.gpu.analysis.tree_rows import TreeNode
from raygrove.gpu.camera import Camera

SELECTED, CURRENT, MISSED = QColor("#FFFFFF"), QColor("#FFD400"), QColor("#FF6B4A")
CASING = QColor("#000000")
WIDTH, CASING_WIDTH = 2.0, 1.0
FAR = 1e5
"""Lines that leave the picture further than this many pixels are not drawn: Qt's painter slows down on them."""

MOST_MISSED = 16
"""Boxes that were tested and missed are drawn: the last ones."""


class RayMarks(Overlay):
    """Draws over the whole picture. Lines have a casing, so that they read on any heat map."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("ray_marks", parent)
        self._document = document
        self._ray: FollowedRay | None = None
        self._at = -1
        self._selected: TreeNode | None = None
        document.observe(self._changed)

    def has_content(self) -> bool:
        """A ray or a node."""
        return self._ray is not None or self._selected is not None

    def show_ray(self, ray: FollowedRay | None, at: int) -> None:
        """Draw a ray after its event `at`; None: none."""
        self._ray, self._at = (ray, at) if at >= 0 else (None, -1)
        self.refresh()

    def show_node(self, node: TreeNode | None) -> None:
        """Draw the box of the node that is selected."""
        self._selected = node
        self.refresh()

    def boxes(self) -> dict[str, list[TreeNode]]:
        """The boxes that are drawn: `missed`, `selected` and `current`."""
        found: dict[str, list[TreeNode]] = {"missed": [], "selected": [], "current": []}
        if self._selected is not None:
            found["selected"].append(self._selected)
        ray = self._ray
        if ray is not None:
            told = np.flatnonzero(np.isin(ray.log.kinds[: self._at + 1], [*CULLED, Event.CHILD_DROPPED]))
            ids = dict.fromkeys(ray.log.ids[told[-MOST_MISSED:]].tolist())
            found["missed"] = [ray.nodes[id_] for id_ in ids if id_ in ray.nodes]
            here = ray.log.state(self._at).node
            found["current"] = [ray.nodes[here]] if here is not None and here in ray.nodes else []
        return found

    def ray_ends(self) -> np.ndarray | None:
        """(2, 3) float64: where the drawn ray begins and where it ends by then, in scene units; None without a ray."""
        if self._ray is None:
            return None
        log, state = self._ray.log, self._ray.log.state(self._at)
        origin, direction = np.array(log.origin), np.array(log.direction)
        end = min(state.t_max, self._beyond(origin, direction))
        return np.stack([origin + log.t_min * direction, origin + end * direction])

    def paintEvent(self, event: QPaintEvent) -> None:
        """Missed boxes first, the current one and the ray on top."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        boxes = self.boxes()
        self._draw(painter, self._edges(boxes["missed"]), MISSED, Qt.PenStyle.DashLine)
        self._draw(painter, self._edges(boxes["selected"]), SELECTED)
        self._draw(painter, self._edges(boxes["current"]), CURRENT)
        ends = self.ray_ends()
        if ends is not None:
            self._draw(painter, self._pixels(line_places(self._camera(), self._aspect(), ends[None])), SELECTED)

    def _draw(
        self, painter: QPainter, lines: np.ndarray, color: QColor, style: Qt.PenStyle = Qt.PenStyle.SolidLine
    ) -> None:
        rows = [QLineF(*ends) for ends in lines.tolist()]
        for of, width in ((CASING, WIDTH + 2.0 * CASING_WIDTH), (color, WIDTH)):
            pen = QPen(of, width, style)
            pen.setCapStyle(Qt.PenCapStyle.FlatCap if style == Qt.PenStyle.DashLine else Qt.PenCapStyle.RoundCap)
            if style == Qt.PenStyle.DashLine:
                pen.setDashPattern([4.0 * WIDTH / width, 3.0 * WIDTH / width])
            painter.setPen(pen)
            painter.drawLines(rows)

    def _edges(self, nodes: Iterable[TreeNode]) -> np.ndarray:
        nodes = list(nodes)
        if not nodes:
            return np.zeros((0, 4))
        lower, upper = (np.array([getattr(node, side) for node in nodes]) for side in ("lower", "upper"))
        is_there = (lower <= upper).all(axis=1)
        lower, upper = (np.clip(corner[is_there], -1e30, 1e30) for corner in (lower, upper))
        return self._pixels(box_lines(self._camera(), self._aspect(), lower, upper).reshape(-1, 4))

    def _pixels(self, places: np.ndarray) -> np.ndarray:
        """Lines in pixels, those that are seen."""
        lines = places * ([self.width(), self.height()] * 2)
        lines[np.abs(lines).max(axis=-1) > FAR] = np.nan
        return np.asarray(lines[np.isfinite(lines).all(axis=-1)])

    def _beyond(self, origin: np.ndarray, direction: np.ndarray) -> float:
        """How far the ray is drawn where nothing ends it: behind the scene."""
        scene = self._document.scene
        if scene is None:
            return 1.0
        corners = np.array([scene.lower, scene.upper], np.float64)
        reach = np.linalg.norm(corners.mean(axis=0) - origin) + np.linalg.norm(corners[1] - corners[0])
        return float(reach) / max(float(np.linalg.norm(direction)), 1e-30)

    def _camera(self) -> Camera:
        return self._document.state.camera_of(0)

    def _aspect(self) -> float:
        return self.width() / max(self.height(), 1)

    def _changed(self, before: State, after: State) -> None:
        if self.isVisible() and before.cameras != after.cameras:
            self.update()
