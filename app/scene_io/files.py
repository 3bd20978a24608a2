"""Which files are meant, and whether they can be read at all: everything that is found out before a child process
starts."""

from __future__ import annotations

import dataclasses
import glob
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from .compressed import inner_name
from .errors import RareFormatError, SceneError, display_path
from .limits import ImportLimits
from .numbered import place_of_number
from .particles.formats import PARTICLE_ENDINGS, looks_like_particles

EXTENSIONS = (
    "3d", "3ds", "3mf", "ac", "ac3d", "acc", "amf", "ase", "ask", "b3d", "blend", "bsp", "bvh", "cob", "csm", "dae",
    "dxf", "enff", "fbx", "glb",
    "gltf", "hmp", "ifc", "iqm", "irr", "irrmesh", "lwo", "lws", "lxo", "md2", "md3", "md5mesh", "mdc", "mdl", "mesh",
    "ms3d", "ndo", "nff", "obj",
    "off", "ogex", "ply", "pmx", "q3o", "q3s", "raw", "scn", "sib", "smd", "step", "stl", "stp", "ter", "uc", "vrm",
    "vta", "x", "x3d", "x3db",
    "xgl", "zgl",
)  # fmt: skip
COMMON = ("3ds", "dae", "fbx", "glb", "gltf", "obj", "off", "ply", "raw", "stl", "vrm")
"""Formats that open without a question: 1,360 damaged files of them did not crash libassimp (raw is read by our own
reader). The others are opened with `import.all_formats`."""
RARE_SHARE, RARE_LEAST_S, RARE_BYTES_A_S = 8, 10.0, 1e6
"""Of `import.seconds` a rare format gets one in so many, and so many seconds at least; and a second more for so many
bytes."""
USD_ENDINGS = ("usd", "usda", "usdc", "usdz")
"""Read by Pixar's library, where it is installed."""
PACKED = ("gz", "xz", "bz2")


