"""Files -> Scene, and the built-in scenes. The program's process parses no model itself: a child process does, with
limits.

    load(paths)       check the files, import them in a child, map the result: importer.py, files.py, limits.py
    the child         child.py, sandbox.py; read.py: unpack, read, sanitise, hand over: compressed.py, exchange*.py
    costs             what a file will cost, told before a library reads it: costs.py, gltf_costs.py, gltf_texts.py
    damage of glTF    values and accessors of no kind that fits, of which libassimp says nothing: gltf_values.py,
                      gltf_kinds.py
    Assimp            structs, one file in memory, scene, materials, clips: assimp*.py, images.py, gltf_tracks.py
    extensions of glTF  written out for libassimp: gltf_extensions.py, gltf_meshopt.py
    a second try      small readers of our own for what libassimp dies of: plain_readers.py, plain_gltf.py;
                      colours of a PLY's faces, which it leaves out: face_colours.py
    faults            where a file is wrong, in words: file_kinds.py, faults.py, gltf_faults.py, obj_faults.py, cuts.py,
                      damage.py, index_damage.py, collada_damage.py, number_rows.py
    key frames        several files of one topology; scenes far from zero: sequence.py, recentre.py, origin.py
    load_picture(png) the texts that a saved picture carries, read in the child: picture_texts.py
    sanitise(scene)   what every reader's scene passes: finite, in range, counted: sanitise*.py, bounds.py, normals.py
    scaled(scene)     import.scale: one node above all others: scaling.py
    with_motion(...)  a motion for a model that has none: turntable, explode, wobble: motions.py
    clip_file.py      arrays of NumPy -> a mesh with key frames; ray_file.py: -> rays; columns.py hands arrays over
    trees/            files of trees of other programs -> columns
    usd/              files of USD, by its own library
    particles/        files of particles -> spheres; readers.py: readers of other packages
    describe(scene)   plain values for `info`: describe.py
    very many things  worked on together, as numpy takes as long for one as for hundreds: portions.py;
                      mesh_stack.py: meshes as a few long arrays
    float64 tools     node transforms, tracks at an instant; joining equal vertices: transforms.py, joining.py

Only `child.py` and what it imports loads Assimp or decodes an image.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from raygrove.gpu.scene import Environment, Scene

from .errors import ImportCancelled, SceneError, display_path
from .files import (
    COMMON,
    EXTENSIONS,
    PACKED,
    USD_ENDINGS,
    check_common,
    check_file,
    check_readable,
    expand,
    extension_of,
    natural_order,
    within_patience,
)
from .limits import ImportLimits
from .particles.formats import PARTICLE_ENDINGS
from .readers import foreign_endings, is_foreign

if TYPE_CHECKING:
    from .trees.found import FoundTree

__all__ = [
    "COMMON", "EXTENSIONS", "PACKED", "PARTICLE_ENDINGS", "USD_ENDINGS", "ImportCancelled", "ImportLimits",
    "SceneError", "foreign_endings", "is_picture", "load", "load_environment", "load_picture", "load_tree",
    "natural_order",
]  # fmt: skip

DEFAULT_LIMITS = ImportLimits()


def load(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    limits: ImportLimits = DEFAULT_LIMITS,
    on_progress: Callable[[float, str], None] | None = None,
    cancel: threading.Event | None = None,
    fps: float = 30.0,
) -> Scene:
    """The scene of a file, or of several files (a glob, a numbered pattern) that are key frames at `fps`.

    `on_progress(fraction, what)` is called in this thread; `cancel`, once set, ends the child and raises
    `ImportCancelled` within 0.5 s. Raises `SceneError` with a sentence for a person; an open scene is not touched.
    """
    files = expand([paths] if isinstance(paths, str | os.PathLike) else paths)
    if len(files) > limits.max_key_frames:
        many = f"{len(files):,} files were named and the limit is {limits.max_key_frames:,} key frames"
        raise SceneError(f"{many}. Raise import.max_key_frames.", files[0])
    if not (math.isfinite(fps) and fps > 0.0):
        raise SceneError(
            f"A sequence cannot be played at {fps:g} key frames per second. Give a rate above 0.", files[0]
        )
    for file in files:
        check_file(file, limits, foreign_endings())
        if len(files) > 1 and (is_foreign(file) or extension_of(file) in USD_ENDINGS):
            raise SceneError(f"{display_path(file)}: files of this type are opened one at a time.", file)
    check_common(files, limits)
    from . import importer  # with the first file, not with the program

    return importer.run(files, within_patience(files, limits), fps, on_progress, cancel)


def is_picture(paths: Sequence[str]) -> bool:
    """Whether what is to be opened is a saved picture, not a scene."""
    return len(paths) == 1 and paths[0].lower().endswith(".png")


def load_picture(
    path: str, limits: ImportLimits = DEFAULT_LIMITS, cancel: threading.Event | None = None
) -> tuple[dict[str, str], int, int]:
    """The texts that this program saved in a PNG file by keyword, and the picture's width and height. Raises
    `SceneError` with a sentence."""
    path = os.path.abspath(path)
    check_readable(path)
    from . import importer  # with the first file, not with the program

    found = importer.read_picture(path, limits, cancel)
    return found["texts"], found["width"], found["height"]


def load_tree(
    path: str | os.PathLike[str], format_name: str = "auto", limits: ImportLimits = DEFAULT_LIMITS
) -> FoundTree:
    """The tree that another program wrote, as columns, not yet followed. Raises `SceneError` with a sentence."""
    from .trees.formats import READERS

    path = os.path.abspath(os.path.expanduser(os.fspath(path)))
    if format_name not in ("auto", *READERS):
        raise SceneError(f"There is no format {format_name!r} of trees; there are {', '.join(READERS)}.", path)
    check_readable(path)
    from . import importer  # with the first file, not with the program

    return importer.read_tree(path, format_name, limits)


def load_rays(path: str | os.PathLike[str], limits: ImportLimits = DEFAULT_LIMITS) -> dict[str, np.ndarray]:
    """The rays of an .npz: origins, directions (N, 3), and t_min, t_max (N,) where it has them, float32. Raises
    `SceneError` with a sentence."""
    path = os.path.abspath(os.path.expanduser(os.fspath(path)))
    check_readable(path)
    from . import importer  # with the first file, not with the program

    return importer.read_rays(path, limits)


def load_environment(
    path: str, limits: ImportLimits = DEFAULT_LIMITS, cancel: threading.Event | None = None
) -> Environment:
    """The light of a picture of all directions. Raises `SceneError` with a sentence."""
    path = os.path.abspath(os.path.expanduser(path))
    if check_readable(path).st_size > limits.file_mib << 20:
        raise SceneError(
            f"{display_path(path)} is larger than the limit of {limits.file_mib:,} MiB. Raise import.file_mib to open "
            "it.",
            path,
        )
    from . import importer  # with the first file, not with the program

    return importer.read_environment(path, limits, cancel)
