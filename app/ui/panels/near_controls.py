"""How much is asked about the place that was picked: so many neighbours, and a ball or a box around it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QFormLayout,
    QSlider,
    QSpinBox,
    QWidget,
)

from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.number_boxes import ExactBox
from raygrove.gpu.brief import filled
from raygrove.gpu.region import SHAPES, Region, RegionContents
from raygrove.gpu.stats import Surroundings

FEW, MOST = 8, 128
LARGEST = 1e9
STEPS, DECADES = 400, 4.0
"""Of the slider: from no region, and 1e-4 of the scene's diagonal, to all of it."""


class NearControls(QWidget):
    """See the module. `changed` says that another number of neighbours is asked for, `region_changed` that the shape or
    the size of the region is another; what is in it follows while the size is turned, typed or dragged."""

    changed = Signal()
    region_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.count = QSpinBox(self)
        self.count.setObjectName("near_count")
        self.count.setRange(0, MOST)
        self.count.setValue(FEW)
        self.count.setToolTip(self.tr("How many of the nearest primitives are listed and marked."))
        self.shape = QComboBox(self)
        self.shape.setObjectName("region_shape")
        for name, title in zip(SHAPES, (self.tr("Ball"), self.tr("Box")), strict=True):
            self.shape.addItem(title, name)
        self.shape.setToolTip(
            self.tr(
                "What lies in this is counted, picture by picture, and shown in green, of spheres by their centres."
            )
        )
        self.reach = ExactBox(self)
        self.reach.setObjectName("region_size")
        self.reach.setRange(0.0, LARGEST)
        self.reach.setStepType(QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        self.reach.setSpecialValueText(self.tr("none"))
        self.reach.setSuffix(self.tr(" scene units"))
        self.reach.setToolTip(
            self.tr("From the point to the end of the region: the ball's radius, or half the side of the box.")
        )
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setObjectName("region_slider")
        self.slider.setRange(0, STEPS)
        self.slider.setAccessibleName(self.tr("Size of the region"))
        self.slider.valueChanged.connect(self._slide)
        self._diagonal = 1.0
        self.found, self.contents = Label(self), Label(self)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow(self.tr("Nearest"), self.count)
        form.addRow(self.tr("Region"), self.shape)
        form.addRow(self.tr("Size"), self.reach)
        form.addRow("", self.slider)
        for label in (self.found, self.contents):
            label.setWordWrap(True)
            form.addRow(label)
        self.count.valueChanged.connect(self.changed)
        self.shape.currentIndexChanged.connect(self.region_changed)
        self.reach.valueChanged.connect(self._take_size)
        self.show_found(None)
        self.show_contents(None)

    def region_at(self, centre: tuple[float, float, float]) -> Region:
        """The region that is chosen, around a place."""
        return Region(self.shape.currentData(), centre, self.reach.value())

    def show_region(self, region: Region) -> None:
        """Show a region's shape and size, without saying so."""
        with self._silent():
            self.shape.setCurrentIndex(SHAPES.index(region.shape))
            self.reach.setValue(region.size)
            self._place_slider()

    def take_diagonal(self, diagonal: float) -> None:
        """How large the scene is: what the slider's end stands for."""
        if diagonal > 0.0 and diagonal != self._diagonal:
            self._diagonal = diagonal
            self._place_slider()

    @contextlib.contextmanager
    def _silent(self) -> Iterator[None]:
        blockers = [QSignalBlocker(widget) for widget in (self.shape, self.reach)]
        yield
        for blocker in blockers:
            blocker.unblock()

    def _slide(self, step: int) -> None:
        self.reach.setValue(self._diagonal * 10.0 ** (DECADES * (step / STEPS - 1.0)) if step > 0 else 0.0)

    def _take_size(self, size: float) -> None:
        self._place_slider()
        self.region_changed.emit()

    def _place_slider(self) -> None:
        """Where the size is, without saying so."""
        share = self.reach.value() / self._diagonal
        step = round(STEPS * (1.0 + math.log10(share) / DECADES)) if share > 0.0 else 0
        with QSignalBlocker(self.slider):
            self.slider.setValue(step)

    def show_found(self, found: Surroundings | str | None) -> None:
        """Say why nobody knows what is near, where that is so."""
        sentence = found if isinstance(found, str) else ""
        self.found.setText(sentence)
        self.found.setVisible(bool(sentence))

    def show_contents(self, contents: RegionContents | str | None) -> None:
        """Say how many are in the region, or why nobody knows."""
        sentence = contents if isinstance(contents, str) else self._sentence_of(contents)
        if sentence != self.contents.text() or not sentence:
            self.contents.setText(sentence)
            self.contents.setVisible(bool(sentence) and sentence != self.found.text())

    def _sentence_of(self, contents: RegionContents | None) -> str:
        if contents is None or contents.count is None:
            return contents.sentence if contents is not None else ""
        size, is_ball = contents.region.size, contents.region.shape == "ball"
        where = self.tr("a ball of radius {size}") if is_ball else self.tr("a box of side {size}")
        how = self.tr("by their centres") if contents.of == "centres" else self.tr("wherever they reach into it")
        return filled(
            self.tr("{count} primitives in {where}, {how}."),
            count=f"{contents.count:,}",
            where=where.format(size=f"{size if is_ball else 2.0 * size:g}"),
            how=how,
        )
