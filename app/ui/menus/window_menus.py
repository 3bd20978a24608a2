"""The File, Edit, View and Help menus: what is done to the window and its files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDockWidget, QMenu, QWidget

from raygrove.app.ui.commands.command import Choice, Command, Entry, Separator, Standing, Submenu, setting, tr
from raygrove.app.ui.dialogs import copies, questions
from raygrove.app.ui.dialogs.opened_dialogs import OpenedDialogs
from raygrove.app.ui.dialogs.tree_dialog import ask_for_tree
from raygrove.app.ui.session.scene_files import SceneFiles
from raygrove.app.ui.session.session import Session

Run = Callable[[], object]
Standard = QKeySequence.StandardKey


def file_menu(
    session: Session,
    parent: QWidget,
    files: SceneFiles,
    opened: OpenedDialogs,
    demos: Sequence[Any],
    *,
    ask: Run,
    fill_recent: Callable[[QMenu], None],
    open_demo: Callable[[str], None],
    show_welcome: Run,
    save_picture: Run,
) -> Submenu:
    """Files, pictures and exports; `demos` are the built-in scenes."""
    built_in = [
        Command(f"file.demo.{info.name}", info.title, functools.partial(open_demo, info.name), tip=info.sentence)
        for info in demos
    ]
    entries: list[Entry] = [
        Command("file.open", tr("&Open…"), ask, Standard.Open),
        Command("file.open_tree", tr("Open a &tree…"), functools.partial(ask_for_tree, session, parent)),
        Submenu(tr("Open &recent"), fill=fill_recent),
        Submenu(tr("&Built-in scenes"), built_in),
        Command("file.reload", tr("Re&load"), session.document.reopen, "F5"),
        Command("file.watch", tr("Reload when the file c&hanges"), files.toggle_watch, "Shift+F5", checkable=True),
        Command("file.close", tr("&Close the scene"), files.close_scene, "Ctrl+W"),
        Command("file.welcome", tr("&Welcome page"), show_welcome, "Ctrl+Home"),
        Separator(),
        Command("file.picture", tr("&Save picture…"), save_picture, ("F12", "Ctrl+Shift+S")),
        Command("file.export", tr("&Export…"), opened.show_export, "Ctrl+E"),
        Separator(),
        Command("file.quit", tr("&Quit"), parent.close, "Ctrl+Q"),
    ]
    return Submenu(tr("&File"), entries)


def edit_menu(session: Session, opened: OpenedDialogs, picture_size: Callable[[], tuple[int, int]]) -> Submenu:
    """Undo, what is shown as words, keys and settings."""
    entries: list[Entry] = [
        Command("edit.undo", tr("&Undo"), session.document.undo, Standard.Undo),
        Command("edit.redo", tr("&Redo"), session.document.redo, ("Ctrl+Shift+Z", "Ctrl+Y")),
        Separator(),
        Command("edit.copy_command", tr("Copy as &command"), lambda: copies.copy_command(session, picture_size())),
        Command("edit.copy_python", tr("Copy as &Python"), lambda: copies.copy_python(session, picture_size())),
        Command("edit.copy_configuration", tr("Copy as con&figuration"), lambda: copies.copy_configuration(session)),
        Separator(),
        Command("edit.keys", tr("&Keys…"), opened.show_keys, "Ctrl+K"),
        Command("edit.settings", tr("&Settings…"), opened.show_settings, "Ctrl+,"),
    ]
    return Submenu(tr("&Edit"), entries)


def view_menu(
    session: Session,
    docks: Sequence[QDockWidget],
    workspaces: Choice,
    bars: Sequence[Entry],
    *,
    reset_layout: Run,
    toggle_full_screen: Run,
) -> Submenu:
    """The workspace, the theme, the pipeline, the figures over the picture, the panels and the window's place."""
    document = session.document

    def toggle_figures() -> None:
        document.change("settings.display.heads_up", not document.state.settings.display.heads_up)

    def toggle_presenter() -> None:
        document.change("settings.window.presenter", not document.state.settings.window.presenter)

    entries: list[Entry] = [
        workspaces,
        setting(session.choices, "view.theme", tr("&Theme"), "window.theme"),
        *bars,
        Command("view.heads_up", tr("&Figures over the picture"), toggle_figures, "Z", checkable=True),
        Command("view.presenter", tr("Presenter si&ze"), toggle_presenter, checkable=True),
        *(Standing(f"view.{dock.objectName()}", dock.toggleViewAction()) for dock in docks),
        Command("view.reset_layout", tr("Reset the &layout"), reset_layout),
        Command("view.full_screen", tr("F&ull screen"), toggle_full_screen, "F11", checkable=True),
    ]
    return Submenu(tr("&View"), entries)


def tools_menu(opened: OpenedDialogs) -> Submenu:
    """What measures beside the picture."""
    tip = tr("A published evaluation again, on its scenes and on yours.")
    when = tr("Measure the clip: when to rebuild in it, and what each policy costs beside the best schedule.")
    entries: list[Entry] = [
        Command("tools.advise", tr("&When to rebuild…"), opened.show_advice, tip=when),
        Command("tools.suite", tr("Run a &suite…"), opened.show_suites, tip=tip),
    ]
    return Submenu(tr("&Tools"), entries)


def help_menu(session: Session, parent: QWidget, opened: OpenedDialogs, begin_tour: Run) -> Submenu:
    """What explains the program, and the machine that it runs on."""
    structure, ray_type = (functools.partial(opened.show_help, group) for group in ("hierarchy", "ray_type"))
    entries: list[Entry] = [
        Command("help.palette", tr("Find a &command…"), opened.show_palette, "Ctrl+Shift+P"),
        Command("help.tour", tr("Take the &tour"), begin_tour),
        Submenu(tr("&Lessons"), fill=opened.fill_lessons),
        Command("help.cheat_sheet", tr("&Cheat sheet"), opened.show_cheat_sheet, ("F1", "H")),
        Command("help.structure", tr("About this &structure"), structure, "Shift+F1"),
        Command("help.ray_type", tr("About this r&ay type"), ray_type, "Ctrl+F1"),
        Command("help.report", tr("Copy a &report of this machine"), functools.partial(questions.copy_report, session)),
        Command("help.about", tr("&About Raygrove"), functools.partial(questions.show_about, parent)),
    ]
    return Submenu(tr("&Help"), entries)
