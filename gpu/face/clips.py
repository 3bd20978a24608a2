"""Meshes that move over time, of arrays or of files, and what is open by its name."""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..camera import Camera, fit
from ..errors import Error
from ..target.base import Array
from ..target.foreign import on_host
from . import arrays
from .devices import device_of

if TYPE_CHECKING:  # imported by what needs it: trees over arrays need nothing of scenes of files
    from .. import scene as plain
    from ..animate.animate import Animator

DEFAULT_FPS = 30.0


class Clip:
    """A mesh that moves: `vertices` (T, V, 3), numbers in scene units at T instants, and `triangles` (K, 3), whole
    numbers of vertices, the same at all of them. Instant k is at k / `fps` seconds; between two of them vertices move
    straight.

    A tree is built over a clip at 0 seconds, and `tree.update(time)` brings it to any other. `rg.open` gives clips of
    files, too, which move by whatever the file says (key frames, joints, morph targets).

    Raises Error where these are no such arrays.

    >>> import numpy as np, raygrove as rg
    >>> still = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    >>> clip = rg.Clip(np.stack([still, still - [0, 0, 2]]), [[0, 1, 2]], fps=1.0)
    >>> clip.duration, clip.at(0.5)[0][:, 2].tolist()
    (1.0, [-1.0, -1.0, -1.0])
    >>> with rg.build(clip, "hploc@refit", device="cpu") as tree:
    ...     done = tree.update(0.5)
    ...     print(done, tree.trace([0.2, 0.2, 1.0], [0.0, 0.0, -1.0]).t)
    refit [2.]
    """

    def __init__(self, vertices: Any, triangles: Any, *, fps: float = DEFAULT_FPS, name: str = "clip") -> None:
        rows = np.asarray(on_host(vertices, "vertices"))
        corners = np.asarray(on_host(triangles, "triangles"))
        arrays.check_shape(rows, "vertices", (None, None, 3))
        arrays.check_shape(corners, "triangles", (None, 3))
        if rows.dtype.kind not in "fiu" or corners.dtype.kind not in "iu":
            raise arrays.ArrayError(
                f"vertices are numbers and triangles whole numbers; these are {arrays.shown(rows)} and "
                f"{arrays.shown(corners)}"
            )
        if not len(rows):
            raise arrays.ArrayError("vertices are those of one instant at least; these are of none")
        if not 0.0 < arrays.taken_number(fps, "fps", "a number above 0") < np.inf:
            raise arrays.ArrayError(f"fps is a number above 0; it is {fps}")
        arrays.check_corners(corners, rows.shape[1])
        self.name, self.fps, self.triangles = name, float(fps), np.ascontiguousarray(corners, np.int32)
        self._vertices = np.ascontiguousarray(rows, np.float32)
        self._plain: plain.Scene | None = None
        self._animator: Animator | None = None

    @classmethod
    def from_plain(cls, scene: plain.Scene) -> Clip:
        """A scene of plain values (raygrove.gpu.scene) as a clip of its triangles. Error where it has none."""
        if not scene.triangle_count:
            raise Error(f"{scene.name} has no triangles", "rg.open", "look at it with the program, or open a mesh")
        made = cls(np.zeros((1, 3, 3)), [[0, 1, 2]], fps=scene.fps or DEFAULT_FPS, name=scene.name)
        made._plain = scene
        meshes = tuple(thing for thing in scene.objects if thing.mesh >= 0)
        made._plain = dataclasses.replace(scene, objects=meshes, spheres=(), glyphs=())
        made.triangles = np.asarray(made._at(0.0)[1])
        return made

    @property
    def duration(self) -> float:
        """Seconds from the first instant to the last; 0 of what is still."""
        return self._plain.duration() if self._plain is not None else (len(self._vertices) - 1) / self.fps

    @property
    def repeats(self) -> bool:
        """Whether it begins again after its end, as scenes of files do; clips of arrays stay as they end."""
        return self._plain is not None

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (V, 3) float32 and triangles (K, 3) int32 at a time in seconds, as `build` takes them. Before the
        first instant it is the first, after the last the last; scenes of files repeat, as the program shows them."""
        if not np.isfinite(arrays.taken_number(time, "a time", "a number of seconds")):
            raise arrays.ArrayError(f"a time is a number of seconds; it is {time}")
        if self._plain is not None:
            return self._at(float(time))
        place = min(max(float(time) * self.fps, 0.0), len(self._vertices) - 1.0)
        first = min(int(place), max(0, len(self._vertices) - 2))
        last = min(first + 1, len(self._vertices) - 1)
        share = np.float32(place - first)
        return self._vertices[first] + share * (self._vertices[last] - self._vertices[first]), self.triangles

    def poses(self, node: str | int, times: Any) -> np.ndarray:
        """Where a node of the file is at T times in seconds: (T, 3, 4) float32, rows of a matrix from the node's axes
        to the world's, as `Sensor.rays` takes them. So a sensor hangs on it. The node's scale is left out; after the
        last instant it stays. `node` is its name, or its number in the file. Error where there is no such node, or
        several of that name; a clip of arrays has none.

        >>> import raygrove as rg
        >>> walker, lidar = rg.open("walker"), rg.sensors.lidar(rows=2, columns=8)
        >>> with rg.build(walker, "lbvh@refit", device="cpu") as tree:
        ...     for time in (0.0, 0.5):
        ...         done = tree.update(time)
        ...         hits = tree.trace(lidar.rays(walker.poses("head", time)))
        >>> hits.t.shape
        (16,)
        """
        from ..node_transforms import pose_of

        scene, at = self.to_plain(), np.atleast_1d(np.asarray(times, np.float64))
        if at.ndim != 1 or not np.isfinite(at).all():
            raise arrays.ArrayError(f"times are numbers of seconds; they are {arrays.shown(np.asarray(times))}")
        number = node_of(scene, node, "rg.Clip.poses")
        return np.stack([pose_of(scene, number, time) for time in at.tolist()]).astype(np.float32)

    def to_plain(self) -> plain.Scene:
        """The clip as plain values of the host, as the viewer and exports take it."""
        if self._plain is not None:
            return self._plain
        from .. import scene as plain

        times = (np.arange(len(self._vertices)) / self.fps).astype(np.float32)
        keys = plain.KeyFrames(times, self._vertices) if len(times) > 1 else None
        kinds = np.zeros(len(self.triangles), np.int32)
        mesh = plain.Mesh(self.name, self._vertices[0], self.triangles, kinds, key_frames=keys)
        finite = np.where(np.isfinite(self._vertices), self._vertices, 0.0).reshape(-1, 3)
        lower, upper = (
            tuple(getattr(finite, side)(axis=0).tolist()) if len(finite) else (end,) * 3
            for side, end in (("min", -1.0), ("max", 1.0))
        )
        objects = (plain.Object(0, 0),)
        return plain.Scene(self.name, meshes=(mesh,), objects=objects, fps=self.fps, lower=lower, upper=upper)

    def _at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Evaluated on the CPU, whatever device a tree is on."""
        from ..animate.animate import Animator
        from ..scene import Moment

        assert self._plain is not None
        with device_of("cpu").used("Clip.at") as target:
            if self._animator is None:
                self._animator = Animator(target, self._plain)
            for launch in self._animator.prepare(Moment(time)):
                launch()
            surface = self._animator.surface
            return np.array(target.download(surface.positions)), np.array(target.download(surface.triangles))


