"""The plots of a race: what each contestant costs, by phase, and its cost over the frames."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

from ..brief import brief
from .drawing import DASHES, Drawing, Line, Rectangle, Words, apart
from .race import LETTERS, Race

PHASES = {"update_ms": "build", "trace_ms": "trace", "shade_ms": "shade"}
"""The parts of a cost, and the names of their colours; refits have the colour of builds."""
NAMES = {"build": "build and refit", "trace": "trace", "shade": "shade"}
WIDTH, ROW, LEFT, FIRST_ROW = 640.0, 34.0, 12.0, 46.0
HEIGHT, AXIS = 300.0, 56.0
LETTER_HEIGHT = 11.0
FAR = 10.0
"""From here on the lines of the fast ones would all lie on the axis."""


def plots(race: Race) -> dict[str, Drawing]:
    """Plots by the name that a file of each has."""
    found = {"costs": costs(race)}
    if len(race.frames) > 1:
        found["frames"] = over_frames(race)
    return found


def costs(race: Race) -> Drawing:
    """A bar for each contestant, fastest first, parts in the colours of their phases, its interval as a whisker."""
    made = Drawing(WIDTH, FIRST_ROW + ROW * len(race.contestants) + 34.0, f"What each contestant costs: {race.scene}")
    longest = max(one.ms.high for one in race.contestants) or 1.0
    scale = (WIDTH - LEFT - 120.0) / longest
    x = LEFT
    for color, name in NAMES.items():
        made.things += [Rectangle(x, 12.0, 10.0, 10.0, color), Words(x + 14.0, 21.0, name, "secondary")]
        x += 60.0 + 6.0 * len(name)
    for place, one in enumerate(race.ranking):
        y, x = FIRST_ROW + ROW * place, LEFT
        made.things.append(Words(LEFT, y - 3.0, f"{one.place}  {one.letter}  {one.configuration}"))
        shares = {part: getattr(one, part).median for part in PHASES}
        total = sum(shares.values()) or 1.0
        for part, color in PHASES.items():
            width = shares[part] / total * one.ms.median * scale
            made.things.append(Rectangle(x, y, width, 12.0, color))
            x += width
        low, high = (LEFT + end * scale for end in (one.ms.low, one.ms.high))
        made.things.append(Line(((low, y + 6.0), (high, y + 6.0)), "text", 1.5))
        made.things += [Line(((end, y + 2.0), (end, y + 10.0)), "text", 1.5) for end in (low, high)]
        made.things.append(Words(max(x, high) + 8.0, y + 10.0, f"{brief(one.ms.median)} ms"))
    foot = f"median of {race.repeat} passes, whiskers: interval of 95 %; milliseconds per frame"
    made.things.append(Words(LEFT, made.height - 10.0, foot, "secondary", size=10.0))
    return made


def over_frames(race: Race) -> Drawing:
    """A line for each contestant, letters at their ends; by powers of ten where one costs FAR times what another
    does."""
    made = Drawing(WIDTH, HEIGHT, f"Cost over frames: {race.scene}")
    across, base = (WIDTH - AXIS - 30.0) / (len(race.frames) - 1), HEIGHT - 44.0
    ticks, share = scale_of([one.frame_ms for one in race.contestants])
    y_of = lambda ms: base - (HEIGHT - 80.0) * share(ms)  # noqa: E731
    for ms in ticks:
        y = y_of(ms)
        made.things.append(Line(((AXIS, y), (WIDTH - 30.0, y)), "grid"))
        made.things.append(Words(AXIS - 8.0, y + 4.0, f"{ms:,.6g}", "secondary", "end"))
    for number in sorted({0, len(race.frames) // 2, len(race.frames) - 1}):
        x = AXIS + number * across
        made.things.append(Words(x, base + 18.0, str(race.frames[number]), "secondary", "middle"))
    made.things += [Words(AXIS - 44.0, 22.0, "ms per frame", "secondary"),
                    Words(WIDTH / 2.0, HEIGHT - 8.0, "frame", "secondary", "middle")]  # fmt: skip
    ends = apart([y_of(one.frame_ms[-1]) + 4.0 for one in race.contestants], LETTER_HEIGHT, base + 4.0)
    for one, end in zip(race.contestants, ends, strict=True):
        points = tuple((AXIS + k * across, y_of(ms)) for k, ms in enumerate(one.frame_ms))
        made.things.append(Line(points, "text", 1.6, DASHES[LETTERS.index(one.letter)]))
        made.things.append(Words(points[-1][0] + 6.0, end, one.letter))
    return made


def scale_of(lines: Sequence[Sequence[float]]) -> tuple[list[float], Callable[[float], float]]:
    """What is written beside the axis, and where on it a cost lies, from 0 to 1."""
    most, usual = max(max(line) for line in lines), [statistics.median(line) for line in lines]
    least = min(min(line) for line in lines)
    if least > 0.0 and max(usual) >= FAR * min(usual):
        low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
        decades = max(high - low, 1)
        return [10.0 ** (low + step) for step in range(decades + 1)], lambda ms: (math.log10(ms) - low) / decades
    top = rounded_up(most or 1.0)
    return [top * step / 4.0 for step in range(5)], lambda ms: ms / top


def rounded_up(value: float) -> float:
    """The next of 1, 2, 4, 6, 8 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(next(step * power for step in (1.0, 2.0, 4.0, 6.0, 8.0, 10.0) if step * power >= value))
