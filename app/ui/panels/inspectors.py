"""The panels that look into a picture, and their wiring: the heat map's counts, what was picked, the boxes' levels,
and what each key frame costs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from raygrove.app.camera.gestures import Gestures
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.frame_history import Sample
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.frames.legends import legend_of
from raygrove.app.frames.node_path import PathNode
from raygrove.app.playback import timeline as timelines
from raygrove.app.ui.panels.boxes_panel import BoxesPanel
from raygrove.app.ui.panels.brought_panel import BroughtPanel
from raygrove.app.ui.panels.clip_panel import ClipPanel
from raygrove.app.ui.panels.cost_panel import CostPanel
from raygrove.app.ui.panels.heat_panel import STEPS, HeatPanel, is_read
from raygrove.app.ui.panels.objects_panel import ObjectsPanel
from raygrove.app.ui.panels.pick_panel import PickPanel
from raygrove.app.ui.panels.scene_edit_panels import LightsPanel, MaterialsPanel
from raygrove.app.ui.panels.spheres_panel import SpheresPanel
from raygrove.app.ui.picture.marks import Marks
from raygrove.app.ui.picture.pointer import Pointer
from raygrove.app.ui.picture.view_hint import ViewHint
from raygrove.app.ui.session.figures import Figures
from raygrove.app.ui.session.frame_loop import FrameLoop
from raygrove.app.ui.session.inspection import Inspected, Inspection
from raygrove.app.ui.widgets.scrolled import panel_of
from raygrove.gpu.scene import Scene

if TYPE_CHECKING:
    from raygrove.app.frames.questions import Picked
    from raygrove.gpu.engine import Hit

Place = tuple[str, str, QWidget, Qt.DockWidgetArea]
"""A panel's name, its title, the panel, and the side of the window where it stands first."""


