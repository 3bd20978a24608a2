"""`@builder("mine", bins=16)`: a function becomes a structure of the registry, under the name it is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ...base import REGION_QUERIES, Capabilities
from ...registry import register
from .builder import FunctionBuilder
from .options import options_class

Function = TypeVar("Function", bound=Callable[..., Any])

COST = (
    "Cost: A function on the host builds it, so that every rebuild waits for the boxes to get there, for the function, "
    "and for its tree to come back: build_ms is the sum. Finding out whether it is a tree is the phase check.tree, "
    "which is not in that sum. Refits, layouts, optimisers and rays are those of every builder of the family."
)


def builder(
    name: str,
    /,
    *,
    title: str = "",
    splits_references: bool = False,
    deterministic: bool = True,
    **defaults: bool | int | float | str,
) -> Callable[[Function], Function]:
    """Make a function a builder of bounding volume hierarchies, called `name` from then on: by `raygrove.build`, in
    views, settings, commands and the window of this process, and by the contract suite. The function stays what it is.

    It is called as `function(bounds, **options)`. `bounds` is (N, 6) float32, at least one row: the lower and upper
    corner of each primitive's box; those that have no box are left out. It gives a `raygrove.Tree`, which is checked
    before anything follows it. Options are the function's other parameters; `defaults` are theirs, and a default in the
    signature serves as well. Annotations say their types, ranges and sentences (`Annotated[int, (2, 256), "..."]`).

    `title` is the name in menus. With `splits_references` a primitive may be in several leaves, whose `bounds` say
    which part of it is in each; such trees are not refitted. Without `deterministic` the same boxes may give
    another tree. The function's docstring is its help page.

    Raises ValueError for a name that is none or is taken, TypeError for a function that cannot be called so. What the
    function raises, and what is wrong with its tree, is a HierarchyError of the build, with the function's name and
    line. The same module may define a name again, as a notebook does; trees that are there keep the older function.

    Example:
        >>> import numpy as np
        >>> import raygrove as rg
        >>> def one_leaf(bounds):
        ...     count = len(bounds)
        ...     return rg.Tree(children=[[0, 0]], first=[0], count=[count], primitives=np.arange(count))
        >>> rg.builder("one_leaf")(one_leaf)  # doctest: +SKIP
    """
    if not isinstance(name, str):
        raise TypeError('A builder has a name: write @raygrove.builder("mine") above the function.')

    def registered(function: Function) -> Function:
        register(_structure(name, function, title, splits_references, deterministic, defaults))
        return function

    return registered


def _structure(
    name: str,
    function: Callable[..., Any],
    title: str,
    splits_references: bool,
    deterministic: bool,
    defaults: dict[str, Any],
) -> type[FunctionBuilder]:
    """The structure's class."""
    options = options_class(name, function, defaults)
    help_text = inspect.getdoc(function) or f"What the function {function.__qualname__} builds."
    capabilities = Capabilities(
        refit=not splits_references,
        splits_references=splits_references,
        deterministic=deterministic,
        primitive_kinds=("triangle", "sphere", "mixed", "glyphs"),
        queries=REGION_QUERIES,
        builds_on_host=True,
    )
    return type(
        name.title().replace("_", ""),
        (FunctionBuilder,),
        {
            "__module__": function.__module__,
            "__doc__": help_text if "\nCost: " in help_text else f"{help_text}\n\n{COST}",
            "name": name,
            "title": title or f"{name.replace('_', ' ').capitalize()} (the function {function.__name__})",
            "Options": options,
            "capabilities": capabilities,
            "function": staticmethod(function),
            "option_names": tuple(options.__dataclass_fields__),  # type: ignore[attr-defined]
        },
    )
