"""Optimisers: what improves a finished tree of the family, whoever built it. A folder each, whose package defines one
subclass of `Optimiser`.

The order of a build is: the builder emits, the optimiser improves, the family computes boxes and flags again (phase
optimise.nodes) and writes the layout. A folder's name is what `--optimiser` takes; its docstring is its help page, as a
builder's is.
"""

from __future__ import annotations

import abc
import functools
import importlib
import pathlib
from typing import TYPE_CHECKING, Any, ClassVar

from ....target.base import Target
from ...base import HierarchyError, Primitives

if TYPE_CHECKING:
    from ..tree import CanonicalTree


class Optimiser(abc.ABC):
    """See the module. `improve` may change the links of `tree.nodes`, their boxes and `tree.parent`; it leaves order,
    records and the roots' ids as they are. A root is a node without a parent: there may be several trees in the arrays,
    of which each stays by itself (`CanonicalTree.as_forest`), and nodes without the EXISTS flag are left alone. Its
    phases are called optimise.*; optimise.nodes is the family's."""

    name: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type]
    after_refit: ClassVar[bool] = False
    """Whether `improve` is called after a refit too."""
    rotation_passes: int = 0
    """How often the climb that makes a tree's boxes is to exchange subtrees, too (TreeBounds.compute): in a build so
    often, in a refit once. `improve` is for forests then, of which only some trees are touched."""
    moves_far: ClassVar[bool] = False
    """Whether subtrees may go to any place in the tree, so that ids no longer follow the references."""

    def __init__(self, target: Target, options: Any) -> None:
        self.target, self.options = target, options

    @abc.abstractmethod
    def improve(self, tree: CanonicalTree, primitives: Primitives, after_refit: bool = False) -> None:
        """Make the tree better, launches only: at least one primitive; boxes, flags and records are right before.
        `after_refit`: the tree was good a frame ago."""

    @abc.abstractmethod
    def max_depth(self, depth: int) -> int:
        """A proven bound of the depth that a tree of at most `depth` can have afterwards: it sizes the traversals'
        stacks."""

    def scratch_bytes(self, reference_count: int) -> int:
        """Scratch memory that `improve` takes for so many references."""
        return 0


@functools.cache
def optimiser_classes() -> dict[str, type[Optimiser]]:
    """Every optimiser of this folder by name; HierarchyError names a folder that breaks its promise."""
    found = {}
    for path in sorted(path.parent for path in pathlib.Path(__file__).parent.glob("*/__init__.py")):
        package = importlib.import_module(f".{path.name}", __package__)
        classes = [
            thing
            for thing in vars(package).values()
            if isinstance(thing, type) and issubclass(thing, Optimiser) and thing is not Optimiser
        ]
        if len(classes) != 1 or getattr(classes[0], "name", "") != path.name:
            raise HierarchyError(
                f"The folder {path.name} of optimisers must define one Optimiser with the name {path.name}."
            )
        found[path.name] = classes[0]
    return found
