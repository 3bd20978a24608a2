"""A tree level by level, and two of the same primitives beside each other."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

import numpy as np

from ..configuration import ConfigurationError, parse
from ..hierarchy.base import NOT_TOLD, Hierarchy, NodeTable, Primitives, StructureChoice
from ..hierarchy.build_now import build_now
from ..hierarchy.registry import make_structure
from ..target.base import Target


@dataclasses.dataclass(frozen=True)
class Level:
    """The nodes of one depth: inner `nodes`, `leaves` and the references in these. `sah` is what they add to the SAH
    cost (c_t = c_i = 1), `area` the surface of all boxes over the root's, so how many of them a ray that meets the root
    meets on average. `overlap` is the surface that two children share, summed, over that of their parents; None where
    nodes have not two children each."""

    nodes: int
    leaves: int
    references: int
    area: float
    sah: float
    overlap: float | None


@dataclasses.dataclass(frozen=True)
class Levels:
    """A tree as its levels, from the root down; `name` is how it is spelt. The levels are those of the binary tree; of
    its inner nodes a wide layout has `joined` so many to nodes further up."""

    name: str
    levels: tuple[Level, ...]
    joined: int = 0

    @property
    def sah_cost(self) -> float:
        """Of the whole tree."""
        return sum(level.sah for level in self.levels)

    @property
    def said_of_layout(self) -> str:
        """What rays meet in place of these levels, where the layout is a wide one; "" where it is not."""
        if not self.joined:
            return ""
        inner, layout = sum(level.nodes for level in self.levels), self.name.rpartition("/")[2]
        return f"of the binary tree: {layout} joins its {inner:,} inner nodes into {inner - self.joined:,} wide ones"


def levels_of(table: NodeTable, name: str) -> Levels:
    """Count the levels of a table."""
    if not len(table):
        return Levels(name, ())
    area = _area(table.lower, table.upper)
    share = area / area[0] if area[0] > 0.0 else np.ones(len(area))
    depths, leaf = int(table.depth.max()) + 1, table.is_leaf

    def summed(values: np.ndarray) -> np.ndarray:
        return np.bincount(table.depth, values, depths)

    references = np.where(leaf, table.reference_count, 0)
    counts = [summed(values) for values in (~leaf, leaf, references, share, np.where(leaf, references, 1) * share)]
    shared, above = _overlaps(table)
    overlap = np.bincount(table.depth[above], shared, depths) if above is not None else np.zeros(depths)
    whole = summed(np.where(leaf, 0.0, area))
    rows = []
    for depth in range(depths):
        nodes, leaves, held, of_root, sah = (column[depth] for column in counts)
        is_told = above is not None and whole[depth] > 0.0
        rows.append(Level(int(nodes), int(leaves), int(held), float(of_root), float(sah),
                          float(overlap[depth] / whole[depth]) if is_told else None))  # fmt: skip
    return Levels(name, tuple(rows), joined_nodes(table))


def joined_nodes(table: NodeTable) -> int:
    """How many inner nodes of a binary tree are no nodes of its layout, which has joined them to those above."""
    if table.event_ids is None:
        return 0
    return int(np.count_nonzero(~table.is_leaf & (table.event_ids == NOT_TOLD)))


def spelling(hierarchy: Hierarchy) -> str:
    """A structure as configurations are spelt, without options."""
    optimiser = hierarchy.choice.optimiser
    return f"{hierarchy.name}{'' if optimiser == 'none' else f'+{optimiser}'}/{hierarchy.layout_name}"


@contextlib.contextmanager
def built_beside(target: Target, configuration: str, primitives: Primitives) -> Iterator[Hierarchy]:
    """Another structure over the same primitives, by its spelling without options, while it lasts; a policy is
    nothing to it. Waits; not in a frame. Raises ConfigurationError, also for options, LookupError, HierarchyError, and
    Stopped where the target was told to leave builds."""
    chosen = parse(configuration)
    for part in (chosen.builder, chosen.optimiser):
        if part is not None and part.options:
            what = f"a tree that is built beside another has its usual options, and {part.name} is given some"
            raise ConfigurationError(what, configuration, "leave them out")
    optimiser = chosen.optimiser.name if chosen.optimiser else "none"
    layout = chosen.layout.name if chosen.layout else "auto"
    hierarchy = make_structure(target, chosen.builder.name, StructureChoice(layout=layout, optimiser=optimiser))
    try:
        with target.stoppable(builds=True):
            build_now(target, hierarchy, primitives)
        yield hierarchy
    finally:
        hierarchy.close()


def _area(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    x, y, z = np.maximum(upper.astype(np.float64) - lower, 0.0).T
    return np.asarray(2.0 * (x * y + y * z + z * x))


def _overlaps(table: NodeTable) -> tuple[np.ndarray, np.ndarray | None]:
    """The surface that both children share, and the parent of each pair; None where parents have not two."""
    child = np.flatnonzero(table.parent >= 0)
    child = child[np.argsort(table.parent[child], kind="stable")]
    left, right = child[::2], child[1::2]
    above = table.parent[left]
    if len(left) != len(right) or (above != table.parent[right]).any() or len(np.unique(above)) != len(above):
        return np.zeros(0), None
    lower, upper = np.maximum(table.lower[left], table.lower[right]), np.minimum(table.upper[left], table.upper[right])
    return np.where((upper > lower).all(axis=1), _area(lower, upper), 0.0), above
