"""Names of the pictures of a sequence: driven by the frame's number, never by how long drawing it took."""

from __future__ import annotations

from pathlib import Path


class OutputError(ValueError):
    """Pictures cannot go where they were asked to go; the message is a sentence."""


def is_folder(out: str) -> bool:
    """Whether `--out` names a folder: it ends in a slash, or is one."""
    return out.endswith(("/", "\\")) or Path(out).is_dir()


def picture_path(out: str, frame: int, frame_count: int) -> Path:
    """Where a frame's picture goes: FILE.png, or frame_0007.png in a folder. Raises OutputError."""
    if is_folder(out):
        return Path(out) / f"frame_{frame:04d}.png"
    path = Path(out)
    if path.suffix.lower() in (".mp4", ".mov", ".mkv", ".webm"):
        raise OutputError(f"{out}: video is not written yet. Write a sequence into a folder (--out {path.stem}/) and encode it with ffmpeg.")
    if path.suffix.lower() != ".png":
        raise OutputError(f"{out}: pictures are written as .png; for a sequence name a folder with a slash at its end ({out}/).")
    if frame_count > 1:
        raise OutputError(f"{out}: {frame_count} frames do not go into one picture; name a folder with a slash at its end ({path.stem}/).")
    return path
