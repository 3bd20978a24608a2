"""Collisions of objects: show them or not, between which, and how many there are in the picture."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout, QWidget

from raygrove.app.document.document import Document
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.settings.collision_options import CollisionOptions
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.form import Editor
from raygrove.app.ui.widgets.steady import Steady
from raygrove.gpu.brief import filled
from raygrove.gpu.settings import fields_of
from raygrove.gpu.stats import Collisions

TITLES = {"show": "Show collisions", "between": "Between", "opacity": "Opacity"}


class CollisionControls(QWidget):
    """See the module. `take` is called with every frame."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.found: Collisions | None = None
        self.sentence = Label(self)
        self.sentence.setObjectName("collisions")
        self.editors = {field.name: Editor(field, parent=self) for field in fields_of(CollisionOptions)}
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        for name, title in TITLES.items():
            self.editors[name].edited.connect(
                lambda value, name=name: document.change(f"settings.collisions.{name}", value)
            )
            form.addRow(self.tr(title), self.editors[name])
        form.addRow(Steady(self.sentence, 2))
        document.observe(
            lambda before, after: self._show() if before.settings.collisions != after.settings.collisions else None
        )
        self._show()

    def take(self, frame: FinishedFrame) -> None:
        """Say how many a frame has."""
        if frame.collisions is not self.found:
            self.found = frame.collisions
            self._say()

    def clear(self) -> None:
        """Another scene begins."""
        self.found = None
        self._say()

    def _show(self) -> None:
        options = self._document.state.settings.collisions
        for name, editor in self.editors.items():
            editor.set_value(getattr(options, name))
        self._say()

    def _say(self) -> None:
        found = self.found
        if found is None:
            self.sentence.setText(self.tr("Primitives of different objects that touch are marked and counted."))
            return
        if found.why_not:
            self.sentence.setText(found.why_not)
            return
        text = self.tr("{pairs} colliding pairs of {primitives} primitives, found in {ms} ms.")
        self.sentence.setText(
            filled(text, pairs=f"{found.pairs:,}", primitives=f"{found.primitives:,}", ms=f"{found.find_ms:.1f}")
        )
