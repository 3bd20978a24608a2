"""The Camera menu."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from app.ui.choice_menu import ChoiceMenu

if TYPE_CHECKING:
    from app.ui.commands import Commands
    from app.ui.main_window import MainWindow

SIDES = {
    "front": "1", "back": "Ctrl+1", "right": "3", "left": "Ctrl+3", "top": "7", "bottom": "Ctrl+7", "corner": "9", "far corner": "Ctrl+9",
}  # fmt: skip
BOOKMARK_KEYS = 9
MODES = {"orbit": "Orbit, up stays up", "axis-free": "Axis-free", "fly": "Look round, as in flight"}
PIVOTS = {"pointer": "The point under the pointer", "centre": "The centre of the picture"}


def fill(menu: QMenu, commands: Commands, window: MainWindow) -> None:
    """Put the camera's commands into the menu."""
    moves, choices = window.camera_commands, window.choices
    commands.add(menu, "camera.focus", window.tr("Focus on what is &under the pointer"), moves.focus, "F")
    commands.add(menu, "camera.fit", window.tr("&Fit the scene"), moves.fit, "Shift+F")
    commands.add(menu, "camera.reset", window.tr("&Reset the camera"), moves.reset, "R")
    sides = menu.addMenu(window.tr("&Look from"))
    for side, key in SIDES.items():
        commands.add(sides, f"camera.{side.replace(' ', '_')}", side.capitalize(), functools.partial(moves.look_from, side), key)
    menu.addSeparator()
    commands.add(menu, "camera.orthographic", window.tr("&Orthographic"), moves.toggle_orthographic, ["5", "O"], checkable=True)
    commands.add(menu, "camera.narrower", window.tr("&Narrower field of view"), lambda: moves.zoom(1.0), "Alt+Up")
    commands.add(menu, "camera.wider", window.tr("&Wider field of view"), lambda: moves.zoom(-1.0), "Alt+Down")
    commands.add(menu, "camera.next_up_axis", window.tr("Another axis &up"), moves.next_up_axis, "U")
    axes = [(axis, window.tr("{axis} is up").format(axis=axis.upper()), "", True) for axis in "yzx"]
    commands.choice(menu, "camera.up_axis", ChoiceMenu(window.tr("U&p axis"), lambda: axes, moves.up_axis, moves.set_up_axis, window))
    menu.addSeparator()
    modes = [(mode, title, "", True) for mode, title in MODES.items()]
    pivots = [(pivot, title, "", True) for pivot, title in PIVOTS.items()]
    current, choose = choices.current, choices.choose
    drag = ChoiceMenu(window.tr("Left &drag"), lambda: modes, current("camera.mode"), choose("camera.mode"), window)
    commands.choice(menu, "camera.mode", drag)
    turn = ChoiceMenu(window.tr("&Turn about"), lambda: pivots, current("camera.pivot"), choose("camera.pivot"), window)
    commands.choice(menu, "camera.pivot", turn)
    commands.add(menu, "camera.faster", window.tr("Fly f&aster"), lambda: moves.scale_speed(1.25), "=")
    commands.add(menu, "camera.slower", window.tr("Fly slo&wer"), lambda: moves.scale_speed(0.8), "-")
    menu.addSeparator()
    through = ChoiceMenu(window.tr("Look &through"), moves.choices, moves.current, moves.choose, window)
    cameras = [("0", window.tr("Free"), "", True), *((str(n), window.tr("Camera {number}").format(number=n), "", True) for n in range(1, 10))]
    commands.choice(menu, "camera.through", through, cameras)
    commands.add(menu, "camera.bookmark", window.tr("Keep as a &bookmark"), moves.bookmark, "Ctrl+B")
    commands.add(menu, "camera.play_path", window.tr("Play or stop the path t&hrough the bookmarks"), window.camera_panel.path.player.toggle, "P")
    kept = menu.addMenu(window.tr("Boo&kmarks"))
    for number in range(1, BOOKMARK_KEYS + 1):
        title = window.tr("Go to bookmark {number}").format(number=number)
        commands.add(kept, f"camera.bookmark_{number}", title, functools.partial(moves.go_to, number - 1), f"Alt+{number}")
    window.document.observe(lambda before, after: _name_bookmarks(commands, window) if before.bookmarks != after.bookmarks else None)
    _name_bookmarks(commands, window)


def _name_bookmarks(commands: Commands, window: MainWindow) -> None:
    """Show the names; a number without a bookmark is not shown."""
    kept = window.document.state.bookmarks
    for number in range(1, BOOKMARK_KEYS + 1):
        action = commands.actions[f"camera.bookmark_{number}"]
        action.setText(kept[number - 1].name.replace("&", "&&") if number <= len(kept) else action.text())
        action.setVisible(number <= len(kept))
