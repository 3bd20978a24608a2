"""File > Export: pictures, video, buffers and tables of the animation or of a turn of the camera, written in the
background."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.camera.path import CameraPath
from raygrove.app.document.jobs import Cancelled, Job
from raygrove.app.document.state import State
from raygrove.app.export.sequence import OutputError, check_output, check_palette, kind_of, picture_path, why_not
from raygrove.app.frames import exporting
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.settings import SIZE_LIMIT, option_field, set_option
from raygrove.app.ui.colors import ERROR_STYLE
from raygrove.app.ui.dialogs.button_box import button_box, fill_with_ink
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.session.session import Session

LAST_FRAME = 999_999
MOST_COLOURS = int(option_field("render.palette").info.maximum or 0)
SHORTEST_TURN, LONGEST_TURN = 0.1, 3600.0


HOW = "Help > Copy a report of this machine says how it is installed."


@dataclasses.dataclass(frozen=True)
class Format:
    """What can be written: its title, a name to begin with for one frame and for several, the file dialog's filter,
    whether it shows samples, and whether it can have a palette."""

    title: str
    one: str
    many: str
    filter: str
    is_picture: bool = False
    has_palette: bool = False


FORMATS = (
    Format("PNG pictures, with the state inside", "raygrove.png", "frame_%04d.png", "PNG (*.png)", True, True),
    Format("Video (H.264)", "raygrove.mp4", "raygrove.mp4", "Video (*.mp4 *.mov *.mkv)", True),
    Format("Depth, normals, ids and steps (EXR)", "raygrove.exr", "buffers_%04d.exr", "OpenEXR (*.exr)"),
    Format("Statistics of each frame (CSV)", "statistics.csv", "statistics.csv", "CSV (*.csv)"),
    Format("Statistics of each frame (JSON)", "statistics.json", "statistics.json", "JSON (*.json)"),
)


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("export", text)


def offered() -> tuple[Format, ...]:
    """What this machine can write."""
    return tuple(one for one in FORMATS if not why_not(kind_of(one.one)))


def missing() -> str:
    """Which formats this machine cannot write, and why; an empty text where it can write all."""
    reasons = [why for one in FORMATS if (why := why_not(kind_of(one.one)))]
    return tr("Not offered here: {reasons}. {how}").format(reasons="; ".join(reasons), how=tr(HOW)) if reasons else ""


def said_of(error: OutputError, out: str) -> str:
    """Why it cannot be written, and what to do about it in the dialog's fields."""
    ways = {
        "ending": tr("Choose a Format, which gives Output its ending."),
        "library": tr("Choose another Format. {how}").format(how=tr(HOW)),
        "palette": tr("Set Colours to all, or choose PNG pictures as the Format."),
        "frames": tr("Number them in Output, as frame_%04d.png does, or choose one instant in Frames."),
    }
    return f"{Path(out).name}: {error.why}. {ways[error.cause]}"


