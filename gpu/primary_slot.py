"""Who gives a view's primary hits, and what is kept for that from frame to frame: nobody but the structure, or tiles of
the picture with the arrangement that is chosen for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from .glyphs.caster import TileCaster, check_scene
from .glyphs.choosing import Chooser, Situation, Ticket, typical_radius
from .hierarchy.base import Primitives
from .scene import Scene
from .target.base import Target
from .trace.trace import CameraRays
from .view import View, ViewSettings


class PrimarySlot:
    """See the module. `may_try`: frames may be drawn by one arrangement after the other to find the fastest."""

    def __init__(self, target: Target, scene: Scene) -> None:
        self._target, self._scene = target, scene
        self._middle = tuple((0.5 * np.add(scene.lower, scene.upper)).tolist())
        self._extent = float(np.linalg.norm(np.subtract(scene.upper, scene.lower)))
        self._radius: float | None = None
        self._chooser: Chooser | None = None
        self._next_ticket: Callable[[], Ticket | None] = lambda: None
        self._reason = ""
        self.caster: TileCaster | None = None
        self.may_try = False

    def take(self, settings: ViewSettings) -> bool:
        """Who gives the primary hits from now on; whether that is another than before. HierarchyError where tiles
        cannot show the scene."""
        wanted = settings.tiles if settings.primary == "tiles" else None
        if wanted == (self._chooser and self._chooser.options):
            return False
        if wanted is not None:
            check_scene(self._scene, wanted)
        self._chooser = None if wanted is None else Chooser(self._target, wanted, self._scene)
        self.caster = None if wanted is None else TileCaster(self._target, wanted)
        return True

    def choose(self, view: View, count: int) -> bool:
        """Before a frame of so many primitives: which arrangement draws it; whether another one than the last."""
        if self.caster is None or self._chooser is None:
            return False
        radius = typical_radius(view.camera, view.pixels.height, self._scene_radius(), self._middle, self._extent)
        situation = Situation(count, radius, view.pixels.width * view.pixels.height)
        options, self._reason, self._next_ticket = self._chooser.choose(situation, self.may_try)
        return self.caster.draw_by(options)

    def _scene_radius(self) -> float:
        """The median of the scene's radii and of its glyphs' mean sizes at the first instant, of some where there are
        many."""
        if self._radius is None:
            found = [spheres.radii[:: max(1, len(spheres.radii) // 4096)] for spheres in self._scene.spheres]
            sizes = [glyphs.sizes[:: max(1, len(glyphs.sizes) // 4096)] for glyphs in self._scene.glyphs]
            found += [one.mean(axis=1) for one in sizes]
            radii = np.concatenate(found) if found else np.zeros(0, np.float32)
            radii = radii[np.isfinite(radii) & (radii > 0.0)]
            self._radius = float(np.median(radii)) if len(radii) else 0.0
        return self._radius

    def make_room(self, primitives: Primitives) -> None:
        """Between frames: take these primitives, and see to the lists' memory."""
        if self.caster is not None:
            self.caster.make_room(primitives)

    def begin(self, primitives: Primitives) -> None:
        """A frame shows these primitives."""
        if self.caster is not None:
            self.caster.take(primitives)

    def compile(self, rays: CameraRays) -> None:
        """Compile what is launched for such a picture."""
        if self.caster is not None:
            self.caster.compile(rays)

    @property
    def shape(self) -> Hashable:
        """What decides the launches, and their arguments."""
        return None if self.caster is None else (self.caster.generation, self.caster.drawn_by)

    @property
    def is_repeatable(self) -> bool:
        """Whether giving hits only launches, so that it can be captured."""
        return self.caster is None or self.caster.is_repeatable

    @property
    def needs_times(self) -> bool:
        """Whether a choice waits for the times of frames."""
        return self._chooser is not None and self.may_try and self._chooser.needs_times

    @property
    def sentence(self) -> str:
        """Who gives the hits, why, and what the kernel takes of a GPU."""
        if self.caster is None:
            return "structure"
        use = self.caster.use
        return f"{self.caster.sentence} ({self._reason})" + ("" if use is None else f"; {use.sentence}")

    def read_full_lists(self) -> Callable[[], bool]:
        """After a frame was issued: start asking whether lists of tiles were too long for their memory."""
        if self.caster is None or self.caster.list_order in ("none", "cpu"):
            return _nothing_is_full
        return self.caster.lists.read_full()

    def ticket(self, is_whole: bool) -> Callable[[dict[str, float]], None]:
        """A frame was issued, which draws a whole sample or not: what is to be told its phases. Nothing is learnt from
        some rows of a picture."""
        ticket = self._next_ticket() if is_whole else None
        return ticket.took if ticket is not None else _learn_nothing


def _nothing_is_full() -> bool:
    return False


def _learn_nothing(phases_ms: dict[str, float]) -> None:
    return None
