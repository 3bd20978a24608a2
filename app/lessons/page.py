"""A lesson that was gone through, as text and as one page of HTML that loads nothing: what was predicted, what this
machine measured, what to read."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence

from raygrove.app.lessons.answers import Answer
from raygrove.app.lessons.lesson import QUANTITIES, Lesson, Question
from raygrove.gpu.analysis.pages import document_of, table_of


@dataclasses.dataclass(frozen=True)
class Step:
    """A question that was answered: the place of the choice that was predicted, and what was measured."""

    question: Question
    predicted: int
    answer: Answer

    @property
    def is_right(self) -> bool:
        """Whether the measurement agrees."""
        return self.predicted in self.answer.right

    @property
    def is_decided(self) -> bool:
        """Whether the measurement speaks against any of the choices."""
        return len(self.answer.right) < len(self.question.choices)

    @property
    def verdict(self) -> str:
        """In words."""
        said = f"You predicted: {self.question.choices[self.predicted]}."
        if not self.is_decided:
            return f"{said} The measurement decides nothing."
        return f"{said} The measurement agrees." if self.is_right else f"{said} It was otherwise."


def text_of(step: Step) -> str:
    """What is said once a question was measured."""
    lines = [f"  {figure}" for figure in step.answer.figures]
    return "\n".join([*lines, step.answer.sentence, step.verdict, "", step.question.after])


def papers_of(lesson: Lesson) -> str:
    """What to read afterwards, a line each under a heading; empty where there is nothing."""
    return "\n".join(["To read:", *(f"  {paper}" for paper in lesson.papers)]) if lesson.papers else ""


def page_of(lesson: Lesson, steps: Sequence[Step], about: dict[str, str]) -> str:
    """The page; `about` is what is to be known of the machine."""
    parts = [f"<p>{html.escape(lesson.text)}</p>", f'<p class="verdict">{_score(steps)}</p>']
    for number, step in enumerate(steps, 1):
        parts += [f"<h2>{number}. {html.escape(step.question.ask)}</h2>", f"<p>{html.escape(step.question.text)}</p>"]
        parts.append(f"<p>{html.escape(_how(lesson, step.question))}</p>")
        parts.append(table_of(("Contestant", "Configuration", "Quantity", "Value", "95 % interval"), _rows(step), 3))
        parts += [f"<p>{html.escape(line)}</p>" for line in (step.answer.sentence, step.verdict, step.question.after)]
    facts = {"Device": steps[0].answer.device, **about} if steps else about
    parts.append(table_of(("Measured on", ""), [(key, value) for key, value in facts.items()], 2))
    if lesson.papers:
        parts.append(
            "<h2>To read</h2>\n<ul>" + "".join(f"<li>{html.escape(one)}</li>" for one in lesson.papers) + "</ul>"
        )
    return document_of(f"Lesson: {lesson.title}", parts)


def _score(steps: Sequence[Step]) -> str:
    """How many predictions were right, of those that the measurements tell about."""
    decided = [step for step in steps if step.is_decided]
    open_ = len(steps) - len(decided)
    if not decided and steps:
        return "The measurements decide nothing."
    more = f" For {open_} more the measurement decides nothing." if open_ else ""
    return f"{sum(step.is_right for step in decided)} of {len(decided)} predictions agree with what was measured.{more}"


def _how(lesson: Lesson, question: Question) -> str:
    """What was drawn to measure it, so that it can be done again."""
    first, end = question.frames
    frames = f"frames {first} to {end - 1}" if end - first > 1 else f"frame {first}"
    width, height = question.size
    return f"Measured: {lesson.demo}, {frames}, {width} x {height} pixels, ray type {question.ray_type}."


def _rows(step: Step) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for one in step.answer.figures:
        title, unit = QUANTITIES[one.quantity]
        interval = "" if one.low == one.high else f"{one.low:.4g} to {one.high:.4g}"
        configuration = step.question.contestants[one.words]
        found.append((one.words, configuration, f"{title}{f', {unit}' if unit else ''}", f"{one.value:,.4g}", interval))
    return found