class ExportDialog(QDialog):
    """Asks what goes where, says what that will be, and starts it. What cannot be is said here, before anything is
    drawn."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._document = session, session.document
        self.setObjectName("export")
        self.setWindowTitle(tr("Export"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, 0)
        state, span = self._document.state, self._document.span
        self._folder = session.memory.folder() or str(Path.cwd())
        self._formats = offered()
        self.format = self._combo("format", [one.title for one in self._formats])
        self.format.setToolTip(missing())
        self.frames = self._combo(
            "frames", [tr("The instant that is shown"), tr("The whole animation"), tr("Some frames")]
        )
        self.frames.setCurrentIndex(1 if span.duration > 0.0 else 0)
        self.first, self.last = (
            self._count("first", 0, LAST_FRAME, 0),
            self._count("last", 0, LAST_FRAME, span.frame_count - 1),
        )
        self.turns = QCheckBox(tr("The camera turns once in"), self)
        self.turns.setObjectName("turns")
        self._turns_for_video = self._turn_declined = False
        self.turn_seconds = QDoubleSpinBox(self)
        self.turn_seconds.setObjectName("turn_seconds")
        self.turn_seconds.setRange(SHORTEST_TURN, LONGEST_TURN)
        self.turn_seconds.setSuffix(" s")
        self.turn_seconds.setValue(6.0)
        self.path = QCheckBox(self)
        self.path.setObjectName("path")
        self.path.setText(
            tr("The camera follows its bookmarks")
            + ("" if len(state.bookmarks) > 1 else tr(" (add two bookmarks first)"))
        )
        self.path.setEnabled(len(state.bookmarks) > 1)
        render = state.settings.render
        self.width_box, self.height_box = (
            self._count("width", 1, SIZE_LIMIT, render.width),
            self._count("height", 1, SIZE_LIMIT, render.height),
        )
        self.samples = self._count("samples", 1, 65536, exporting.smooth_samples(state.settings))
        self.samples.setToolTip(
            tr("As many as a still picture in the window has; fewer are drawn faster, one leaves edges jagged.")
        )
        self.palette_box = self._count("palette", 0, MOST_COLOURS, render.palette)
        self.palette_box.setSpecialValueText(tr("all"))
        self.palette_box.setToolTip(
            tr("Most colours of a PNG picture, chosen for each picture: fewer make smaller files.")
        )
        self.out = QLineEdit(str(Path(self._folder) / self._name()), self)
        self.out.setObjectName("out")
        self.note = Label(self)
        self.note.setObjectName("note")
        self.note.setWordWrap(True)
        self._lay_out()
        self._connect()
        session.figures.told.connect(self._update)
        self._update()

    # -- parts ----------------------------------------------------------------------------------------------------
    def _combo(self, name: str, titles: Sequence[str]) -> QComboBox:
        box = QComboBox(self)
        box.setObjectName(name)
        box.addItems(list(titles))
        return box

    def _count(self, name: str, low: int, high: int, value: int) -> QSpinBox:
        box = QSpinBox(self)
        box.setObjectName(name)
        box.setRange(low, high)
        box.setValue(value)
        return box

    def _row(self, *parts: QWidget | str) -> QHBoxLayout:
        row = QHBoxLayout()
        for part in parts:
            row.addWidget(Label(part, self) if isinstance(part, str) else part)
        row.addStretch(1)
        return row

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow(tr("Format"), self.format)
        form.addRow(tr("Frames"), self._row(self.frames, self.first, tr("to"), self.last))
        form.addRow(tr("Camera"), self._row(self.turns, self.turn_seconds))
        form.addRow("", self._row(self.path))
        form.addRow(
            tr("Size"),
            self._row(self.width_box, "×", self.height_box, tr("pixels,"), self.samples, tr("samples per pixel")),
        )
        form.addRow(tr("Colours"), self._row(self.palette_box, tr("in a PNG picture")))
        browse = QPushButton(tr("Browse…"), self)
        browse.setObjectName("browse")
        browse.setAutoDefault(False)
        browse.clicked.connect(self._browse)
        place = QHBoxLayout()
        place.addWidget(self.out, 1)
        place.addWidget(browse)
        form.addRow(tr("Output"), place)
        self.buttons = button_box(QDialogButtonBox.StandardButton.Close, self)
        self.button = self.buttons.addButton(tr("Export"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.button.setObjectName("start")
        fill_with_ink(self.button)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.note)
        column.addWidget(self.buttons)

    def _connect(self) -> None:
        self.format.currentIndexChanged.connect(self._suit)
        self.frames.currentIndexChanged.connect(self._rename)
        for one, other in ((self.turns, self.path), (self.path, self.turns)):
            one.toggled.connect(lambda is_on, other=other: other.setChecked(False) if is_on else None)
        self.turns.toggled.connect(self._rename)
        self.turns.clicked.connect(self._turn_said)
        self.path.toggled.connect(self._suit)
        for box in (
            self.first,
            self.last,
            self.width_box,
            self.height_box,
            self.samples,
            self.turn_seconds,
            self.palette_box,
        ):
            box.valueChanged.connect(self._update)
        self.out.textChanged.connect(self._update)
        self.buttons.rejected.connect(self.close)
        self.button.clicked.connect(self.start)

    # -- what is meant --------------------------------------------------------------------------------------------
    @property
    def chosen(self) -> Format:
        """The kind of file that is chosen."""
        return self._formats[self.format.currentIndex()]

    def state(self) -> State:
        """The document's state with the size, samples and colours asked for here."""
        state = self._document.state
        settings = state.settings
        for key, box in (("width", self.width_box), ("height", self.height_box)):
            settings = set_option(settings, f"render.{key}", box.value())
        colours = self.palette_box.value() if self.palette_box.isEnabled() else 0
        settings = set_option(settings, "render.palette", colours)
        if self.samples.isEnabled():
            settings = exporting.with_samples(settings, self.samples.value())
        return dataclasses.replace(state, settings=settings)

    def plan(self) -> exporting.ExportPlan | None:
        """What goes where; None where no scene is open."""
        scene = self._document.scene
        if scene is None:
            return None
        state, span = self.state(), self._document.span
        out, seconds = self.out.text().strip(), self.turn_seconds.value() if self.turns.isChecked() else 0.0
        path = CameraPath(state.bookmarks, state.settings.path) if self.path.isChecked() else None
        turn = path.frame_count(span.fps) if path is not None else exporting.turntable_frames(seconds, span.fps)
        choice = self.frames.currentIndex()
        numbers = range(turn or span.frame_count) if choice == 1 else range(self.first.value(), self.last.value() + 1)
        if choice > 0:
            return dataclasses.replace(exporting.plan_of(state, scene, out, numbers, seconds), path=path)
        head = state.timeline
        count = turn or 1
        first = 0 if turn else timelines.frame_of(head, span)
        return exporting.ExportPlan(
            out, tuple((first + index, head.time) for index in range(count)), span.fps, 0 if path else turn, path
        )

    def problem(self) -> str:
        """Why this cannot be written; an empty text where it can."""
        plan = self.plan()
        if plan is None:
            return tr("No scene is open: open one first.")
        if not plan.frames:
            return tr("The first frame comes after the last one.")
        if not plan.out:
            return tr("Name a file to write to.")
        try:
            check_output(plan.out, len(plan.frames))
            check_palette(plan.out, self.state().settings.render.palette)
        except OutputError as error:
            return said_of(error, plan.out)
        return ""

    def start(self) -> None:
        """Begin, and close: progress and Cancel are in the window."""
        plan, scene = self.plan(), self._document.scene
        if self.problem() or plan is None or scene is None:
            return
        self._session.memory.set_folder(plan.out)
        start_export(self._session, self.state(), plan)
        self.close()

    # -- what happens ---------------------------------------------------------------------------------------------
    def _name(self) -> str:
        are_many = self.frames.currentIndex() > 0 or self.turns.isChecked() or self.path.isChecked()
        return self.chosen.many if are_many else self.chosen.one

    def _turn_said(self, is_on: bool) -> None:
        """By hand: from now on no format decides."""
        self._turns_for_video, self._turn_declined = False, not is_on

    def _suit(self) -> None:
        """In a video of what stands still the camera turns, unless it was told not to: else it would be one picture."""
        is_still = self._document.span.duration <= 0.0 and not self.path.isChecked()
        wanted = is_still and kind_of(self.chosen.one) == "video"
        if wanted and not self.turns.isChecked() and not self._turn_declined:
            self.turns.setChecked(True)
            self._turns_for_video = True
        elif self._turns_for_video and not wanted:
            self.turns.setChecked(False)
            self._turns_for_video = False
        self._rename()

    def _rename(self) -> None:
        """Another kind of output has another name, in the folder that was chosen."""
        text = self.out.text()
        folder = Path(text).parent if text else Path(self._folder)
        self.out.setText(str(folder / self._name()))
        self._update()

    def _browse(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, tr("Output file"), self.out.text(), self.chosen.filter)
        if path:
            self.out.setText(path)

    def _update(self) -> None:
        some = self.frames.currentIndex() == 2
        self.first.setEnabled(some)
        self.last.setEnabled(some)
        self.turn_seconds.setEnabled(self.turns.isChecked())
        self.samples.setEnabled(self.chosen.is_picture)
        self.palette_box.setEnabled(self.chosen.has_palette)
        problem = self.problem()
        self.note.setText(problem or self._summary())
        self.note.setStyleSheet(ERROR_STYLE if problem else "")
        self.button.setEnabled(not problem)

    def _expected(self, count: int) -> float:
        """Seconds that so many frames take, by the pictures of the last second; 0 where nothing was measured."""
        seen = self._session.figures.history.last_second()
        moves = bool(seen) and self._document.span.duration > 0.0
        samples = self.samples.value() if self.samples.isEnabled() else self._document.state.settings.render.samples
        return exporting.expected_seconds(
            count,
            (self.width_box.value(), self.height_box.value()),
            samples,
            [one.statistics for one in seen if one.statistics is not None],
            seen[-1].frame.last_update if moves else None,
        )

    def _summary(self) -> str:
        plan = self.plan()
        assert plan is not None
        count = len(plan.frames)
        text = tr("One frame.") if count == 1 else tr("{count} frames, {seconds:.2f} s at {fps:g} frames per second.")
        text = text.format(count=f"{count:,}", seconds=count / plan.fps, fps=plan.fps)
        seconds = self._expected(count)
        if seconds > 0.0:
            told = tr("About {time} at what frames take now.")
            text += " " + told.format(time=exporting.roughly(seconds))
        first = (
            picture_path(plan.out, plan.frames[0][0], count) if "%" in plan.out or "#" in plan.out else Path(plan.out)
        )
        if first.is_file():
            text += " " + tr("{name} is there already and will be replaced.").format(name=first.name)
        return text


def start_export(session: Session, state: State, plan: exporting.ExportPlan) -> Job:
    """Write in the background; a notice says how it ended."""
    document, scene = session.document, session.document.scene
    assert scene is not None

    def say(sentence: str) -> None:
        session.notices.show("information", sentence, topic="export")

    def work(job: Job) -> list[Path]:
        try:
            return exporting.export(job, state, scene, plan)
        except Cancelled:
            sentence = tr(
                "The export was cancelled. Finished pictures of a sequence stay and are named .part; the file that was "
                "being written is removed."
            )
            document.mailroom.post(lambda: say(sentence))
            raise

    def finished(job: Job) -> None:
        files: list[Path] = job.result
        words = tr("Wrote {name}.") if len(files) == 1 else tr("Wrote {count} files, {name} the last.")
        say(words.format(count=f"{len(files):,}", name=files[-1]))

    session.notices.clear("export")
    job = document.start_job(tr("Exporting {name}").format(name=Path(plan.out).name), work, finished)
    job.is_kept = True
    return job
