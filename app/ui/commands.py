"""Every command of the program as a QAction with its key, in the menus where people look for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from app import option_tables, timeline
from app.ui import camera_menu, hints, scene_menu
from app.ui.choice_menu import ChoiceMenu, Offers
from app.ui.choices import Choice
from app.ui.extras import Extras

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow

Key = QKeySequence.StandardKey | str | None
REFUSAL_MS = 5000
NUMBERED = 9
"""So many clips and cameras of the file can be given keys, by their number."""


class Commands(QObject):
    """Makes the menus of a window. `actions` holds every action by its object name."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.actions: dict[str, QAction] = {}
        self.menus: dict[str, ChoiceMenu] = {}
        self.extras = Extras(window)
        for make in (self._file, self._edit, self._view, self._camera, self._scene, self._animation, self._structure, self._render, self._help):
            make()
        hints.give(self.actions)
        self.extras.follow(self.actions)

    def all(self) -> list[QAction]:
        """Every action, in the order of the menus."""
        return list(self.actions.values())

    def _menu(self, title: str) -> QMenu:
        menu = self._window.menuBar().addMenu(title)
        menu.setToolTipsVisible(True)
        return menu

    def add(self, menu: QMenu, name: str, text: str, run: Callable[[], object], key: Key | list[str] = None, *, checkable: bool = False) -> QAction:
        """Make an action of that name and put it into a menu; it appears in the palette, on the cheat sheet and on the page of keys by itself."""
        action = QAction(text, self._window)
        action.setObjectName(name)
        action.setCheckable(checkable)
        if isinstance(key, list):
            action.setShortcuts([QKeySequence(one) for one in key])
        elif isinstance(key, str):
            action.setShortcut(QKeySequence(key))
        elif key is not None:
            action.setShortcuts(key)
        action.triggered.connect(lambda checked=False: run())
        menu.addAction(action)
        self.actions[name] = action
        return action

    def choice(self, menu: QMenu, name: str, made: ChoiceMenu, known: Offers | None = None) -> None:
        """Put a menu of choices into a menu. Each of `known`, or of those that are offered now, can be given a key as `name.value`."""
        made.setObjectName(name)
        menu.addMenu(made)
        self.menus[name] = made
        made.refused.connect(lambda sentence: self._window.statusBar().showMessage(sentence, REFUSAL_MS))
        for value, action in made.prepare(known).items():
            action.setObjectName(f"{name}.{value.replace(' ', '_')}")
            self._window.addAction(action)
            self.actions[action.objectName()] = action

    # -- menus ----------------------------------------------------------------------------------------------------
    def _file(self) -> None:
        window, keys = self._window, QKeySequence.StandardKey
        menu = self._menu(self.tr("&File"))
        self.add(menu, "file.open", self.tr("&Open…"), window.ask_for_files, keys.Open)
        recent = QMenu(self.tr("Open &recent"), window)
        recent.aboutToShow.connect(lambda: window.fill_recent_menu(recent))
        menu.addMenu(recent)
        demos = menu.addMenu(self.tr("&Built-in scenes"))
        for info in window.demos:
            action = self.add(demos, f"file.demo.{info.name}", info.title, functools.partial(window.open_demo, info.name))
            action.setToolTip(info.sentence)
        demos.setToolTipsVisible(True)
        self.add(menu, "file.reload", self.tr("Re&load"), window.document.reopen, "F5")
        self.add(menu, "file.watch", self.tr("Reload when the file c&hanges"), self.extras.toggle_watch, "Shift+F5", checkable=True)
        self.add(menu, "file.close", self.tr("&Close the scene"), self.extras.close_scene, "Ctrl+W")
        self.add(menu, "file.welcome", self.tr("&Welcome page"), window.show_welcome, "Ctrl+Home")
        menu.addSeparator()
        self.add(menu, "file.picture", self.tr("&Save picture…"), window.save_picture, ["F12", "Ctrl+Shift+S"])
        self.add(menu, "file.export", self.tr("&Export…"), window.show_export, "Ctrl+E")
        menu.addSeparator()
        self.add(menu, "file.quit", self.tr("&Quit"), window.close, "Ctrl+Q")

    def _edit(self) -> None:
        window, keys = self._window, QKeySequence.StandardKey
        menu = self._menu(self.tr("&Edit"))
        self.add(menu, "edit.undo", self.tr("&Undo"), window.document.undo, keys.Undo)
        self.add(menu, "edit.redo", self.tr("&Redo"), window.document.redo, ["Ctrl+Shift+Z", "Ctrl+Y"])
        menu.addSeparator()
        self.add(menu, "edit.keys", self.tr("&Keys…"), self.extras.show_keys, "Ctrl+K")
        self.add(menu, "edit.settings", self.tr("&Settings…"), window.show_settings, "Ctrl+,")

    def _view(self) -> None:
        window = self._window
        menu = self._menu(self.tr("&View"))
        schemes = functools.partial(window.choices.of_option, "window.theme")
        theme = ChoiceMenu(self.tr("&Theme"), schemes, window.choices.current("window.theme"), window.choices.choose("window.theme"), window)
        self.choice(menu, "view.theme", theme)
        for dock in window.docks:
            action = dock.toggleViewAction()
            action.setObjectName(f"view.{dock.objectName()}")
            menu.addAction(action)
            self.actions[action.objectName()] = action
        self.add(menu, "view.reset_layout", self.tr("Reset the &layout"), window.reset_layout)
        self.add(menu, "view.full_screen", self.tr("F&ull screen"), window.toggle_full_screen, "F11", checkable=True)

    def _camera(self) -> None:
        camera_menu.fill(self._menu(self.tr("Ca&mera")), self, self._window)

    def _scene(self) -> None:
        scene_menu.fill(self._menu(self.tr("Sce&ne")), self, self._window)

    def _animation(self) -> None:
        bar = self._window.timeline_bar
        menu = self._menu(self.tr("&Animation"))
        self.add(menu, "animation.play", self.tr("&Play or pause"), bar.toggle_play, "Space")
        self.add(menu, "animation.step", self.tr("One frame &on"), lambda: bar.step(1), "Right")
        self.add(menu, "animation.step_back", self.tr("One frame &back"), lambda: bar.step(-1), "Left")
        self.add(menu, "animation.first", self.tr("&First frame"), lambda: bar.go(timeline.first), "Home")
        self.add(menu, "animation.last", self.tr("&Last frame"), lambda: bar.go(timeline.last), "End")
        self.add(menu, "animation.next_key", self.tr("&Next key"), lambda: bar.go(timeline.next_key), ["Shift+Right", "Ctrl+Right"])
        self.add(menu, "animation.previous_key", self.tr("P&revious key"), lambda: bar.go(timeline.previous_key), ["Shift+Left", "Ctrl+Left"])
        menu.addSeparator()
        self.add(menu, "animation.reverse", self.tr("Play back&wards"), bar.reverse, "Shift+Space", checkable=True)
        self.add(menu, "animation.faster", self.tr("Fas&ter"), lambda: bar.scale_speed(2.0), "]")
        self.add(menu, "animation.slower", self.tr("Slo&wer"), lambda: bar.scale_speed(0.5), "[")
        menu.addSeparator()
        choices, current = self._window.choices, self._window.choices.current
        for name, title in (("repeat", self.tr("At the &end")), ("step", self.tr("&Time steps"))):
            key = f"timeline.{name}"
            made = ChoiceMenu(title, functools.partial(choices.of_option, key), current(key), choices.choose(key), self._window)
            self.choice(menu, f"animation.{name}_mode", made)
        document = self._window.document
        clip = ChoiceMenu(self.tr("&Clip"), bar.clips, lambda: str(document.state.timeline.clip), lambda index: bar.choose_clip(int(index)))
        self.choice(menu, "animation.clip", clip, numbered(self.tr("clip {number}")))
        motion = ChoiceMenu(self.tr("&Give a motion"), choices.motions, current("motion.name"), choices.choose("motion.name"), self._window)
        self.choice(menu, "animation.motion", motion)
        bar.show_keys(self.actions)

    def _structure(self) -> None:
        window, choices = self._window, self._window.choices
        menu = self._menu(self.tr("&Structure"))
        current = choices.current
        entries = (
            ("hierarchy", self.tr("&Builder"), choices.hierarchies, choices.choose_hierarchy),
            ("optimiser", self.tr("O&ptimiser"), choices.optimisers, choices.choose("render.optimiser")),
            ("layout", self.tr("&Layout"), choices.layouts, choices.choose_layout),
            ("traversal", self.tr("&Traversal"), choices.traversals, choices.choose("render.traversal")),
        )
        for name, title, offers, choose in entries:
            known = known_values(f"render.{name}") if name in ("layout", "traversal") else None
            self.choice(menu, f"structure.{name}", ChoiceMenu(title, offers, current(f"render.{name}"), choose, window), known)
        tests = ChoiceMenu(
            self.tr("Triangle te&st"), choices.triangle_tests, current("render.triangle_test"), choices.choose("render.triangle_test"), window
        )
        self.choice(menu, "structure.triangle_test", tests)
        update = ChoiceMenu(self.tr("Rebuild or &refit"), choices.updates, current("update.mode"), choices.choose("update.mode"), window)
        self.choice(menu, "structure.update", update)
        menu.addSeparator()
        self.add(menu, "structure.boxes", self.tr("Show or hide the &boxes of its nodes"), window.inspectors.boxes.toggle, "X")
        self.add(menu, "structure.quality", self.tr("&Measure its quality"), self.extras.toggle_quality, checkable=True)
        self.add(menu, "structure.options", self.tr("&Options of this structure…"), window.show_structure_options)

    def _render(self) -> None:
        window, choices = self._window, self._window.choices
        menu = self._menu(self.tr("&Render"))
        current = choices.current
        entries = (
            ("ray_type", self.tr("&Ray type"), choices.ray_types, choices.choose("render.ray_type")),
            ("samples", self.tr("&Samples of a pixel"), choices.samples, choices.choose_samples),
            ("target", self.tr("&Target"), choices.targets, choices.choose("render.target")),
        )
        for name, title, offers, choose in entries:
            self.choice(menu, f"render.{name}", ChoiceMenu(title, offers, current(f"render.{name}"), choose, window))
        menu.addSeparator()
        self.add(menu, "render.options", self.tr("&Options of this ray type…"), window.show_ray_type_options)

    def _help(self) -> None:
        window = self._window
        menu = self._menu(self.tr("Hel&p"))
        self.add(menu, "help.palette", self.tr("Find a &command…"), self.extras.show_palette, "Ctrl+Shift+P")
        self.add(menu, "help.cheat_sheet", self.tr("&Cheat sheet"), window.show_cheat_sheet, ["F1", "H"])
        self.add(menu, "help.structure", self.tr("About this &structure"), lambda: self.extras.show_help("hierarchy"), "Shift+F1")
        self.add(menu, "help.ray_type", self.tr("About this r&ay type"), lambda: self.extras.show_help("ray_type"), "Ctrl+F1")
        self.add(menu, "help.report", self.tr("Copy a &report of this machine"), window.copy_report)
        self.add(menu, "help.about", self.tr("&About Raygrove"), window.show_about)


def known_values(key: str) -> list[Choice]:
    """The choices of a setting over all structures, also those that the present one lacks."""
    return [(value, value, "", True) for value in option_tables.choices(key)]


def numbered(title: str) -> list[Choice]:
    """Choices by number, for menus whose entries only a scene brings."""
    return [(str(index), title.format(number=index + 1), "", True) for index in range(NUMBERED)]
