"""The Camera menu."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from PySide6.QtGui import QAction

from raygrove.app.ui.commands.camera_commands import CameraCommands
from raygrove.app.ui.commands.command import Choice, Command, Entry, Separator, Submenu, setting, tr
from raygrove.app.ui.session.session import Session

SIDES = {
    "front": "1", "back": "Ctrl+1", "right": "3", "left": "Ctrl+3", "top": "7", "bottom": "Ctrl+7", "corner": "9",
    "far corner": "Ctrl+9",
}  # fmt: skip
BOOKMARK_KEYS = 9
MODES = {"orbit": "Orbit, up stays up", "axis-free": "Axis-free", "fly": "Look round, as in flight"}
PIVOTS = {"pointer": "The point under the pointer", "centre": "The centre of the picture"}


def camera_menu(session: Session, moves: CameraCommands, toggle_path: Callable[[], object]) -> Submenu:
    """The camera's moves, what it is like, and its bookmarks; `toggle_path` plays or stops the path through them."""
    sides = [
        Command(f"camera.{side.replace(' ', '_')}", side.capitalize(), functools.partial(moves.look_from, side), key)
        for side, key in SIDES.items()
    ]
    axes = [(axis, tr("{axis} is up").format(axis=axis.upper()), "", True) for axis in "yzx"]
    modes = [(mode, title, "", True) for mode, title in MODES.items()]
    pivots = [(pivot, title, "", True) for pivot, title in PIVOTS.items()]
    entries: list[Entry] = [
        Command("camera.focus", tr("Focus on what is &under the pointer"), moves.focus, "F"),
        Command("camera.fit", tr("&Fit the scene"), moves.fit, "Shift+F"),
        Command("camera.reset", tr("&Reset the camera"), moves.reset, "R"),
        Submenu(tr("&Look from"), sides),
        Separator(),
        Command("camera.orthographic", tr("&Orthographic"), moves.toggle_orthographic, ("5", "O"), checkable=True),
        Command("camera.narrower", tr("&Narrower field of view"), lambda: moves.zoom(1.0), "Alt+Up"),
        Command("camera.wider", tr("&Wider field of view"), lambda: moves.zoom(-1.0), "Alt+Down"),
        Command("camera.next_up_axis", tr("Cycle &up axis"), moves.next_up_axis, "U"),
        Choice("camera.up_axis", tr("U&p axis"), lambda: axes, moves.up_axis, moves.set_up_axis),
        Separator(),
        setting(session.choices, "camera.mode", tr("Left &drag"), "camera.mode", lambda: modes),
        setting(session.choices, "camera.pivot", tr("&Orbit around"), "camera.pivot", lambda: pivots),
        Command("camera.faster", tr("Fly f&aster"), lambda: moves.scale_speed(1.25), "="),
        Command("camera.slower", tr("Fly slo&wer"), lambda: moves.scale_speed(0.8), "-"),
        Separator(),
        *_kept(moves, toggle_path),
    ]
    return Submenu(tr("&Camera"), entries)


def _kept(moves: CameraCommands, toggle_path: Callable[[], object]) -> list[Entry]:
    """The file's cameras, and the bookmarks."""
    cameras = [
        ("0", tr("Free"), "", True),
        *((str(n), tr("Camera {number}").format(number=n), "", True) for n in range(1, 10)),
    ]
    bookmarks = [
        Command(
            f"camera.bookmark_{number}",
            tr("Go to bookmark {number}").format(number=number),
            functools.partial(moves.go_to, number - 1),
            f"Alt+{number}",
        )
        for number in range(1, BOOKMARK_KEYS + 1)
    ]
    play = tr("Play or stop the path t&hrough the bookmarks")
    return [
        Choice("camera.through", tr("Look &through"), moves.choices, moves.current, moves.choose, lambda: cameras),
        Command("camera.bookmark", tr("Add a &bookmark"), moves.bookmark, "Ctrl+B"),
        Command("camera.play_path", play, toggle_path, "P"),
        Submenu(tr("Boo&kmarks"), bookmarks),
    ]


def follow_bookmarks(session: Session, actions: Mapping[str, QAction]) -> None:
    """Let the commands of the bookmarks have their names; a number without a bookmark is not shown."""

    def name() -> None:
        kept = session.document.state.bookmarks
        for number in range(1, BOOKMARK_KEYS + 1):
            action = actions[f"camera.bookmark_{number}"]
            action.setText(kept[number - 1].name.replace("&", "&&") if number <= len(kept) else action.text())
            action.setVisible(number <= len(kept))

    session.document.observe(lambda before, after: name() if before.bookmarks != after.bookmarks else None)
    name()
