"""Where a window says what happened: banners above the picture, marks on panels, the log with its mark. Nothing here is modal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.problem import Problem
from app.render_thread import FinishedFrame
from app.ui.panel_mark import PanelMarks
from gpu.scene import Scene

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow


class Messages(QObject):
    """Decides where each message of a window goes."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._banners = window, window.banners
        self.panels = PanelMarks(window.docks, self)
        self.panels.said.connect(window.records.log.add)
        self._lacks_picture = False
        self._is_without_gpu = False

    def show_problem(self, problem: Problem, topic: str = "problem") -> None:
        """Say what went wrong: on the panel it concerns where that is seen, else above the picture."""
        sentence = f"{problem.title}. {problem.sentence}"
        if self.panels.is_seen(problem.panel):
            self.panels.say(problem.panel, "error", sentence, problem.details)
        else:
            self._banners.show_message("error", sentence, problem.details, topic)

    def show_picture_problem(self, problem: Problem) -> None:
        """Say why there is no picture, until another choice gives one again; figures of old pictures are marked."""
        if problem.panel:  # a question that a panel asked; the picture is what it was
            self.show_problem(problem, problem.panel)
            return
        self._lacks_picture = True
        self._show_with_ways_out(problem)
        if self._window.loop.last_frame is not None and self.panels.is_seen("stats"):
            sentence = self.tr("These are the figures of the last picture that could be drawn.")
            self.panels.say("stats", "warning", sentence, f"{problem.sentence}\n\n{problem.details}")

    def _show_with_ways_out(self, problem: Problem) -> None:
        """The banner of a picture that is not there: it stays until there is one, and goes where that can be helped."""
        window, sentence = self._window, f"{problem.title}. {problem.sentence}"
        if window.loop.has_halted:
            seconds = window.document.state.timeline.time
            sentence += self.tr(" Playback is paused at {seconds:.2f} s.").format(seconds=seconds)
        banner = self._banners.show_message("error", sentence, problem.details, "picture")
        if problem.table == "hierarchy":
            banner.add_button("options", self.tr("Options…"), window.show_structure_options)
        if window.loop.has_halted:
            banner.add_button("play_on", self.tr("Play on"), window.timeline_bar.toggle_play)
        else:
            banner.add_button("retry", self.tr("Try again"), window.loop.retry)

    def show_remarks(self, scene: Scene | None) -> None:
        """What was noticed when the scene was read; what was said of another's picture is over."""
        self._banners.clear("remarks")
        self._forget_lack()
        if scene is not None and scene.remarks:
            sentences = [remark.counted for remark in scene.remarks]
            more = self.tr(" (and {count} more)").format(count=len(sentences) - 1) if len(sentences) > 1 else ""
            self._banners.show_message("information", sentences[0] + more, "\n".join(sentences) if more else "", "remarks")

    def take(self, frame: FinishedFrame) -> None:
        """A picture has come: what was said of none is over; and the processor says that it stands in for a GPU."""
        self._forget_lack()
        is_without = frame.target_name == "host" and frame.request.state.settings.render.target == "auto"
        if is_without != self._is_without_gpu:
            self._is_without_gpu = is_without
            self.stand_in("target", self.tr("There is no NVIDIA GPU that can be used, so the processor draws.") if is_without else "")

    def _forget_lack(self) -> None:
        if self._lacks_picture:
            self._lacks_picture = False
            self._banners.clear("picture")
            self.panels.clear("stats")

    def stand_in(self, topic: str, sentence: str) -> None:
        """Say that something slower stands in for what was meant, with a report to copy; an empty sentence takes it back. Whoever does not want to
        read it again is not shown it again."""
        memory = self._window.memory
        if not sentence:
            self._banners.clear(topic)
        elif not memory.is_silenced(topic):
            banner = self._banners.show_message("information", sentence, topic=topic)
            banner.add_button("report", self.tr("Copy report"), self._window.copy_report)
            banner.add_button("silence", self.tr("Do not show again"), lambda: self._silence(topic))

    def _silence(self, topic: str) -> None:
        self._window.memory.silence(topic)
        self._banners.clear(topic)

    def say_view(self, wanted: str, kind: str) -> None:
        """Say that Qt paints where OpenGL was asked for."""
        if wanted == "gl" and kind != "gl":
            sentence = self.tr("There is no OpenGL here, so pictures are painted by Qt. `python main.py doctor` says what is missing.")
            self._banners.show_message("warning", sentence, topic="view")
        else:
            self._banners.clear("view")
