"""Tools > Run a suite: a published evaluation again, on its scenes and on one's own, in a process of its own; its
tables as they fill."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QListWidget,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.document.jobs import Cancelled, Job
from raygrove.app.document.suite_runs import Asked, Following, Suite, list_words, suites_of
from raygrove.app.settings.chosen_configuration import spelling_of
from raygrove.app.settings.settings import SIZE_LIMIT
from raygrove.app.settings.tree_options import trees_of
from raygrove.app.ui.colors import ERROR_STYLE
from raygrove.app.ui.dialogs.button_box import button_box
from raygrove.app.ui.dialogs.report_tables import ReportTables
from raygrove.app.ui.dialogs.side_by_side import side_by_side
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.session.program_job import output_of
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.list_rows import add_row
from raygrove.app.ui.widgets.roomy_label import RoomyLabel
from raygrove.gpu.configuration import ConfigurationError, apart, parse

INTERVAL_MS = 200
LIST_TIMEOUT_S = 60.0
MOST_REPEATS = 1000
NOTE_LINES = 3  # what is said below the fields has their room, or the fields would move while one types


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("suite", text)


class SuiteDialog(QDialog):
    """Asks what is measured, starts it, shows how far it is and what was found so far. The window draws nothing
    meanwhile; closing the dialog cancels the run, and what was measured until then stays in its files."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("suite")
        self.setWindowTitle(tr("Run a suite"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(620, 560)
        self._session, self._document = session, session.document
        self.suites: tuple[Suite, ...] = ()
        self._job: Job | None = None
        self._asked: Asked | None = None
        self._following: Following | None = None
        self._is_whole = False
        self.is_running = False
        self.suite, self.scenes = QComboBox(self), QListWidget(self)
        self.data, self.structures, self.out = QLineEdit(self), QLineEdit(self), QLineEdit(self)
        self.with_own = QCheckBox(tr("The &open scene, too"), self)
        self.width_box, self.height_box = self._count(0, SIZE_LIMIT, 0), self._count(0, SIZE_LIMIT, 0)
        self.repeat = self._count(1, MOST_REPEATS, 10)
        self.note, self.about = RoomyLabel("\n" * (NOTE_LINES - 1), self), RoomyLabel("\n", self)
        self.bar = QProgressBar(self)
        self.tables = ReportTables(self)
        self._name_parts()
        self._lay_out()
        self._connect()
        self._list()

    # -- parts --------------------------------------------------------------------------------------------------------
    def _count(self, low: int, high: int, value: int) -> QSpinBox:
        box = QSpinBox(self)
        box.setRange(low, high)
        box.setValue(value)
        return box

    def _name_parts(self) -> None:
        named = {
            "suite": self.suite,
            "scenes": self.scenes,
            "data": self.data,
            "structures": self.structures,
            "out": self.out,
            "with_own": self.with_own,
            "width": self.width_box,
            "height": self.height_box,
            "repeat": self.repeat,
            "note": self.note,
            "progress": self.bar,
        }
        for name, part in named.items():
            part.setObjectName(name)
        for box in (self.width_box, self.height_box):
            box.setSpecialValueText(tr("as published"))
        self.scenes.setWordWrap(True)
        self.scenes.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.data.setPlaceholderText(tr("the folder of the models that a suite names; built-in scenes need none"))
        self.structures.setPlaceholderText("lbvh@refit, hploc/bvh4")
        self.out.setText(str(Path(self._session.memory.folder() or Path.cwd())))
        self.bar.hide()
        self.tables.hide()

    def _button(self, name: str, title: str) -> QPushButton:
        button = QPushButton(title, self)
        button.setObjectName(name)
        button.setAutoDefault(False)
        return button

    def _lay_out(self) -> None:
        self.choose_data, self.choose_out = self._button("browse_data", tr("Browse…")), self._button("browse_out", "…")
        self.add_chosen = self._button("add_chosen", tr("&Add the one shown"))
        form = QFormLayout()
        form.addRow(tr("&Suite"), self.suite)
        form.addRow("", self.about)
        form.addRow(tr("Models"), side_by_side(self.data, self.choose_data))
        form.addRow(tr("S&cenes"), self.scenes)
        form.addRow("", self.with_own)
        form.addRow(tr("Structures, too"), side_by_side(self.structures, self.add_chosen))
        form.addRow(
            tr("Size"), side_by_side(self.width_box, Label("×", self), self.height_box, Label(tr("pixels"), self))
        )
        form.addRow(tr("&Runs of each"), self.repeat)
        form.addRow(tr("Output folder"), side_by_side(self.out, self.choose_out))
        self.asked_for = QWidget(self)
        self.asked_for.setLayout(form)
        self.buttons = button_box(QDialogButtonBox.StandardButton.Close, self)
        self.leave = self.buttons.button(QDialogButtonBox.StandardButton.Close)
        self.begin = self.buttons.addButton(tr("&Run"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.open_report = self.buttons.addButton(tr("Open the re&port"), QDialogButtonBox.ButtonRole.ActionRole)
        self.begin.setObjectName("start")
        self.open_report.setObjectName("open_report")
        self.open_report.hide()
        column = QVBoxLayout(self)
        column.addWidget(self.asked_for, 1)
        column.addWidget(self.tables, 2)
        for part in (self.note, self.bar, self.buttons):
            column.addWidget(part)

    def _connect(self) -> None:
        self.suite.currentIndexChanged.connect(self._show_scenes)
        self.scenes.itemChanged.connect(lambda item: self._update())
        self.data.editingFinished.connect(self._list)
        for line in (self.structures, self.out):
            line.textChanged.connect(self._update)
        for box in (self.width_box, self.height_box):
            box.valueChanged.connect(self._update)
        self.with_own.toggled.connect(self._update)
        self.choose_data.clicked.connect(self._browse_data)
        self.choose_out.clicked.connect(lambda: self._browse(self.out))
        self.add_chosen.clicked.connect(self._add_chosen)
        self.buttons.rejected.connect(self._close)
        self.begin.clicked.connect(self.start)
        self.open_report.clicked.connect(self._open_report)
        self._document.on_jobs.append(self._jobs_changed)
        self._timer_id = self.startTimer(INTERVAL_MS)

    # -- which suites there are ---------------------------------------------------------------------------------------
    def _list(self) -> None:
        """Ask the program, which knows its suites and what of their scenes is at hand."""
        if self._job is not None:
            return
        words = list_words(self.data.text().strip())
        self.note.setText(tr("Looking which scenes are at hand."))
        self._job = self._document.start_job(
            tr("Suites"), lambda job: suites_of(output_of(job, words, LIST_TIMEOUT_S)), self._take_list
        )
        self._update()

    def _take_list(self, job: Job) -> None:
        name = self.suite.currentText()
        self.suites = job.result
        self.suite.blockSignals(True)
        self.suite.clear()
        self.suite.addItems([suite.name for suite in self.suites])
        self.suite.setCurrentText(name or self.suites[0].name)
        self.suite.blockSignals(False)
        self._show_scenes()

    @property
    def chosen(self) -> Suite | None:
        """The suite that is chosen; None until they are known."""
        return next((suite for suite in self.suites if suite.name == self.suite.currentText()), None)

    def _show_scenes(self) -> None:
        suite = self.chosen
        if suite is None:
            return
        self.about.setText(suite.about)
        self.scenes.blockSignals(True)
        self.scenes.clear()
        for scene in suite.scenes:
            title = tr("{scene.name}: {scene.taken} ({scene.relation})").format(scene=scene)
            row = add_row(self.scenes, title if scene.is_there else title + tr(", not in the folder of models"))
            row.setFlags(row.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            row.setCheckState(Qt.CheckState.Checked if scene.is_there else Qt.CheckState.Unchecked)
        self.scenes.blockSignals(False)
        self._update()

    # -- what is asked for --------------------------------------------------------------------------------------------
    def asked(self) -> Asked | None:
        """What the fields say; None until the suites are known."""
        suite, state = self.chosen, self._document.state
        if suite is None:
            return None
        rows = [
            row for row in range(self.scenes.count()) if self.scenes.item(row).checkState() == Qt.CheckState.Checked
        ]
        size = (self.width_box.value(), self.height_box.value())
        is_own = self.with_own.isChecked() and self.with_own.isEnabled()
        return Asked(
            suite.name,
            Path(self.out.text().strip()) / suite.name,
            tuple(dict.fromkeys(suite.scenes[row].name for row in rows)),
            state.scene.names if is_own and state.scene.kind == "files" else (),
            state.scene.names[0] if is_own and state.scene.kind == "demo" else "",
            self.structures.text().strip() if self.structures.isEnabled() else "",
            self.data.text().strip(),
            size if all(size) else None,
            self.repeat.value(),
            state.settings.render.device,
        )

    def problem(self) -> str:
        """Why this cannot be run; an empty text where it can."""
        asked = self.asked()
        if asked is None:
            return "" if self._job is not None else tr("The suites could not be listed: see the log.")
        if not (asked.scenes or asked.files or asked.demo):
            return tr("Choose at least one scene.")
        if bool(self.width_box.value()) != bool(self.height_box.value()):
            return tr("Give both sides of the pictures, or neither.")
        if not self.out.text().strip() or not asked.out.parent.is_dir():
            return tr("Name a folder that is there for the report.")
        try:
            for text in apart(asked.structures) if asked.structures else ():
                name = parse(text).builder.name
                if name in trees_of(self._document.state.settings.trees):
                    return tr("{name} is the tree of a file: races measure it, suites do not.").format(name=name)
        except (ConfigurationError, ValueError) as error:
            return str(error)
        return ""

    def _update(self) -> None:
        suite, is_busy = self.chosen, self._job is not None
        takes_own = suite is not None and suite.takes_own
        reference = self._document.state.scene
        one_file = reference.kind == "demo" or (reference.kind == "files" and len(reference.names) == 1)
        self.with_own.setEnabled(takes_own and one_file)
        self.with_own.setToolTip("" if takes_own else tr("This suite measures points or spheres of its own making."))
        for part in (self.structures, self.add_chosen):
            part.setEnabled(takes_own)
        self.asked_for.setEnabled(not is_busy)
        problem = "" if is_busy else self.problem()
        if not is_busy:
            self.note.setText(problem or self._summary())
        self.note.setStyleSheet(ERROR_STYLE if problem else "")
        self.begin.setEnabled(not is_busy and not problem and suite is not None)
        self.begin.setText(tr("&Run") if self.tables.isHidden() else tr("&Run another"))
        self.leave.setText(tr("&Cancel") if self.is_running else tr("&Close"))

    def _summary(self) -> str:
        asked = self.asked()
        if asked is None:
            return ""
        there = tr("; what is there of that name is replaced") if asked.out.with_suffix(".json").is_file() else ""
        return tr("Writes {out}.json, {out}.md and pictures{there}. The picture here stands still meanwhile.").format(
            out=asked.out, there=there
        )

    def _add_chosen(self) -> None:
        """The structure that the window shows, behind those named."""
        shown = spelling_of(self._document.state.settings)
        self.structures.setText(", ".join(filter(None, (self.structures.text().strip(), shown))))

    def _browse_data(self) -> None:
        if self._browse(self.data):
            self._list()

    def _browse(self, line: QLineEdit) -> bool:
        path = QFileDialog.getExistingDirectory(self, tr("Choose a folder"), line.text())
        if path:
            line.setText(path)
        return bool(path)

    # -- a run --------------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Begin: the window draws nothing until it has ended. With the tables of a run before, ask anew."""
        asked = self.asked()
        if asked is None or self._job is not None or self.problem():
            return
        if not self.tables.isHidden():
            self._show_tables(False)
            return

        following = Following(asked.out.with_suffix(".json"), time.time())

        def work(job: Job) -> Path:
            def hear(line: str) -> None:
                told = following.hear(line)
                with contextlib.suppress(Cancelled):  # the job's own thread hears of that
                    if told is not None:
                        job.report(told.share, told.sentence)

            output_of(job, asked.words(), hear=hear)
            return following.report

        self._asked, self._following, self._is_whole, self.is_running = asked, following, False, True
        self.tables.clear()
        self._session.loop.hold(True)
        self._job = self._document.start_job(tr("Suite {name}:").format(name=asked.suite), work, self._measured)
        self._job.is_kept = True
        self.bar.show()
        self._update()

    def _measured(self, job: Job) -> None:
        problem = self.tables.take(job.result)
        self._is_whole = not problem
        if problem:
            self._session.notices.show("warning", problem, topic="suite")

    def _show_tables(self, are_shown: bool) -> None:
        """The tables of a run, or the fields for another."""
        self.tables.setVisible(are_shown)
        self.open_report.setVisible(are_shown and not self.is_running)
        self.asked_for.setVisible(not are_shown)
        self._update()

    def _open_report(self) -> None:
        if self._asked is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._asked.out.with_suffix(".md"))))

    def timerEvent(self, event: object) -> None:
        """How far the run is, and what it has measured."""
        if self._job is not None and self._following is not None and self.is_running:
            share = self._job.progress
            self.bar.setRange(0, 0 if share is None else 1000)  # 0 to 0: it moves, and says no share
            self.bar.setValue(int(1000 * (share or 0.0)))
            self.tables.fill(self._following.tables)
            if self.tables.tables and self.tables.isHidden():
                self._show_tables(True)
            self.note.setText(self._job.message or tr("Compiling what it needs."))

    def _jobs_changed(self) -> None:
        """A job that has ended in whatever way lets the window draw again."""
        if self._job is None or self._job in self._document.jobs:
            return
        job, was_running, self.is_running, self._job = self._job, self.is_running, False, None
        if was_running:
            self._session.loop.hold(False)
            self.bar.hide()
        self._update()
        if was_running and self._following is not None:
            self._say_end(job, self._following)

    def _say_end(self, job: Job, following: Following) -> None:
        """How a run ended, and where that is which it measured."""
        words, report = tr("It was ended before anything was measured."), following.report.with_suffix(".md")
        is_kept = following.has_written(report)
        self._show_tables(bool(self.tables.tables) and (is_kept or self._is_whole))
        if self._is_whole:
            words = tr("It is in {out}.")
        elif is_kept:
            words = tr("It was ended; what was measured is in {out}.")
        failed = job.problem
        self.note.setText(f"{failed.title}. {failed.sentence}" if failed is not None else words.format(out=report))
        self.note.setStyleSheet(ERROR_STYLE if failed is not None else "")

    def _close(self) -> None:
        """Close, or while a suite runs, end that."""
        if self.is_running and self._job is not None:
            self._document.cancel(self._job)
        else:
            self.close()

    def done(self, result: int) -> None:
        """However it is closed, what runs is cancelled."""
        if self._jobs_changed in self._document.on_jobs:
            self._document.on_jobs.remove(self._jobs_changed)
        if self._job is not None:
            self._document.cancel(self._job)
            self._job = None
        if self.is_running:
            self._session.loop.hold(False)
            self.is_running = False
        super().done(result)
