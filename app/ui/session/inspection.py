"""The one selection that the panels of the laboratory share: a pixel, its ray, a warp, a node, a primitive, an object.
Every panel shows the same one, and each may set it."""

from __future__ import annotations

import dataclasses
from typing import Any

from PySide6.QtCore import QObject, Signal

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.edits.objects import names_of
from raygrove.gpu.scene import Scene

PRIMARY = "primary"


@dataclasses.dataclass(frozen=True)
class Inspected:
    """What is selected, part by part; None, and of the object -1: nothing.

    `pixel` is a place in the picture, from 0 to 1 of its width and height, so that it stays one when pictures get
    another size. `ray` says which ray of that pixel: `primary`, or what the ray type calls it. `warp` is the column and
    row of a tile of 8 x 4 pixels. `node` is what events of the traversal call it (gpu/device/traversal_events.cuh): a
    node, or below zero ~ a leaf's first reference. `primitive` and `object` are the scene's numbers; the pixel and
    the object are those that the document has selected."""

    pixel: tuple[float, float] | None = None
    ray: str = PRIMARY
    warp: tuple[int, int] | None = None
    node: int | None = None
    primitive: int | None = None
    object: int = -1


class Inspection(QObject):
    """See the module. `changed` carries the selection before and the one there is now; `counted` the HotSpots of the
    picture when they were counted, None when they are of another picture than is shown; `panel_wanted` names the panel
    that is to come to the front, which then shows what is selected."""

    changed = Signal(object, object)
    counted = Signal(object)
    panel_wanted = Signal(str)

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.now = self._kept()
        self._named: Scene | None = None
        self._names: tuple[str, ...] = ()
        document.observe(self._take_kept)
        document.on_scene.append(self._begin)

    def select(self, **parts: Any) -> None:
        """Select these parts and leave the others: `select(pixel=(0.5, 0.5), node=None)`. TypeError for a part that
        there is not."""
        after = dataclasses.replace(self.now, **parts)
        self._set(after)
        kept = self._document.state.selection
        chosen = dataclasses.replace(kept, object=self.now.object, pixel=self.now.pixel or ())
        if chosen != kept:
            self._document.change("selection", chosen)

    def name_of(self, index: int) -> str:
        """What an object is called everywhere; "" for none."""
        scene = self._document.scene
        if scene is None or not 0 <= index < len(scene.objects):
            return ""
        if self._named is not scene:
            self._named, self._names = scene, names_of(scene)
        return self._names[index]

    def clear(self) -> None:
        """Select nothing but the object that is."""
        self.select(pixel=None, warp=None, node=None, primitive=None, ray=PRIMARY)

    def _set(self, after: Inspected) -> None:
        before, self.now = self.now, after
        if after != before:
            self.changed.emit(before, after)

    def _take_kept(self, before: State, after: State) -> None:
        old, new = before.selection, after.selection
        if (old.object, old.pixel) != (new.object, new.pixel):
            kept = self._kept()
            self._set(dataclasses.replace(self.now, object=kept.object, pixel=kept.pixel))

    def _kept(self) -> Inspected:
        """What the document has of it."""
        kept = self._document.state.selection
        return Inspected(object=kept.object, pixel=(kept.pixel[0], kept.pixel[1]) if kept.pixel else None)

    def _begin(self, scene: Scene | None) -> None:
        """Another scene: numbers of the one before mean nothing in it."""
        self._named, self._names = None, ()
        self._set(self._kept())