def natural_order(paths: Sequence[str]) -> list[str]:
    """Paths sorted as people count: frame_2 before frame_10."""
    return sorted(
        paths, key=lambda path: [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", path)]
    )


def expand(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The files that `paths` mean, in order: a glob or a numbered pattern (frame_%04d.obj, frame_####.obj) stands for
    all it matches.

    A path that exists is always itself. `SceneError` where nothing matches.
    """
    if not paths:
        raise SceneError("No file was named. Give a model's path, a glob or a numbered pattern such as frame_%04d.obj.")
    result: list[str] = []
    for path in [os.fspath(path) for path in paths]:
        if _lexists(path):
            result.append(path)
        elif place_of_number(os.path.basename(path)) is not None:
            result += _numbered(path)
        elif glob.has_magic(path):
            found = natural_order(glob.glob(path))
            if not found:
                raise SceneError(
                    f"{display_path(path)}: no file matches this pattern. Check the folder and the pattern.", path
                )
            result += found
        else:
            result.append(path)
    return [os.path.abspath(path) for path in result]


def _lexists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _numbered(path: str) -> list[str]:
    """Files that a numbered pattern matches, by number in steps of any size; a gap is named."""
    folder, name = os.path.split(path)
    place = place_of_number(name)
    assert place is not None
    before, width, behind = place
    expression = re.compile(re.escape(before) + r"([0-9]+)" + re.escape(behind) + r"\Z")
    found: dict[int, str] = {}
    try:
        entries = os.listdir(folder or ".")
    except OSError as error:
        raise SceneError(
            f"{display_path(path)}: its folder cannot be listed ({error.strerror}). Check the path.", path
        ) from error
    for entry in entries:
        hit = expression.match(entry)
        if hit and (len(hit[1]) == width or len(hit[1]) > width and not hit[1].startswith("0") or width == 0):
            found[int(hit[1])] = os.path.join(folder, entry)
    if not found:
        raise SceneError(
            f"{display_path(path)}: no file matches this numbered pattern. Check the folder and the number of digits.",
            path,
        )
    numbers = sorted(found)
    step = min((after - before for before, after in zip(numbers, numbers[1:], strict=False)), default=1)
    missing = next((n for n in range(numbers[0], numbers[-1], step) if n not in found), None)
    if missing is not None:
        raise SceneError(
            f"{display_path(path)}: number {missing} is missing between {numbers[0]} and {numbers[-1]}. Add the file, "
            "or "
            f"name the frames one by one.",
            path,
        )
    return [found[number] for number in numbers]


UNSUPPORTED = {
    "3dm": "Rhino's own format", "abc": "Alembic", "c4d": "Cinema 4D's own format", "dwg": "AutoCAD's own format",
    "iges": "IGES", "igs": "IGES", "ma": "Maya's own format", "max": "3ds Max's own format", "mb": "Maya's own format",
    "skp": "SketchUp's own format", "sldprt": "SolidWorks' own format", "ztl": "ZBrush's own format",
}  # fmt: skip
"""Formats that people will try, and that no library here reads well."""
BESIDE = {
    "mtl": ("it holds materials alone", "Open the .obj beside it."),
    "rgtree": ("it is a tree, not a model", "Open it over its scene: raygrove MODEL --tree NAME=FILE.rgtree."),
    "rar": ("it is an archive", "Unpack it and open the model in it."),
    "7z": ("it is an archive", "Unpack it and open the model in it."),
    "zip": ("it is an archive", "Unpack it and open the model in it."),
}
"""Endings of files that belong to a model or hold one: what they are, and what to open."""


def extension_of(path: str) -> str:
    """The model's type by its name, without dot and packer, in lower case."""
    return Path(inner_name(path)).suffix[1:].lower()


def check_file(path: str, limits: ImportLimits, more: Sequence[str] = ()) -> None:
    """`SceneError` with a sentence where the file is missing, of a kind or type that cannot be read, empty, too large
    or not ours to read. `more` are endings that other packages read."""
    status = check_readable(path)
    ending = extension_of(path)
    if ending not in (*EXTENSIONS, *USD_ENDINGS, *PARTICLE_ENDINGS, *more) and not looks_like_particles(path):
        kind = f"the type .{ending} is not known" if ending else "its name has no ending that tells its type"
        known = "Known are obj, ply, gltf, glb, fbx, dae, stl, xyz, pdb, las and others, also as .gz, .xz or .bz2."
        if ending == "png":
            kind, known = (
                "it is a picture, not a model",
                "A picture that was saved with its state opens alone, in the window and by `render`.",
            )
        if ending in BESIDE:
            kind, known = BESIDE[ending]
        if ending in UNSUPPORTED:
            kind, known = (
                f"{UNSUPPORTED[ending]} is not supported",
                "Export the model as USD or glTF (.glb), with its animation, where it was made.",
            )
        raise SceneError(f"{display_path(path)} cannot be read: {kind}. {known}", path)
    if status.st_size > limits.file_mib << 20:
        raise SceneError(
            f"{display_path(path)} has {status.st_size >> 20:,} MiB and the limit is {limits.file_mib:,} MiB. Raise "
            f"import.file_mib to open it.",
            path,
        )


def is_rare(path: str) -> bool:
    """Whether a model's format is one that is opened only when that is asked for."""
    ending = extension_of(path)
    return ending in EXTENSIONS and ending not in COMMON


def within_patience(paths: Sequence[str], limits: ImportLimits) -> ImportLimits:
    """The limits with a share of the time for rare formats, more for large files: damaged ones of some kilobytes keep
    the library busy for ever, and nobody waits two minutes for them."""
    if not any(map(is_rare, paths)):
        return limits
    size = sum(os.path.getsize(path) for path in paths)
    seconds = max(limits.seconds / RARE_SHARE, RARE_LEAST_S) + size / RARE_BYTES_A_S
    return dataclasses.replace(limits, seconds=min(limits.seconds, seconds))


def check_common(paths: Sequence[str], limits: ImportLimits) -> None:
    """`RareFormatError` where a file is of a rare format and those were not asked for."""
    for path in paths:
        if is_rare(path) and not limits.all_formats:
            ending = extension_of(path)
            why = f"the format .{ending} is rare, and damaged files of such formats crash the library that reads them"
            raise RareFormatError(
                f"{display_path(path)} is not read: {why}. Open it all the same only if you trust the file.",
                path,
                paths,
            )


def check_readable(path: str) -> os.stat_result:
    """What the system knows of a file; `SceneError` where it is missing, no file, empty or not ours to read."""
    try:
        status = os.stat(path)
    except FileNotFoundError as error:
        broken = _lexists(path)
        why = "is a link to a file that is not there" if broken else "does not exist"
        raise SceneError(f"{display_path(path)} {why}. Check the path.", path) from error
    except PermissionError as error:
        raise SceneError(
            f"{display_path(path)} cannot be reached: no permission for its folder. Change the permissions or copy "
            "the file.",
            path,
        ) from error
    except ValueError as error:
        raise SceneError(f"{display_path(path)} is not a path: {error}. Check the name.", path) from error
    except OSError as error:
        advice = "Check the path; a very long one can be shortened by moving the file."
        raise SceneError(f"{display_path(path)} cannot be opened: {error.strerror}. {advice}", path) from error
    _check_kind(path, status)
    return status


def _check_kind(path: str, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise SceneError(
            f"{display_path(path)} is a folder. Open a file in it, or a pattern such as "
            f"{display_path(os.path.basename(path))}/*.obj.",
            path,
        )
    if not stat.S_ISREG(status.st_mode):
        kind = (
            "a FIFO" if stat.S_ISFIFO(status.st_mode) else "a socket" if stat.S_ISSOCK(status.st_mode) else "a device"
        )
        raise SceneError(f"{display_path(path)} is {kind}, not a file. Write the data to a file and open that.", path)
    if status.st_size == 0:
        raise SceneError(f"{display_path(path)} is empty. Export or fetch it again.", path)
    if not os.access(path, os.R_OK):
        raise SceneError(
            f"{display_path(path)} cannot be read: no permission. Change its permissions or copy it.", path
        )
