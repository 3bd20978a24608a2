"""Lessons: what a file may say, which choices a race proves, and the page."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli.main import main
from raygrove.app.document.opening import cameras_of
from raygrove.app.lessons.answers import UNDECIDED, Answer, Figure, UnmeasuredError, answer_from, judged, measure
from raygrove.app.lessons.lesson import FOLDER, LessonError, Ratio, lessons, named, own_folder, read
from raygrove.app.lessons.page import Step, page_of
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_text
from raygrove.gpu.analysis.race import Race
from raygrove.gpu.face.clips import DEFAULT_FPS, Clip
from tests.gpu.analysis.test_race import known

SMALL = """
title = "Small & <b>short</b>"
demo = "walker"
triangles = 200
text = "Look."
papers = ["A paper."]

[[question]]
text = "Three."
ask = "Which is the deepest not?"
contestants = { "First" = "lbvh", "Second & last" = "median_sah", "Third" = "brute_force" }
quantity = "depth"
size = [16, 8]
after = "So it is."

[[question]]
text = "Steps."
ask = "How many times?"
contestants = { "One" = "lbvh" }
ratio = { of = ["One", "longest_warp"], to = ["One", "mean_warp"], bounds = [1, 1000] }
size = [16, 8]
after = "Warps."
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace(', "Third" = "brute_force"', ""))
    return path


def test_shipped_lessons_are_sound_and_ask_something() -> None:
    found = lessons()
    assert set(found) >= {"refit-or-rebuild", "surface-area-heuristic", "divergence"}
    for lesson in found.values():
        assert lesson.papers and lesson.minutes >= 5 and len(lesson.questions) >= 3
        for question in lesson.questions:
            assert len(question.choices) >= 2 and len(set(question.choices)) == len(question.choices)
            settings = Settings()
            for key, value in question.settings.items():
                settings = set_text(settings, key, value)
            assert settings.render.hierarchy in {text.partition("/")[0].partition("@")[0] for text in
                                                 question.contestants.values()}  # fmt: skip
    assert len(list(FOLDER.iterdir())) == 3


