"""The help pages in the window: the tree finds them, the page of what is chosen opens, its options are one click
away."""

from __future__ import annotations

import html

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QDialog

from raygrove.app.help.texts import pages
from raygrove.app.ui.dialogs.help_page import MENUS, HelpDialog, html_of
from raygrove.app.ui.window.main_window import MainWindow

NAMES = {"hierarchy": "structure.hierarchy", "optimiser": "structure.optimiser", "ray_type": "render.ray_type"}
"""Names of the commands that choose what a page is about."""


def shown(window: MainWindow) -> HelpDialog:
    dialog = window.findChild(QDialog, "help")
    assert isinstance(dialog, HelpDialog) and dialog.isVisible()
    return dialog


def test_every_page_is_shown_whole() -> None:
    for table, page in pages().items():
        text = html_of(page)
        assert all(title in text for title in ("The idea", "The paper", "What it costs", "Its limits")), table
        assert text.count("default") >= len(page.options)


def test_a_page_speaks_of_the_window(scene_window: MainWindow) -> None:
    """Of the menu that has what it is about, by the title it has there, and of no command line."""
    actions = scene_window.commands.actions
    for table, page in pages().items():
        text = html_of(page)
        assert "--" not in text and "command line" not in text, table
        kind, _, name = table.partition(".")
        action = actions[f"{NAMES[kind]}.{name}"]
        menu = MENUS[kind].split(" > ")
        assert f"{' &gt; '.join(menu)} &gt; {html.escape(action.text().replace('&', ''))}</b>" in text, table


def test_help_opens_at_what_is_chosen(scene_window: MainWindow) -> None:
    scene_window.commands.actions["help.structure"].trigger()
    dialog = shown(scene_window)
    assert "Morton" in dialog.browser.toPlainText()
    scene_window.document.change("settings.render.ray_type", "steps")
    scene_window.commands.actions["help.ray_type"].trigger()
    assert shown(scene_window) is dialog and "heat map" in dialog.browser.toPlainText()
    groups = {
        dialog.tree.topLevelItem(place).text(0): dialog.tree.topLevelItem(place)
        for place in range(dialog.tree.topLevelItemCount())
    }
    titles = {
        name: [group.child(place).text(0) for place in range(group.childCount())] for name, group in groups.items()
    }
    assert (
        "Tree rotations" in titles["Optimisers"]
        and "Smooth" in titles["Ray types"]
        and "Tree rotations" not in titles["Ray types"]
    )


def test_a_click_on_its_options_opens_them(scene_window: MainWindow) -> None:
    scene_window.commands.actions["help.structure"].trigger()
    shown(scene_window).browser.anchorClicked.emit(QUrl("options:hierarchy.lbvh"))
    settings = scene_window.findChild(QDialog, "settings")
    assert settings is not None and settings.isVisible()
