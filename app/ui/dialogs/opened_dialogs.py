"""The dialogs that commands open beside the window: palette, keys, help, settings and cheat sheet. What a dialog needs
is imported when it opens: of a start it would be a twentieth."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMainWindow, QMenu, QWidget

from raygrove.app.ui.commands.shortcuts import Shortcuts
from raygrove.app.ui.dialogs import questions
from raygrove.app.ui.dialogs.typed_ahead import TypedAhead
from raygrove.app.ui.session.session import Session
from raygrove.gpu.brief import filled

if TYPE_CHECKING:
    from raygrove.app.lessons.lesson import Lesson
    from raygrove.app.ui.dialogs.advice_dialog import AdviceDialog
    from raygrove.app.ui.dialogs.help_page import HelpDialog
    from raygrove.app.ui.dialogs.lesson_dialog import LessonDialog
    from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog
    from raygrove.app.ui.dialogs.suite_dialog import SuiteDialog


def _beside_picture(window: QMainWindow, dialog: QWidget) -> QPoint:
    """Where a dialog lies over the panels at the right: above the status bar, so that menus and pipeline are free,
    which it may ask for, but not over the menus of a low window; within the screen."""
    place, room = window.geometry(), window.screen().availableGeometry()
    left = place.right() + 1 - dialog.width()
    menus = place.top() + window.menuBar().height()
    top = max(place.bottom() + 1 - window.statusBar().height() - dialog.height(), menus)
    return QPoint(
        max(room.left(), min(left, room.right() + 1 - dialog.width())),
        max(room.top(), min(top, room.bottom() + 1 - dialog.height())),
    )


def _show(dialog: QWidget) -> None:
    """In front, and no larger than its screen: at *Presenter size* 900 pixels are 600."""
    dialog.resize(dialog.size().boundedTo(dialog.screen().availableGeometry().size()))
    dialog.show()
    dialog.raise_()


def _lesson_title(lesson: Lesson) -> str:
    """As menus have it."""
    minutes = filled(QCoreApplication.translate("LessonDialog", "{minutes} minutes"), minutes=lesson.minutes)
    return f"{lesson.title} ({minutes})".replace("&", "&&")


class OpenedDialogs(QObject):
    """See the module. Of help and settings there is one at a time."""

    def __init__(self, session: Session, window: QMainWindow) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._recent_commands: list[str] = []
        self._help: HelpDialog | None = None
        self.settings: SettingsDialog | None = None
        self.lesson: LessonDialog | None = None
        self.suite: SuiteDialog | None = None
        self.advice: AdviceDialog | None = None
        self._actions: Mapping[str, QAction] = {}
        self._shortcuts: Shortcuts | None = None
        self.complete: Callable[[], None] = lambda: None
        """Makes those commands that follow the first painting, where they are not there yet."""

    def follow(self, actions: Mapping[str, QAction]) -> None:
        """Give the commands the user's keys; the dialogs list these commands."""
        self._actions = actions
        self._shortcuts = Shortcuts(actions, self, self._session.gestures)
        problem = self._shortcuts.load()
        if problem:
            self._session.notices.show("warning", problem, topic="keys")

    def show_palette(self) -> None:
        """Help > Find a command."""
        from raygrove.app.ui.dialogs.palette import Palette

        menus = self._window.menuBar().actions()
        palette = Palette(self._session, menus, self.show_settings, self._recent_commands, self._window)
        palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        TypedAhead(palette, palette.line, self._window)
        palette.show()

    def show_keys(self) -> None:
        """Edit > Keys."""
        self.complete()
        if self._shortcuts is not None:
            from raygrove.app.ui.dialogs.keys_dialog import KeysDialog

            dialog = KeysDialog(self._shortcuts, self._window)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            TypedAhead(dialog, dialog.search, self._window)
            _show(dialog)

    def show_cheat_sheet(self) -> None:
        """Help > Cheat sheet."""
        self.complete()
        questions.show_cheat_sheet(self._actions.values(), self._session.gestures, self._window)

    def show_help(self, group: str) -> None:
        """Help on the structure (group hierarchy) or ray type (group ray_type) that is chosen now."""
        if self._help is None:
            from raygrove.app.ui.dialogs.help_page import HelpDialog

            self._help = HelpDialog(self._window)
            self._help.options_wanted.connect(self.show_settings)
        self._help.show_page(f"{group}.{getattr(self._session.document.state.settings.render, group)}")
        _show(self._help)

    def fill_lessons(self, menu: QMenu) -> None:
        """Help > Lessons: the program's, the user's own, and one of any file."""
        from raygrove.app.lessons.lesson import lessons  # their dialog would import all that measures

        menu.clear()
        found = lessons(lambda error: self._session.notices.show("warning", str(error), topic="lesson"))
        for name, lesson in found.items():
            entry = menu.addAction(_lesson_title(lesson))
            entry.triggered.connect(functools.partial(self.show_lesson, name))
        menu.addSeparator()
        menu.addAction(self.tr("Of a file…")).triggered.connect(lambda checked=False: self._ask_for_lesson())

    def show_lesson(self, name: str, checked: bool = False) -> None:
        """Begin a lesson, by its name or its file; one that is open ends."""
        from raygrove.app.lessons.lesson import LessonError, named
        from raygrove.app.ui.dialogs.lesson_dialog import LessonDialog

        try:
            lesson = named(name)
        except LessonError as error:
            self._session.notices.show("warning", str(error), topic="lesson")
            return
        if self.lesson is not None:
            self.lesson.close()
        self.lesson = dialog = LessonDialog(self._session, lesson, name, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.destroyed.connect(functools.partial(self._forget_lesson, dialog))
        _show(dialog)
        dialog.move(_beside_picture(self._window, dialog))

    def _ask_for_lesson(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self._window, self.tr("Open a lesson"), "", "TOML (*.toml)")
        if path:
            self.show_lesson(path)

    def _forget_lesson(self, ended: LessonDialog, gone: QObject | None = None) -> None:
        if self.lesson is ended:
            self.lesson = None

    def show_export(self) -> None:
        """File > Export."""
        from raygrove.app.ui.dialogs.export_dialog import ExportDialog

        _show(ExportDialog(self._session, self._window))

    def show_suites(self) -> None:
        """Tools > Run a suite; one at a time."""
        if self.suite is None:
            from raygrove.app.ui.dialogs.suite_dialog import SuiteDialog

            self.suite = dialog = SuiteDialog(self._session, self._window)
            dialog.destroyed.connect(self._forget_suites)
        _show(self.suite)

    def _forget_suites(self) -> None:
        self.suite = None

    def show_advice(self) -> None:
        """Tools > When to rebuild; one at a time."""
        if self.advice is None:
            from raygrove.app.ui.dialogs.advice_dialog import AdviceDialog

            self.advice = dialog = AdviceDialog(self._session, self._window)
            dialog.destroyed.connect(self._forget_advice)
        _show(self.advice)

    def _forget_advice(self) -> None:
        self.advice = None

    def show_settings(self, table: str = "") -> None:
        """Edit > Settings, at a page."""
        dialog = self.settings
        if dialog is None:
            from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog

            dialog = self.settings = SettingsDialog(self._session.document, self._window)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.destroyed.connect(self._forget_settings)
        dialog.show_page(table or "render")
        if not dialog.isActiveWindow():
            TypedAhead(dialog, dialog.search, self._window)
        _show(dialog)
        dialog.activateWindow()  # one that is open already is only raised

    def show_structure_options(self) -> None:
        """Structure > Options."""
        self.show_settings(f"hierarchy.{self._session.document.state.settings.render.hierarchy}")

    def show_tile_options(self) -> None:
        """Structure > Tiles of spheres > Options."""
        self.show_settings("tiles")

    def show_ray_type_options(self) -> None:
        """Render > Options."""
        self.show_settings(f"ray_type.{self._session.document.state.settings.render.ray_type}")

    def _forget_settings(self) -> None:
        self.settings = None
