"""What a tree is over: where its primitives come from, and how they are brought up to date."""

from __future__ import annotations

from typing import Any, Protocol

from ..errors import Error
from ..hierarchy.base import Primitives
from ..target.base import Array, Target
from ..trace.arrays import AdmittedRays, packed
from .clips import Clip, placed
from .scenes import Scene
from .world import World


class Source(Protocol):
    """See the module. `positions` and `corners` are the triangles by the scene's numbers, None where there are no
    triangles alone."""

    positions: Array | None
    corners: Array | None

    def update(self, time: float | None) -> Primitives:
        """The primitives as they are now, or at a time, brought up to date by launches."""

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The caller's arrays that are read."""

    @property
    def world(self) -> World | None:
        """Whose instances have groups and masks; None where nothing has."""


class FixedSource:
    """Primitives that stay as they are."""

    def __init__(self, primitives: Primitives) -> None:
        self._primitives = primitives
        self.positions = self.corners = None
        self.arrays: tuple[Any, ...] = ()
        self.world = None

    def update(self, time: float | None) -> Primitives:
        """They never change."""
        return self._primitives


class SceneSource:
    """The meshes of a Scene."""

    def __init__(self, target: Target, scene: Scene) -> None:
        self.scene, self.world = scene, World(target, scene)
        self.positions: Array | None = None
        self.corners: Array | None = None

    def update(self, time: float | None) -> Primitives:
        """What has moved, was added or has another group. Error for a time, which a scene does not have, and where the
        scene is closed."""
        if time is not None:
            raise Error("a scene has no times, only clips have", remedy="assign what moves, and call update()")
        self.scene.check_open("")
        primitives = self.world.update()
        self.positions, self.corners = self.world.positions, self.world.corners
        return primitives

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the meshes were given."""
        return tuple(array for mesh in self.scene.meshes for array in (mesh.transforms, mesh.vertices))


class ClipSource(SceneSource):
    """A clip, as a scene of one mesh whose vertices are those of an instant."""

    def __init__(self, target: Target, scene: Scene, clip: Clip) -> None:
        self._clip, self._time = clip, 0.0
        self._vertices = clip.at(0.0)[0]
        scene.add_mesh(self._vertices, clip.triangles, check=False)
        super().__init__(target, scene)

    def update(self, time: float | None) -> Primitives:
        """At a time in seconds; None: the one before."""
        if time is not None:
            try:
                seconds = float(time)
            except (TypeError, ValueError) as error:
                raise Error(f"a time is a number of seconds; it is {time!r}", remedy="give a number") from error
            if seconds != self._time:
                placed(self._clip, seconds, self._vertices)
                self._time = seconds
                self.scene.meshes[0].touch()
        return super().update(None)


def admitted(
    world: World | None, roots: Array | None, columns: tuple[Array, Array, int, int]
) -> tuple[Any, tuple[Array, ...]]:
    """What rays with these groups and masks may meet, as kernels take it."""
    groups, masks, group, mask = columns
    ids, instances, table, shared, count = (
        (world.instance_ids, world.instances, world.root_of_group, world.shared_root, world.group_count)
        if world is not None
        else (None, None, None, -1, 0)
    )
    row = packed(AdmittedRays, groups, masks, ids, instances, table, roots, count, shared, group, mask)
    return row, (groups, masks)
