"""What a page of results shows before its table: costs as bars with their intervals, clips as lines over their frames,
and pictures, all of it in the page itself."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raygrove.gpu.analysis.drawing import DASHES, Drawing, Line, Rectangle, Words
from raygrove.gpu.brief import brief

from .folder import Store, StoreError, opened
from .reading import is_store
from .tables import shown

Row = Mapping[str, Any]
COSTS = {"frame_ms": "shade", "trace_ms": "trace", "build_ms": "build", "refit_ms": "build"}
"""The figures that are drawn as bars, and the names of their colours."""
FIRST = ("scene", "configuration", "ray_type")
"""Words that say by themselves what they are."""
UNTELLING = frozenset(("sha", "started", "seconds", "file", "image_sha256", "noise", "sentence", "hits", "sum_t",
                       "time", "bytes", "depth", "triangles", "layout", "update", "machine", "status"))  # fmt: skip
MEASURED = ("_ms", "_low", "_high", "_per_s", "_cost")
"""How the names of figures end."""
WIDTH, BAR, LEFT, TOP = 640.0, 30.0, 12.0, 30.0
MOST_BARS, MOST_LINES = 40, len(DASHES)
MOST_PICTURES, MOST_BYTES = 48, 24 << 20
"""Of a page; a browser shows more of either slowly."""


def parts_of(rows: Sequence[Row], place: str) -> list[str]:
    """The parts of a page of rows, whose results lie at `place`. Figures are drawn where rows have them."""
    found = [f"<h2>{metric}</h2>\n{_wide(bars(rows, metric))}" for metric in COSTS if _valued(rows, metric)]
    clips = clips_of(rows)
    if clips:
        found.append(f"<h2>Over the frames</h2>\n{_wide(over_frames(clips))}")
    if is_store(place):
        found += _pictures(rows, Store(place))
    return [*found, "<h2>All figures</h2>"] if found else []


def _wide(drawing: Drawing) -> str:
    return f'<div class="wide">{drawing.svg(is_inline=True)}</div>'


def _valued(rows: Sequence[Row], metric: str) -> list[Row]:
    return [row for row in rows if isinstance(row.get(metric), int | float)]


def bars(rows: Sequence[Row], metric: str) -> Drawing:
    """A bar a row, in the rows' order, with the interval of its median as a whisker."""
    drawn = _valued(rows, metric)[:MOST_BARS]
    names = names_of(drawn)
    made = Drawing(WIDTH, TOP + BAR * len(drawn) + 20.0, metric)
    scale = (WIDTH - 2.0 * LEFT) / (max(row.get(f"{metric}_high") or row[metric] for row in drawn) or 1.0)
    for place, (row, name) in enumerate(zip(drawn, names, strict=True)):
        y, end = TOP + BAR * place, LEFT + row[metric] * scale
        low, high = row.get(f"{metric}_low"), row.get(f"{metric}_high")
        made.things += [Words(LEFT, y - 3.0, f"{name}: {row[metric]:.4g} ms"),  # a phone shows the left end first
                        Rectangle(LEFT, y, end - LEFT, 10.0, COSTS[metric])]  # fmt: skip
        if low is not None and high is not None:
            made.things.append(Line(((LEFT + low * scale, y + 5.0), (LEFT + high * scale, y + 5.0)), "text", 1.5))
    count = len(_valued(rows, metric))
    foot = "medians; whiskers: intervals of 95 %" + (
        f"; the first {MOST_BARS} of {count:,}" if count > MOST_BARS else ""
    )
    made.things.append(Words(LEFT, made.height - 6.0, foot, "secondary", size=10.0))
    return made


