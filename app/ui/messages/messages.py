"""Where a window says what happened: notices over the picture, marks on panels, the log with its mark. Nothing here is
modal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDockWidget

from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.problems.problem import Problem
from raygrove.app.scene_io import references
from raygrove.app.ui.dialogs import questions
from raygrove.app.ui.messages.panel_mark import PanelMarks
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.session.notices import Way
from raygrove.app.ui.session.session import Session
from raygrove.gpu.scene import Scene
from raygrove.program import typed


class Messages(QObject):
    """Decides where each message goes: to one of the panels in `docks`, or over the picture. `show_options` opens the
    settings of the structure."""

    def __init__(
        self, session: Session, docks: list[QDockWidget], show_options: Callable[[], object], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._notices, self._show_options = session, session.notices, show_options
        self.panels = PanelMarks(docks, self)
        self.panels.said.connect(session.notices.log.add)
        self._lacks_picture = False
        self._said_of_picture: tuple[str, ...] = ()

    def show_problem(self, problem: Problem, topic: str = "problem") -> None:
        """Say what went wrong: on the panel it concerns where that is seen, else over the picture."""
        sentence = f"{problem.title}. {problem.sentence}"
        if self.panels.is_seen(problem.panel):
            self.panels.say(problem.panel, "error", sentence, problem.details)
        else:
            self._notices.show("error", sentence, problem.details, topic, self._ways_to_trust(problem))

    def show_picture_problem(self, problem: Problem) -> None:
        """Say why there is no picture, until another choice gives one again; figures of old pictures are marked."""
        if problem.panel:  # a question that a panel asked; the picture is what it was
            self.show_problem(problem, problem.panel)
            return
        self._lacks_picture = True
        self._show_with_ways_out(problem)
        if self._session.loop.shows_scene and self.panels.is_seen("stats"):
            sentence = self.tr("These are the figures of the last picture that could be drawn.")
            self.panels.say("stats", "warning", sentence, f"{problem.sentence}\n\n{problem.details}")

    def _show_with_ways_out(self, problem: Problem) -> None:
        """The banner of a picture that is not there: it stays until there is one, and goes where that can be helped."""
        session, sentence = self._session, f"{problem.title}. {problem.sentence}"
        ways = []
        if problem.table == "hierarchy":
            ways.append(Way("options", self.tr("Options…"), self._show_options))
        if problem.instead is not None:
            ways.append(self._other_drawer(*problem.instead))
        if session.loop.has_halted:
            ways.append(Way("play_on", self.tr("Play on"), session.document.toggle_play))
            seconds = session.document.state.timeline.time
            sentence += self.tr(" Playback is paused at {seconds:.2f} s.").format(seconds=seconds)
        else:
            ways.append(Way("retry", self.tr("Try again"), session.loop.retry))
        self._notices.show("error", sentence, problem.details, "picture", tuple(ways))

    def _other_drawer(self, key: str, value: str | bool) -> Way:
        titles = {
            "render.primary": self.tr("First hits by the structure"),
            "display.spheres": self.tr("Draw by rays"),
            "gravity.forces": self.tr("Forces by auto"),
            "update.mode": self.tr("Rebuild every frame"),
        }
        change = self._session.document.change
        return Way("instead", titles.get(key, f"{key} = {value}"), lambda: change(f"settings.{key}", value))

    def show_remarks(self, scene: Scene | None) -> None:
        """What was noticed when the scene was read; what was said of another's picture is over."""
        self._notices.clear("remarks")
        self._notices.clear("neighbours")
        self._forget_lack()
        if scene is not None and scene.remarks:
            sentences = [remark.counted for remark in scene.remarks]
            more = self.tr(" (and {count} more)").format(count=len(sentences) - 1) if len(sentences) > 1 else ""
            details = "\n".join(sentences) if more else ""
            self._notices.show("information", sentences[0] + more, details, "remarks", self._ways_to_read_more(scene))

    def offer_neighbours(self, names: Sequence[str], open_files: Callable[[list[str]], object]) -> None:
        """Say of a scene of one file that it is one of a run of numbered files, and offer to open all of them."""
        run = recent_files.neighbours_of(names[0]) if len(names) == 1 else []
        if not run or self._session.memory.is_silenced("neighbours"):
            return
        ends = [path.rsplit("/", 1)[-1] for path in (run[0], run[-1])]
        sentence = self.tr("This is one of {count} numbered files, {first} to {last}.").format(
            count=f"{len(run):,}", first=ends[0], last=ends[1]
        )
        ways = (
            Way("sequence", self.tr("Open all as key frames"), lambda: open_files(run)),
            Way("silence", self.tr("Do not show again"), lambda: self._silence("neighbours")),
        )
        self._notices.show("information", sentence, topic="neighbours", ways=ways)

    def _ways_to_trust(self, problem: Problem) -> tuple[Way, ...]:
        if problem.trust is None:
            return ()
        setting, paths = problem.trust
        open_trusted = self._session.document.open_trusted
        return (Way("trust", self.tr("I trust it: open"), lambda: open_trusted(setting, paths)),)

    def _ways_to_read_more(self, scene: Scene) -> tuple[Way, ...]:
        if all(remark.setting != references.ALLOWED for remark in scene.remarks):
            return ()
        read = self._session.document.open_trusted
        return (Way("outside", self.tr("Read them, too"), lambda: read("allow_outside")),)

    def take(self, frame: FinishedFrame) -> None:
        """A picture has come: what was said of none is over, and what is to know of this one is said."""
        self._forget_lack()
        self._say_of_picture(frame)

    def _say_of_picture(self, frame: FinishedFrame) -> None:
        """What its ray types say of it, until they no longer do."""
        views = frame.statistics.views if frame.statistics is not None else ()
        sentences = tuple(dict.fromkeys(sentence for view in views for sentence in view.notices))
        if sentences == self._said_of_picture:
            return
        self._said_of_picture = sentences
        if not sentences:
            self._notices.clear("ray_type")
            return
        more = self.tr(" (and {count} more)").format(count=len(sentences) - 1) if len(sentences) > 1 else ""
        self._notices.show("warning", sentences[0] + more, "\n".join(sentences) if more else "", "ray_type")

    def _forget_lack(self) -> None:
        if self._lacks_picture:
            self._lacks_picture = False
            self._notices.clear("picture")
            self.panels.clear("stats")

    def stand_in(self, topic: str, sentence: str) -> None:
        """Say that something slower stands in for what was meant, with a report to copy; an empty sentence takes it
        back. Whoever does not want to read it again is not shown it again."""
        if not sentence:
            self._notices.clear(topic)
        elif not self._session.memory.is_silenced(topic):
            ways = (
                Way("report", self.tr("Copy report"), lambda: questions.copy_report(self._session)),
                Way("silence", self.tr("Do not show again"), lambda: self._silence(topic)),
            )
            self._notices.show("information", sentence, topic=topic, ways=ways)

    def _silence(self, topic: str) -> None:
        self._session.memory.silence(topic)
        self._notices.clear(topic)

    def say_view(self, wanted: str, kind: str) -> None:
        """Say that Qt paints where OpenGL was asked for."""
        if wanted == "gl" and kind != "gl":
            sentence = self.tr(
                f"There is no OpenGL here, so pictures are painted by Qt. `{typed()} doctor` says what is missing."
            )
            self._notices.show("warning", sentence, topic="view")
        else:
            self._notices.clear("view")
