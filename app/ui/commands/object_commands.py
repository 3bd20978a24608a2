"""What is done to objects and to the clipping plane: each command is one step of undo. No widget here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from raygrove.app.document.document import Document
from raygrove.app.edits import objects
from raygrove.gpu.camera import Vector
from raygrove.gpu.clip import ClipOptions, position_of


class ObjectCommands:
    """Commands on the open scene's objects. Without an object they act on the one that is selected; `say` takes a
    sentence for the status bar."""

    def __init__(self, document: Document, say: Callable[[str], None] = lambda sentence: None) -> None:
        self._document, self._say = document, say

    @property
    def count(self) -> int:
        """Objects of the open scene."""
        scene = self._document.scene
        return len(scene.objects) if scene is not None else 0

    @property
    def selected(self) -> int:
        """The object that is selected, -1 for none."""
        return self._document.state.selection.object

    def select(self, index: int) -> None:
        """Mark an object in the picture; -1 marks none. No step of undo: nothing but the mark changes."""
        self._document.change("selection.object", index)

    def set_visible(self, index: int, is_visible: bool) -> None:
        """Show or leave out one object."""
        hidden = set(self._document.state.hidden)
        self._change(hidden - {index} if is_visible else hidden | {index})

    def hide(self, index: int | None = None) -> None:
        """Leave an object out."""
        chosen = self._chosen(index)
        if chosen >= 0:
            self.set_visible(chosen, False)

    def isolate(self, index: int | None = None) -> None:
        """Leave all others out; done again, show all."""
        chosen = self._chosen(index)
        if chosen < 0:
            return
        others = set(range(self.count)) - {chosen}
        self._change(set() if set(self._document.state.hidden) == others else others)

    def show_all(self) -> None:
        """Leave nothing out."""
        self._change(set())

    def _chosen(self, index: int | None) -> int:
        chosen = self.selected if index is None else index
        if not 0 <= chosen < self.count:
            self._say("Select an object first: click on it in the picture or in View > Objects.")
            return -1
        return chosen

    def _change(self, hidden: set[int]) -> None:
        self._document.end_merge()
        self._document.change("hidden", objects.in_order(hidden))


class ClipCommands:
    """Commands on the clipping plane."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @property
    def options(self) -> ClipOptions:
        """The plane as it is."""
        return self._document.state.settings.clip

    def toggle(self) -> None:
        """Cut, or do not."""
        self.set(on=not self.options.on)

    def flip(self) -> None:
        """See the other side; begins to cut where nothing is cut."""
        self.set(on=True, flip=not self.options.flip if self.options.on else self.options.flip)

    def move(self, position: float) -> None:
        """Put the plane elsewhere; the moves of a drag are one step of undo."""
        self._document.change("settings.clip.position", min(max(position, 0.0), 1.0), "clip position")

    def cut_here(self, point: Vector) -> None:
        """A plane through a point that faces the camera: what is nearer than the point is taken away."""
        scene = self._document.scene
        if scene is None:
            return
        x, y, z = (-np.round(self._document.state.camera_of(0).basis()[2], 9)).tolist()
        options = dataclasses.replace(self.options, on=True, axis="normal", normal=(x, y, z), flip=False)
        self.set(**(dataclasses.asdict(options) | {"position": position_of(options, point, scene.lower, scene.upper)}))

    def set(self, **changes: object) -> None:
        """Change several things in one step."""
        self._document.end_merge()
        self._document.change("settings.clip", dataclasses.replace(self.options, **changes))  # type: ignore[arg-type]
