"""Trees that are there already, as builders that give them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from ..analysis.validation import Validation, boxes_of, validate
from ..errors import Error
from ..hierarchy.bvh.own.decorator import builder
from ..hierarchy.bvh.own.tree import Tree, columns_of
from ..hierarchy.registry import structures, unregister
from . import named_trees
from .foreign_trees import listed_places, tree_of_file


@contextmanager
def given_trees(
    trees: Mapping[str, Tree | str | os.PathLike[str]], mesh: tuple[np.ndarray, np.ndarray]
) -> Iterator[None]:
    """While it lasts, the trees, or those of files, are builders by their names, over a mesh's vertices and triangles.
    Raises Error where one is none, or its name is taken."""
    made: list[str] = []
    try:
        for name, tree in trees.items():
            if name in structures():
                raise Error(f"there is a builder called {name} already", "trees", "give the tree another name")
            read = tree if isinstance(tree, Tree) else tree_of_file(tree, mesh)
            tree_here, found = fitted(read, mesh)
            made.append(use_tree(tree_here, name, note=note_on(found)))
        yield
    finally:
        for name in made:
            unregister(name)
            named_trees.notes.pop(name, None)


BOX_FAULTS = ("box_not_finite", "box_inverted", "child_outside", "primitive_outside")
"""What `validate` finds of boxes alone: a tree is traced all the same, as its boxes are computed anew."""


def expect_tree(name: str) -> None:
    """Make `name` a builder whose tree comes later, by `use_expected`: settings name it before the scene is read that
    it is over. Raises Error where the name is another builder's, or none."""

    def awaited_tree(bounds: np.ndarray) -> Tree:
        """The tree of a file that has not been read."""
        raise Error(f"no file of the tree {name} has been read", "", "open it over this scene")

    with named_trees.changing:
        if name in named_trees.expected and name in structures():
            return
        if name in structures():
            raise Error(f"there is a builder called {name} already", "trees", "give the tree another name")
        builder(name, title=_title(name))(awaited_tree)
        named_trees.expected.add(name)
        named_trees.awaited.add(name)


def use_expected(tree: Tree, name: str, *, note: str = "", of_file: Tree | None = None) -> None:
    """Make a tree the builder of a name that `expect_tree` was told; where that name has been forgotten meanwhile, its
    scene is gone, and nothing happens. `of_file` is the tree with the boxes of frames that its file has."""
    with named_trees.changing:
        if name not in named_trees.expected:
            return
        use_tree(tree, name, note=note)
        if of_file is not None and of_file.frame_bounds is not None:
            named_trees.frames[name] = of_file


def fitted(tree: Tree, mesh: tuple[np.ndarray, np.ndarray]) -> tuple[Tree, Validation]:
    """A tree as it may be built at every instant of a mesh that moves, and what `validate` finds at this one. Boxes
    that are of one instant are left out: they are computed anew. What of a file's own boxes is wrong is among the
    faults; raises Error, with the sentences, for any other fault, and for the boxes of trees that split references."""
    found = validate(tree, boxes_of(*mesh), splits_references=tree.splits_references)
    fatal = [fault for fault in found.faults if tree.splits_references or fault.code not in BOX_FAULTS]
    if fatal:
        raise Error(" ".join(fault.sentence for fault in fatal).rstrip("."))
    return (
        tree if tree.splits_references else dataclasses.replace(tree, bounds=None, frame_bounds=None, frame_times=None)
    ), found


def note_on(found: Validation) -> str:
    """What is to be known of a tree that `fitted` let pass, in sentences; "" where its boxes are sound."""
    return "" if found.is_valid else " ".join([*(fault.sentence for fault in found.faults), "Boxes are computed anew."])


def use_tree(tree: Tree, name: str = "theirs", *, note: str = "") -> str:
    """Make a builder called `name` that gives this tree whenever it is asked: it is traced, drawn, refitted and
    optimised as `theirs+reinsertion/bvh4`. Its primitives are those of the scene that it is built over, in their order;
    a scene of another number is an Error of the build. `note` is what races say of it. Returns the name.

    >>> import raygrove as rg
    >>> tree = rg.Tree(children=[[0, 0]], first=[0], count=[1], primitives=[0])
    >>> mesh = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]
    >>> with rg.build(mesh, rg.use_tree(tree, "one_leaf_of_a_file"), device="cpu") as structure:
    ...     structure.trace([0.2, 0.2, 1.0], [0.0, 0.0, -1.0]).t.tolist()
    [1.0]
    """
    if not isinstance(tree, Tree):
        raise Error(f"a tree is a rg.Tree, not {type(tree).__name__}", "rg.use_tree", "give one")
    columns = columns_of(tree, tree.splits_references)
    highest = int(columns.primitives[listed_places(columns)].max(initial=-1)) + 1

    def given_tree(bounds: np.ndarray) -> Tree:
        """The tree of a file, as it is."""
        if len(bounds) != highest:
            what = f"the tree is over {highest:,} primitives, and this scene has {len(bounds):,} with a box"
            raise Error(what, "", "show all objects of the scene that it was made of")
        return tree

    with named_trees.changing:
        builder(name, title=_title(name), splits_references=tree.splits_references)(given_tree)
        named_trees.notes[name] = note
        named_trees.frames.pop(name, None)
        named_trees.awaited.discard(name)  # last: who waits for the tree has it
    return name


def _title(name: str) -> str:
    return f"{name} (tree of a file)"
