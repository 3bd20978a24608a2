"""Files that are opened or dropped and are no scene: settings, and trees over the scene that is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raygrove.app.document.scene_trees import is_tree_file
from raygrove.app.ui.dialogs.tree_dialog import take_tree
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.session.settings_files import open_settings
from raygrove.app.user_files.presets import is_settings_file


def open_other(session: Session, paths: Sequence[str], open_scene: Callable[[list[str]], None]) -> bool:
    """Open one file that is no scene, and say whether it was one: settings change those of the window, and have
    `open_scene` open what they name; a tree becomes the structure, as by File > Open a tree."""
    if len(paths) != 1:
        return False
    (path,) = paths
    if is_settings_file(path):
        scene = open_settings(session, path)
        if scene:
            open_scene([scene])
        return True
    if is_tree_file(path):
        take_tree(session, path)
        return True
    return False
