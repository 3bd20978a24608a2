"""Clips of NumPy: an .npz with `vertices` (T, V, 3) or (V, 3) and `triangles` (N, 3) is a mesh, with T key frames. In
the importing child; nothing is unpickled.

Where it likes it has `time` (T,), seconds that ascend, and `color`: (3,) for all, (V, 3) for vertices, (N, 3) for
triangles, bytes or 0 to 1 as screens show them, a fourth column left aside. Other arrays are left out. `faces` and
`times`, `colors` are known, too. Without `time` key frames follow one another at the rate of sequences.
"""

from __future__ import annotations

import math

import numpy as np

from raygrove.gpu.scene import KeyFrames, Material, Mesh, Node, Object, Scene

from .compressed import inner_name
from .errors import SceneError, display_path
from .limits import ImportLimits
from .particles.arrays import TIMES, members, names_in
from .particles.colours import linear_from_display
from .particles.columns import COLOURS
from .particles.formats import form_of
from .particles.frame import ParticleError, Source

VERTICES = ("vertices", "verts", "positions")
TRIANGLES = ("triangles", "faces")
MOST_MATERIALS = 1024
"""Colours that are told apart: each is a material."""


class ClipSource(Source):
    """A file of meshes: what does not fit is said of arrays."""

    def expect(self, particles: int, frames: int = 1, floats: int = 4, at_once: bool = False) -> None:
        size = 4 * particles * frames * floats
        if size > self.limits.memory_mib << 19:
            raise SceneError(
                f"{display_path(self.path)}: one of its arrays takes {math.ceil(size / (1 << 20)):,} MiB, and an "
                f"import may use {self.limits.memory_mib:,} MiB, of which it takes half. Raise "
                "import.memory_mib, or write fewer key frames.",
                self.path,
            )


def is_clip(path: str, limits: ImportLimits) -> bool:
    """Whether a file is an archive of arrays with triangles among them."""
    if form_of(path) != "npz":
        return False
    with Source(path, limits, "npz").open() as file:
        return any(name in TRIANGLES for name in names_in(file))


def read_clip(path: str, limits: ImportLimits, fps: float) -> Scene:
    """The scene of a clip, not yet sanitised. `SceneError` with a sentence where it is none."""
    source = ClipSource(path, limits, "npz")
    try:
        with source.open() as file:
            arrays = members(source, file, (*VERTICES, *TRIANGLES, *TIMES, *COLOURS))
        vertices, triangles = _vertices(arrays), _triangles(arrays)
    except ParticleError as error:
        raise SceneError(
            f"{display_path(path)} is no clip: {str(error).rstrip('.')}. Write vertices (T, V, 3) and triangles "
            "(N, 3) by numpy.savez.",
            path,
        ) from error
    _check_counts(path, limits, len(vertices), len(triangles))
    times = _times(source, _first(arrays, TIMES), len(vertices), fps)
    materials, material_ids = _coloured(source, _first(arrays, COLOURS), triangles, vertices.shape[1])
    keys = KeyFrames(times, vertices) if len(vertices) > 1 else None
    mesh = Mesh(source.stem, vertices[0], triangles, material_ids, key_frames=keys)
    return Scene(
        inner_name(path),
        nodes=(Node(source.stem),),
        meshes=(mesh,),
        materials=materials,
        objects=(Object(0, 0),),
        fps=fps if keys is None else float((len(times) - 1) / times[-1]),
        remarks=tuple(source.remarks),
    )


def _first(arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> np.ndarray | None:
    return next((arrays[name] for name in names if name in arrays), None)


def _vertices(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """(T, V, 3), T and V at least one."""
    found = _first(arrays, VERTICES)
    if found is None:
        raise ParticleError(f"it has no array vertices: it has {', '.join(arrays)}")
    if found.ndim not in (2, 3) or found.shape[-1] != 3 or 0 in found.shape or found.dtype.kind not in "fiu":
        raise ParticleError(f"its vertices are {found.shape} of {found.dtype}, not (T, V, 3) numbers")
    found = found if found.dtype in (np.float32, np.float64) else found.astype(np.float64)
    return found if found.ndim == 3 else found[None]


def _triangles(arrays: dict[str, np.ndarray]) -> np.ndarray:
    found = _first(arrays, TRIANGLES)
    assert found is not None, "is_clip found them"
    if found.ndim != 2 or found.shape[1] != 3 or found.dtype.kind not in "iu":
        raise ParticleError(f"its triangles are {found.shape} of {found.dtype}, not (N, 3) whole numbers")
    if found.dtype == np.uint64:  # numbers past all vertices stay so
        found = np.minimum(found, np.uint64(np.iinfo(np.int64).max))
    return found.astype(np.int64)


def _check_counts(path: str, limits: ImportLimits, frames: int, triangles: int) -> None:
    for count, most, what, key in (
        (frames, limits.max_key_frames, "key frames", "max_key_frames"),
        (triangles, limits.max_triangles, "triangles", "max_triangles"),
    ):
        if count > most:
            raise SceneError(
                f"{display_path(path)} has {count:,} {what} and the limit is {most:,}. Raise import.{key} to open it.",
                path,
            )


def _times(source: Source, found: np.ndarray | None, frames: int, fps: float) -> np.ndarray:
    """Seconds of the key frames, from 0 on."""
    regular = (np.arange(frames) / fps).astype(np.float32)
    if found is None or frames == 1:
        return regular
    if found.shape == (frames,) and np.isfinite(found).all():
        seconds = (found.astype(np.float64) - float(found[0])).astype(np.float32)
        if (np.diff(seconds) > 0.0).all():
            return seconds
    source.remark(
        f"The array of times was left out, as it is not {frames:,} seconds that ascend; key frames follow at {fps:g} a "
        "second."
    )
    return regular


def _coloured(
    source: Source, found: np.ndarray | None, triangles: np.ndarray, vertex_count: int
) -> tuple[tuple[Material, ...], np.ndarray]:
    """Materials, and each triangle's."""
    ids: np.ndarray = np.zeros(len(triangles), np.int32)
    if found is None or found.size == 0:
        return (Material(),), ids
    rows = found.reshape(1, -1) if found.ndim == 1 else found
    if rows.ndim != 2 or rows.shape[1] not in (3, 4) or len(rows) not in (1, vertex_count, len(triangles)):
        source.remark(f"The colours have the shape {found.shape} and fit neither vertices nor triangles: left out.")
        return (Material(),), ids
    colours = linear_from_display(rows[:, :3])
    if len(rows) == 1:
        return (_material(colours[0]),), ids
    if len(rows) == vertex_count:
        safe = np.clip(triangles, 0, vertex_count - 1)
        colours = colours[safe].mean(axis=1)
        source.remark("A triangle has the mean colour of its vertices.")
    for steps in (255, 63, 31, 15, 9):
        levels, ids = np.unique(np.round(np.sqrt(colours) * steps).astype(np.uint8), axis=0, return_inverse=True)
        if len(levels) <= MOST_MATERIALS:
            break
    if steps < 255:
        source.remark(f"The colours are rounded to {len(levels):,} different ones.")
    tints = (levels.astype(np.float32) / steps) ** 2
    return tuple(_material(tint) for tint in tints), ids.reshape(-1).astype(np.int32)


def _material(tint: np.ndarray) -> Material:
    red, green, blue = (float(part) for part in tint)
    return Material(base_color=(red, green, blue, 1.0))
