"""Where exports go: which kind of file a name means, and the names of a sequence's pictures. Driven by the frame's
number, never by how long drawing it took."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

VIDEO_ENDINGS = (".mp4", ".mov", ".mkv")
ENDINGS = {".png": "png", ".exr": "exr", ".csv": "csv", ".json": "json", **dict.fromkeys(VIDEO_ENDINGS, "video")}
PATTERN = re.compile(r"%0?(\d*)d|(#+)")
LIBRARIES = {"video": ("av", "video", "video needs PyAV"), "exr": ("OpenEXR", "exr", "EXR needs the library OpenEXR")}
"""Kind -> the module that writes it, the extra that installs it, and what to say."""


class OutputError(ValueError):
    """Pictures cannot go where they were asked to go; the message is a sentence."""


def is_folder(out: str) -> bool:
    """Whether `--out` names a folder: it ends in a slash, or is one."""
    return out.endswith(("/", "\\")) or Path(out).is_dir()


def kind_of(out: str) -> str:
    """png, video, exr, csv or json, by the name's ending; a folder takes pictures. Raises OutputError for another
    ending."""
    if is_folder(out):
        return "png"
    path = Path(out)
    kind = ENDINGS.get(path.suffix.lower())
    if kind is None:
        known = "pictures are written as .png, video as .mp4, .mov or .mkv, buffers as .exr, tables as .csv or .json"
        raise OutputError(
            f"{out}: {known}; for a sequence name a folder with a slash at its end ({path.with_suffix('')}/)."
        )
    return kind


def check_output(out: str, frame_count: int) -> str:
    """The kind of what is written. Raises OutputError where so many frames do not go there, or the library for it is
    missing."""
    kind = kind_of(out)
    if kind in LIBRARIES:
        module, extra, what = LIBRARIES[kind]
        if importlib.util.find_spec(module) is None:
            stem = Path(out).with_suffix("")
            instead = (
                f"or write a PNG sequence into a folder (--out {stem}/)"
                if kind == "video"
                else f"or write a picture (--out {stem}.png)"
            )
            raise OutputError(
                f"{out}: {what}, which is not installed. Install it by `pip install {module}` (the extra "
                f"`{extra}`), {instead}."
            )
    if kind in ("png", "exr"):
        picture_path(out, 0, frame_count)
    return kind


def check_palette(out: str, colours: int) -> None:
    """Refuse a palette (`render.palette`, 0 for none) where the file has none. Raises OutputError."""
    what = {"video": "a video", "exr": "a file of numbers"}.get(kind_of(out), "")
    if colours and what:
        raise OutputError(
            f"{out}: render.palette is {colours}, and {what} has no palette: PNG pictures have one. Set render.palette "
            "to 0, or name a PNG."
        )


def picture_path(out: str, frame: int, frame_count: int) -> Path:
    """Where a frame's picture goes: FILE.png; frame_0007.png in a folder; a numbered pattern (depth_%04d.exr) with its
    number. Raises OutputError."""
    if is_folder(out):
        return Path(out) / f"frame_{frame:04d}.png"
    path = Path(out)
    pattern = PATTERN.search(path.name)
    if pattern:
        digits = int(pattern[1] or 0) if pattern[2] is None else len(pattern[2])
        return path.with_name(f"{path.name[: pattern.start()]}{frame:0{digits}d}{path.name[pattern.end() :]}")
    if frame_count > 1:
        numbered = path.with_name(f"{path.stem}_%04d{path.suffix}")
        folder = (
            f"a folder with a slash at its end ({path.with_suffix('')}/) or " if path.suffix.lower() == ".png" else ""
        )
        raise OutputError(
            f"{out}: {frame_count} frames do not go into one picture; name {folder}a numbered pattern ({numbered})."
        )
    return path
