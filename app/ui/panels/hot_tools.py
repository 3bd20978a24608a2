"""Hot spots and divergence at work: they ask the engine between two frames, follow the one selection, and light up what
paid in the picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings import option_tables
from raygrove.app.settings.chosen_configuration import spelling_of, with_set_options
from raygrove.app.settings.race_options import CONTESTANTS, RACE, joined, raced_as
from raygrove.app.settings.settings import set_option
from raygrove.app.ui.panels.divergence_panel import DivergencePanel
from raygrove.app.ui.panels.hot_panel import HotPanel
from raygrove.app.ui.panels.inspectors import Inspectors, Place, tree_of
from raygrove.app.ui.panels.live_counting import LiveCounting
from raygrove.app.ui.panels.measured_tools import MeasuredTools
from raygrove.app.ui.panels.remedy_counting import RemedyCounting
from raygrove.app.ui.panels.selection_line import put_above
from raygrove.app.ui.picture.paid_marks import PaidMarks, same_proportions
from raygrove.app.ui.session import ray_choice
from raygrove.app.ui.session.inspection import Inspected
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.rays_choice import SensorPlaces
from raygrove.app.ui.widgets.scrolled import panel_of
from raygrove.gpu.configuration import parse
from raygrove.gpu.scene import Scene

if TYPE_CHECKING:
    from raygrove.gpu.analysis.divergence import Divergence
    from raygrove.gpu.analysis.hot_findings import HotFinding
    from raygrove.gpu.analysis.hot_spots import HotSpots, Spot

CALLED = {"node": "node", "triangle": "primitive"}
"""What the selection calls the lines that it knows."""


class HotTools(QObject):
    """See the module. Nothing is counted but what somebody asks for, once or live."""

    def __init__(self, session: Session, inspectors: Inspectors, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._lit: object = None
        self._warps_of = (0, 0)
        places = lambda: SensorPlaces(*ray_choice.places(session))  # noqa: E731
        self.hot, self.divergence, self.marks = HotPanel(places), DivergencePanel(places), PaidMarks()
        self.measured = MeasuredTools(session, inspectors, (self.hot, self.divergence), self)
        inspectors.laid_on.connect(self.marks.lie_on)
        inspectors.company += [self.hot, self.divergence]
        for panel in (self.hot, self.divergence):
            put_above(panel, session)
        self.live = LiveCounting(session, self.hot, self)
        self.remedies = RemedyCounting(session, self.hot, self)
        self._job: Job | None = None
        self.hot.wanted.connect(self._count)
        self.hot.show_options(session.document.state.settings.hot_spots)
        self.hot.option_chosen.connect(self._choose_option)
        self.hot.clip_wanted.connect(self._count_clip)
        self.hot.frame_wanted.connect(self._go_to)
        session.document.on_jobs.append(self._hear_jobs)
        self.hot.chosen.connect(self._light)
        self.hot.shown.connect(self._light_finding)
        self.hot.tried.connect(self._try)
        self.hot.tree_wanted.connect(self._show_in_tree)
        self.hot.seen.connect(self._see_hot)
        self.divergence.wanted.connect(self._count_warps)
        self.divergence.chosen.connect(self._show_tile)
        self.divergence.ray_wanted.connect(self._follow_longest)
        self.divergence.seen.connect(lambda: self._mark_tile(session.inspection.now))
        session.inspection.changed.connect(self._take_selection)
        session.document.observe(self._changed)
        session.document.on_scene.append(self._open)

    def places(self) -> tuple[Place, ...]:
        """Name, title, widget and side of each dock; none is shown at first."""
        right = Qt.DockWidgetArea.RightDockWidgetArea
        return (
            ("hot_spots", self.tr("Hot spots"), self.hot, right),
            ("divergence", self.tr("Divergence"), self.divergence, right),
        )

    def take_docks(self, window: QMainWindow, docks: list[QDockWidget]) -> None:
        """The docks that the window made of `places`: tabs of the heat map's place."""
        heat = next(dock for dock in docks if dock.objectName() == "dock.heat")
        for _, _, widget, _ in self.places():
            window.tabifyDockWidget(heat, next(dock for dock in docks if panel_of(dock) is widget))

    # -- what is asked ------------------------------------------------------------------------------------------------
    def _count(self, rays: str, kind: str) -> None:
        frame = self._session.loop.last_frame
        of = whose_rays(self._session.document.state, self._size(), frame.samples if frame is not None else 0)
        self._session.loop.ask(
            "hot_spots", lambda maker: maker.hot_spots(rays, kind), lambda found: self._show_hot(found, of)
        )

    def _choose_option(self, name: str, value: str) -> None:
        if getattr(self._session.document.state.settings.hot_spots, name) != value:
            self._session.document.change(f"settings.hot_spots.{name}", value)

    def _count_clip(self, rays: str, kind: str, some: int) -> None:
        """Frames of the clip in the background, at the size that is drawn now; the animation pauses, as both would use
        the same machine."""
        document = self._session.document
        scene, state, size = document.scene, document.state, self._size()
        if scene is None or not size[0]:
            self.hot.clear(self.tr("There is no picture by rays yet."))
            return
        if state.timeline.is_playing:
            document.change("timeline", timelines.pause(state.timeline))
        self.marks.show_paid(None)
        render = dataclasses.replace(state.settings.render, width=size[0], height=size[1])
        drawn = dataclasses.replace(state, settings=dataclasses.replace(state.settings, render=render))
        from raygrove.app.frames.hot_clips import clip_frames, count_clip  # with an engine of its own

        frames = clip_frames(drawn, scene, some)

        def done(job: Job) -> None:
            if document.scene is scene:
                self.hot.take_clip(job.result)

        work = lambda job: count_clip(job, scene, drawn, frames, rays, kind)  # noqa: E731
        self._job = document.start_job(self.tr("Counting hot spots:"), work, done)

    def _hear_jobs(self) -> None:
        if self._job is not None and self._job not in self._session.document.jobs:
            self._job = None
            self.hot.end_clip()

    def _go_to(self, seconds: float) -> None:
        document = self._session.document
        document.move_head(timelines.scrub(timelines.pause(document.state.timeline), seconds, document.span))

    def _count_warps(self) -> None:
        def take(found: Divergence | str | None) -> None:
            self._warps_of = self._size()
            self.divergence.take(found)

        self._session.loop.ask("divergence", lambda maker: maker.divergence(), take)

    def _show_hot(self, found: HotSpots | str | None, of: object) -> None:
        self.marks.show_paid(None)
        frame = self._session.loop.last_frame
        is_of_it = frame is not None and whose_rays(frame.request.state, frame.drawn, frame.samples) == of
        self.hot.take(found, of=of if is_of_it else object())  # asked before its picture was there: of an earlier one
        self._session.inspection.counted.emit(None if isinstance(found, str) else found)
        self._see_hot(is_seen=self.hot.isVisible())

    def _light(self, spot: Spot | None) -> None:
        """The pixels that paid at a line of the table."""
        found, by = self.hot.found, self.hot.listed
        if spot is None or found is None:
            live = self.hot.live_list
            if spot is not None and live is not None and live.by in CALLED:
                self._session.inspection.select(**{CALLED[live.by]: spot.number})
            self._show_paid(None, None)
            return
        if by == "node":
            self._session.inspection.select(node=self._node_of(spot))
            self._ask_paid(found, [spot.number], ())
        elif by == "depth":
            self._ask_paid(found, np.flatnonzero(found.table.depth == spot.number).tolist(), ())
        elif by == "triangle":
            owners = found.owners
            of = int(owners.objects[spot.number]) if owners is not None else -1
            self._session.inspection.select(primitive=spot.number, object=of)
            self._ask_paid(found, (), [spot.number])
        elif found.owners is not None:
            owner = getattr(found.owners, f"{by}s")
            self._ask_paid(found, (), np.flatnonzero(owner == spot.number).tolist())

    def _light_finding(self, finding: HotFinding) -> None:
        if self.hot.found is not None:
            self._ask_paid(self.hot.found, finding.nodes, finding.primitives)

    def _ask_paid(self, found: HotSpots, nodes: Sequence[int], primitives: Sequence[int]) -> None:
        self._lit = token = object()
        self._session.loop.ask(
            "paid", lambda maker: maker.paid(found, nodes, primitives), lambda paid: self._show_paid(token, paid)
        )

    def _show_paid(self, token: object, paid: np.ndarray | None) -> None:
        if token is None or token is self._lit:
            self._lit = token
            self.marks.show_paid(paid)

    def _try(self, finding: HotFinding) -> None:
        """Add the remedy to the race, beside what was counted: one step of undo. Where that races already, by its
        policy, else by the one that is chosen; where the scene stands still, made once."""
        document, found = self._session.document, self.hot.found
        if found is None:
            return
        settings = document.state.settings
        counted, remedy = (with_set_options(settings, one) for one in (found.configuration, finding.configuration))
        there = raced_as(settings.race, counted)
        policy = str(parse(there).policy or "rebuild") if there else spelling_of(settings).rpartition("@")[2]
        then = str(parse(remedy).policy or policy)
        stands = document.span.duration <= 0.0
        texts = [there or _followed(counted, policy, stands), _followed(remedy, then, stands)]
        settings = set_option(settings, CONTESTANTS, ", ".join(joined(settings.race, texts)))
        document.change("settings", set_option(settings, "window.workspace", RACE))

    # -- what happens -------------------------------------------------------------------------------------------------
    def _show_tile(self, tile: tuple[int, int] | None) -> None:
        found = self.divergence.found
        size = self._size()
        is_counted = size[0] > 0 and same_proportions(size, self._warps_of)
        if tile is None or found is None or not is_counted:
            self.marks.show_tile(None)
            if found is not None and not is_counted:
                self.divergence.mark_old()
            return
        from raygrove.gpu.analysis.divergence import HEIGHT, WIDTH  # what has counted has imported it

        column, row = tile
        self._session.inspection.select(warp=tile)
        width, height = WIDTH / size[0], HEIGHT / size[1]
        self.marks.show_tile((column * width, row * height, width, height))

    def _take_selection(self, before: Inspected, after: Inspected) -> None:
        if after.pixel != before.pixel:
            self._mark_pixel(after)
            self._mark_tile(after)
            if after.warp is not None and after.warp == before.warp:
                self._session.inspection.select(warp=self._tile_of(after.pixel))  # the other was another pixel's
        if after.node != before.node:
            self._mark_line(after)

    def _see_hot(self, is_seen: bool) -> None:
        """The panel comes to the front: what was selected meanwhile."""
        if is_seen:
            self._mark_pixel(self._session.inspection.now)
            self._mark_line(self._session.inspection.now)

    def _mark_pixel(self, now: Inspected) -> None:
        """The nodes that the ray of the selected pixel entered."""
        place = now.pixel
        if place is not None and self.hot.isVisible() and self.hot.found is not None:
            self._session.loop.ask("pixel", lambda maker: maker.nodes_of_pixel(*place), self._mark_nodes)

    def _mark_tile(self, now: Inspected) -> None:
        """The warp of the selected pixel."""
        tile = self._tile_of(now.pixel)
        if tile is not None and self.divergence.isVisible() and self.divergence.found is not None:
            self.divergence.select_tile(tile)
            self._show_tile(tile)

    def _tile_of(self, place: tuple[float, float] | None) -> tuple[int, int] | None:
        """The warp of a pixel."""
        size = self._size()
        if place is None or not size[0]:
            return None
        from raygrove.gpu.analysis.divergence import HEIGHT, WIDTH  # what has counted has imported it

        return int(place[0] * size[0]) // WIDTH, int(place[1] * size[1]) // HEIGHT

    def _mark_line(self, now: Inspected) -> None:
        """The line of the selected node."""
        found = self.hot.found
        if now.node is None or not self.hot.isVisible():
            return
        if self.hot.live_list is not None:
            self.hot.select_node(now.node)
        elif found is not None:
            rows = np.flatnonzero(np.asarray(found.table.event_ids) == now.node)
            if len(rows):
                self.hot.select_node(int(rows[0]))

    def _show_in_tree(self, spot: Spot) -> None:
        """The node of a line, or the leaf of its triangle."""
        if self.hot.listed == "triangle":
            self._session.inspection.select(node=None, primitive=spot.number)
        else:
            self._session.inspection.select(node=self._node_of(spot))
        self._session.inspection.panel_wanted.emit("tree")

    def _node_of(self, spot: Spot) -> int | None:
        """What events call the node of a line: live lists do so, too, tables have it in a row."""
        ids = self.hot.found.table.event_ids if self.hot.found is not None else None
        return spot.number if self.hot.live_list is not None else None if ids is None else int(ids[spot.number])

    def _follow_longest(self, tile: tuple[int, int]) -> None:
        def take(place: tuple[float, float] | None) -> None:
            if place is not None:
                self._session.inspection.select(pixel=place, primitive=None)  # that was another ray's
                self._session.inspection.panel_wanted.emit("ray")

        self._session.loop.ask("longest", lambda maker: maker.longest_ray(*tile), take)

    def _mark_nodes(self, rows: np.ndarray | None) -> None:
        if rows is not None:
            self.hot.mark_nodes(frozenset(rows.tolist()))

    def _changed(self, before: State, after: State) -> None:
        if before.settings.hot_spots != after.settings.hot_spots:
            self.hot.show_options(after.settings.hot_spots)
        rays, others = before.settings.rays.measured, after.settings.rays.measured
        is_seen = before.camera_of(0) == after.camera_of(0)
        if tree_of(before) != tree_of(after) or not is_seen or rays != others:
            self._lit = None
            self.hot.mark_old(is_playing=after.timeline.is_playing)
            self._session.inspection.counted.emit(None)
            self.divergence.mark_old()
            self.marks.show_paid(None)
            self.marks.show_tile(None)

    def _open(self, scene: Scene | None) -> None:
        self.hot.clear()
        self.divergence.clear()

    def _size(self) -> tuple[int, int]:
        frame = self._session.loop.last_frame
        return frame.drawn if frame is not None else (0, 0)


