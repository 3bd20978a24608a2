"""Help > Lessons: a question, a prediction, what this machine measures, and the next question."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.document.jobs import Job
from raygrove.app.export.whole_files import write_bytes
from raygrove.app.lessons.answers import Answer, answer_from
from raygrove.app.lessons.lesson import Lesson
from raygrove.app.lessons.page import Step, page_of, papers_of, text_of
from raygrove.app.settings.race_options import RACE
from raygrove.app.settings.settings import set_text
from raygrove.app.settings.workspaces import FIRST
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.session.program_job import output_of
from raygrove.app.ui.session.session import Session
from raygrove.version import VERSION

TIMEOUT_S = 900.0


class LessonDialog(QDialog):
    """Goes through one lesson beside the window, which shows the lesson's scene. Measuring is a process of its own, and
    the window draws nothing meanwhile. `file` is where the lesson was read from, or its name."""

    def __init__(self, session: Session, lesson: Lesson, file: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lesson")
        self.setWindowTitle(self.tr("Lesson: {title}").format(title=lesson.title))
        self.resize(460, 560)
        self._session, self.lesson, self._file = session, lesson, file
        self.steps: list[Step] = []
        self._job: Job | None = None
        self._place = 0
        self.heading, self.text, self.outcome = Label(), Label(), Label()
        font = self.heading.font()
        font.setBold(True)
        self.heading.setFont(font)
        for label in (self.heading, self.text, self.outcome):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.choices = QButtonGroup(self)
        self._choices_place = QVBoxLayout()
        self.measure = self._button("measure", self.tr("&Measure"), self._measure)
        self.next = self._button("next", self.tr("&Next"), self._go_on)
        self.save = self._button("save", self.tr("&Save the page…"), self._save)
        self._arrange()
        self._forget = lambda: session.document.on_jobs.remove(self._jobs_changed)
        session.document.on_jobs.append(self._jobs_changed)
        self.choices.buttonClicked.connect(lambda button: self._update())
        if session.document.state.scene.names != (lesson.demo,) or session.document.state.scene.kind != "demo":
            session.document.open_demo(lesson.demo)
        self._show_question()

    def _arrange(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        for part in (self.heading, self.text):
            column.addWidget(part)
        column.addLayout(self._choices_place)
        column.addWidget(self.outcome)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(page)
        row = QHBoxLayout()
        row.addWidget(self.save)
        row.addStretch(1)
        for button in (self.measure, self.next):
            row.addWidget(button)
        outer = QVBoxLayout(self)
        outer.addWidget(area, 1)
        outer.addLayout(row)

    def _button(self, name: str, title: str, clicked: Any) -> QPushButton:
        button = QPushButton(title, self)
        button.setObjectName(name)
        button.setAutoDefault(False)
        button.clicked.connect(lambda checked=False: clicked())
        return button

    # -- a question ---------------------------------------------------------------------------------------------------
    @property
    def is_measuring(self) -> bool:
        """Whether a measurement runs."""
        return self._job is not None

    def _show_question(self) -> None:
        question = self.lesson.questions[self._place]
        count = self.tr("Question {number} of {count}").format(number=self._place + 1, count=len(self.lesson.questions))
        self.heading.setText(f"{self.lesson.title} — {count}")
        introduction = f"{self.lesson.text}\n\n" if self._place == 0 else ""
        self.text.setText(f"{introduction}{question.text}\n\n{question.ask}")
        self.outcome.clear()
        for button in self.choices.buttons():
            self.choices.removeButton(button)
            button.deleteLater()
        for place, words in enumerate(question.choices):
            choice = QRadioButton(words.replace("&", "&&"))
            self.choices.addButton(choice, place)
            self._choices_place.addWidget(choice)
        document = self._session.document
        settings = document.state.settings
        if settings.window.workspace == RACE:  # it shows its own structures, not what the question sets
            settings = set_text(settings, "window.workspace", FIRST)
        for key, value in question.settings.items():
            settings = set_text(settings, key, value)
        if settings != document.state.settings:
            document.change("settings", settings)
        self._update()

    def _update(self) -> None:
        is_measured = len(self.steps) > self._place
        is_last = self._place + 1 == len(self.lesson.questions)
        for button in self.choices.buttons():
            button.setEnabled(not self.is_measuring and not is_measured)
        self.measure.setText(self.tr("&Measure again") if is_measured else self.tr("&Measure"))
        self.measure.setEnabled(self.choices.checkedId() >= 0 and not self.is_measuring)
        self.next.setVisible(not is_last)
        self.next.setEnabled(is_measured and not self.is_measuring)
        self.save.setEnabled(is_measured and is_last and not self.is_measuring)

    def _measure(self) -> None:
        number, document = self._place + 1, self._session.document
        words = ["lesson", self._file, "--question", str(number), "--device", document.state.settings.render.device]

        def work(job: Job) -> Answer:
            return answer_from(json.loads(output_of(job, words, TIMEOUT_S)))

        self._session.loop.hold(True)
        self.outcome.setText(self.tr("Measuring. The picture stands still so that nothing else runs."))
        self._job = document.start_job(self.tr("Measuring a lesson"), work, self._measured)
        self._update()

    def _measured(self, job: Job) -> None:
        question = self.lesson.questions[self._place]
        self.steps[self._place :] = [Step(question, self.choices.checkedId(), job.result)]
        self._show_outcome()

    def _show_outcome(self) -> None:
        """What was measured, and after the last question what to read."""
        is_last = self._place + 1 == len(self.lesson.questions)
        papers = papers_of(self.lesson) if is_last else ""
        self.outcome.setText("\n\n".join(part for part in (text_of(self.steps[self._place]), papers) if part))

    def _jobs_changed(self) -> None:
        """A job that has ended in whatever way lets the window draw again."""
        if self._job is None or self._job in self._session.document.jobs:
            return
        self._job = None
        self._session.loop.hold(False)
        if len(self.steps) == self._place:
            self.outcome.setText(self.tr("It was not measured; try once more."))
        else:  # also where measuring again was cancelled: what was measured before stands
            self._show_outcome()
        self._update()

    def _go_on(self) -> None:
        self._place += 1
        self._show_question()

    def _save(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save the page"), f"{self.lesson.name}.html", "HTML (*.html)"
        )
        if path:
            self.write(Path(path))

    def write(self, path: Path) -> None:
        """Write what was predicted and measured as one page."""
        about = {"System": f"{platform.system()} {platform.machine()}", "Raygrove": VERSION}
        data = page_of(self.lesson, self.steps, about).encode()
        try:
            write_bytes(path, data)
        except OSError as error:
            said = self.tr("{path} cannot be written: {reason}.").format(path=path, reason=error.strerror)
            self._session.notices.show("warning", said, topic="lesson")
            return
        self._session.notices.tell(self.tr("Wrote {path}.").format(path=path))

    # -- its end ------------------------------------------------------------------------------------------------------
    def done(self, result: int) -> None:
        """However it is closed, a measurement that runs is cancelled."""
        if self._jobs_changed in self._session.document.on_jobs:
            self._forget()
        if self._job is not None:
            self._session.document.cancel(self._job)
            self._job = None
            self._session.loop.hold(False)
        super().done(result)
