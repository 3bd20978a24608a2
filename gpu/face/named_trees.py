"""Which builders are trees that were given, and what is known of them: asked by whoever shows a scene, also where none
was given."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING

from ..hierarchy.registry import unregister

if TYPE_CHECKING:
    from ..hierarchy.bvh.own.tree import Tree

changing = threading.RLock()
"""Held while a name is given or taken: a scene is read on another thread than the one that opens the next."""
expected: set[str] = set()
awaited: set[str] = set()
"""Names that were given to trees before those were read, and those of them that still have none."""
notes: dict[str, str] = {}
"""What is to be known of a tree, by its name."""
frames: dict[str, Tree] = {}
"""Trees as their files have them, with boxes of frames, by their names."""


def is_awaited(name: str) -> bool:
    """Whether a name stands for a tree that has not been read."""
    return name in awaited


def forget_trees(but: Collection[str] = ()) -> None:
    """End what `expect_tree` began, for all names but these."""
    with changing:
        for name in sorted(expected.difference(but)):
            unregister(name)
            notes.pop(name, None)
            frames.pop(name, None)
            expected.discard(name)
            awaited.discard(name)


def frames_of(name: str) -> Tree | None:
    """The tree that is the builder of this name, with the boxes of frames that its file has; None where there are
    none."""
    return frames.get(name)


def note_of(name: str) -> str:
    """What is to be known of the tree that is the builder of this name; "" where there is nothing, or no such tree."""
    return notes.get(name, "")
