"""`results --pictures`: an animation that jobs have drawn in parts, put together as numbered pictures or as a video."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from raygrove.app.export.images import read_png
from raygrove.app.export.outputs import Exported, open_output
from raygrove.app.export.sequence import OutputError, check_output, kind_of, picture_path
from raygrove.app.export.whole_files import check_writable, write_bytes
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError
from raygrove.bench.store.folder import Store, StoreError
from raygrove.bench.store.reading import is_store

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

FPS = 30.0
"""Of a video, where the instants of its frames do not tell."""
MOST_FRAMES = 1 << 31
Row = Mapping[str, Any]


def check_pictures(out: str) -> str:
    """Refuse a place where no pictures go, before any work; returns their kind: png or video. Raises UsageError and
    OSError."""
    try:
        kind = kind_of(out)
        if kind not in ("png", "video"):
            raise UsageError(f"--pictures {out}: name a folder with a slash at its end, or a video (FILE.mp4).")
        check_output(out, 2)
    except OutputError as error:
        raise UsageError(f"--pictures {error}") from error
    check_writable(Path(out) if out.endswith("/") else Path(out).parent)
    return kind


def write(records: Sequence[Mapping[str, Any]], rows: Sequence[Row], place: str, out: str, words: Words) -> int:
    """Write the pictures of these rows, which are of one animation; returns the exit code: 1 where frames between them
    are missing, of which there is no video. Raises UsageError, StoreError, OSError."""
    kind = kind_of(out)
    frames = animation_of(records, rows, place, out)
    numbers = sorted(frames)
    missing = numbers[-1] - numbers[0] + 1 - len(numbers)
    if missing:
        first = next(one + 1 for one, after in itertools.pairwise(numbers) if after > one + 1)
        words.error(f"{missing:,} frames from {numbers[0]} to {numbers[-1]} have no picture yet, the first is "
                    f"{first}: the sweep goes on by its own command.")  # fmt: skip
    if missing and kind == "video":
        return EXIT_FAILURE
    store = Store(place)
    paths = [(number, store.picture(str(row["sha"]), str(row["file"]))) for number, row in sorted(frames.items())]
    if kind == "video":
        _film(paths, _rate(frames), out)
    else:
        for number, path in paths:
            write_bytes(picture_path(out, number, len(paths)), path.read_bytes())
    words.say(f"Wrote {out}: {len(paths):,} picture{'s' * (len(paths) != 1)}.")
    return EXIT_FAILURE if missing else 0


def animation_of(records: Sequence[Mapping[str, Any]], rows: Sequence[Row], place: str, out: str) -> dict[int, Row]:
    """The rows that have pictures, by the numbers of their frames. Raises UsageError where there are none, or they are
    of jobs that differ in more than their frames."""
    if not is_store(place):
        raise UsageError(f"--pictures {out}: {place} holds figures alone; name the store that has the pictures.")
    drawn = [row for row in rows if row.get("file")]
    if not drawn:
        raise UsageError(f"--pictures {out}: no result that was picked has pictures; they are those of measure=render.")
    shown = {row["sha"] for row in drawn}
    jobs = [record["job"] for record in records if record.get("sha") in shown]
    keys = dict.fromkeys(key for job in jobs for key in job if key != "frames")
    differing = [key for key in keys if any(job.get(key) != jobs[0].get(key) for job in jobs)]
    if differing:
        first = differing[0]
        raise UsageError(f"--pictures {out}: what was picked differs in {', '.join(differing)}, and an animation is of "
                         f"one: pick it, as by --where '{first}={_start(jobs[0].get(first))}'.")  # fmt: skip
    strange = next((row for row in drawn if not _is_frame(row.get("frame"))), None)
    if strange is not None:
        why = (
            f"a picture of {str(strange['sha'])[:12]} is of frame {str(strange.get('frame'))[:20]}, which is no number"
        )
        raise StoreError(f"{why} of a frame", place, "take its result away, and its job is done again")
    return {row["frame"]: row for row in drawn}


def _is_frame(number: Any) -> bool:
    return type(number) is int and 0 <= number < MOST_FRAMES


def _start(value: Any) -> str:
    """A value as --where takes it; of a long one its beginning, and of a list what stands in its brackets, which mean
    something there."""
    if isinstance(value, list):
        return f"*{', '.join(map(str, value))}*"
    text = str(value)
    return text if len(text) < 24 else f"{text[:19]}*"


def _rate(frames: Mapping[int, Row]) -> float:
    """Frames a second, by two neighbours' instants."""
    for one, other in itertools.pairwise(sorted(frames)):
        before, after = (frames[number].get("time") for number in (one, other))
        if _is_instant(before) and _is_instant(after) and before < after:
            return (other - one) / float(after - before)
    return FPS


def _is_instant(time: Any) -> TypeGuard[float]:
    return isinstance(time, int | float) and abs(time) < MOST_FRAMES


def _film(paths: Sequence[tuple[int, Path]], rate: float, out: str) -> None:
    height, width = read_png(paths[0][1]).shape[:2]
    with open_output(out, len(paths), (width, height), rate) as output:
        for number, path in paths:
            output.add(Exported(number, read_png(path)))
