"""File > Open a tree: a file of a tree becomes the structure of the open scene."""

from __future__ import annotations

import os

from PySide6.QtWidgets import QFileDialog, QWidget

from raygrove.app.document.scene_trees import TREE_ENDINGS, ReadTree, open_tree
from raygrove.app.ui.dialogs.questions import tr
from raygrove.app.ui.session.session import Session
from raygrove.printable import printable

TREE_FILES = " ".join(f"*{ending}" for ending in (*TREE_ENDINGS, ".npz"))


def ask_for_tree(session: Session, parent: QWidget) -> None:
    """Ask for the file of a tree over the open scene, and take it; without a scene say what to do first."""
    if not _has_scene(session):
        return
    filters = f"{tr('Trees')} ({TREE_FILES});;{tr('All files')} (*)"
    path, _ = QFileDialog.getOpenFileName(parent, tr("Open a tree over this scene"), session.memory.folder(), filters)
    if path:
        take_tree(session, path)


def take_tree(session: Session, path: str) -> None:
    """Make the tree of a file the structure of the open scene, and say what was proved of it, or is wrong with it."""
    session.notices.clear("problem")
    session.notices.clear("tree")
    if not _has_scene(session):
        return

    def opened(name: str, found: ReadTree) -> None:
        file = printable(os.path.basename(path))
        if found.is_valid and not found.judged:
            said = tr("{file} is the structure now, called {name}. {proved}")
            said = said.format(file=file, name=name, proved=found.sentences[0])
            session.notices.show("information", said, topic="tree")
            return
        sentences = (*found.judged, *found.sentences)
        said = tr("{file} is the structure now, called {name}: {fault}")
        if not found.is_valid:
            said = tr("{file} is the structure now, called {name}, with boxes computed anew: {fault}")
        said = said.format(file=file, name=name, fault=sentences[0])
        session.notices.show("warning", said, "\n".join(sentences), topic="tree")

    session.memory.set_folder(path)
    open_tree(session.document, path, opened)


def _has_scene(session: Session) -> bool:
    """Whether there is a scene that a tree can be over; else what to do first is said."""
    if session.document.scene is not None:
        return True
    session.notices.show("warning", tr("A tree is over a scene: open that scene first."), topic="tree")
    return False
