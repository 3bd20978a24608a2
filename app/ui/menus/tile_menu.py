"""The menu of tiles of spheres, in the Structure menu: how the camera's first hits are found without the structure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raygrove.app.settings.settings import option_field
from raygrove.app.ui.commands.choice_menu import Offers
from raygrove.app.ui.commands.command import Choice, Command, Entry, Separator, Submenu, tr
from raygrove.app.ui.session.session import Session

NUMBERS = {
    "tiles": (32, 48, 64, 80, 96, 128, 160, 192, 224, 256),
    "depth_tiles": (1, 2, 4, 8, 16, 32, 64),
    "block_x": (16, 32),
    "block_y": (1, 2, 4, 8, 16, 32),
}
"""What is offered of numbers: the thesis' grids and blocks. The settings take any."""


def tile_menu(session: Session, show_options: Callable[[], object]) -> Submenu:
    """Every option of the table [tiles], and the way to its page of the settings."""
    titles = {
        "arrangement": tr("&Arrangement"),
        "lists": tr("&Lists of spheres"),
        "tiles": tr("&Tiles across and down"),
        "tile_rounding": tr("Tiles that do not &divide the picture"),
        "depth_tiles": tr("Tiles in de&pth"),
        "block_x": tr("Threads of a block, a&cross"),
        "block_y": tr("Threads of a block, do&wn"),
        "box_loops": tr("Variants 2 and 4 go over &boxes"),
        "local_buffer": tr("B&uffer in shared memory"),
        "ray_setup": tr("&Rays made per test or per tile"),
        "sphere_layout": tr("Layout of &spheres in memory"),
        "spheres_in": tr("Spheres are read &from"),
        "intrinsics": tr("&Intrinsics"),
        "boxes": tr("Bo&xes of spheres"),
        "near_first": tr("&Splat near spheres first"),
    }
    entries: list[Entry] = [_choice(session, name, title) for name, title in titles.items()]
    drawn = [
        _toggle(session, "grid", tr("Draw the &grid of tiles over the picture")),
        _toggle(session, "boxes", tr("Draw the boxes of pixels that sp&heres lie in")),
    ]
    options = Command("tiles.options", tr("&Options of tiles…"), show_options)
    return Submenu(tr("&Tiles of spheres"), [*entries, Separator(), *drawn, Separator(), options])


def _toggle(session: Session, name: str, title: str) -> Command:
    document = session.document

    def toggle() -> None:
        document.change(f"settings.tile_marks.{name}", not getattr(document.state.settings.tile_marks, name))

    return Command(f"tiles.draw_{name}", title, toggle, checkable=True)


def _choice(session: Session, name: str, title: str) -> Choice:
    key = f"tiles.{name}"
    field, offered = option_field(key), session.choices

    def choose(value: str) -> None:
        session.document.change(f"settings.{key}", _value(field.type, value))

    return Choice(key, title, lambda: _offers(session, name), offered.current(key), choose)


def _offers(session: Session, name: str) -> Offers:
    field = option_field(f"tiles.{name}")
    if field.type is bool:
        return [("True", tr("On"), field.info.sentence, True), ("False", tr("Off"), field.info.sentence, True)]
    if field.type is int:
        present = int(getattr(session.document.state.settings.tiles, name))
        numbers = sorted({*NUMBERS[name], present})
        return [(str(number), str(number), field.info.sentence, True) for number in numbers]
    return [(choice, choice.replace("_", " ").capitalize(), field.info.sentence, True) for choice in field.info.choices]


def _value(kind: type, text: str) -> Any:
    return text == "True" if kind is bool else kind(text)
