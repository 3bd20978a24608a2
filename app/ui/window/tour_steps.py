"""The steps of the tour: what each says, what it prepares, and where it points."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QDockWidget, QWidget

from raygrove.app.document.document import Document


class Toured(Protocol):
    """The window, as far as the tour leads through it."""

    document: Document
    docks: list[QDockWidget]

    @property
    def view(self) -> QWidget: ...
    @property
    def pipeline(self) -> QWidget: ...
    def open_demo(self, name: str) -> None: ...


@dataclasses.dataclass(frozen=True)
class Step:
    """A title, what to do and what to see, what is prepared when the step begins, and the widget that it is about."""

    title: str
    text: str
    prepare: Callable[[], object]
    place: Callable[[], QWidget]


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("Tour", text)


class Preparation:
    """What the steps prepare in a window, and where they point."""

    def __init__(self, window: Toured) -> None:
        self._window, self._change = window, window.document.change

    def dock(self, name: str) -> QDockWidget:
        """A panel."""
        return next(one for one in self._window.docks if one.objectName() == f"dock.{name}")

    def show_dock(self, name: str) -> None:
        """Show a panel in front."""
        self.dock(name).show()
        self.dock(name).raise_()

    def open_scene(self, name: str) -> None:
        """Open a built-in scene, unless it is open."""
        reference = self._window.document.state.scene
        if (reference.kind, reference.names) != ("demo", (name,)):
            self._window.open_demo(name)

    def begin(self) -> None:
        """Much that moves, shaded."""
        self._change("settings.render.ray_type", "smooth")
        self.open_scene("orbit")

    def refit(self) -> None:
        """What refitting does worst, and its cost."""
        self.open_scene("explode")
        self._change("settings.update.mode", "refit")
        self.show_dock("cost")

    def count(self) -> None:
        """The work of each ray."""
        self._change("settings.update.mode", "rebuild")
        self._change("settings.render.ray_type", "steps")
        self.dock("cost").hide()
        self.show_dock("heat")

    def light(self) -> None:
        """Mirrors in mirrors."""
        self._change("settings.render.ray_type", "whitted")
        self.open_scene("metal")


def steps(window: Toured) -> tuple[Step, ...]:
    """The six steps in a window."""
    there = Preparation(window)
    ways: tuple[tuple[Callable[[], object], Callable[[], QWidget]], ...] = (
        (there.begin, lambda: window.view),
        (lambda: there.open_scene("orbit"), lambda: window.pipeline),
        (lambda: there.show_dock("stats"), lambda: there.dock("stats")),
        (there.refit, lambda: there.dock("cost")),
        (there.count, lambda: there.dock("heat")),
        (there.light, lambda: window.view),
    )
    return tuple(Step(*text, *way) for text, way in zip(texts(), ways, strict=True))


def texts() -> tuple[tuple[str, str], ...]:
    """Title and text of each step."""
    return (
        (
            tr("Look around"),
            tr(
                "Every frame, this scene is animated, its structure rebuilt, and rays are cast through it. Drag in the "
                "picture to orbit, turn the wheel to zoom, press Space to pause and the arrow keys to step."
            ),
        ),
        (
            tr("The pipeline of a frame"),
            tr(
                "This row says what is chosen and what each part costs; the bar below is the frame, by phase. Click "
                "Structure: arrow keys try another one, Return keeps it, Esc takes it back."
            ),
        ),
        (
            tr("Read the figures"),
            tr(
                "Median and range of each phase over the last second; the phases add up to the frame. Click one of the "
                "bars on top to hold that frame's figures, and press Esc to let go."
            ),
        ),
        (
            tr("Refit or rebuild?"),
            tr(
                "A ball bursts, and its structure is only refitted: boxes swell, and rays pay for it. Play it through, "
                "then choose Rebuild every frame or Automatic under Update, and compare the lines that Cost shows, at "
                "the right of the timeline."
            ),
        ),
        (
            tr("Where the work is"),
            tr(
                "Each pixel is coloured by the steps of its ray through the structure. The panel counts boxes, "
                "primitives or both; Shift and a click say which nodes lead to the triangle under the pointer."
            ),
        ),
        (
            tr("Light, and your own model"),
            tr(
                "Mirrors, glass, soft shadows and path tracing are ray types like any other, on every structure. Press "
                "Ctrl+O, or drop a model or a numbered sequence onto the window, to look at your own."
            ),
        ),
    )
