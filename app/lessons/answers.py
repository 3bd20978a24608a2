"""The answer of this machine to a question: a race, and which of the choices its figures prove."""

from __future__ import annotations

import dataclasses
from typing import Any

from raygrove.app.lessons.lesson import QUANTITIES, Lesson, Question
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.analysis.intervals import Measured
from raygrove.gpu.analysis.race import Race
from raygrove.gpu.brief import brief
from raygrove.gpu.camera import Camera
from raygrove.gpu.face.clips import Clip
from raygrove.gpu.face.races import race
from raygrove.gpu.scene import Scene

UNDECIDED = "So nothing is decided here: perhaps they are alike, perhaps other programs were busy. Measure again."


class UnmeasuredError(ValueError):
    """A structure has no such figure; the message is a sentence."""


@dataclasses.dataclass(frozen=True)
class Figure:
    """One measured figure: of whom, what, the value, and between what it lies (times: 95 %; counts are exact)."""

    words: str
    quantity: str
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        title, unit = QUANTITIES[self.quantity]
        exact = f"{self.value:,.0f}" if self.low == self.high and self.value >= 100.0 else brief(self.value)
        range_ = "" if self.low == self.high else f" [{brief(self.low)}, {brief(self.high)}]"
        return f"{self.words}: {title} {exact}{f' {unit}' if unit else ''}{range_}"


@dataclasses.dataclass(frozen=True)
class Answer:
    """What was measured: the figures, and the places of the choices that agree with them. More than one where intervals
    overlap, or reach over a bound."""

    figures: tuple[Figure, ...]
    right: tuple[int, ...]
    sentence: str
    device: str

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return dataclasses.asdict(self)


def answer_from(table: dict[str, Any]) -> Answer:
    """The answer that `as_json` gave."""
    figures = tuple(Figure(**one) for one in table["figures"])
    return Answer(figures, tuple(table["right"]), table["sentence"], table["device"])


def measure(lesson: Lesson, question: Question, *, device: str = "auto", repeat: int = 7) -> Answer:
    """Race the contestants, by the camera that the window opens the scene with. Waits, for seconds. Raises what races
    raise, and UnmeasuredError."""
    scene = make_demo(lesson.demo, lesson.triangles, 0)
    found = race(
        Clip.from_plain(scene),
        list(question.contestants.values()),
        frames=range(*question.frames),
        camera=seen_first(scene),
        size=question.size,
        ray_type=question.ray_type,
        repeat=repeat,
        device=device,
    )
    return judged(question, found)


def seen_first(scene: Scene) -> Camera | None:
    """Where a built-in scene says that it is looked at from; None where it does not."""
    if scene.eye is None or scene.look_at is None:
        return None
    return Camera(eye=scene.eye, look_at=scene.look_at)


def judged(question: Question, race: Race) -> Answer:
    """What a race of the contestants says."""
    ratio = question.ratio
    if ratio is None:
        figures = tuple(_figure(race, question, words, question.quantity) for words in question.contestants)
        best = min(figures, key=lambda one: one.value)
        right = tuple(place for place, one in enumerate(figures) if one.low <= best.high)
        return Answer(figures, right, _least(question, figures, right), race.device)
    above, below = (_figure(race, question, *side) for side in (ratio.upper, ratio.lower))
    if below.low <= 0.0:
        raise UnmeasuredError(f"{below.words} has no {QUANTITIES[below.quantity][0]} to divide by.")
    value, low, high = above.value / below.value, above.low / below.high, above.high / below.low
    edges = (0.0, *ratio.bounds, float("inf"))
    right = tuple(
        place for place, (begin, end) in enumerate(zip(edges, edges[1:], strict=False)) if low < end and high >= begin
    )
    reach = "" if low == high else f" (between {brief(low)} and {brief(high)})"
    is_open = " It lies in more than one of the ranges; each of them agrees." if len(right) > 1 else ""
    if len(right) > len(ratio.bounds):
        is_open = f" It lies in every range. {UNDECIDED}"
    return Answer((above, below), right, f"The ratio is {brief(value)}{reach}.{is_open}", race.device)


def _least(question: Question, figures: tuple[Figure, ...], right: tuple[int, ...]) -> str:
    title = QUANTITIES[question.quantity][0]
    names = [figures[place].words for place in right]
    if len(names) == 1:
        return f"{names[0]} has the least ({title})."
    none = f"No difference between {', '.join(names[:-1])} and {names[-1]} ({title})"
    return f"{none}. {UNDECIDED}" if len(names) == len(figures) else f"{none}; each of them agrees."


def _figure(race: Race, question: Question, words: str, quantity: str) -> Figure:
    value = getattr(race.contestants[list(question.contestants).index(words)], quantity)
    if value is None:
        raise UnmeasuredError(f"{words} has no figure of {QUANTITIES[quantity][0]}.")
    if isinstance(value, Measured):
        return Figure(words, quantity, value.median, value.low, value.high)
    return Figure(words, quantity, float(value), float(value), float(value))
