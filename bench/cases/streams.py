"""Key frames that do not fit: copied ahead of the playing head, or read where they lie, beside resident ones.

A waving sheet and drifting spheres play at 60 frames and 30 key frames per second of the clock in a share of the memory
that their key frames take (docs/decisions/streaming.md; Soell 2015, 3.3). Milliseconds are medians: of the target for a
frame, of the thread that issues it, and the worst of the latter; stalls are frames that waited for a key frame.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from raygrove.gpu.target.base import Target

from ..arguments import DEVICE, OUT, argument, chosen
from ..context import context
from ..saved import keep
from ..streaming import TIMES_THE_BUDGET, Played, make_swarm, make_waves, play
from ..table import aligned

SCENES = {"waves": make_waves, "swarm": make_swarm}
WAYS = (("resident", 1, "copies"), ("copies", TIMES_THE_BUDGET, "copies"), ("mapped", TIMES_THE_BUDGET, "mapped"))
COLUMNS = ("scene", "count", "keys", "way", "slots", "frame_ms", "host_ms", "worst_host_ms", "stalls", "streamed_mib")

ARGUMENTS = (
    DEVICE,
    argument("--count", type=int, default=0, metavar="N", help="vertices or spheres; 0: by the device"),
    argument("--keys", type=int, default=0, metavar="N", help="key frames; 0: by the device"),
    argument("--frames", type=int, default=300, metavar="N", help="frames of each run"),
    OUT,
)


def measure(
    target: Target, count: int, keys: int, frames: int, size: tuple[int, int], say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """A row for each scene and way."""
    rows = []
    for name, make in SCENES.items():
        scene = make(count, keys)
        for way, share, key_stream in WAYS:
            played = play(target, scene, share, frames, size, key_stream)
            rows.append(_row(name, count, way, played))
            say(f"{name}, {way}: {played.frame_ms:.3f} ms per frame, {played.streaming.stalls} stalls")
    return rows


def _row(name: str, count: int, way: str, played: Played) -> dict[str, Any]:
    facts = played.streaming
    return {
        **{"scene": name, "count": count, "keys": facts.keys, "way": way, "slots": facts.slots},
        **{"frame_ms": played.frame_ms, "host_ms": played.host_ms, "worst_host_ms": played.worst_host_ms},
        **{"stalls": facts.stalls, "streamed_mib": facts.bytes_streamed / 2**20},
    }


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for."""
    with chosen(names.device) as target:
        is_host = target.kind == "host"
        count, keys = names.count or (20_000 if is_host else 1_000_000), names.keys or (64 if is_host else 160)
        size = (320, 240) if is_host else (1024, 768)
        rows = measure(target, count, keys, names.frames, size, lambda line: print(line, flush=True))
        about = context(target, command=names.command)
    print(text := aligned(COLUMNS, [tuple(row[name] for name in COLUMNS) for row in rows]) + "\n")
    keep(names.out, {"context": about, "results": rows}, text)
    return 0
