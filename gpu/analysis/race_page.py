"""A race as one page of HTML that loads nothing: pictures, plots, tables, the device, and the command to repeat it."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from ..brief import brief
from .pages import document_of, facts_list, table_of
from .race import METRICS, Contestant, Correlation, Race, few_sentence, told_once
from .race_plots import plots

MARK = (255, 0, 255, 255)
"""The colour of pixels whose hits differ."""


def page_of(race: Race, command: str = "", about: dict[str, str] | None = None) -> str:
    """The page. `command` repeats the race, `about` is what else is to be known of the machine."""
    facts = {
        "Scene": f"{race.scene}, {race.triangles:,} triangles",
        "Frames": f"{len(race.frames)}, {race.rays_said}",
        "Measured": f"{race.repeat} passes, in turns that rotate; one pass before them is not counted",
        "Device": f"{race.device} ({race.target})",
        **(about or {}),
    }
    parts = [
        f'<p class="verdict">{html.escape(race.verdict)}</p>',
        *(f"<p>{html.escape(note)}</p>" for note in race.notes),
        '<h2>Ranking</h2>\n<ul class="ranking">',
        *(
            f"<li><b>{one.place_told}</b> {html.escape(_ranked(one, reason))}</li>"
            for one, reason in zip(race.ranking, told_once(race.ranking), strict=True)
        ),
        "</ul>",
        *(f'<div class="wide">{plot.svg(is_inline=True)}</div>' for plot in plots(race).values()),
        f"<h2>Figures</h2>\n{figures_table(race.contestants)}",
        f"<h2>Pictures of the last frame</h2>\n{_pictures(race)}" if race.pictures else "",
        f"<h2>What goes with speed</h2>\n{correlations_part(race.correlations, len(race.contestants))}",
        f"<h2>How it was measured</h2>\n{facts_list(facts)}",
        f"<p>The same race again:</p>\n<pre>{html.escape(command)}</pre>" if command else "",
    ]
    return document_of(f"Race: {race.scene}", parts)


def _ranked(one: Contestant, reason: str) -> str:
    cost = f"{one.letter}  {one.configuration}: {brief(one.ms.median)} ms [{brief(one.ms.low)}, {brief(one.ms.high)}]"
    return f"{cost}. {reason}." if reason else f"{cost}."


def figures_table(contestants: Sequence[Contestant], *, letters: bool = True) -> str:
    """All figures of contestants; `letters` says whether these stand before the configurations."""
    heads = ("", "Configuration", "Layout", "Update ms", "Trace ms", "Shade ms", "Million rays/s", "SAH cost",
             "Overlap", "Leaf variability", "Depth", "MiB", "Mean warp", "Longest warp", "Nodes per ray",
             "Primitives per ray", "Ties", "Mismatches")  # fmt: skip
    rows = [
        (one.letter, one.configuration, one.layout, *(f"{part.median:.3f}" for part in
         (one.update_ms, one.trace_ms, one.shade_ms)), f"{one.mrays_per_s:.2f}", _number(one.sah_cost),
         _number(one.end_point_overlap), _number(one.leaf_variability), _number(one.depth),
         "" if one.bytes is None else f"{one.bytes / 2**20:.1f}", _number(one.mean_warp), _number(one.longest_warp),
         _number(one.mean_visits), _number(one.mean_tests), f"{one.proof.ties:,}",
         f"{one.proof.mismatches:,}")
        for one in contestants
    ]  # fmt: skip
    skipped = 0 if letters else 1
    return table_of(heads[skipped:], [row[skipped:] for row in rows], names=3 - skipped)


def correlations_part(found: Sequence[Correlation], count: int) -> str:
    """What goes with speed, over `count` contestants: a sentence and a table, or why there is none."""
    if not found:
        return f"<p>{few_sentence(count) or 'No figure of their trees differs among enough contestants.'}</p>"
    rows = [(METRICS[one.metric], f"{one.rho:+.2f}", brief(one.p, 2), str(one.count),
             ", ".join(one.outliers) or "none") for one in found]  # fmt: skip
    sentence = (
        "Rank correlation (Spearman) of each metric and measured rays per second; -1: the smaller the metric, the "
        "faster the rays. p is the probability of one as far from 0 by chance. Outliers are those whose speed is far "
        "from where that order puts them."
    )
    return f"<p>{sentence}</p>\n" + table_of(
        ("Metric", "Correlation", "p", "Contestants", "Outliers"), rows, names=1, is_last_prose=True
    )


def _pictures(race: Race) -> str:
    made = []
    for one in race.contestants:
        picture = race.pictures.get(one.letter)
        if picture is None:
            continue
        shown, wrong = np.array(picture), race.wrong.get(one.letter)
        if wrong is not None:
            shown[wrong] = MARK
        said = f"{one.letter} {one.configuration}"
        if wrong is not None and wrong.any():
            said += f": {int(wrong.sum()):,} pixels whose hits differ"
        source = base64.b64encode(png_of(shown)).decode()
        words = html.escape(said)
        made.append(
            f'<figure><img alt="{words}" src="data:image/png;base64,{source}"><figcaption>{words}</figcaption></figure>'
        )
    return f'<div class="pictures">{"".join(made)}</div>'


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def png_of(picture: np.ndarray) -> bytes:
    """A picture (H, W, 4) uint8 as a PNG without transparency."""
    height, width = picture.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = picture[..., :3].reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
