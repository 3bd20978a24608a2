"""The Structure and Render menus: what is built, and what is drawn with it."""

from __future__ import annotations

import functools
from collections.abc import Callable

from raygrove.app.settings import option_tables, titles
from raygrove.app.ui.commands.command import Choice, Command, Entry, Separator, Submenu, setting, tr
from raygrove.app.ui.menus.tile_menu import tile_menu
from raygrove.app.ui.session import choices
from raygrove.app.ui.session.session import Session


def structure_menu(
    session: Session,
    *,
    compare: Callable[[], object],
    toggle_boxes: Callable[[], object],
    show_options: Callable[[], object],
    show_tile_options: Callable[[], object],
) -> Submenu:
    """The structure, its layout, its traversal and its updates, and what gives first hits without it."""
    offered, document = session.choices, session.document

    def toggle_quality() -> None:
        document.change("settings.statistics.quality", not document.state.settings.statistics.quality)

    parts = (
        ("hierarchy", tr("&Builder"), offered.hierarchies, offered.choose_hierarchy),
        ("optimiser", tr("O&ptimiser"), offered.optimisers, offered.choose("render.optimiser")),
        ("layout", tr("&Layout"), offered.layouts, offered.choose_layout),
        ("traversal", tr("&Traversal"), offered.traversals, offered.choose("render.traversal")),
    )
    entries: list[Entry] = [
        Choice(
            f"structure.{name}",
            title,
            offers,
            offered.current(f"render.{name}"),
            choose,
            functools.partial(known_values, f"render.{name}") if name in ("layout", "traversal") else None,
        )
        for name, title, offers, choose in parts
    ]
    entries += [
        setting(
            offered, "structure.triangle_test", tr("Triangle te&st"), "render.triangle_test", offered.triangle_tests
        ),
        setting(offered, "structure.primary", tr("&First hits"), "render.primary", offered.primaries),
        tile_menu(session, show_tile_options),
        setting(offered, "structure.spheres", tr("&Spheres drawn by"), "display.spheres", offered.sphere_drawers),
        setting(offered, "structure.update", tr("Rebuild or &refit"), "update.mode", offered.updates),
        Separator(),
        Command("structure.boxes", tr("Show or hide the &boxes of its nodes"), toggle_boxes, "X"),
        Command("structure.quality", tr("&Measure its quality"), toggle_quality, checkable=True),
        Command("structure.compare", tr("&Compare with binned SAH"), compare),
        Command("structure.options", tr("&Options of this structure…"), show_options),
    ]
    return Submenu(tr("&Structure"), entries)


def render_menu(session: Session, show_options: Callable[[], object]) -> Submenu:
    """The ray type, the samples and the device."""
    offered = session.choices
    entries: list[Entry] = [
        setting(offered, "render.ray_type", tr("&Ray type"), "render.ray_type", offered.ray_types),
        Choice(
            "render.samples",
            tr("&Samples per pixel"),
            offered.samples,
            offered.current("render.samples"),
            offered.choose_samples,
        ),
        setting(offered, "render.device", tr("&Device"), "render.device", offered.devices),
        Separator(),
        Command("render.options", tr("&Options of this ray type…"), show_options),
    ]
    return Submenu(tr("&Render"), entries)


def known_values(key: str) -> list[choices.Choice]:
    """The choices of a setting over all structures, also those that the present one lacks."""
    return [(value, titles.title(key, value), "", True) for value in option_tables.choices(key)]
