"""What goes with speed over all structures, as one page of HTML that loads nothing: a plot of the figure that goes with
it most, the correlations, and all figures."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

from .drawing import Drawing, Line, Rectangle, Words, width_of
from .pages import document_of, facts_list
from .race import METRICS, Correlation
from .race_page import correlations_part, figures_table
from .race_plots import LETTER_HEIGHT, rounded_up
from .survey import Survey

WIDTH, HEIGHT, LEFT, RIGHT, ABOVE, BELOW = 640.0, 320.0, 56.0, 30.0, 34.0, 52.0
MARK = 5.0
"""Pixels of a structure's mark."""
MIB = 2.0**20
LOGARITHMIC = 12.0
"""Where the largest figure is so many times the least the axis is logarithmic: one poor structure would push all others
into a corner."""
NAMED = 5
"""So many structures have their names beside them where none is an outlier: the fastest."""


def page_of(survey: Survey, command: str = "") -> str:
    """The page. `command` measures it again."""
    found, count = survey.correlations, len(survey.contestants)
    facts = {
        "Scene": f"{survey.scene}, {survey.triangles:,} triangles",
        "Frames": f"{len(survey.frames)}, {survey.rays_said}",
        "Measured": f"{survey.repeat} passes of each, in heats of up to eight that take turns",
        "Device": survey.device,
    }
    parts = [
        f'<p class="verdict">{html.escape(survey.verdict)}</p>',
        *(f"<p>{html.escape(note)}</p>" for note in survey.notes),
        f"<h2>Rank correlation</h2>\n{correlations_part(found, count)}" if found else "",
        f'<div class="wide">{scatter(survey, found[0]).svg(is_inline=True)}</div>' if found else "",
        f"<h2>Figures, the fastest rays first</h2>\n{figures_table(survey.contestants, letters=False)}",
        f"<h2>How it was measured</h2>\n{facts_list(facts)}",
        f"<p>The same again:</p>\n<pre>{html.escape(command)}</pre>" if command else "",
    ]
    return document_of(f"What goes with speed: {survey.scene}", parts)


def scatter(survey: Survey, shown: Correlation) -> Drawing:
    """Each structure by one figure of its tree and its measured rays per second; outliers by name, else the fastest."""
    is_memory = shown.metric == "bytes"
    title, unit = ("memory, MiB", MIB) if is_memory else (METRICS[shown.metric], 1.0)
    made = Drawing(WIDTH, HEIGHT, f"{title} and rays per second: {survey.scene}")
    some = [one for one in survey.contestants if getattr(one, shown.metric) is not None]
    values = [float(getattr(one, shown.metric)) / unit for one in some]
    place_of, ticks, kind = _across(values)
    fastest = rounded_up(max(one.mrays_per_s for one in some) or 1.0)
    wide, up, base = WIDTH - LEFT - RIGHT, (HEIGHT - ABOVE - BELOW) / fastest, HEIGHT - BELOW
    for step in range(5):
        y = base - fastest * step / 4.0 * up
        made.things += [Line(((LEFT, y), (WIDTH - RIGHT, y)), "grid"),
                        Words(LEFT - 8.0, y + 4.0, f"{fastest * step / 4.0:,.6g}", "secondary", "end")]  # fmt: skip
    for tick in ticks:
        made.things.append(Words(LEFT + place_of(tick) * wide, base + 18.0, f"{tick:,.6g}", "secondary", "middle"))
    made.things += [Words(LEFT - 44.0, 18.0, "million rays per second", "secondary"),
                    Words(WIDTH / 2.0, HEIGHT - 10.0, f"{title}{kind}", "secondary", "middle")]  # fmt: skip
    named = shown.outliers or tuple(one.configuration for one in some[:NAMED])
    places = [(LEFT + place_of(value) * wide, base - one.mrays_per_s * up)
              for one, value in zip(some, values, strict=True)]  # fmt: skip
    placed = [(x - MARK / 2.0, x + MARK / 2.0, y + 4.0) for x, y in places]
    for one, (x, y) in zip(some, places, strict=True):
        made.things.append(Rectangle(x - MARK / 2.0, y - MARK / 2.0, MARK, MARK, "text"))
        if one.configuration in named:
            made.things.append(_name(one.configuration, x, y + 4.0, placed))
    return made


def _across(values: Sequence[float]) -> tuple[Callable[[float], float], list[float], str]:
    """Where a figure stands on the axis, from 0 to 1; what is written there; and what kind of axis it is, in words."""
    least, most = min(values), max(values) or 1.0
    if least <= 0.0 or most < LOGARITHMIC * least:
        end = rounded_up(most)
        return (lambda value: value / end), [end * step / 4.0 for step in range(5)], ""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps = (1.0, 2.0, 5.0) if len(powers) < 5 else (1.0,)
    ticks = [step * 10.0**power for power in powers for step in steps]
    first = max(tick for tick in ticks if tick <= least)
    last = min(tick for tick in ticks if tick >= most)
    span = math.log(last / first)
    return (
        (lambda value: math.log(value / first) / span),
        [one for one in ticks if first <= one <= last],
        ", logarithmic",
    )


def _name(text: str, x: float, y: float, placed: list[tuple[float, float, float]]) -> Words:
    """A name beside its mark, as near to it as what is `placed` already, marks and names (from x, to x, y), leaves; it
    is one of them then."""
    width = width_of(text, 11.0)
    fits = x + 8.0 + width < WIDTH
    left = x + 8.0 if fits else x - 8.0 - width
    beside = [other for begin, end, other in placed if left < end and begin < left + width]
    steps = (y + way * step for step in range(round(HEIGHT)) for way in (1.0, -1.0))
    y = next((one for one in steps if all(abs(one - other) >= LETTER_HEIGHT for other in beside)), y)
    placed.append((left, left + width, y))
    return Words(x + (8.0 if fits else -8.0), y, text, "text", "start" if fits else "end")