class Inspectors(QObject):
    """Makes the panels and answers for them. `legend_changed` carries the scale that the legend over the picture shows,
    or None; `laid_on` the picture that what is drawn over it lies on."""

    legend_changed = Signal(object)
    laid_on = Signal(object)

    def __init__(self, document: Document, parent: QObject, gestures: Gestures, inspection: Inspection) -> None:
        super().__init__(parent)
        self._document, self._inspection = document, inspection
        self._loop: FrameLoop | None = None
        self._figures: Figures | None = None
        self._docks: dict[str, QDockWidget] = {}
        self._brought: dict[str, BroughtPanel] = {}
        self._range: tuple[float, float] | None = None
        self._coloured: object = None  # by what the newest picture has its colours
        self._asked_at: tuple[float, float] | None = None
        self.company: list[QWidget] = []  # panels that show what is picked, too: where one is seen, it stays in front
        self.heat, self.pick = HeatPanel(document), PickPanel(gestures)
        self.boxes, self.cost = BoxesPanel(document), CostPanel()
        self.objects, self.clip = ObjectsPanel(document), ClipPanel(document)
        self.spheres, self.hint = SpheresPanel(document), ViewHint(document)
        self.materials, self.lights = MaterialsPanel(document), LightsPanel(document)
        self.cost.jumped.connect(self._jump)
        self.pick.jumped.connect(self._jump)
        self.spheres.counts_wanted.connect(
            lambda: self._ask("spheres", lambda maker: maker.attribute_counts(), self.spheres.take_counts)
        )
        self.marks, self.pointer = Marks(document), Pointer(self, gestures)
        self.pointer.hovered.connect(self._count_at)
        self.pointer.left.connect(lambda: self.heat.point_at(None))
        self.pointer.clicked.connect(self.pick_at)
        inspection.changed.connect(self._follow_selection)
        self.pick.mode_changed.connect(self._set_mode)
        self.pick.path_shown.connect(self.marks.show_path)
        self.pick.path_shown.connect(self._select_node)
        self.pick.cells_shown.connect(self.marks.show_cells)
        self.pick.near_wanted.connect(self._ask_near)
        self.pick.near_shown.connect(self.marks.show_near)
        self.pick.region_wanted.connect(lambda region: document.change("selection.region", region))
        self.heat.scale_changed.connect(self._take_range)
        document.observe(self._changed)
        document.on_scene.append(self._open)

    def places(self) -> tuple[Place, ...]:
        """Name, title, widget and side of each dock; none is shown at first."""
        right = Qt.DockWidgetArea.RightDockWidgetArea
        return (
            ("heat", self.tr("Heat map"), self.heat, right),
            ("pick", self.tr("Picked"), self.pick, right),
            ("boxes", self.tr("Boxes"), self.boxes, right),
            ("objects", self.tr("Objects"), self.objects, Qt.DockWidgetArea.LeftDockWidgetArea),
            ("clip", self.tr("Clipping plane"), self.clip, Qt.DockWidgetArea.LeftDockWidgetArea),
            ("spheres", self.tr("Spheres"), self.spheres, Qt.DockWidgetArea.LeftDockWidgetArea),
            ("materials", self.tr("Materials"), self.materials, Qt.DockWidgetArea.LeftDockWidgetArea),
            ("lights", self.tr("Lights"), self.lights, Qt.DockWidgetArea.LeftDockWidgetArea),
            ("cost", self.tr("Cost over time"), self.cost, Qt.DockWidgetArea.BottomDockWidgetArea),
        )

    def take_docks(self, window: QMainWindow, docks: list[QDockWidget]) -> None:
        """The docks that the window made of `places`: those at the right share one place, the costs lie over the
        timeline."""
        self._docks = {name: dock for name, _, widget, _ in self.places() for dock in docks if panel_of(dock) is widget}
        self._brought = {name: BroughtPanel(window, self._docks[name]) for name in ("heat", "boxes")}
        first, *others = (self._docks[name] for name in ("heat", "pick", "boxes"))
        for dock in others:
            window.tabifyDockWidget(first, dock)
        timeline = next(dock for dock in docks if dock.objectName() == "dock.timeline")
        window.splitDockWidget(self._docks["cost"], timeline, Qt.Orientation.Vertical)

    def attach(self, loop: FrameLoop, figures: Figures) -> None:
        """Hear of frames, and ask about them; hear which frame is pinned."""
        self._loop, self._figures = loop, figures
        figures.pin_changed.connect(self._show_pinned)
        figures.taken.connect(self._take_costs)
        figures.told.connect(lambda: self.cost.say_why(figures.why))
        self.hint.sight.attach(loop)
        loop.frame_arrived.connect(self._take)
        self.cost.watched.connect(loop.time_every_frame)
        if self.cost.isVisible():
            loop.time_every_frame(True)

    def lie_on(self, picture: QWidget) -> None:
        """Watch the pointer over a picture, and mark it."""
        self.pointer.watch(picture)
        self.marks.lie_on(picture)
        self.hint.lie_on(picture)
        self.laid_on.emit(picture)

    def legend(self) -> Any:
        """The scale of the colours of the picture that is seen, with its range where that is automatic; None where they
        mean no number, or nothing is open. What was chosen since is that of a picture to come."""
        scene, state = self._document.scene, self._document.state
        frame = self._loop.last_frame if self._loop is not None else None
        if frame is not None and self._is_of_now(frame):
            state = frame.request.state
        return legend_of(state, scene, self._range) if scene is not None else None

    def pick_at(self, across: float, down: float) -> None:
        """Select a place of the picture, from 0 to 1 of its width and height, and show what lies there."""
        self._asked_at = (across, down)
        self._inspection.select(pixel=self._asked_at, primitive=None)
        self._ask_picked(across, down, raises=not any(panel.isVisible() for panel in self.company))

    def clear(self) -> None:
        """Another scene begins."""
        self._range = None
        self.heat.clear()
        self.pick.clear()
        self.boxes.clear()
        self.objects.collisions.clear()
        self.cost.begin(self._document.span)
        self.marks.show_point(None)

    # -- what happens ---------------------------------------------------------------------------------------------
    def _open(self, scene: Scene | None) -> None:
        self.clear()
        self.pick.take_scene(scene)

    def _take(self, frame: FinishedFrame) -> None:
        self.heat.take(frame)
        if (coloured := _colours_of(frame.request.state)) != self._coloured:
            self._coloured = coloured
            self.legend_changed.emit(self.legend())
        if self._figures is None or self._figures.pinned is None:
            self.boxes.take(frame)
        self._show_contents(frame)
        self.spheres.take_frame()
        if self._is_of_now(frame):
            self.objects.collisions.take(frame)

    def _take_costs(self, sample: Sample) -> None:
        if self._is_of_now(sample.frame):
            self.cost.take(sample)

    def _show_pinned(self, pinned: Sample | None) -> None:
        """The frame whose figures count, until it is let go: then the newest."""
        frame = pinned.frame if pinned is not None else self._loop.last_frame if self._loop is not None else None
        self.heat.pin(pinned.frame if pinned is not None else None)
        if frame is not None:
            self.boxes.take(frame)
        seconds = pinned.frame.request.moment.time if pinned is not None else self._document.state.timeline.time
        self.cost.show_time(seconds)

    def _show_contents(self, frame: FinishedFrame) -> None:
        if not self._document.state.selection.region.is_there:
            return
        no_rays = self.tr("What OpenGL draws is not counted: choose Structure > Spheres drawn by > Rays.")
        self.pick.show_contents(frame.contents if frame.spheres is None else no_rays)

    def _is_of_now(self, frame: FinishedFrame) -> bool:
        """Whether a frame shows the scene and the clip that are open: one that was being drawn when another was opened
        comes after it."""
        request = frame.request
        return (
            request.scene is self._document.scene and request.state.timeline.clip == self._document.state.timeline.clip
        )

    def _take_range(self, ends: tuple[float, float]) -> None:
        if self.pointer.place is not None and self.heat.pointed is not None:
            self._count_at(*self.pointer.place)  # the picture moves on under a pointer that rests
        if ends != self._range:
            self._range = ends
            self.legend_changed.emit(self.legend())

    def _count_at(self, across: float, down: float) -> None:
        is_wanted = self.heat.isVisible() and not self.heat.bar.is_frozen
        shown = self._document.state.settings.render.ray_type
        if not is_wanted or self._document.scene is None or not is_read(shown):
            return
        question = (
            (lambda maker: maker.steps(across, down)) if shown == STEPS else (lambda maker: maker.reading(across, down))
        )
        self._ask("steps", question, self.heat.point_at)

    def _follow_selection(self, before: Inspected, after: Inspected) -> None:
        """Another panel chose a place of the picture: what is picked is there, where it is shown."""
        if after.pixel is not None and after.pixel not in (before.pixel, self._asked_at) and self.pick.isVisible():
            self._asked_at = after.pixel
            self._ask_picked(*after.pixel, raises=False)

    def _ask_picked(self, across: float, down: float, *, raises: bool) -> None:
        question = functools.partial(_pick, across=across, down=down)
        self._ask("pick", question, lambda picked: self._show_picked(picked, raises=raises))

    def _show_picked(self, picked: Picked | None, *, raises: bool) -> None:
        self.pick.show_picked(picked, self._document.scene, self._document.state.settings.spheres.color_by)
        self.pick.show_time(self._document.state.timeline.time)
        hit = picked.hit if picked is not None else None
        self.marks.show_point(hit.position if hit is not None else None)
        primitive, of = (hit.prim_id, hit.object_id) if hit is not None else (None, -1)
        self._inspection.select(primitive=primitive, object=of)
        if raises:
            self._show_dock("pick")

    def _select_node(self, path: tuple[PathNode, ...]) -> None:
        """A node of the path is chosen by itself."""
        if len(path) == 1 and path[0].told is not None:
            self._inspection.select(node=path[0].told)

    def drag_region(self, centre: tuple[float, float, float], size: float) -> None:
        """A region is dragged in the picture: from its centre so far, in scene units."""
        self.pick.drag_region(centre, size)
        self._show_dock("pick")

    def _ask_near(self, hit: Hit, count: int) -> None:
        self._ask("near", lambda maker: maker.near(hit, count), lambda found: self.pick.show_near(hit, found))

    def _set_mode(self, picks_always: bool) -> None:
        self.pointer.picks_always = picks_always

    def _changed(self, before: State, after: State) -> None:
        old, new = before.settings.render.ray_type, after.settings.render.ray_type
        if is_read(new) and old != new:
            self.heat.clear()
            self._bring("heat")
        elif is_read(old) and not is_read(new):
            self._give_back("heat")
        if before.settings.window.workspace != after.settings.window.workspace:
            for brought in self._brought.values():
                brought.keep()  # another arrangement, in which it may have a place of its own
        if before.timeline.clip != after.timeline.clip:
            self.cost.begin(self._document.span)
        if before.timeline.time != after.timeline.time:
            if self._figures is None or self._figures.pinned is None:
                self.cost.show_time(after.timeline.time)
            self.pick.show_time(after.timeline.time)
        if before.selection.region != after.selection.region:
            self.pick.show_region(after.selection.region)
        if after.settings.clip.on and not before.settings.clip.on:
            self._show_dock("clip")
        if after.settings.boxes.show and not before.settings.boxes.show:
            self._bring("boxes")
        elif before.settings.boxes.show and not after.settings.boxes.show:
            self._give_back("boxes")
        if after.settings.collisions.show and not before.settings.collisions.show:
            self._show_dock("objects")
        if self.marks.isVisible() and tree_of(before) != tree_of(after):
            self.marks.show_path(())  # the boxes were those of another tree
            self.marks.show_cells({})
            self.marks.show_point(None)
            self.marks.show_near(None)

    def _jump(self, seconds: float) -> None:
        head = timelines.pause(self._document.state.timeline)
        self._document.change("timeline", timelines.scrub(head, seconds, self._document.span))

    def _bring(self, name: str) -> None:
        """Show a panel with what it tells of."""
        if name in self._brought:
            self._brought[name].bring()

    def _give_back(self, name: str) -> None:
        if name in self._brought:
            self._brought[name].give_back()

    def _show_dock(self, name: str) -> None:
        dock = self._docks.get(name)
        if dock is not None:
            dock.show()
            dock.raise_()

    def _ask(self, key: str, question: Callable[[Any], Any], take: Callable[[Any], None]) -> None:
        if self._loop is not None:
            self._loop.ask(key, question, take)


def _pick(maker: Any, across: float, down: float) -> Picked | None:
    found: Picked | None = maker.pick(across, down, with_path=True)
    return found


def _colours_of(state: State) -> object:
    """What the legend of a picture depends on, beside a range that is fitted to it."""
    settings, rays = state.settings, state.ray_type_of()
    return rays, settings.ray_type_options(rays), settings.spheres, settings.display.spheres


def tree_of(state: State) -> object:
    """What the boxes of a picked primitive depend on: the instant, what is shown of the scene, and the structure."""
    render, views = state.settings.render, state.views
    return (
        state.timeline.time,
        state.timeline.clip,
        state.hidden,
        render.hierarchy,
        render.optimiser,
        render.layout,
        views,
    )
