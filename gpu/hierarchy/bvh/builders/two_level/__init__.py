"""two_level: one tree per object, and a small tree above them, so that objects that move as a whole cost almost
nothing.

Idea: Most of what moves in a scene moves rigidly, and the tree over an object is as good after a move as before. So
every object has a tree of its own, and a tree over their boxes stands above. An update refits the trees of those
objects that moved, and builds the tree above anew; what stands still is not touched. All trees are in the world's space
and lie in the arrays of one canonical tree, whose ids leave just as many free as the tree above needs: traversals,
layouts, statistics and overlays see one BVH, and rays are not transformed.

Paper: Wald, Benthin and Slusallek, Distributed Interactive Ray Tracing of Dynamic Scenes (2003), for the two levels;
the trees themselves after Lauterbach et al. (2009) and Karras (2012), all objects' at once: sorted by object first,
then by Morton code.

Cost: A build costs what lbvh's does, with a longer sort; Morton codes lie in each object's own box, so that small
objects have fine ones. A refit costs what the moved objects cost, and a tree over as many boxes as there are objects.
This holds for the layout bvh2 and triangles that are tested by their vertices; other layouts and unit triangles are
written as a whole. With another builder the objects' trees are better and are built one after the other: a dozen
launches each.

Limits: Where objects overlap, so do their boxes, and rays go down several trees. An object that bends keeps its tree's
topology until the next rebuild. The tree above is a linear BVH, made anew at every update. Objects of one mesh do not
share a tree: they lie in the world, and no ray is transformed. Optimisers improve the objects' trees, each by itself,
and not the one above; after a refit, rotations, of the objects that moved. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from .....target.base import Array, Target
from ....base import Primitives, StructureChoice
from ....primitives import reserved, unit_source
from ...bvh import BvhHierarchy
from ...optimisers import Optimiser
from ...refit import CHUNKS, Tiles
from ...stopping import leaf_size_by_kind_option
from ...tree import MAX_WIDE_LEAF_SIZE
from .. import builder_names
from .objects import ObjectTable
from .own_trees import LEAST_PRIMITIVES, OwnTrees

CODE_BITS = 30
_FOLDER = "gpu/hierarchy/bvh/builders/two_level"
_MAX_BLOCKS = {"cuda": 132 * 16, "host": 256}
"""Blocks that share the tiles of a refit: the list's length is known on the target alone."""


@dataclasses.dataclass(frozen=True)
class TwoLevelOptions:
    """Options of the two-level structure."""

    max_leaf_size: int = leaf_size_by_kind_option(
        leaf="a leaf of the linear trees (another builder's own default holds for its objects)"
    )
    builder: str = option(
        "linear",
        f"What builds objects of {LEAST_PRIMITIVES} primitives and more: linear makes all trees at once; another "
        f"builder, with its own defaults, makes "
        "better ones, an object after the other. Worth it where rebuilds are few.",
        choices=("linear", *(name for name in builder_names() if name != "two_level")),
    )


