"""Where exports go: which kind of file a name means, and the names of a sequence's pictures. Driven by the frame's
number, never by how long drawing it took."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from raygrove.app.scene_io.numbered import place_of_number

VIDEO_ENDINGS = (".mp4", ".mov", ".mkv")
ENDINGS = {".png": "png", ".exr": "exr", ".csv": "csv", ".json": "json", **dict.fromkeys(VIDEO_ENDINGS, "video")}
LIBRARIES = {"video": ("av", "video", "video needs PyAV"), "exr": ("OpenEXR", "exr", "EXR needs the library OpenEXR")}
"""Kind -> the module that writes it, the extra that installs it, and what to say."""


class OutputError(ValueError):
    """Pictures cannot go where they were asked to go. The message is what a command line says: the place, `why` and
    what to type instead. A dialog has words of its own for what to do, by the `cause`: ending, library, palette or
    frames."""

    def __init__(self, out: str, cause: str, why: str, instead: str) -> None:
        super().__init__(f"{out}: {why}. {instead}")
        self.cause, self.why = cause, why


def is_folder(out: str) -> bool:
    """Whether `--out` names a folder: it ends in a slash, or is one."""
    return out.endswith(("/", "\\")) or os.path.isdir(out)


def place_of(out: str) -> tuple[Path, *tuple[str, ...]]:
    """The folder that `--out` names; of a file its folder and its name there."""
    return (Path(out),) if is_folder(out) else (Path(out).parent, Path(out).name)


def kind_of(out: str) -> str:
    """png, video, exr, csv or json, by the name's ending; a folder takes pictures. Raises OutputError for another
    ending."""
    if is_folder(out):
        return "png"
    path = Path(out)
    kind = ENDINGS.get(path.suffix.lower())
    if kind is None:
        known = "pictures are written as .png, video as .mp4, .mov or .mkv, buffers as .exr, tables as .csv or .json"
        folder = path.with_suffix("")
        raise OutputError(out, "ending", known, f"For a sequence name a folder with a slash at its end ({folder}/).")
    return kind


def why_not(kind: str) -> str:
    """Why a kind of file cannot be written on this machine; an empty text where it can."""
    if kind not in LIBRARIES or importlib.util.find_spec(LIBRARIES[kind][0]) is not None:
        return ""
    return f"{LIBRARIES[kind][2]}, which is not installed"


def check_output(out: str, frame_count: int) -> str:
    """The kind of what is written. Raises OutputError where so many frames do not go there, or the library for it is
    missing."""
    kind = kind_of(out)
    if why := why_not(kind):
        module, extra, _ = LIBRARIES[kind]
        stem = Path(out).with_suffix("")
        other = f"a PNG sequence into a folder ({stem}/)" if kind == "video" else f"a picture ({stem}.png)"
        advice = f"Install it by `pip install {module}` (the extra `{extra}`), or write {other}."
        raise OutputError(out, "library", why, advice)
    if kind in ("png", "exr"):
        picture_path(out, 0, frame_count)
    return kind


def check_palette(out: str, colours: int) -> None:
    """Refuse a palette (`render.palette`, 0 for none) where the file has none. Raises OutputError."""
    what = {"video": "a video", "exr": "a file of numbers"}.get(kind_of(out), "")
    if colours and what:
        advice = f"render.palette is {colours}: set it to 0, or name a PNG."
        raise OutputError(out, "palette", f"{what} has no palette, PNG pictures have one", advice)


def picture_path(out: str, frame: int, frame_count: int) -> Path:
    """Where a frame's picture goes: FILE.png; frame_0007.png in a folder; a numbered pattern (depth_%04d.exr) with its
    number. Raises OutputError."""
    if is_folder(out):
        return Path(out) / f"frame_{frame:04d}.png"
    path = Path(out)
    if (place := place_of_number(path.name)) is not None:
        before, digits, behind = place
        return path.with_name(f"{before}{frame:0{digits}d}{behind}")
    if frame_count > 1:
        numbered = path.with_name(f"{path.stem}_%04d{path.suffix}")
        folder = (
            f"a folder with a slash at its end ({path.with_suffix('')}/) or " if path.suffix.lower() == ".png" else ""
        )
        why = f"{frame_count} frames do not go into one picture"
        raise OutputError(out, "frames", why, f"Name {folder}a numbered pattern ({numbered}).")
    return path
