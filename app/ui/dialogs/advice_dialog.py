"""Tools > When to rebuild: the clip is measured, and a schedule, what each policy costs beside it, and what else would
pay are the answer, to be used, copied or kept in a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.document.jobs import Job
from raygrove.app.export.whole_files import write_bytes
from raygrove.app.frames.advising import advise, break_even_sentence, spelt_of
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.ray_options import measures_others
from raygrove.app.settings.settings import Settings, set_text
from raygrove.app.settings.titles import in_titles, short_title, structure_title
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.schedule_strip import ScheduleStrip
from raygrove.app.ui.widgets.text_table import TextTable
from raygrove.gpu.analysis.advice import Advice, settings_text
from raygrove.gpu.analysis.intervals import nth
from raygrove.gpu.brief import brief, least_percent

TOLD_MS = 200
"""How often it is said how far a measurement is."""


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("AdviceDialog", text)


def with_policy(settings: Settings, policy: str) -> Settings:
    """The settings with a policy as it is spelt, name:option=value, and its other options as they are."""
    name, *options = policy.split(":")
    settings = set_text(settings, "update.mode", name)
    for option in options:
        key, _, value = option.partition("=")
        settings = set_text(settings, f"update.{key}", value)
    return settings


def policy_title(policy: str) -> str:
    """A policy for people: "Rebuild every 7th frame"."""
    name, *options = policy.split(":")
    values = dict(option.split("=") for option in options)
    if name == "every_n" and "n" in values:
        n = int(values["n"])
        return short_title("update.mode", "rebuild") if n == 1 else tr("Rebuild every {nth} frame").format(nth=nth(n))
    if name == "cost_ratio" and "cost_ratio" in values:
        return tr("Rebuild when the SAH cost has grown {ratio} times").format(ratio=values["cost_ratio"])
    return short_title("update.mode", name)


UNSURE = 0.1
"""Error of frames between those that were measured from which the answer says that it is uncertain."""


class AdviceDialog(QDialog):
    """See the module. One measurement at a time, in the background; the picture stands still meanwhile, and closing the
    dialog cancels it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("advice")
        self.setWindowTitle(self.tr("When to rebuild"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(560)
        self.resize(620, 560)
        self._session = session
        self._job: Job | None = None
        self.found: Advice | None = None
        self.about, self.sentence, self.more = Label(self), Label(self), Label(self)
        font = self.sentence.font()
        font.setBold(True)
        self.sentence.setFont(font)
        for label in (self.about, self.sentence, self.more):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.exact = QCheckBox(self.tr("Every tree at every age, and all rays: takes much longer"), self)
        self.beside = QCheckBox(self.tr("Also what else would pay: other builders, optimisers and layouts"), self)
        self.beside.setChecked(True)
        self.measure = self._button(self.tr("&Measure"), self._press)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.strip = ScheduleStrip(self)
        titles = (
            (self.tr("Policy"), ""),
            (self.tr("ms per frame"), self.tr("Updates and rays, on average over the clip")),
            (self.tr("Regret"), self.tr("How many times the best schedule's cost")),
            (self.tr("Rebuilds"), self.tr("Frames that are rebuilt")),
        )
        self.policies = TextTable(self.tr("Policies"), titles, self)
        self.policies.fill_width()
        self.policies.selectionModel().selectionChanged.connect(lambda: self._update())
        self.use = self._button(self.tr("&Use this policy"), self._use)
        self.copy = self._button(self.tr("&Copy the sentence"), self._copy)
        self.save = self._button(self.tr("&Save…"), self._save)
        self.save.setToolTip(self.tr("Everything as JSON, or the cheapest policy as a settings file (TOML)"))
        self._timer = QTimer(self, interval=TOLD_MS)
        self._timer.timeout.connect(self._tell)
        self._arrange()
        session.document.on_jobs.append(self._jobs_changed)
        session.document.on_scene.append(self._open)
        self._forget_state = session.document.observe(lambda before, after: self._say_about())
        self._say_about()
        self._update()

    def _button(self, title: str, clicked: Callable[[], None]) -> QPushButton:
        button = QPushButton(title, self)
        button.setAutoDefault(False)
        button.clicked.connect(lambda checked=False: clicked())
        return button

    def _arrange(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        first, last = QHBoxLayout(), QHBoxLayout()
        first.addWidget(self.measure)
        first.addWidget(self.bar, 1)
        above: tuple[QWidget, ...] = (self.about, self.exact, self.beside)
        below: tuple[QWidget, ...] = (self.sentence, self.strip, self.policies, self.more)
        for part in above:
            column.addWidget(part)
        column.addLayout(first)
        for part in below:
            column.addWidget(part)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(page)
        for button in (self.use, self.copy, self.save):
            last.addWidget(button)
        last.addStretch(1)
        outer = QVBoxLayout(self)
        outer.addWidget(area, 1)
        outer.addLayout(last)

    # -- a measurement ------------------------------------------------------------------------------------------------
    @property
    def is_measuring(self) -> bool:
        """Whether a measurement runs."""
        return self._job is not None

    def _say_about(self) -> None:
        document = self._session.document
        scene, settings = document.scene, document.state.settings
        if scene is None:
            self.about.setText(self.tr("Open a scene that moves."))
            return
        what = settings.rays.measured if measures_others(settings.rays) else self.tr("the picture")
        text = self.tr(
            "{structure} over the clip of {scene}, {count:,} frames, by the rays of {rays}: what a rebuild, a refit "
            "and tracing cost by the age of the tree is measured, and the best schedule is found. Meanwhile the "
            "picture stands still."
        )
        structure = structure_title(spelt_of(document.state))
        self.about.setText(
            text.format(structure=structure, scene=scene.name, count=document.span.frame_count, rays=what)
        )

    def _press(self) -> None:
        if self._job is not None:
            self._session.document.cancel(self._job)
        else:
            self._measure()

    def _measure(self) -> None:
        document, frame = self._session.document, self._session.loop.last_frame
        scene, state = document.scene, document.state
        if scene is None or self.is_measuring:
            return
        if state.timeline.is_playing:
            document.change("timeline", timelines.pause(state.timeline))
        if frame is not None and min(frame.drawn) > 0:  # as many rays as the picture that is seen has
            width, height = frame.drawn
            render = dataclasses.replace(state.settings.render, width=width, height=height)
            state = dataclasses.replace(state, settings=dataclasses.replace(state.settings, render=render))
        exact, others = self.exact.isChecked(), None if self.beside.isChecked() else ()
        self._session.loop.hold(True)
        work = lambda job: advise(job, scene, state, exact=exact, beside=others)  # noqa: E731
        self._job = document.start_job(self.tr("Measuring when to rebuild"), work, self._take)
        self._timer.start()
        self._update()

    def _take(self, job: Job) -> None:
        self.show_advice(job.result)

    def show_advice(self, found: Advice) -> None:
        """Show an answer; the cheapest policy is chosen."""
        self.found = found
        self.sentence.setText(in_titles(f"{found.sentence[0].upper()}{found.sentence[1:]}."))
        self.strip.show_schedule(found.schedule)
        best = (self.tr("The best schedule there could have been"), brief(found.ms), "1.000", str(sum(found.schedule)))
        rows = [(policy_title(one.policy), brief(one.ms), f"{one.regret:.3f}", str(one.rebuilds))
                for one in found.policies]  # fmt: skip
        self.policies.show_rows([best, *rows])
        line, head = self.policies.verticalHeader().defaultSectionSize(), self.policies.horizontalHeader()
        self.policies.setFixedHeight(head.sizeHint().height() + line * (len(rows) + 1) + 2 * self.policies.frameWidth())
        self.policies.selectRow(1)
        said = [break_even_sentence(found)]
        if found.left_out:
            text = self.tr("{policy} is not judged: {why}.")
            said.append(text.format(policy=policy_title("refit_rotations"), why=in_titles(found.left_out)))
        said += [self.tr("By the best schedule of each:")] if found.alternatives else []
        than = structure_title(found.configuration)
        for one in found.alternatives:
            titled = dataclasses.replace(one, configuration=structure_title(one.configuration))
            said.append(f"{titled.sentence(than, found.ms)}.")
        if found.interpolation_error is not None:
            text = self.tr("Trees of some frames were measured by {rays:,} rays; the rest is off by {share}.")
            text = text.format(rays=found.measured_rays, share=least_percent(found.interpolation_error))
            if found.interpolation_error > UNSURE:
                warning = self.tr("Uncertain: measure again while nothing else keeps this machine busy.")
                self.sentence.setText(f"{self.sentence.text()}\n{warning}")
            said.append(text)
        self.more.setText("\n".join(said))
        self._update()

    def _tell(self) -> None:
        job = self._job
        if job is not None:
            self.bar.setValue(round(1000 * (job.progress or 0.0)))
            self.bar.setFormat(f"{job.message}: %p %" if job.message else "%p %")

    def _jobs_changed(self) -> None:
        """A job that has ended in whatever way lets the window draw again."""
        if self._job is None or self._job in self._session.document.jobs:
            return
        problem, self._job = self._job.problem, None
        self._timer.stop()
        self._session.loop.hold(False)
        if problem is not None:
            self.sentence.setText(problem.sentence)
        self._update()

    def _open(self, scene: object) -> None:
        if self._job is not None:
            self._session.document.cancel(self._job)
        self.found = None
        self.sentence.clear()
        self.more.clear()
        self.strip.show_schedule(())
        self.policies.show_rows(())
        self._say_about()
        self._update()

    # -- what is done with it -----------------------------------------------------------------------------------------
    @property
    def chosen(self) -> str:
        """The policy whose line is selected; empty for none, and for the best schedule, which only a clip that is known
        can have."""
        rows = self.policies.selectionModel().selectedRows()
        place = rows[0].row() - 1 if rows else -1
        return self.found.policies[place].policy if self.found is not None and place >= 0 else ""

    def _update(self) -> None:
        self.measure.setText(self.tr("Cancel") if self.is_measuring else self.tr("&Measure"))
        self.measure.setEnabled(self._session.document.scene is not None)
        self.bar.setVisible(self.is_measuring)
        for part in (self.exact, self.beside):
            part.setEnabled(not self.is_measuring)
        for shown in (self.strip, self.policies):
            shown.setVisible(self.found is not None)
        self.use.setEnabled(bool(self.chosen))
        for button in (self.copy, self.save):
            button.setEnabled(self.found is not None)

    def _use(self) -> None:
        document = self._session.document
        document.change("settings", with_policy(document.state.settings, self.chosen))
        self._session.notices.tell(self.tr("{policy} is in use now.").format(policy=policy_title(self.chosen)))

    def _copy(self) -> None:
        if self.found is not None:
            QGuiApplication.clipboard().setText(f"{self.found.sentence[0].upper()}{self.found.sentence[1:]}.")

    def _save(self) -> None:
        kinds = self.tr("Settings of the cheapest policy (*.toml);;Everything (*.json)")
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Save the advice"), "advice.toml", kinds)
        if path:
            self.write(Path(path))

    def write(self, path: Path) -> None:
        """As `advise --out` writes it."""
        assert self.found is not None, "there is advice"
        text = self.found.to_json() + "\n" if path.suffix.lower() == ".json" else settings_text(self.found)
        try:
            write_bytes(path, text.encode())
        except OSError as error:
            said = self.tr("{path} cannot be written: {reason}.").format(path=path, reason=error.strerror)
            self._session.notices.show("warning", said, topic="advice")
            return
        self._session.notices.tell(self.tr("Wrote {path}.").format(path=path))

    def done(self, result: int) -> None:
        """However it is closed, a measurement that runs is cancelled."""
        document = self._session.document
        if self._jobs_changed in document.on_jobs:
            document.on_jobs.remove(self._jobs_changed)
            document.on_scene.remove(self._open)
            self._forget_state()
        if self._job is not None:
            document.cancel(self._job)
            self._job = None
            self._session.loop.hold(False)
        super().done(result)
