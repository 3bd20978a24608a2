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
    def verdict(self) -> str:
        """In words."""
        said = self.question.choices[self.predicted]
        return f"You predicted: {said}. " + ("The measurement agrees." if self.is_right else "It was otherwise.")


def text_of(step: Step) -> str:
    """What is said once a question was measured."""
    lines = [f"  {figure}" for figure in step.answer.figures]
    return "\n".join([*lines, step.answer.sentence, step.verdict, "", step.question.after])


def page_of(lesson: Lesson, steps: Sequence[Step], about: dict[str, str]) -> str:
    """The page; `about` is what is to be known of the machine."""
    right = sum(step.is_right for step in steps)
    parts = [f"<p>{html.escape(lesson.text)}</p>",
             f'<p class="verdict">{right} of {len(steps)} predictions agree with what was measured.</p>']  # fmt: skip
    for number, step in enumerate(steps, 1):
        parts += [f"<h2>{number}. {html.escape(step.question.ask)}</h2>", f"<p>{html.escape(step.question.text)}</p>"]
        parts.append(table_of(("Contestant", "Configuration", "Quantity", "Value", "95 % interval"), _rows(step), 3))
        parts += [f"<p>{html.escape(line)}</p>" for line in (step.answer.sentence, step.verdict, step.question.after)]
    facts = {"Device": steps[0].answer.device, **about} if steps else about
    parts.append(table_of(("Measured on", ""), [(key, value) for key, value in facts.items()], 2))
    if lesson.papers:
        parts.append(
            "<h2>To read</h2>\n<ul>" + "".join(f"<li>{html.escape(one)}</li>" for one in lesson.papers) + "</ul>"
        )
    return document_of(f"Lesson: {lesson.title}", parts)


def _rows(step: Step) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for one in step.answer.figures:
        title, unit = QUANTITIES[one.quantity]
        interval = "" if one.low == one.high else f"{one.low:.4g} to {one.high:.4g}"
        configuration = step.question.contestants[one.words]
        found.append((one.words, configuration, f"{title}{f', {unit}' if unit else ''}", f"{one.value:,.4g}", interval))
    return found