def whose_rays(state: State, size: tuple[int, int], samples: int) -> object:
    """What the rays of a picture of so many samples follow from beside the structure: equal for the same rays. Its
    first sample is counted, in the structure of the last one's instant: another one while the shutter is open."""
    settings = state.settings
    name, seed, options = settings.render.ray_type, settings.render.seed, settings.ray_type
    rays = (settings.rays.measured, name, seed, options)
    is_open = getattr(settings.ray_type_options(name), "shutter", 0.0) > 0.0
    shown = (state.scene, state.timeline.time, state.timeline.clip, state.hidden, state.camera_of(0))
    edited = (settings.light, settings.material, settings.clip, settings.spheres, settings.gravity)
    return (*rays, samples if is_open else 0, *shown, *edited, round(size[0] / max(size[1], 1), 2))


def _followed(configuration: str, policy: str, stands: bool) -> str:
    """A configuration with that policy; rebuilt where its structure cannot be refitted. Where the scene stands still
    none is rebuilt in every frame: its pictures need one build, too."""
    spelt = configuration.partition("@")[0]
    builder = parse(spelt).builder.name
    can_refit = option_tables.builder(builder).capabilities.refit
    policy = policy if can_refit else "rebuild"
    return f"{spelt}@{'auto' if stands and policy == 'rebuild' else policy}"
