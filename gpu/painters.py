"""What is drawn over finished pictures, in their pixels: boxes and lines, outlines, what lies in a region, contours,
tiles, collisions. Outside the frame and its statistics."""

from __future__ import annotations

from .animate.animate import Surface
from .collisions import ANY, Between, CollisionFinder
from .contours import ContourOptions
from .glyphs.options import TileMarkOptions
from .hierarchy.base import Hierarchy, HierarchyError
from .region import Region, RegionContents
from .region_marks import RegionMarks
from .shade.boxes import Boxes, BoxPainter, Lines
from .shade.contours import ContourPainter
from .shade.outline import OutlineLook, OutlinePainter
from .stats import Collisions
from .target.base import Target
from .tile_marks import TileMarks
from .view import View
from .view_slot import ViewSlot

COLLIDING = (255, 30, 60)
"""sRGB bytes."""


class Painters:
    """Keeps what each of them needs from picture to picture of an engine. `slot` is that of a
    view's last frame."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._outline, self._finder = OutlinePainter(target), CollisionFinder(target)
        self._boxes: dict[tuple[str, type], BoxPainter] = {}
        self._contours: dict[str, ContourPainter] = {}
        self._collisions: dict[str, OutlinePainter] = {}
        self._regions: dict[str, RegionMarks] = {}
        self._tiles: dict[str, TileMarks] = {}

    def paint_boxes(self, view: View, slot: ViewSlot, drawn: Boxes | Lines) -> None:
        """Draw boxes, or lines. Does not wait."""
        painter = self._boxes.setdefault((view.name, type(drawn)), BoxPainter(self._target))
        with view.pixels.map() as image:
            painter.paint(image, slot.film, drawn)

    def paint_outline(self, view: View, slot: ViewSlot, surface: Surface, object_id: int) -> None:
        """Mark an object of the scene. Does not wait."""
        with view.pixels.map() as image:
            size, camera = (slot.film.width, slot.film.height), slot.view.camera
            marked = surface.objects[object_id]
            self._outline.paint(image, slot.tracer(), camera, size, slot.clip, marked, surface.version)

    def paint_region(
        self, view: View, slot: ViewSlot, surface: Surface, primitive_count: int, region: Region
    ) -> RegionContents:
        """Count and mark what lies in a region. Waits where anything is another than before."""
        marks = self._regions.setdefault(view.name, RegionMarks(self._target))
        with view.pixels.map() as image:
            return marks.paint(image, slot, surface.version, primitive_count, region)

    def paint_contours(self, view: View, slot: ViewSlot, surface: Surface, options: ContourOptions) -> None:
        """Draw silhouettes and halos. Does not wait."""
        painter = self._contours.setdefault(view.name, ContourPainter(self._target))
        with view.pixels.map() as image:
            size, camera = (slot.film.width, slot.film.height), slot.view.camera
            painter.paint(image, slot.tracer(), camera, size, slot.clip, options, slot.diagonal, surface.version)

    def paint_tiles(
        self, view: View, slot: ViewSlot, surface: Surface, options: TileMarkOptions, only: int = -1
    ) -> None:
        """Draw the grid of tiles and boxes of spheres. Waits where boxes are others than before."""
        marks = self._tiles.setdefault(view.name, TileMarks(self._target))
        with view.pixels.map() as image:
            marks.paint(image, slot, surface, options, only)

    def paint_collisions(
        self,
        view: View,
        slot: ViewSlot,
        surface: Surface,
        primitive_count: int,
        between: Between = ANY,
        opacity: float = 0.7,
    ) -> Collisions:
        """Mark the primitives that touch one of another object. Waits where anything is another than before."""
        if max(between) >= len(surface.objects) or (between[0] == between[1] and between != ANY):
            raise HierarchyError(f"Collisions are found between two of {len(surface.objects)} objects, not {between}.")

        def hierarchy() -> Hierarchy:
            slot.bring_up_to_date()
            return slot.hierarchy

        found = self._finder.find(hierarchy, surface, primitive_count, between)
        painter = self._collisions.setdefault(view.name, OutlinePainter(self._target))
        if found.primitives > 0 and self._finder.marks is not None:
            with view.pixels.map() as image:
                size, camera = (slot.film.width, slot.film.height), slot.view.camera
                marked, look = self._finder.marks, OutlineLook(COLLIDING, opacity)
                painter.paint(image, slot.tracer(), camera, size, slot.clip, marked, self._finder.version, look)
        return found
