"""The Scene menu and the menu of the picture: objects and the clipping plane, for what is selected or lies under the
pointer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QCursor, QGuiApplication
from PySide6.QtWidgets import QWidget

from raygrove.app.document.state import State
from raygrove.app.edits.objects import names_of
from raygrove.app.ui.commands.camera_commands import CameraCommands
from raygrove.app.ui.commands.command import Command, Entry, Separator, Submenu, setting, tr
from raygrove.app.ui.commands.menu import Menu
from raygrove.app.ui.commands.object_commands import ClipCommands, ObjectCommands
from raygrove.app.ui.picture.pointer import Pointer
from raygrove.app.ui.session.session import Session

if TYPE_CHECKING:
    from raygrove.app.frames.questions import Picked
    from raygrove.gpu.engine import Hit


def scene_menu(session: Session, tools: SceneTools) -> Submenu:
    """Commands on objects and on the clipping plane."""
    things, clip = tools.objects, tools.clip

    def unselect() -> None:
        """Of what is held, a pinned frame is let go first."""
        if session.figures.pinned is not None:
            session.figures.pin(None)
        else:
            things.select(-1)

    entries: list[Entry] = [
        Command("scene.hide", tr("&Hide what is selected"), things.hide, ("Ctrl+H", "Delete")),
        Command("scene.isolate", tr("&Isolate what is selected, or show all again"), things.isolate, "I"),
        Command("scene.show_all", tr("&Show all objects"), things.show_all, "Shift+H"),
        Command("scene.unselect", tr("Select &nothing"), unselect, "Esc"),
        Separator(),
        Command("scene.clip", tr("&Cut by a plane"), clip.toggle, "C", checkable=True),
        Command("scene.clip_here", tr("C&ut at what lies under the pointer"), tools.cut_at_pointer, "Shift+C"),
        Command("scene.clip_flip", tr("See the &other side of the plane"), clip.flip, "Ctrl+Shift+C"),
        setting(session.choices, "scene.clip_axis", tr("&Direction of the plane"), "clip.axis"),
        Separator(),
        Command("scene.collisions", tr("Show co&llisions"), tools.toggle_collisions, checkable=True),
        Command(
            "scene.periodic_box", tr("Draw the &periodic box of particles"), tools.toggle_periodic_box, checkable=True
        ),
    ]
    return Submenu(tr("Sce&ne"), entries)


class SceneTools(QObject):
    """Clicks in the picture: `pointer` tells of them, `place` says where the pointer is in the picture, `camera` moves
    to what was hit."""

    def __init__(
        self,
        session: Session,
        pointer: Pointer,
        place: Callable[[], tuple[float, float] | None],
        camera: CameraCommands,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._session, self._document, self._parent = session, session.document, parent
        self._place, self._camera = place, camera
        self._actions: Mapping[str, QAction] = {}
        self.objects = ObjectCommands(self._document, session.notices.tell)
        self.clip = ClipCommands(self._document)
        pointer.select_wanted.connect(self.select_at)
        pointer.menu_wanted.connect(self.menu_at)

    def select_at(self, across: float, down: float) -> None:
        """Select the object at a place of the picture, from 0 to 1 of its width and height; nothing over the
        background."""
        self._ask(across, down, self._select)

    def menu_at(self, across: float, down: float) -> None:
        """Open the menu of what lies at a place of the picture, where the pointer is."""
        place = QCursor.pos()
        self._ask(across, down, lambda hit: self.menu_of(hit).popup(place))

    def toggle_periodic_box(self) -> None:
        """Draw the periodic box of particles over the picture, or no longer."""
        self._document.change("settings.periodic_box.show", not self._document.state.settings.periodic_box.show)

    def toggle_collisions(self) -> None:
        """Mark what touches another object, or no longer."""
        self._document.change("settings.collisions.show", not self._document.state.settings.collisions.show)

    def cut_at_pointer(self) -> None:
        """A plane through what lies under the pointer, or in the middle of the picture, that faces the camera."""
        self._ask(*(self._place() or (0.5, 0.5)), self._cut)

    def menu_of(self, hit: Hit | None) -> Menu:
        """The menu of what was hit."""
        menu = Menu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setObjectName("picture_menu")
        scene, actions = self._document.scene, self._actions
        if hit is not None and scene is not None:
            point, camera = hit.position, self._camera
            name = names_of(scene)[hit.object_id]
            menu.addAction(self.tr("Select {name}").format(name=name)).triggered.connect(
                lambda: self.objects.select(hit.object_id)
            )
            menu.addAction(self.tr("Hide {name}").format(name=name)).triggered.connect(
                lambda: self.objects.hide(hit.object_id)
            )
            menu.addAction(self.tr("Isolate {name}").format(name=name)).triggered.connect(
                lambda: self.objects.isolate(hit.object_id)
            )
            menu.addSeparator()
            menu.addAction(self.tr("Look at this point")).triggered.connect(lambda: camera.look_at(point))
            menu.addAction(self.tr("Cut here, facing the camera")).triggered.connect(lambda: self.clip.cut_here(point))
            where = ", ".join(f"{part + start:.6g}" for part, start in zip(point, scene.origin, strict=True))
            menu.addAction(self.tr("Copy the point {where}").format(where=where)).triggered.connect(
                lambda: QGuiApplication.clipboard().setText(where)
            )
            menu.addSeparator()
        menu.addActions([actions[name] for name in ("scene.show_all", "scene.clip", "scene.clip_flip", "camera.fit")])
        return menu

    def follow(self, actions: Mapping[str, QAction]) -> None:
        """Keep the marks of the commands as the state is; those that fit stand in the menu of the picture too."""
        self._actions = actions

        def show(before: State | None, after: State) -> None:
            if before is None or before.settings.clip != after.settings.clip:
                actions["scene.clip"].setChecked(after.settings.clip.on)
            if before is None or before.settings.periodic_box != after.settings.periodic_box:
                actions["scene.periodic_box"].setChecked(after.settings.periodic_box.show)
            if before is None or before.settings.tile_marks != after.settings.tile_marks:
                actions["tiles.draw_grid"].setChecked(after.settings.tile_marks.grid)
                actions["tiles.draw_boxes"].setChecked(after.settings.tile_marks.boxes)
            if before is None or before.settings.collisions != after.settings.collisions:
                actions["scene.collisions"].setChecked(after.settings.collisions.show)
            if before is None or before.hidden != after.hidden:
                actions["scene.show_all"].setEnabled(bool(after.hidden))

        self._document.observe(show)
        show(None, self._document.state)

    def _ask(self, across: float, down: float, take: object) -> None:
        def answer(found: Picked | None) -> None:
            if callable(take):
                take(found.hit if found is not None else None)

        self._session.loop.ask("object", lambda maker: maker.pick(across, down), answer)

    def _select(self, hit: Hit | None) -> None:
        self.objects.select(hit.object_id if hit is not None else -1)
        scene = self._document.scene
        if hit is not None and scene is not None:
            what = (
                self.tr("triangles") if hit.mesh >= 0 else self.tr("glyphs") if hit.glyphs >= 0 else self.tr("spheres")
            )
            self._say(
                self.tr("{name}: {count:,} {what}. The menu Scene hides or isolates it.").format(
                    name=names_of(scene)[hit.object_id], count=scene.count_of(hit.object_id), what=what
                )
            )

    def _cut(self, hit: Hit | None) -> None:
        if hit is None:
            self._say(self.tr("Nothing lies there that a plane could go through."))
        else:
            self.clip.cut_here(hit.position)

    def _say(self, sentence: str) -> None:
        self._session.notices.tell(sentence)
