"""Inside the child: files -> a sanitised scene."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from raygrove.gpu.scene import Remark, Scene

from .assimp_materials import GLTF
from .assimp_scene import read_scene
from .clip_file import is_clip, read_clip
from .compressed import inner_name, is_packed, unpack
from .cuts import cut_short, is_alone, shortfall
from .errors import SceneError, display_path
from .face_colours import with_face_colours
from .files import USD_ENDINGS, extension_of
from .gltf_faults import unread_extension
from .limits import ImportLimits
from .obj_faults import strange_lines
from .particles import form_of, read_particles
from .plain_gltf import read_gltf
from .plain_readers import PlainError, read_plain
from .readers import is_foreign, read_foreign
from .recentre import far_origin, shifted
from .references import References
from .sanitise import sanitise
from .scaling import scaled
from .sequence import read_sequence
from .usd import read_usd

RAW = "raw"
LOSSES = {
    "glTF": "A simple reader of our own read the file, as libassimp could not: textures, animations, skins, morph "
    "targets, lights and cameras were left out.",
    "other": "A simple reader of our own read the file, as libassimp could not: materials, textures, normals and "
    "colours of vertices were left out.",
}
Progress = Callable[[float, str], None]


def read_files(
    paths: Sequence[str], limits: ImportLimits, fps: float, progress: Progress, once_more: bool = False
) -> Scene:
    """One file, or several as the key frames of one scene at `fps`; sanitised and scaled. `SceneError` with a sentence
    where it cannot be. `once_more` is the second try, without libassimp."""
    progress(0.05, "Reading")
    scene = read_once_more(paths[0], limits) if once_more else _read(paths, limits, fps, progress)
    progress(0.8, "Checking")
    return scaled(sanitise(scene, paths[0]), limits.scale)


def _read(paths: Sequence[str], limits: ImportLimits, fps: float, progress: Progress) -> Scene:
    if not is_foreign(paths[0]) and is_clip(paths[0], limits):
        if len(paths) > 1:
            raise SceneError(f"{display_path(paths[0])} holds a clip of meshes. Open it alone.", paths[0])
        return read_clip(paths[0], limits, fps)
    if not is_foreign(paths[0]) and form_of(paths[0]) is not None:
        return read_particles(paths, limits, fps, progress)
    return read_file(paths[0], limits) if len(paths) == 1 else read_sequence(paths, limits, fps, progress)


def read_file(path: str, limits: ImportLimits) -> Scene:
    """One file, not yet sanitised."""
    with_folder(path)
    if is_foreign(path):
        return dataclasses.replace(read_foreign(path), name=inner_name(path))
    if extension_of(path) in USD_ENDINGS:
        return dataclasses.replace(read_usd(path, limits), name=inner_name(path))
    data = load_bytes(path, limits)
    name, extension = os.path.basename(path), extension_of(path)
    if extension == RAW:
        return _read_plainly(path, limits)
    try:
        scene = read_scene(name, data, extension, limits)
        origin = far_origin(scene, extension)
        moved = (
            None
            if origin is None
            else shifted(data if data is not None else Path(name).read_bytes(), extension, origin)
        )
        if origin is not None and moved is not None:
            scene = dataclasses.replace(read_scene(name, moved, extension, limits), origin=tuple(origin.tolist()))
        whole = data if data is not None else Path(name).read_bytes()
        strange, first = strange_lines(whole) if extension == "obj" else (0, "")
        missing = "" if is_alone(whole, extension) else shortfall(whole, extension)
        if missing and extension != "obj":  # of what is missing in the others Assimp makes something up
            raise cut_short(name, missing)
    except SceneError as error:
        raise type(error)(str(error), path) from error
    remarks = list(scene.remarks)
    if strange:
        remarks.append(Remark(strange, f"Lines that begin with no word of an OBJ were left out, the first: {first}."))
    if missing:
        remarks.append(Remark(1, f"The file may be cut short and was read as far as it goes: {missing}."))
    if extension in GLTF and (unread := unread_extension(whole)):
        why = f"The model needs the extension {unread}, which is not read: what it says is left out"
        remarks.append(Remark(1, f"{why}, and the picture may be another than was meant. Export it without."))
    return dataclasses.replace(scene, name=inner_name(path), remarks=tuple(remarks))


def read_once_more(path: str, limits: ImportLimits) -> Scene:
    """The file by a small reader of our own, not yet sanitised; `SceneError` where it is not as its format says."""
    scene = _read_plainly(path, limits)
    lost = LOSSES["glTF" if extension_of(path) in ("gltf", "glb") else "other"]
    return dataclasses.replace(scene, remarks=(Remark(1, lost), *scene.remarks))


def _read_plainly(path: str, limits: ImportLimits) -> Scene:
    with_folder(path)
    data, references = load_bytes(path, limits), References(".", limits.allow_outside)
    data = Path(os.path.basename(path)).read_bytes() if data is None else data
    extension, name = extension_of(path), inner_name(path)
    try:
        if extension in ("gltf", "glb"):
            scene = read_gltf(name, data, references)
        else:
            scene = read_plain(name, data, extension)
            scene = with_face_colours(scene, name, data) if extension == "ply" else scene
    except PlainError as error:
        raise SceneError(f"{display_path(path)}: {error}. Export it again.", path) from error
    return dataclasses.replace(scene, remarks=(*scene.remarks, *references.remarks()))


def with_folder(path: str) -> None:
    """Make the file's folder the current one: names stay short for Assimp, and what a model names beside itself is
    found."""
    try:
        os.chdir(os.path.dirname(path))
    except OSError as error:
        raise SceneError(
            f"The folder {os.path.dirname(path)!r} cannot be entered: {error.strerror}. Check its permissions.", path
        ) from error


def load_bytes(path: str, limits: ImportLimits) -> bytes | None:
    """The unpacked bytes of a packed file; None for a plain one, which Assimp reads itself."""
    return unpack(path, limits) if is_packed(path) else None