def names_of(rows: Sequence[Row]) -> list[str]:
    """What each row is, by the words of its job in which rows differ."""
    keys = dict.fromkeys(key for row in rows for key in row if key not in UNTELLING and not key.endswith(MEASURED))
    differing = [key for key in keys if len({repr(row.get(key)) for row in rows}) > 1]
    plain = [key for key in FIRST if key in differing]
    rest = [key for key in differing if key not in FIRST]

    def name(row: Row) -> str:
        words = [str(row[key]) for key in plain if row.get(key)]
        told = (key for key in rest if row.get(key) is not None and not (key == "frames" and "frame" in rest))
        words += [f"{key} {shown(row[key], key)[:24]}" for key in told]
        return " ".join(words) or str(row.get("configuration", ""))

    return [name(row) for row in rows]


def clips_of(rows: Sequence[Row]) -> dict[str, list[tuple[float, float]]]:
    """Million rays a second by frame, for what was drawn at several, by its name."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in _valued(rows, "mrays_per_s"):
        if isinstance(row.get("frame"), int) and abs(row["frame"]) < 1 << 31:
            name = " ".join(str(row.get(key) or "") for key in ("scene", "configuration", "ray_type")).strip()
            found.setdefault(name, []).append((float(row["frame"]), float(row["mrays_per_s"])))
    return {name: sorted(points) for name, points in found.items() if len({x for x, _ in points}) > 1}


def over_frames(clips: Mapping[str, Sequence[tuple[float, float]]]) -> Drawing:
    """A line for each clip, told apart by its dashes."""
    drawn = dict(list(clips.items())[:MOST_LINES])
    made = Drawing(WIDTH, 250.0 + 16.0 * len(drawn), "Million rays a second over the frames")
    last = max(x for points in drawn.values() for x, _ in points) or 1.0
    top = max(y for points in drawn.values() for _, y in points) or 1.0
    base, axis, across, down = 210.0, 56.0, (WIDTH - 90.0) / last, 180.0 / top
    for step in range(5):
        y = base - top * step / 4.0 * down
        made.things += [Line(((axis, y), (WIDTH - 34.0, y)), "grid"),
                        Words(axis - 8.0, y + 4.0, brief(top * step / 4.0), "secondary", "end")]  # fmt: skip
    made.things += [Words(axis + x * across, base + 18.0, f"{x:.0f}", "secondary", "middle") for x in (0.0, last)]
    made.things += [Words(axis - 44.0, 18.0, "million rays a second", "secondary"),
                    Words(WIDTH / 2.0, base + 18.0, "frame", "secondary", "middle")]  # fmt: skip
    if len(clips) > len(drawn):
        made.things.append(Words(WIDTH - 34.0, 18.0, f"the first {len(drawn)} of {len(clips):,}", "secondary", "end"))
    for place, (name, points) in enumerate(drawn.items()):
        y = 250.0 + 16.0 * place
        line = tuple((axis + x * across, base - value * down) for x, value in points)
        made.things += [Line(line, "text", 1.6, DASHES[place]),
                        Line(((LEFT, y - 4.0), (LEFT + 40.0, y - 4.0)), "text", 1.6, DASHES[place]),
                        Words(LEFT + 48.0, y, name)]  # fmt: skip
    return made


def _pictures(rows: Sequence[Row], store: Store) -> Iterator[str]:
    """The pictures of rows, evenly chosen where they are many."""
    drawn = [row for row in rows if row.get("file")]
    step = max(1, -(-len(drawn) // MOST_PICTURES))
    chosen = drawn[::step]
    made, bytes_left = [], MOST_BYTES
    for row, name in zip(chosen, names_of(chosen), strict=True):
        try:
            with opened(store.picture(str(row["sha"]), str(row["file"]))) as file:
                data = file.read(bytes_left + 1)
        except (OSError, StoreError):
            continue
        if len(data) > bytes_left:
            break
        bytes_left -= len(data)
        source, words = base64.b64encode(data).decode(), html.escape(name)
        made.append(
            f'<figure><img alt="{words}" src="data:image/png;base64,{source}"><figcaption>{words}</figcaption></figure>'
        )
    if made:
        said = f"<p>{len(made):,} of {len(drawn):,}.</p>\n" if len(made) < len(drawn) else ""
        yield f'<h2>Pictures</h2>\n{said}<div class="pictures">{"".join(made)}</div>'