def test_a_teachers_own_are_found_and_named(small: Path) -> None:
    own_folder().mkdir(parents=True)
    (own_folder() / "mine.toml").write_bytes(small.read_bytes())
    assert "mine" in lessons() and named("mine").triangles == 200 and named(str(small)).name == "small"
    with pytest.raises(LessonError, match="no lesson 'maths'; there are divergence, refit-or-rebuild"):
        named("maths")
    (own_folder() / "torn.toml").write_text("title = ")
    assert named("mine").triangles == 200, "whatever lies beside it"
    with pytest.raises(LessonError, match="torn.toml is no TOML"):
        lessons()
    refused: list[LessonError] = []
    assert {"mine", "divergence"} <= set(lessons(refused.append)) and len(refused) == 1


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('demo = "walker"', 'demo = "wlker"', "demo: .*walker"),
        ("lbvh", "lbhv", "question 1: contestants: First: .*did you mean lbvh"),
        ('quantity = "depth"', 'quantity = "beauty"', "question 1: quantity: it is one of ms, update_ms"),
        ('quantity = "depth"', "quantity = [1]", "question 1: quantity: it is one of ms, update_ms"),
        ('of = ["One", "longest_warp"]', 'of = [{}, "longest_warp"]', "question 2: ratio: it is as"),
        ('of = ["One", "longest_warp"]', 'of = ["One", []]', "question 2: ratio: it is as"),
        ('after = "Warps."', 'after = "W."\nray_type = {}', "question 2: ray_type: it is one of"),
        ('quantity = "depth"', "", "either a quantity, .* or a ratio"),
        ("bounds = [1, 1000]", "bounds = [3, 2]", "question 2: ratio: bounds are 1 to 8 rising numbers above 0"),
        ("bounds = [1, 1000]", "bounds = [true]", "rising numbers above 0"),
        ("bounds = [1, 1000]", "bounds = [2, 2]", "rising numbers above 0"),
        ("size = [16, 8]", "size = [2000, 2000]", "question 1: size: it has at most 1,048,576 pixels"),
        ('of = ["One", "longest_warp"]', 'of = ["Two", "longest_warp"]', "question 2: ratio: it is as"),
        ('ask = "How many times?"', "", "question 2: ask: it is a text"),
        ("size = [16, 8]", "size = [16, 8000]", "question 1: size: it is two whole numbers from 8 to 4096"),
        ('title = "Small', 'titel = "Small', "there is no 'titel'; there are demo"),
        (
            'after = "Warps."',
            'after = "W."\nsettings = { "render.ray_type" = "x" }',
            "question 2: settings: .*ray_type",
        ),
        ("[[question]]", "[[questions]]", "there is no 'questions'"),
        ('text = "Look."', "text = ", "is no TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_a_sentence_with_its_place(small: Path, old: str, new: str, sentence: str) -> None:
    text = small.read_text()
    assert old in text
    small.write_text(text.replace(old, new))
    with pytest.raises(LessonError, match=f"small.toml.*{sentence}"):
        read(small)


def race_of(*costs: tuple[str, float, float], **more: Any) -> Race:
    made = tuple(known(letter, update, trace, **more) for letter, update, trace in costs)
    return Race("s", 1, (0,), (8, 8), "smooth", 7, "a <device>", "cpu", "A", made)


def test_the_least_is_right_and_so_is_what_overlaps_it(small: Path) -> None:
    question = dataclasses.replace(read(small).questions[0], quantity="trace_ms")  # half widths are 0.05
    answer = judged(question, race_of(("A", 1.0, 2.0), ("B", 1.0, 2.2)))
    assert answer.right == (0,) and answer.sentence == "First has the least (trace)."
    answer = judged(question, race_of(("A", 1.0, 2.09), ("B", 1.0, 2.0)))
    assert answer.right == (0, 1) and answer.sentence.startswith("No difference between First and Second & last")
    assert answer.sentence.endswith(UNDECIDED), "all of them agree"
    assert answer_from(json.loads(json.dumps(answer.as_json()))) == answer
    assert str(answer.figures[0]) == "First: trace 2.09 ms [2.04, 2.14]"
    with pytest.raises(UnmeasuredError, match="Second & last has no figure of SAH cost"):
        made = race_of(("A", 1.0, 2.0), ("B", 1.0, 2.2), sah_cost=None)
        made = dataclasses.replace(made, contestants=(dataclasses.replace(made.contestants[0], sah_cost=4.0),
                                                      made.contestants[1]))  # fmt: skip
        judged(dataclasses.replace(question, quantity="sah_cost"), made)


def test_a_ratio_agrees_with_each_range_that_its_interval_reaches(small: Path) -> None:
    asked = read(small).questions[0]
    contestants = {"X": "lbvh", "Y": "hploc"}

    def right(above: float, bounds: tuple[float, ...]) -> tuple[int, ...]:
        ratio = Ratio(("X", "trace_ms"), ("Y", "trace_ms"), bounds)
        question = dataclasses.replace(asked, contestants=contestants, quantity="", ratio=ratio)
        assert len(question.choices) == len(bounds) + 1
        answer = judged(question, race_of(("A", 1.0, above), ("B", 1.0, 2.0)))
        step = Step(question, answer.right[0], answer)
        assert step.is_decided == (len(answer.right) < len(question.choices)) == (UNDECIDED not in answer.sentence)
        return answer.right

    assert right(3.0, (1.2, 2.0)) == (1,)  # 1.5, from 1.44 to 1.56
    assert right(3.0, (1.2, 1.5)) == (1, 2)
    assert right(3.0, (1.43, 1.45, 1.55)) == (1, 2, 3)
    assert right(1.0, (1.2, 2.0)) == (0,) and right(9.0, (1.2, 2.0)) == (2,)
    assert right(3.0, (1.5,)) == (0, 1)


def test_what_decides_nothing_is_no_prediction_that_came_true(small: Path) -> None:
    lesson, figures = (
        read(small),
        (Figure("First", "depth", 3.0, 2.0, 4.0), Figure("Second & last", "depth", 4.0, 3.0, 5.0)),
    )
    known = Step(lesson.questions[0], 0, Answer(figures, (0,), "First has the least (depth).", "d"))
    unknown = Step(lesson.questions[0], 0, Answer(figures, (0, 1), "No difference.", "d"))
    page = page_of(lesson, [known, unknown], {})
    assert "1 of 1 predictions agree with what was measured. For 1 more the measurement decides nothing." in page
    assert "You predicted: First. The measurement decides nothing." in page
    assert "The measurements decide nothing." in (none := page_of(lesson, [unknown], {})) and "0 of 0" not in none
    assert "Measured: walker, frame 0, 16 x 8 pixels, ray type smooth." in page


def test_what_is_measured_is_seen_from_where_the_window_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson, raced = named("divergence"), {}
    assert "camera inside" in lesson.questions[0].text

    def race(clip: Clip, contestants: list[str], **course: Any) -> Race:
        raced.update(course)
        return race_of(("A", 1.0, 2.0), mean_warp=2.0, longest_warp=5)

    monkeypatch.setattr("raygrove.app.lessons.answers.race", race)
    assert measure(dataclasses.replace(lesson, triangles=2000), lesson.questions[0]).right == (1,)
    scene = make_demo("room", 2000, 0)
    assert raced["camera"] == cameras_of(scene)[0]
    assert all(low < at < high for low, at, high in zip(scene.lower, raced["camera"].eye, scene.upper, strict=True))


def test_shipped_lessons_say_which_part_of_a_clip_they_measure_and_are_plain_text() -> None:
    for lesson in lessons().values():
        length = make_demo(lesson.demo, 2000, 0).duration() * DEFAULT_FPS
        for question in lesson.questions:
            words = f"{lesson.text} {question.text} {question.ask} {question.after}"
            assert "`" not in words, "the window shows text as it is"
            assert "whole clip" not in words or question.frames == (0, round(length))


def test_a_page_escapes_what_it_shows_and_loads_nothing(small: Path) -> None:
    lesson = read(small)
    figures = (Figure("First", "depth", 3.0, 3.0, 3.0), Figure("Second & last", "depth", 4.0, 4.0, 4.0))
    steps = [Step(lesson.questions[0], 1, Answer(figures, (0,), "First has the least (depth).", "a <device>"))]
    page = page_of(lesson, steps, {"Raygrove": "1"})
    assert "Content-Security-Policy" in page and "<b>short" not in page and "a &lt;device&gt;" in page
    assert "0 of 1 predictions agree" in page and "It was otherwise." in page and "Second &amp; last" in page
    assert "median_sah" in page and "A paper." in page and "http" not in page.replace("http-equiv", "")


def test_a_lesson_is_gone_through_without_a_window(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.html"
    words = ["lesson", str(small), "--device", "cpu", "--repeat", "6"]
    assert main([*words, "--answers", "2,2", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert (
        printed.count("You predicted: ") == 2 and "You predicted: 1 to 1000 times. The measurement agrees." in printed
    )
    assert "1. Which is the deepest not?" in out.read_text()
    assert main([*words, "--question", "2"]) == 0
    answer = answer_from(json.loads(capsys.readouterr().out))
    longest, mean = answer.figures
    assert longest.quantity == "longest_warp" and longest.value >= mean.value > 0.0 and answer.right == (1,)
    assert main(["lesson"]) == 0 and "refit-or-rebuild" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--answers", "1"), "takes 2 numbers: 1 to 2, 1 to 3"),
        (("--answers", "1,4"), "takes 2 numbers: 1 to 2, 1 to 3"),
        (("--answers", "1;1"), "is no list of numbers"),
        (("--question", "3"), "small has 2"),
        (("--answers", "1,1", "--out", "page.docx"), "a lesson is written as a page"),
        ((), "say --answers 1,2,1"),
    ],
)
def test_what_cannot_be_answered_is_a_sentence(
    small: Path, words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["lesson", str(small), *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_lesson_is_read_once_and_anew_where_its_file_was_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = next(iter(sorted(FOLDER.glob("*.toml")))).read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    first = read(path)
    assert read(path) is first
    path.write_text(text.replace(f'title = "{first.title}"', 'title = "Another title"'), encoding="utf-8")
    assert read(path).title == "Another title"
    path.unlink()
    with pytest.raises(LessonError):
        read(path)
