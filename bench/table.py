"""Rows as aligned text, for people."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from .rows import Row


def aligned(header: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    """A table with a line under its header; numbers to the right, text to the left. None is a dash."""
    cells = [[_shown(value) for value in line] for line in lines]
    widths = [max(len(text) for text in column) for column in zip(header, *cells, strict=True)]
    is_number = (
        [
            all(value is None or isinstance(value, int | float) for value in column)
            for column in zip(*lines, strict=True)
        ]
        if lines
        else []
    )
    is_number = is_number or [False] * len(header)

    def line_of(texts: Sequence[str]) -> str:
        placed = (
            text.rjust(w) if right else text.ljust(w) for text, w, right in zip(texts, widths, is_number, strict=True)
        )
        return "  ".join(placed).rstrip()

    return "\n".join([line_of(header), "  ".join("-" * w for w in widths), *map(line_of, cells)])


def build_table(rows: Sequence[Row]) -> str:
    """What `bench build` prints: one line per row (EPO: end-point overlap, LCV: leaf-count variability), then the
    phases."""
    header = _WHAT + (
        "build ms",
        "refit ms",
        "nodes",
        "leaves",
        "depth",
        "SAH cost",
        "EPO",
        "LCV",
        "bytes/tri",
        "scratch/tri",
    )
    names = (
        "build_ms",
        "refit_ms",
        "node_count",
        "leaf_count",
        "depth",
        "sah_cost",
        "end_point_overlap",
        "leaf_variability",
    )
    return aligned(
        header, [_what(r) + _values(r, names) + (_each(r.bytes, r), _each(r.scratch_bytes, r)) for r in rows]
    ) + _phases(rows)


def trace_table(rows: Sequence[Row]) -> str:
    """What `bench trace` prints: one line per row, then the other programs, then what is absent and why."""
    header = _WHAT + ("rays", "size", "trace ms", "MRays/s", "hits", "sum_t")
    parts = [
        aligned(
            header,
            [
                (*_what(r), r.ray_type, _size(r), *_values(r, ("trace_ms", "mrays_per_s", "hits", "sum_t")))
                for r in rows
            ],
        )
    ]
    peers = [(row, peer) for row in rows for peer in row.peers]
    names = ("program", "pack", "threads", "build_ms", "trace_ms", "mrays_per_s", "hits", "sum_t")
    lines = [
        (row.scene, row.triangles, *(peer.get(name) for name in names)) for row, peer in peers if "absent" not in peer
    ]
    if lines:
        parts.append(
            aligned(
                ("scene", "triangles", "peer", "pack", "threads", "build ms", "trace ms", "MRays/s", "hits", "sum_t"),
                lines,
            )
        )
    return "\n\n".join(parts + list(dict.fromkeys(peer["absent"] for _, peer in peers if "absent" in peer)))


def frame_table(rows: Sequence[Row]) -> str:
    """What `bench frame` prints: one line per row, then the rays of each kind, then the phases."""
    header = _WHAT + (
        "update",
        "ray type",
        "size",
        "frame ms",
        "host ms",
        "frames/s",
        "build ms",
        "refit ms",
        "trace ms",
        "launches",
    )
    lines = [
        (
            *_what(r),
            r.update,
            r.ray_type,
            _size(r),
            _median(r, "frame_ms"),
            _median(r, "host_ms"),
            _median(r, "frames_per_s"),
        )
        + _values(r, ("build_ms", "refit_ms", "trace_ms", "launches"))
        for r in rows
    ]
    return aligned(header, lines) + _rays(rows) + _phases(rows)


_WHAT = ("scene", "triangles", "target", "hierarchy", "layout")


def _what(row: Row) -> tuple[Any, ...]:
    return _values(row, _WHAT)


def _values(row: Row, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in names)


def _rays(rows: Sequence[Row]) -> str:
    """Rays of each kind and depth, where there are others than primary ones."""
    kinds = list(dict.fromkeys(kind for row in rows for kind in row.rays_by_kind))
    if len(kinds) < 2:
        return ""
    lines = [
        (kind, *(x for row in rows for x in (row.rays_by_kind.get(kind), row.mrays_per_s_by_kind.get(kind))))
        for kind in kinds
    ]
    return "\n\n" + aligned(
        ("rays", *(text for row in rows for text in (f"{row.scene} {row.layout}", "MRays/s"))), lines
    )


def _phases(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row.phases_ms))
    if not names:
        return ""
    lines = [(name, *(row.phases_ms.get(name) for row in rows)) for name in names]
    return "\n\n" + aligned(("phase, ms", *(f"{row.scene} {row.layout}" for row in rows)), lines)


def _median(row: Row, name: str) -> float | None:
    values = row.samples.get(name)
    return statistics.median(values) if values else None


def _each(amount: int | None, row: Row) -> float | None:
    return None if amount is None or not row.triangles else amount / row.triangles


def _size(row: Row) -> str:
    return f"{row.size[0]}x{row.size[1]}" if row.size else "-"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}" if abs(value) < 1e6 else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
