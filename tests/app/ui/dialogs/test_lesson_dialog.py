"""Help > Lessons: the scene and the settings of a question, a measurement in its own process, and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QMenu

from raygrove.app.lessons.lesson import lessons
from raygrove.app.ui.dialogs.lesson_dialog import LessonDialog
from raygrove.app.ui.session import program_job
from raygrove.app.ui.session.program_job import ProgramError, output_of
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.lessons.test_lessons import SMALL


@pytest.fixture
def lesson(window: MainWindow, tmp_path: Path, qtbot: Any) -> LessonDialog:
    path = tmp_path / "small.toml"
    path.write_text(
        SMALL.replace("depth", "mean_warp").replace(
            "size = [16, 8]", 'size = [16, 8]\nsettings = { "render.ray_type" = "flat" }'
        )
    )
    window.opened_dialogs.show_lesson(str(path))
    dialog = window.opened_dialogs.lesson
    assert dialog is not None
    qtbot.waitUntil(lambda: window.document.state.scene.names == ("walker",))
    return dialog


def holds_of(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What the loop is told from now on. It is held, too, or the window would play beside what is measured."""
    held: list[bool] = []
    hold = window.session.loop.hold

    def told(is_held: bool) -> None:
        held.append(is_held)
        hold(is_held)

    monkeypatch.setattr(window.session.loop, "hold", told)
    return held


def test_a_question_is_predicted_measured_and_written(
    lesson: LessonDialog, window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert window.document.state.settings.render.ray_type == "flat"
    assert not lesson.measure.isEnabled() and not lesson.next.isEnabled()
    assert [button.text() for button in lesson.choices.buttons()] == ["First", "Second && last", "Third"]
    held = holds_of(window, monkeypatch)
    lesson.choices.button(1).click()
    lesson.measure.click()
    assert lesson.is_measuring and not lesson.choices.button(0).isEnabled() and held == [True]
    qtbot.waitUntil(lambda: not lesson.is_measuring)
    assert held == [True, False] and len(lesson.steps) == 1 and lesson.steps[0].predicted == 1
    assert "You predicted: Second & last." in lesson.outcome.text() and "So it is." in lesson.outcome.text()
    first = lesson.steps[0]
    assert lesson.measure.isEnabled() and lesson.measure.text() == "&Measure again"
    lesson.measure.click()
    assert lesson.is_measuring and not lesson.next.isEnabled() and "Measuring." in lesson.outcome.text()
    qtbot.waitUntil(lambda: not lesson.is_measuring)
    assert len(lesson.steps) == 1 and lesson.steps[0] is not first and "You predicted: " in lesson.outcome.text()
    assert "A paper." not in lesson.outcome.text(), "papers are for the end"
    window.document.change("settings.window.workspace", "race")
    lesson.next.click()
    assert window.document.state.settings.window.workspace == "explore", "a race shows its own structures"
    assert "Question 2 of 2" in lesson.heading.text() and len(lesson.choices.buttons()) == 3
    assert lesson.next.isHidden() and lesson.choices.checkedId() == -1 and lesson.measure.text() == "&Measure"
    lesson.choices.button(1).click()
    lesson.measure.click()
    qtbot.waitUntil(lambda: not lesson.is_measuring)
    assert "A paper." in lesson.outcome.text() and lesson.save.isEnabled()
    lesson.write(tmp_path / "page.html")
    assert "2 of 2 predictions" in (text := (tmp_path / "page.html").read_text()) or "1 of 2 predictions" in text


def test_closing_ends_a_measurement_and_the_window_draws_again(
    lesson: LessonDialog, window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = holds_of(window, monkeypatch)
    lesson.choices.button(0).click()
    lesson.measure.click()
    lesson.close()
    assert held == [True, False]
    qtbot.waitUntil(lambda: not window.document.jobs and window.opened_dialogs.lesson is None)


def test_nothing_is_drawn_while_the_loop_is_held(window: MainWindow, qtbot: Any) -> None:
    window.document.open_demo("walker")
    qtbot.waitUntil(lambda: window.session.loop.shows_scene)
    window.session.loop.hold(True)
    window.document.change("settings.render.ray_type", "flat")

    def drawn() -> str:
        frame = window.session.loop.last_frame
        return frame.request.state.settings.render.ray_type if frame is not None else ""

    qtbot.wait(100)  # a frame that was begun before may still come
    assert drawn() == "smooth"
    window.session.loop.hold(False)
    qtbot.waitUntil(lambda: drawn() == "flat")


def test_it_leaves_the_menus_free_within_the_screen(lesson: LessonDialog, window: MainWindow) -> None:
    room, place = window.screen().availableGeometry(), lesson.frameGeometry()
    menus = window.geometry().top() + window.menuBar().height()
    frame = 8  # pixels at most that this platform puts around a window
    assert room.contains(place.topLeft()) and abs(place.right() - window.geometry().right()) <= frame
    assert room.bottom() >= place.bottom() and place.top() >= menus


def test_the_menu_has_all_lessons_and_one_of_a_file(window: MainWindow) -> None:
    menu = QMenu()
    window.opened_dialogs.fill_lessons(menu)
    titles = [action.text() for action in menu.actions() if action.text()]
    assert len(titles) == len(lessons()) + 1 and titles[0].startswith("Divergence") and titles[-1] == "Of a file…"


class Waiting:
    """A job that nobody cancels, or somebody has."""

    def __init__(self, is_cancelled: bool) -> None:
        self.is_cancelled = is_cancelled

    def check(self) -> None:
        if self.is_cancelled:
            raise InterruptedError


def test_a_command_that_fails_or_takes_long_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_job, "COMMAND", ["sh", "-c"])
    assert output_of(Waiting(False), ["echo hello"], 60.0) == "hello\n"  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="^no such lesson.$"):
        output_of(Waiting(False), ["echo error: no such lesson. >&2; exit 2"], 60.0)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="longer than 0 s"):
        output_of(Waiting(False), ["exec sleep 60"], 0.0)  # type: ignore[arg-type]
    with pytest.raises(InterruptedError):
        output_of(Waiting(True), ["exec sleep 60"], 60.0)  # type: ignore[arg-type]
