"""What each plane of a set would cost, drawn as three curves: x solid, y dashed, z dotted; the one taken is ringed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

if TYPE_CHECKING:
    from raygrove.gpu.analysis.build_steps import SplitCosts


STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
LEFT, EDGE, RING = 34, 6, 5.0


class CostChart(QWidget):
    """See the module. Costs are shares of what a leaf of all would cost, which is the line at 1."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.costs: SplitCosts | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(120)
        self.setAccessibleName(self.tr("Cost of each plane"))

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(300, 180)

    def show_costs(self, costs: SplitCosts | None) -> None:
        """Those of a set; None: nothing."""
        self.costs = costs
        self.setVisible(costs is not None)
        self.update()

    def curves(self) -> list[list[tuple[float, float]]]:
        """Of each axis the places in the widget, planes that split nothing left out."""
        if self.costs is None or self.costs.leaf <= 0.0 or not self.costs.costs.size:
            return [[], [], []]
        shares = self.costs.costs / self.costs.leaf
        top, planes, wide = self._top(), shares.shape[1], self.width() - LEFT - EDGE
        return [
            [(LEFT + wide * (place + 0.5) / planes, self._height_of(float(share), top))
             for place, share in enumerate(row) if np.isfinite(share)]
            for row in shares
        ]  # fmt: skip

    def leaf_line(self) -> float | None:
        """The height in the widget of what a leaf would cost; None where nothing is drawn."""
        is_drawn = self.costs is not None and self.costs.leaf > 0.0 and self.costs.costs.size > 0
        return self._height_of(1.0, self._top()) if is_drawn else None

    def _top(self) -> float:
        """The largest share."""
        assert self.costs is not None, "asked where there are costs"
        shares = self.costs.costs / self.costs.leaf
        return max(1.0, float(shares[np.isfinite(shares)].max(initial=1.0)))

    def _height_of(self, share: float, top: float) -> float:
        high = self.height() - self.fontMetrics().height() - 2 * EDGE
        return EDGE + high * (1.0 - share / top)

    def ring(self) -> tuple[float, float] | None:
        """Where the plane that was taken stands."""
        if self.costs is None or self.costs.chosen is None:
            return None
        axis, plane = self.costs.chosen
        before = int(np.isfinite(self.costs.costs[axis, :plane]).sum())
        curve = self.curves()[axis]
        return curve[before] if before < len(curve) else None

    def paintEvent(self, event: QPaintEvent) -> None:
        """The line at 1, the curves, the ring, and what the axes are."""
        if self.costs is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        curves, text = self.curves(), self.fontMetrics()
        for points, style in zip(curves, STYLES, strict=True):
            painter.setPen(QPen(ink, 1.5, style))
            painter.drawPolyline(QPolygonF([QPointF(*point) for point in points]))
        ring = self.ring()
        painter.setPen(QPen(ink, 2.0))
        if ring is not None:
            painter.drawEllipse(QPointF(*ring), RING, RING)
        bottom = self.height() - text.height() - EDGE
        painter.setPen(QPen(ink, 1.0))
        painter.drawLine(LEFT, EDGE, LEFT, bottom)
        painter.drawLine(LEFT, bottom, self.width() - EDGE, bottom)
        painter.drawText(2, EDGE + text.ascent(), self.tr("cost"))
        leaf = self.leaf_line()
        if leaf is not None:
            painter.setPen(QPen(ink, 0.5))
            painter.drawLine(QPointF(LEFT, leaf), QPointF(self.width() - EDGE, leaf))
            painter.setPen(QPen(ink, 1.0))
            if leaf > EDGE + 2 * text.height():  # else the word "cost" stands there
                painter.drawText(QPointF(2, leaf + text.ascent() / 2), self.tr("leaf"))
        where = self.tr("bins") if self.costs.is_binned else self.tr("primitives")
        said = self.tr("planes between {where}: x solid, y dashed, z dotted").format(where=where)
        painter.drawText(LEFT, self.height() - text.descent() - 2, said)
