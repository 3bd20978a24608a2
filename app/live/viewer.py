"""The window from a program: `show` opens it and waits, `Viewer` opens it beside a running loop.

A viewer is a process of its own. Frames reach it through memory that both map (app/document/live_ring.py), so the loop
never waits for the window; when either process ends, however it does, the other sees it, and nothing is left behind.
"""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys
import threading
from types import TracebackType
from typing import Any, Self

import numpy as np

from raygrove.app.live.ring import TRANSFORMS, VERTICES, LiveRing, Shape
from raygrove.gpu.errors import Error
from raygrove.gpu.hierarchy.registry import structures
from raygrove.program import COMMAND, how_to_install
from raygrove.version import VERSION

GREY = (0.8, 0.8, 0.8)
MOST_KEPT = 100_000
PATIENCE = 10.0
"""Seconds that a window has to close by itself."""


class ViewerError(Error, ValueError):
    """What a viewer was given cannot be shown; a sentence."""


class WindowError(Error, RuntimeError):
    """The window cannot be had; a sentence."""


class Viewer:
    """The window beside a running loop, as a process of its own.

    `scene` is what is shown: a scene of meshes (`raygrove.Scene`), a clip, `(vertices, triangles)` with vertices (V, 3)
    or (T, V, 3), or anything with these two as attributes. `tree` says by which structure: a tree that `raygrove.build`
    made, or a configuration ("hploc/bvh4"); None: what the user's settings say. `keep` frames are held for the
    timeline; `size` is that of the picture in pixels.

    While the head stands at the end the window shows the newest frame; taken elsewhere, or playing, it shows the frames
    that were held then as a clip, until it is at the end again. A context manager; ends with the program.

    Raises ViewerError where the arrays are no mesh, WindowError where the window cannot be started.

    Example:
        >>> import numpy as np
        >>> import raygrove as rg
        >>> vertices, triangles = np.eye(3, dtype=np.float32), [[0, 1, 2]]
        >>> with rg.Viewer((vertices, triangles)) as viewer:  # doctest: +SKIP
        ...     while viewer.is_open:
        ...         vertices += 0.001
        ...         viewer.update(vertices)
    """

    def __init__(self, scene: Any, tree: Any = None, *, keep: int = 64, size: tuple[int, int] | None = None) -> None:
        words = [*structure_words(tree, is_apart=True), *_size_words(size)]
        if not 1 <= int(keep) <= MOST_KEPT:
            raise ViewerError(f"keep is a number of frames from 1 to {MOST_KEPT:,}; it is {keep}.")
        self._scene = scene
        self._ring = ring_of(scene, int(keep))
        reading, self._word = os.pipe()
        given = (self._ring.descriptor, reading)
        try:
            self._process = subprocess.Popen(
                [*COMMAND, "view", "--live", ":".join(map(str, given)), *words],
                pass_fds=given,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._word)
            raise WindowError(f"The window cannot be started: {error.strerror}.") from error
        finally:
            os.close(reading)

    @property
    def is_open(self) -> bool:
        """Whether the window is there, or still to come: false once a person has closed it."""
        return self._word >= 0 and self._process.poll() is None

    def update(self, vertices: Any = None, *, transforms: Any = None, time: float = math.nan) -> bool:
        """Show this from now on, and keep it as a frame: `vertices` (V, 3) of all meshes in turn, or `transforms`
        (N, 3, 4) or (N, 4, 4) of all instances in turn, rows of matrices that take columns; without both what the scene
        holds now. `time` in seconds is where the frame stands in the timeline; without it frames are 1/30 s apart.
        Gives `is_open`, and does nothing more where that is false.

        Waits for nothing: the values are copied into memory, from arrays on a GPU when they are there. Raises
        ViewerError for other shapes."""
        if not self.is_open:
            return False
        if vertices is not None and transforms is not None:
            raise ViewerError("update takes vertices or transforms, not both.")
        if transforms is not None:
            rows = _matrices(transforms)
            if len(rows) != self._ring.instance_count:
                raise ViewerError(f"There are {self._ring.instance_count} instances; these are {len(rows)} transforms.")
            self._ring.publish(TRANSFORMS, rows, float(time))
            return True
        rows = world(parts_of(self._scene)[0]) if vertices is None else on_host(vertices)
        wanted = (self._ring.vertex_count, 3)
        if rows.shape != wanted or rows.dtype.kind not in "fiu":
            raise ViewerError(f"vertices are {wanted} numbers; these are {rows.shape} of {rows.dtype}.")
        self._ring.publish(VERTICES, rows, float(time))
        return True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until a person closes the window, for `timeout` seconds at most; whether it is closed."""
        if self._word >= 0:
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                return False
        return True

    def close(self) -> None:
        """Close the window; harmless the second time."""
        if self._word < 0:
            return
        os.close(self._word)
        self._word = -1
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._ring.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def show(scene: Any, tree: Any = None, *, size: tuple[int, int] | None = None) -> None:
    """Open the window on a scene, and wait until it is closed. `scene`, `tree` and `size` are those of `Viewer`.

    The window is this process's own, so that builders are known that it has registered. Ctrl+C closes it, and is
    raised. Raises ViewerError where the arrays are no mesh, WindowError outside of the main thread and where there is
    no display."""
    if threading.current_thread() is not threading.main_thread():
        raise WindowError("show opens a window, which only the main thread may: call it there, or use Viewer.")
    ring = ring_of(scene, 1)
    reading, writing = os.pipe()
    try:
        words = ["view", "--live", f"{ring.descriptor}:{reading}", *structure_words(tree), *_size_words(size)]
        if _run(words) != 0:
            raise WindowError("The window could not be shown: there is no display, or it failed; stderr says why.")
    finally:
        os.close(writing)
        os.close(reading)
        ring.close()


def _run(words: list[str]) -> int:
    """The program by a command line, and its exit code. WindowError where it needs what is not installed."""
    try:
        from raygrove.app.cli.arguments import parse
        from raygrove.app.cli.main import Words, run

        names = parse(words, VERSION)
        return run(names, Words(names))
    except ModuleNotFoundError as error:
        raise WindowError(f"The library {error.name} is missing. {how_to_install('app')}") from error


# -- what is shown -----------------------------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """A mesh and the instances of it: vertices (V, 3) float32, triangles (T, 3) int32, transforms (N, 3, 4) float32."""

    vertices: np.ndarray
    triangles: np.ndarray
    transforms: np.ndarray
    color: tuple[float, float, float] = GREY


def ring_of(scene: Any, keep: int) -> LiveRing:
    """Memory for `keep` frames of a scene, and more where it is a clip of more; what it shows now is in it. Raises
    ValueError."""
    parts, frames = parts_of(scene)
    ring = LiveRing.create(shape_of(parts), max(keep, len(frames)))
    for frame in frames if len(frames) else (world(parts),):
        ring.publish(VERTICES, frame, math.nan)
    return ring


def parts_of(scene: Any) -> tuple[list[Part], np.ndarray]:
    """The meshes of a scene as they are now, and the frames (T, V, 3) of a clip. Raises ViewerError."""
    if hasattr(scene, "meshes") and not hasattr(scene, "objects"):
        return [_part(mesh) for mesh in scene.meshes], np.zeros((0, 0, 3), np.float32)
    if callable(getattr(scene, "at", None)):
        steps = range(min(MOST_KEPT, round(scene.duration * scene.fps) + 1))
        scene = (np.stack([on_host(scene.at(step / scene.fps)[0]) for step in steps]), scene.triangles)
    pair = scene if isinstance(scene, tuple) else (getattr(scene, "vertices", None), getattr(scene, "triangles", None))
    if len(pair) != 2 or any(part is None for part in pair):
        raise ViewerError(
            f"A viewer shows a scene of meshes, a clip, or (vertices, triangles); this is {type(scene).__name__}. "
            "Files are opened by the command: raygrove FILE."
        )
    vertices = on_host(pair[0])
    if (
        vertices.ndim not in (2, 3)
        or vertices.shape[-1] != 3
        or vertices.dtype.kind not in "fiu"
        or 0 in vertices.shape
    ):
        raise ViewerError(f"vertices are numbers, (V, 3) or (T, V, 3); these are {vertices.shape} of {vertices.dtype}.")
    frames = np.asarray(vertices if vertices.ndim == 3 else vertices[None], np.float32)
    one = Part(frames[0], _checked(pair[1], frames.shape[1]), np.eye(3, 4, dtype=np.float32)[None])
    return [one], frames if vertices.ndim == 3 else frames[:0]


def shape_of(parts: list[Part]) -> Shape:
    """All instances as one mesh, each where its mesh has it. Raises ViewerError where there is none."""
    if not any(len(part.triangles) for part in parts):
        raise ViewerError("There is no triangle to show.")
    vertices, triangles, mesh_of, instance_of = [], [], [], []
    count = instance = 0
    for number, part in enumerate(parts):
        for _ in part.transforms:
            vertices.append(part.vertices)
            triangles.append(part.triangles + count)
            mesh_of.append(np.full(len(part.triangles), number, np.int32))
            instance_of.append(np.full(len(part.vertices), instance, np.int32))
            instance, count = instance + 1, count + len(part.vertices)
    colours = np.array([part.color for part in parts], np.float32)
    joined = (np.concatenate(vertices), np.concatenate(triangles), np.concatenate(mesh_of))
    return Shape(*joined, np.concatenate(instance_of), colours, instance)


def world(parts: list[Part]) -> np.ndarray:
    """The vertices of all instances where they stand, (V, 3) float32."""
    moved = [
        part.vertices @ matrix[:, :3].T + matrix[:, 3]
        for part in parts
        for matrix in np.asarray(part.transforms, np.float32)
    ]
    return np.concatenate(moved)


def _part(mesh: Any) -> Part:
    vertices = np.asarray(on_host(mesh.vertices), np.float32)
    transforms = np.eye(3, 4, dtype=np.float32)[None] if mesh.transforms is None else _matrices(mesh.transforms)
    return Part(vertices, _checked(mesh.triangles, len(vertices)), transforms, getattr(mesh, "color", GREY))


def _checked(triangles: Any, vertex_count: int) -> np.ndarray:
    rows = on_host(triangles)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu":
        raise ViewerError(f"triangles are rows of three whole numbers, (N, 3); these are {rows.shape} of {rows.dtype}.")
    if rows.size and not (int(rows.min()) >= 0 and int(rows.max()) < vertex_count):
        raise ViewerError(f"triangles are rows of {vertex_count} vertices; these go from {rows.min()} to {rows.max()}.")
    return rows.astype(np.int32)


def _matrices(transforms: Any) -> np.ndarray:
    rows = on_host(transforms)
    if rows.ndim != 3 or rows.shape[1:] not in ((3, 4), (4, 4)) or rows.dtype.kind not in "fiu":
        raise ViewerError(f"transforms are numbers, (N, 3, 4) or (N, 4, 4); these are {rows.shape} of {rows.dtype}.")
    return np.ascontiguousarray(rows[:, :3], np.float32)


def on_host(values: Any) -> np.ndarray:
    """An array's values in the host's memory, of NumPy, CuPy, PyTorch, or anything that NumPy takes."""
    for name in ("detach", "cpu", "get"):  # PyTorch's, then CuPy's
        if not isinstance(values, np.ndarray) and callable(getattr(values, name, None)):
            values = getattr(values, name)()
    return np.asarray(values)


# -- the structure -----------------------------------------------------------------------------------------------------
def _size_words(size: tuple[int, int] | None) -> list[str]:
    return [] if size is None else ["--size", f"{int(size[0])}x{int(size[1])}"]


def structure_words(tree: Any, is_apart: bool = False) -> list[str]:
    """The command's words for a tree's structure, and, for a process `is_apart`, for the file of the builder where it
    is somebody's own. Raises ViewerError where that has none."""
    if tree is None:
        return []
    configuration = str(getattr(tree, "configuration", tree))
    name = configuration.partition("@")[0].partition("/")[0].partition("+")[0].partition(":")[0]
    known = structures()
    words = ["--hierarchy", configuration]
    if is_apart and name in known and known[name].capabilities.builds_on_host:
        module = sys.modules.get(known[name].__module__)
        file = getattr(module, "__file__", None)
        if known[name].__module__ == "__main__" or file is None:
            raise ViewerError(
                f"The window is a process of its own and cannot know the builder {name}, which the running program "
                "defines: put its function into a file of its own and import it, or use show."
            )
        words += ["--plug-in", file]
    return words
