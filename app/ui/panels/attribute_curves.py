"""An attribute of picked spheres over the animation: that of the newest as a line, those picked before it dotted."""

from __future__ import annotations

import dataclasses

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from raygrove.app.ui.widgets.line_chart import Line, LineChart
from raygrove.gpu import attributes
from raygrove.gpu.scene import Scene

KEPT = 5
"""Spheres whose curves are shown together."""
COLORS = ("#3a86d4", "#e69f00", "#2fa77a", "#c45a8b", "#8e7cc3")


@dataclasses.dataclass(frozen=True)
class PickedSphere:
    """A sphere by the place of its group in the scene and its own there; `title` is what it is called."""

    spheres: int
    sphere: int
    title: str


class AttributeCurves(QWidget):
    """See the module. `chosen` carries the seconds of a click."""

    chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picked: tuple[PickedSphere, ...] = ()
        self._scene: Scene | None = None
        self.names = QComboBox(self)
        self.names.setObjectName("attribute")
        self.names.setAccessibleName(self.tr("Attribute over time"))
        self.names.activated.connect(lambda place: self._draw())
        self.chart = LineChart("", self)
        self.chart.chosen.connect(self.chosen)
        self.chart.setMinimumHeight(120)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.names)
        column.addWidget(self.chart)
        self.hide()

    def show_sphere(self, scene: Scene, sphere: PickedSphere, color_by: str) -> None:
        """Show a sphere's curve, and keep those before it; of the attribute chosen last, or of `color_by`."""
        if scene is not self._scene:
            self.clear()
        before = tuple(one for one in self.picked if one != sphere)
        self._scene, self.picked = scene, (*before, sphere)[-KEPT:]
        names = moving_names(scene, sphere)
        wanted = self.names.currentText() or color_by
        self.names.clear()
        self.names.addItems(names)
        self.names.setCurrentIndex(max(0, self.names.findText(wanted)))
        self.setVisible(bool(names))
        self._draw()

    def clear(self) -> None:
        """Forget all of them."""
        self.picked, self._scene = (), None
        self.names.clear()
        self.hide()

    def show_time(self, seconds: float) -> None:
        """Mark an instant."""
        if self.picked:
            self.chart.show_mark(seconds)

    def lines(self) -> list[Line]:
        """A line for each sphere that has the attribute."""
        found, name = [], self.names.currentText()
        for number, sphere in enumerate(self.picked):
            group = self._scene.spheres[sphere.spheres] if self._scene is not None else None
            curve = attributes.curve_of(group, sphere.sphere, name) if group is not None and name else None
            if curve is not None:
                is_old = sphere is not self.picked[-1]
                found.append(Line(*curve, COLORS[(len(self.picked) - 1 - number) % len(COLORS)], is_old))
        return found

    def _draw(self) -> None:
        lines = self.lines()
        duration = max((float(line.times[-1]) for line in lines), default=0.0)
        name = self.names.currentText()
        title = attributes.label_of(self._scene, name) if self._scene is not None and name else ""
        self.chart.show_lines(lines, duration, ", ".join([title, *(self.picked[-1].title for _ in lines[-1:])]))


def moving_names(scene: Scene, sphere: PickedSphere) -> tuple[str, ...]:
    """The names whose numbers change from key frame to key frame; none where the spheres have none."""
    group = scene.spheres[sphere.spheres]
    found = []
    for name in attributes.names_of(scene):
        column = attributes.column(group, name)
        if column is not None and len(column.values) > 1:
            found.append(name)
    return tuple(found)


def value_text(values: np.ndarray, unit: str) -> str:
    """An attribute of one sphere, (1,) or (1, C), to read."""
    row = values.reshape(-1)
    text = ", ".join("no value" if np.isnan(value) else f"{value:.6g}" for value in row)
    if len(row) > 1:
        text += f" (length {np.linalg.norm(row):.6g})"
    return f"{text} {unit}".rstrip() if unit and len(unit) <= attributes.LONGEST_UNIT else text
