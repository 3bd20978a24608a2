"""Spheres by their attributes: what colours and sizes them, how many have how much of it, and the range that is
selected; and the contours that tell their depths apart."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QFormLayout, QVBoxLayout, QWidget

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.legends import attribute_legend
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.form import Editor, tooltip_of
from raygrove.app.ui.widgets.range_histogram import RangeHistogram
from raygrove.app.ui.widgets.steady import Steady
from raygrove.gpu import attributes
from raygrove.gpu.attributes import FAR, SphereOptions
from raygrove.gpu.brief import filled
from raygrove.gpu.contours import ContourOptions
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import fields_of
from raygrove.gpu.stats import AttributeCounts

INTERVAL_S = 0.2
TITLES = {
    "color_by": "Colour by",
    "colors": "Colours",
    "automatic": "Whole range",
    "minimum": "From",
    "maximum": "To",
    "size_by": "Size by",
    "smallest": "Smallest",
    "largest": "Largest",
    "select_by": "Select by",
    "others": "Others are",
}
CONTOUR_TITLES = {"silhouettes": "Silhouettes", "halos": "Halos", "radius": "Reach", "strength": "Strength"}
NAMES = ("color_by", "size_by", "select_by")


class SpheresPanel(QWidget):
    """See the module. `counts_wanted` asks for the counts of the newest picture, which `take_counts` is given. Each
    drag of the range is one step of undo; where nothing selects yet, it selects by what is counted."""

    counts_wanted = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("spheres")
        self._document = document
        self._asked = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._ask)
        fields = {field.name: field for field in fields_of(SphereOptions)}
        self.names = {name: QComboBox(self) for name in NAMES}
        self.editors = {name: Editor(fields[name], parent=self) for name in TITLES if name not in NAMES}
        form = QFormLayout()
        for name, title in TITLES.items():
            box = self.names.get(name)
            if box is not None:
                box.setObjectName(name)
                box.setToolTip(tooltip_of(fields[name]))
                box.setAccessibleName(title)
                box.activated.connect(lambda place, name=name, box=box: self._change(name, box.itemData(place)))
            else:
                self.editors[name].edited.connect(lambda value, name=name: self._change(name, value))
            form.addRow(self.tr(title), box or self.editors[name])
        contours = {field.name: field for field in fields_of(ContourOptions)}
        self.contours = {name: Editor(contours[name], parent=self) for name in CONTOUR_TITLES}
        for name, editor in self.contours.items():
            editor.edited.connect(lambda value, name=name: document.change(f"settings.contours.{name}", value))
            form.addRow(self.tr(CONTOUR_TITLES[name]), editor)
        self.range = RangeHistogram(self)
        self.range.dragged.connect(self._select)
        self.range.released.connect(document.end_merge)
        self.figures = Label(self)
        self.figures.setObjectName("figures")
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        column.addLayout(form)
        column.addWidget(self.range)
        column.addWidget(Steady(self.figures, 3))
        column.addStretch(1)
        document.observe(self._changed)
        document.on_scene.append(self._show_scene)
        self._show_scene(document.scene)

    def sizeHint(self) -> QSize:
        """Narrow: the picture is what counts."""
        return QSize(270, 560)

    @property
    def options(self) -> SphereOptions:
        """What is chosen."""
        return self._document.state.settings.spheres

    def take_frame(self) -> None:
        """A picture has arrived: ask for its counts, at most five times a second."""
        if self.isVisible() and self.options.counted and not self._timer.isActive():
            wait = self._asked + INTERVAL_S - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def take_counts(self, counts: AttributeCounts | None) -> None:
        """Show the counts; None where nothing is done by an attribute of this scene."""
        options, scene = self.options, self._document.scene
        is_of_now = counts is not None and counts.name == options.counted
        scale = attribute_legend(options, scene) if is_of_now and options.color_by == options.counted else None
        self.range.show_counts(counts if is_of_now else None, scale)
        if counts is None or not is_of_now:
            self._say_nothing()
            return
        there = int(counts.histogram.sum()) + counts.missing
        if not there and self._are_hidden(counts.name):
            self.figures.setText(self.tr("Only hidden objects have {name}.").format(name=counts.name))
            return
        sentences = [filled(self.tr("{there:,} spheres by {name}."), there=there, name=counts.name)]
        if counts.missing:
            sentences.append(filled(self.tr("{count:,} have no value."), count=counts.missing))
        if counts.not_selected:
            sentences.append(filled(self.tr("{count:,} are not selected."), count=counts.not_selected))
        self.figures.setText(" ".join(sentences))

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden."""
        super().showEvent(event)
        self.take_frame()

    # -- parts ----------------------------------------------------------------------------------------------------
    def _ask(self) -> None:
        self._asked = time.monotonic()
        self.counts_wanted.emit()

    def _change(self, name: str, value: Any) -> None:
        changes = {name: value}
        if name == "select_by":  # a range is of an attribute
            changes |= {"select_from": -FAR, "select_to": FAR}
        for one, new in changes.items():
            self._document.change(f"settings.spheres.{one}", new, "choose spheres")
        self._document.end_merge()

    def _select(self, low: float | None, high: float | None) -> None:
        if not self.options.select_by:
            self._document.change("settings.spheres.select_by", self.options.counted, "select spheres")
        ends = {"select_from": -FAR if low is None else low, "select_to": FAR if high is None else high}
        for name, value in ends.items():
            self._document.change(f"settings.spheres.{name}", value, "select spheres")

    def _changed(self, before: State, after: State) -> None:
        if (before.settings.spheres, before.settings.contours) != (after.settings.spheres, after.settings.contours):
            self._show()

    def _show_scene(self, scene: Scene | None) -> None:
        names = attributes.names_of(scene) if scene is not None else ()
        for box in self.names.values():
            blocker = QSignalBlocker(box)
            box.clear()
            box.addItem(self.tr("nothing"), "")
            for name in names:
                box.addItem(name, name)
            box.setEnabled(bool(names))
            del blocker
        self.take_counts(None)
        self._show()

    def _show(self) -> None:
        options = self.options
        for name, box in self.names.items():
            blocker, value = QSignalBlocker(box), getattr(options, name)
            if box.findData(value) < 0:  # of another scene
                box.addItem(value, value)
            box.setCurrentIndex(box.findData(value))
            del blocker
        for name, editor in self.editors.items():
            editor.set_value(getattr(options, name))
        for name, editor in self.contours.items():
            editor.set_value(getattr(self._document.state.settings.contours, name))
        self._show_ends()
        self.range.show_range(
            None if options.select_from <= -FAR else options.select_from,
            None if options.select_to >= FAR else options.select_to,
        )
        if not options.counted:
            self.take_counts(None)
        self.take_frame()

    def _show_ends(self) -> None:
        """The ends of the colours: those that are chosen, or those that the attribute has."""
        options, scene = self.options, self._document.scene
        is_automatic = options.automatic and scene is not None and bool(options.color_by)
        own = attributes.range_of(scene, options.color_by) if is_automatic and scene is not None else None
        for name, end in zip(("minimum", "maximum"), own or (options.minimum, options.maximum), strict=True):
            self.editors[name].set_value(end)
            self.editors[name].setEnabled(bool(options.color_by) and not options.automatic)

    def _are_hidden(self, name: str) -> bool:
        """Whether what has an attribute is hidden, all of it."""
        scene, hidden = self._document.scene, self._document.state.hidden
        things = enumerate(scene.objects) if scene is not None else ()
        groups = scene.spheres if scene is not None else ()
        bearers = [
            index
            for index, thing in things
            if thing.spheres >= 0 and attributes.column(groups[thing.spheres], name) is not None
        ]
        return bool(bearers) and set(bearers) <= set(hidden)

    def _say_nothing(self) -> None:
        scene, name = self._document.scene, self.options.counted
        if scene is None or not scene.sphere_count:
            self.figures.setText(self.tr("The scene has no spheres."))
        elif name and all(attributes.column(group, name) is None for group in scene.spheres):
            self.figures.setText(self.tr("No spheres of this scene have {name}.").format(name=name))
        else:
            self.figures.setText(self.tr("Choose an attribute to see how many spheres have how much of it."))