def open(path: Any) -> Clip:
    """Open a file, several files that are key frames of one scene (a glob as "gallop/*.obj", or a numbered pattern), or
    a built-in scene by its name (orbit, walker, cloth, ...). Files are read in a child process, within limits.

    Raises Error where it cannot be opened, or has no triangles.

    >>> import raygrove as rg
    >>> clip = rg.open("walker")
    >>> clip.duration > 1.0, len(clip.at(0.5)[1]) == len(clip.triangles)
    (True, True)
    """
    if not isinstance(path, str | os.PathLike | list | tuple):
        raise Error(f"a file or a scene is named by a text or a path, not by {path!r}", "rg.open", "give its name")
    files = importlib.import_module(f"{__name__.partition('.')[0]}.app.scene_io")
    demos = importlib.import_module(f"{__name__.partition('.')[0]}.app.scene_io.demos")
    is_name = isinstance(path, str) and path in {info.name for info in demos.ALL_DEMOS} and not os.path.exists(path)
    try:
        return Clip.from_plain(demos.make_demo(path) if is_name else files.load(path))
    except files.SceneError as error:
        remedy = "give a file that is there, or the name of a built-in scene: " + ", ".join(
            info.name for info in demos.ALL_DEMOS
        )
        raise Error(str(error).rstrip("."), "rg.open", remedy) from error


def node_of(scene: plain.Scene, node: str | int, where: str) -> int:
    """The number of a node, by its name or as it is. Error."""
    count = len(scene.nodes)
    if isinstance(node, str):
        named = [number for number, one in enumerate(scene.nodes) if one.name == node]
        if len(named) == 1:
            return named[0]
        names = ", ".join(dict.fromkeys(one.name for one in scene.nodes[:40] if one.name))
        what = f"there are {len(named)} nodes called {node!r}" if named else f"there is no node called {node!r}"
        raise Error(what, where, "give its number" if named else f"choose one of {names}" if names else "open a file")
    if isinstance(node, bool) or not isinstance(node, int | np.integer) or not 0 <= node < count:
        raise Error(
            f"the nodes have the numbers 0 to {count - 1}, and this is {node!r}", where, "give a name or a number"
        )
    return int(node)


def numbers_of(clip: Clip, frames: Any, where: str) -> Sequence[int]:
    """The numbers of a clip's frames that are meant: without `frames` all of one run. Error where they are none."""
    if frames is None:
        rate = clip.to_plain().fps or clip.fps
        return range(int(round(clip.duration * rate)) + (not clip.repeats) or 1)
    if isinstance(frames, range) and (not frames or min(frames[0], frames[-1]) >= 0):
        return frames
    is_some = isinstance(frames, list | tuple | np.ndarray)
    if not is_some or not all(isinstance(one, int | np.integer) and one >= 0 for one in frames):
        what = f"frames are numbers of the clip's frames, as range(24); they are {frames!r}"
        raise Error(what, where, "give frames=range(...)")
    return [int(one) for one in frames]


def seen_by(scene: plain.Scene, camera: Camera | None, size: Any, where: str) -> Camera:
    """The camera that is given, or one that sees all of a scene. Error where the picture's size is none."""
    arrays.check_size(size, where)
    return camera or fit(scene.lower, scene.upper, aspect=size[0] / size[1])


def placed(clip: Clip, time: float, into: Array) -> None:
    """Write a clip's vertices at a time into an array of the host."""
    np.copyto(into, clip.at(time)[0])