class TwoLevel(BvhHierarchy):
    """See the module."""

    name = "two_level"
    title = "Two-level BVH (one tree per object)"
    construction = "two_level"
    links_anew = True
    is_forest = True
    most_wide_leaf = MAX_WIDE_LEAF_SIZE
    Options = TwoLevelOptions
    options: TwoLevelOptions

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self._objects = ObjectTable(target, CHUNKS[target.kind])
        self._above: Array | None = None
        self._roots: Array | None = None
        self._own_trees = None if self.options.builder == "linear" else OwnTrees(target, self.options.builder)
        self._update = "rebuild"
        self._prepared: tuple[Primitives, str] | None = None

    def max_depth(self) -> int:
        depth = CODE_BITS + max(1, self._objects.largest - 1).bit_length()
        depth = depth if self._own_trees is None else max(depth, self._own_trees.depth)
        return depth if self._objects.count == 1 else depth + CODE_BITS + (self._objects.count - 1).bit_length()

    def scratch_bytes(self) -> int:
        own = 0 if self._own_trees is None else self._own_trees.scratch_bytes
        marks = self.tree.node_capacity if self.optimiser is not None and self.optimiser.after_refit else 0
        return self.tree.count * 24 + self._objects.count * (16 + 24) + own + marks

    # -- build and refit --------------------------------------------------------------------------------------------
    def prepare(self, primitives: Primitives, update: str) -> None:
        if update == "refit":
            self._objects.look(primitives)
        else:
            self._objects.take(primitives)
        self._prepared = (primitives, update)

    def refit(self, primitives: Primitives) -> None:
        self.check_refit(primitives)
        self._update = "refit"
        self._prepare_once(primitives, "refit")
        super().refit(primitives)

    def emit(self, primitives: Primitives) -> bool:
        self._update = "rebuild"
        self._prepare_once(primitives, "rebuild")
        target, tree, objects, n = self.target, self.tree, self._objects, primitives.count
        unit = target.unit(unit_source(f"{_FOLDER}/two_level.cu", primitives, CODE_BITS=60))
        bounds = target.scratch("two_level.bounds", (objects.count, 6), np.int32)
        keys, prim_ids = target.scratch("morton.keys", n, np.uint64), target.scratch("morton.prim_ids", n, np.int32)
        tiles = {
            "ranges": objects.ranges,
            "object_count": objects.count,
            "tiles": objects.tiles,
            "tile_count": objects.tile_count,
        }
        # The only object's root is the root of all.
        self._roots = roots = (
            tree.root if objects.count == 1 else reserved(target, self._roots, (objects.count,), np.int32, "hierarchy")
        )
        with target.phase("build.bounds"):
            target.launch(
                unit,
                "detach_objects",
                objects.count,
                ranges=objects.ranges,
                roots=roots,
                object_count=objects.count,
                parent=tree.parent,
                flags=tree.flags,
                bounds=bounds,
            )
            target.launch(
                unit, "bound_objects", n, primitives=primitives.view, **tiles, bounds=bounds, blocks=objects.tile_count
            )
        with target.phase("build.codes"):
            coded = {"primitives": primitives.view, **tiles, "bounds": bounds, "keys": keys, "prim_ids": prim_ids}
            target.launch(unit, "code_primitives", n, **coded, blocks=objects.tile_count)
        with target.phase("build.sort"):
            bits = CODE_BITS + (objects.count - 1).bit_length()
            keys, prim_ids = target.sort_pairs(keys, prim_ids, (0, bits), "morton.sort")
        with target.phase("build.topology"):
            target.launch(
                unit,
                "search_objects",
                n,
                keys=keys,
                prim_ids=prim_ids,
                n=n,
                ranges=objects.ranges,
                roots=roots,
                object_count=objects.count,
                max_leaf_size=self.leaf_size,
                order=tree.order,
                **tree.links(),
            )
        if self._own_trees is not None:
            self._own_trees.build(primitives, objects.host_ranges, tree, roots)
        joins = self.optimiser is None
        return self._bound_objects(primitives, "build", self._tiles(), marks=True, bvh2=self.direct_nodes, joins=joins)

    def _prepare_once(self, primitives: Primitives, update: str) -> None:
        """What `prepare` does, where nobody has called it for this update. While launches are captured they come more
        than once for one `prepare`."""
        if self._prepared != (primitives, update):
            self.prepare(primitives, update)
        if not self.target.is_capturing:
            self._prepared = None

    def _refit_bounds(self, primitives: Primitives, bvh2: Array | None) -> bool:
        """The objects that moved. Flags of objects' trees stay as they are."""
        tree, objects = self.tree, self._objects
        unit = self.target.unit(unit_source(f"{_FOLDER}/two_level.cu", primitives, CODE_BITS=60))
        with self.target.phase("refit.nodes"):
            self.target.launch(
                unit,
                "detach_objects",
                objects.count,
                ranges=objects.ranges,
                roots=self._roots,
                object_count=objects.count,
                parent=tree.parent,
                flags=tree.flags,
                bounds=None,
            )
        joins = self.optimiser is None or not self.optimiser.after_refit
        return self._bound_objects(primitives, "refit", self._moved(), marks=False, bvh2=bvh2, joins=joins)

    def object_roots(self) -> Array | None:
        """Of the layout bvh2, whose nodes are the canonical ones."""
        return self._roots if self.layout_name == "bvh2" and self._built is not None else None

    def _tiles(self) -> Tiles:
        """Those of all objects."""
        objects = self._objects
        return Tiles(objects.tiles, objects.tile_count, objects.all_tiles, objects.tile_count)

    def _moved(self) -> Tiles:
        """A refit's: how many are listed is known on the target alone."""
        blocks = min(self._objects.tile_count, _MAX_BLOCKS[self.target.kind])
        return dataclasses.replace(self._tiles(), listed=self._objects.moved_tiles, blocks=blocks)

    def _improve(self, optimiser: Optimiser, primitives: Primitives) -> bool:
        """Objects' trees, each by itself: all after a build, those that moved after a refit."""
        tree, objects, target, is_refit = self.tree, self._objects, self.target, self._update == "refit"
        tiles = self._moved() if is_refit else self._tiles()
        flags = tree.flags
        if is_refit:
            flags = target.scratch("two_level.moved", max(1, tree.node_capacity), np.uint8)
            unit = target.unit(unit_source(f"{_FOLDER}/two_level.cu", primitives, CODE_BITS=60))
            with target.phase("optimise.moved"):
                target.fill(flags, 0)
                target.launch(
                    unit,
                    "mark_listed",
                    primitives.count,
                    tiles=tiles.tiles,
                    listed=tiles.listed,
                    flags=tree.flags,
                    node_capacity=tree.node_capacity,
                    moved=flags,
                    blocks=tiles.blocks,
                )
        assert self._roots is not None
        optimiser.improve(tree.as_forest(self._roots[: objects.count], flags), primitives, is_refit)
        return self._bound_objects(
            primitives, "optimise", tiles, marks=True, bvh2=self.layout.bvh2_nodes, joins=True, gathers=False
        )

    def _bound_objects(
        self,
        primitives: Primitives,
        stage: str,
        tiles: Tiles,
        *,
        marks: bool,
        bvh2: Array | None,
        joins: bool,
        gathers: bool = True,
    ) -> bool:
        """The trees of the objects in the listed tiles, then the tree above all, where it `joins` them."""
        self.bounds.compute(primitives, f"{stage}.nodes", gathers=gathers, marks=marks, bvh2=bvh2, tiles=tiles)
        if self._objects.count > 1 and joins:
            self._join_objects(primitives, stage, bvh2)
        return bvh2 is not None

    def _join_objects(self, primitives: Primitives, stage: str, bvh2: Array | None) -> None:
        """The tree above the objects."""
        tree, target, count = self.tree, self.target, self._objects.count
        unit = target.unit(
            unit_source(f"{_FOLDER}/above.cu", primitives, CODE_BITS=CODE_BITS, WRITES_BVH2=bvh2 is not None)
        )
        self._above = above = reserved(target, self._above, (count,), np.int32, "hierarchy")
        objects, keys = (
            {"ranges": self._objects.ranges, "roots": self._roots, "object_count": count},
            target.scratch("two_level.keys", count, np.uint64),
        )
        with target.phase(f"{stage}.above"):
            target.launch(
                unit,
                "code_objects",
                count,
                record_data=tree.records,
                nodes=tree.nodes,
                **objects,
                keys=keys,
                block=512,
                blocks=1,
            )
            keys = target.sort_keys(keys, (32, 32 + CODE_BITS), "two_level.sort")
            target.launch(
                unit,
                "link_objects",
                count,
                keys=keys,
                **objects,
                nodes=tree.nodes,
                parent=tree.parent,
                root=tree.root,
                above=above,
            )
            target.launch(
                unit,
                "bound_above",
                count,
                record_data=tree.records,
                **tree.links(),
                object_count=count,
                above=above,
                bvh2=bvh2,
                waiting=tree.waiting,
            )


__all__ = ["TwoLevel", "TwoLevelOptions"]
