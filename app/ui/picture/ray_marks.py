"""The ray that is debugged, drawn over the picture: the ray, the box it is in, those it tested and missed, or all that
it met, and the node that is selected."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from raygrove.app.document.document import Document
from raygrove.app.ui.picture.line_marks import CURRENT, SELECTED, WIDTH, LineMarks

if TYPE_CHECKING:
    from raygrove.gpu.analysis.followed_ray import FollowedRay
    from raygrove.gpu.analysis.tree_rows import TreeNode

MISSED = QColor("#FF6B4A")
MOST_MISSED = 16
"""Boxes that were tested and missed are drawn: the last ones."""
FATE_COLORS = {"missed": MISSED, "beyond": QColor("#6FB1FF"), "dropped": QColor("#D79BFF"),
               "waiting": QColor("#9AA5B1"), "node": SELECTED, "leaf": QColor("#5BE38B")}  # fmt: skip
"""Of all boxes that the ray met, by what became of them, in the order in which they are drawn; what was not entered is
dashed."""
ENTERED = ("node", "leaf")


class RayMarks(LineMarks):
    """Draws over the whole picture. Lines have a casing, so that they read on any heat map."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("ray_marks", document, parent)
        self._ray: FollowedRay | None = None
        self._at = -1
        self._met: dict[str, list[TreeNode]] = {}
        self._selected: TreeNode | None = None

    def has_content(self) -> bool:
        """A ray or a node."""
        return self._ray is not None or self._selected is not None

    @property
    def shows_all(self) -> bool:
        """Whether all boxes that the ray met are drawn (boxes.of_ray)."""
        return self._document.state.settings.boxes.of_ray

    def show_ray(self, ray: FollowedRay | None, at: int) -> None:
        """Draw a ray after its event `at`; None: none."""
        if ray is not self._ray:
            self._met = ray.met() if ray is not None else {}
        self._ray, self._at = (ray, at) if at >= 0 else (None, -1)
        self.refresh()

    def show_node(self, node: TreeNode | None) -> None:
        """Draw the box of the node that is selected."""
        self._selected = node
        self.refresh()

    def boxes(self) -> dict[str, list[TreeNode]]:
        """The boxes that are drawn: `missed`, `selected` and `current`, and of all that the ray met those of each fate
        (FollowedRay.met)."""
        found: dict[str, list[TreeNode]] = {"missed": [], "selected": [], "current": []}
        if self.shows_all and self._ray is not None:
            found |= self._met
        if self._selected is not None:
            found["selected"].append(self._selected)
        ray = self._ray
        if ray is not None:
            from raygrove.gpu.analysis.ray_log import CULLED, Event  # there is a ray: it is imported already

            told = np.flatnonzero(np.isin(ray.log.kinds[: self._at + 1], [*CULLED, Event.CHILD_DROPPED]))
            if not self.shows_all:
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
        for fate, color in FATE_COLORS.items():
            style, width = (Qt.PenStyle.SolidLine, 1.0) if fate in ENTERED else (Qt.PenStyle.DashLine, WIDTH)
            self.draw(painter, self._edges(boxes.get(fate, ())), color, style, width)
        self.draw(painter, self._edges(boxes["selected"]), SELECTED)
        self.draw(painter, self._edges(boxes["current"]), CURRENT)
        ends = self.ray_ends()
        if ends is not None:
            self.draw(painter, self.lines(ends[None]), SELECTED)

    def _edges(self, nodes: Iterable[TreeNode]) -> np.ndarray:
        nodes = list(nodes)
        lower, upper = (np.array([getattr(node, side) for node in nodes]) for side in ("lower", "upper"))
        return self.edges(lower, upper)

    def _beyond(self, origin: np.ndarray, direction: np.ndarray) -> float:
        """How far the ray is drawn where nothing ends it: behind the scene."""
        scene = self._document.scene
        if scene is None:
            return 1.0
        corners = np.array([scene.lower, scene.upper], np.float64)
        reach = np.linalg.norm(corners.mean(axis=0) - origin) + np.linalg.norm(corners[1] - corners[0])
        return float(reach) / max(float(np.linalg.norm(direction)), 1e-30)
