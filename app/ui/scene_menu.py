"""The Scene menu and the menu of the picture: objects and the clipping plane, for what is selected or lies under the pointer."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QMenu

from app.frame_maker import Picked
from app.objects import names_of
from app.state import State
from app.ui.choice_menu import ChoiceMenu
from app.ui.object_commands import ClipCommands, ObjectCommands
from gpu.engine import Hit

if TYPE_CHECKING:
    from app.ui.commands import Commands
    from app.ui.main_window import MainWindow

SAID_MS = 5000


def fill(menu: QMenu, commands: Commands, window: MainWindow) -> None:
    """Put the commands on objects and on the clipping plane into the menu."""
    tools = SceneTools(window)
    things, clip = tools.objects, tools.clip
    commands.add(menu, "scene.hide", window.tr("&Hide what is selected"), things.hide, ["Ctrl+H", "Delete"])
    commands.add(menu, "scene.isolate", window.tr("&Isolate what is selected, or show all again"), things.isolate, "I")
    commands.add(menu, "scene.show_all", window.tr("&Show all objects"), things.show_all, "Alt+H")
    commands.add(menu, "scene.unselect", window.tr("Select &nothing"), functools.partial(things.select, -1), "Esc")
    menu.addSeparator()
    commands.add(menu, "scene.clip", window.tr("&Cut by a plane"), clip.toggle, "C", checkable=True)
    commands.add(menu, "scene.clip_here", window.tr("C&ut at what lies under the pointer"), tools.cut_at_pointer, "Shift+C")
    commands.add(menu, "scene.clip_flip", window.tr("See the &other side of the plane"), clip.flip, "Alt+C")
    choices = window.choices
    axes = functools.partial(choices.of_option, "clip.axis")
    made = ChoiceMenu(window.tr("&Direction of the plane"), axes, choices.current("clip.axis"), choices.choose("clip.axis"), window)
    commands.choice(menu, "scene.clip_axis", made)
    tools.mark(commands)


class SceneTools(QObject):
    """Clicks in the picture, and what commands on objects need of the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._document = window, window.document
        self.objects, self.clip = ObjectCommands(window.document, self._say), ClipCommands(window.document)
        pointer = window.inspectors.pointer
        pointer.select_wanted.connect(self.select_at)
        pointer.menu_wanted.connect(self.menu_at)

    def select_at(self, across: float, down: float) -> None:
        """Select the object at a place of the picture, from 0 to 1 of its width and height; nothing over the background."""
        self._ask(across, down, self._select)

    def menu_at(self, across: float, down: float) -> None:
        """Open the menu of what lies at a place of the picture, where the pointer is."""
        place = QCursor.pos()
        self._ask(across, down, lambda hit: self.menu_of(hit).popup(place))

    def cut_at_pointer(self) -> None:
        """A plane through what lies under the pointer, or in the middle of the picture, that faces the camera."""
        self._ask(*(self._window.navigator.pointer() or (0.5, 0.5)), self._cut)

    def menu_of(self, hit: Hit | None) -> QMenu:
        """The menu of what was hit."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setObjectName("picture_menu")
        scene, actions = self._document.scene, self._window.commands.actions
        if hit is not None and scene is not None:
            point, commands = hit.position, self._window.camera_commands
            name = names_of(scene)[hit.object_id]
            menu.addAction(self.tr("Select {name}").format(name=name)).triggered.connect(lambda: self.objects.select(hit.object_id))
            menu.addAction(self.tr("Hide {name}").format(name=name)).triggered.connect(lambda: self.objects.hide(hit.object_id))
            menu.addAction(self.tr("Isolate {name}").format(name=name)).triggered.connect(lambda: self.objects.isolate(hit.object_id))
            menu.addSeparator()
            menu.addAction(self.tr("Look at this point")).triggered.connect(lambda: commands.look_at(point))
            menu.addAction(self.tr("Cut here, facing the camera")).triggered.connect(lambda: self.clip.cut_here(point))
            where = ", ".join(f"{part + start:.6g}" for part, start in zip(point, scene.origin, strict=True))
            menu.addAction(self.tr("Copy the point {where}").format(where=where)).triggered.connect(
                lambda: QGuiApplication.clipboard().setText(where)
            )
            menu.addSeparator()
        menu.addActions([actions[name] for name in ("scene.show_all", "scene.clip", "scene.clip_flip", "camera.fit")])
        return menu

    def mark(self, commands: Commands) -> None:
        """Keep the marks of the commands as the state is."""

        def show(before: State | None, after: State) -> None:
            if before is None or before.settings.clip != after.settings.clip:
                commands.actions["scene.clip"].setChecked(after.settings.clip.on)
            if before is None or before.hidden != after.hidden:
                commands.actions["scene.show_all"].setEnabled(bool(after.hidden))

        self._document.observe(show)
        show(None, self._document.state)

    def _ask(self, across: float, down: float, take: object) -> None:
        def answer(found: Picked | None) -> None:
            if callable(take):
                take(found.hit if found is not None else None)

        self._window.loop.ask("object", lambda maker: maker.pick(across, down), answer)

    def _select(self, hit: Hit | None) -> None:
        self.objects.select(hit.object_id if hit is not None else -1)
        scene = self._document.scene
        if hit is not None and scene is not None:
            count = len(scene.meshes[hit.mesh].triangles)
            self._say(
                self.tr("{name}: {count:,} triangles. The menu Scene hides or isolates it.").format(name=names_of(scene)[hit.object_id], count=count)
            )

    def _cut(self, hit: Hit | None) -> None:
        if hit is None:
            self._say(self.tr("Nothing lies there that a plane could go through."))
        else:
            self.clip.cut_here(hit.position)

    def _say(self, sentence: str) -> None:
        self._window.statusBar().showMessage(sentence, SAID_MS)
