"""`lesson`: questions whose answers are predicted first and measured then, without a window."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.common import settings_from
from raygrove.app.export.whole_files import check_writable, write_bytes
from raygrove.app.lessons.answers import UnmeasuredError, measure
from raygrove.app.lessons.lesson import Lesson, LessonError, Question, lessons, named
from raygrove.app.lessons.page import Step, page_of, papers_of, text_of
from raygrove.app.problems.problems import UsageError
from raygrove.printable import printable_lines
from raygrove.version import VERSION

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """List the lessons, measure one question (--question), or go through a lesson."""
    try:
        if not names.files:
            for name, lesson in lessons(lambda error: words.warn(str(error))).items():
                print(printable_lines(f"{name:<24} {lesson.title} ({lesson.minutes} minutes)"))
            return 0
        if len(names.files) > 1:
            raise UsageError("lesson takes one name, or one file.")
        return _done(names, words, named(names.files[0]))
    except (LessonError, UnmeasuredError) as error:
        raise UsageError(str(error)) from error


def _done(names: argparse.Namespace, words: Words, lesson: Lesson) -> int:
    device, repeat = settings_from(names, words).render.device, names.repeat or 7
    if names.question is not None:
        if names.question > len(lesson.questions):
            raise UsageError(f"--question {names.question}: {lesson.name} has {len(lesson.questions)}.")
        answer = measure(lesson, lesson.questions[names.question - 1], device=device, repeat=repeat)
        print(json.dumps(answer.as_json()))
        return 0
    if names.out is not None:
        if Path(names.out).suffix.lower() != ".html":
            raise UsageError(f"--out {names.out}: a lesson is written as a page, FILE.html.")
        check_writable(Path(names.out).parent, Path(names.out).name)
    predictions = _predictions(names, lesson)
    print(printable_lines(f"{lesson.title}\n\n{lesson.text}"))
    steps = []
    for place, question in enumerate(lesson.questions):
        print(printable_lines(f"\n{place + 1}. {question.text}\n\n{question.ask}"))
        predicted = predictions[place] if predictions else _asked(question)
        words.say("Measuring.")
        steps.append(Step(question, predicted, measure(lesson, question, device=device, repeat=repeat)))
        print(printable_lines(text_of(steps[-1])), flush=True)
    if lesson.papers:
        print(printable_lines(f"\n{papers_of(lesson)}"))
    if names.out is not None:
        about = {"System": f"{platform.system()} {platform.machine()}", "Raygrove": VERSION}
        write_bytes(Path(names.out), page_of(lesson, steps, about).encode())
        words.say(f"Wrote {names.out}.")
    return 0


def _predictions(names: argparse.Namespace, lesson: Lesson) -> list[int]:
    """Places of the choices of --answers; none where they are asked for. Raises UsageError."""
    if names.answers is None:
        if not sys.stdin.isatty():
            raise UsageError(
                "there is no terminal to answer at: say --answers 1,2,1, the number of a choice a question."
            )
        return []
    counts = [len(question.choices) for question in lesson.questions]
    if len(names.answers) != len(counts) or not all(
        1 <= one <= most for one, most in zip(names.answers, counts, strict=True)
    ):
        ranges = ", ".join(f"1 to {count}" for count in counts)
        raise UsageError(f"--answers: {lesson.name} takes {len(counts)} numbers: {ranges}.")
    return [one - 1 for one in names.answers]


def _asked(question: Question) -> int:
    """The place of the choice that is typed."""
    for place, choice in enumerate(question.choices):
        print(printable_lines(f"  {place + 1}  {choice}"))
    while True:
        said = input(f"Your prediction, 1 to {len(question.choices)}: ").strip()
        if said.isdecimal() and 1 <= int(said) <= len(question.choices):
            return int(said) - 1
