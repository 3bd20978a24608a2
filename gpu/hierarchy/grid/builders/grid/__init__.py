"""grid: the scene cut into cells of one size.

Idea: A ray passes the cells one after the other, found by additions alone, and tests what is listed in them: near ones
first, so that it ends in the cell with the first hit. Cells are cubes as nearly as whole numbers allow, so many that
there are some per primitive; where primitives are large there are fewer, so that none is listed in too many of them.

Paper: Kalojanov and Slusallek, A Parallel Algorithm for Construction of Uniform Grids (2009): pairs of cell and
primitive, counted, written and sorted. The traversal is Amanatides and Woo's 3D-DDA, A Fast Voxel Traversal Algorithm
for Ray Tracing (1987), after Fujimoto, Tanaka and Iwata (1986), with their mailboxes. Other than there the cells are
chosen by the target itself, triangles are tested against them by separating axes (Akenine-Moeller 2001), and rays that
run beside a plane visit both sides.

Cost: Two passes over the primitives, and one sort of a key per reference, 2 to 4 per triangle of a closed surface. No
structure here is built by less. Tracing depends on the scene: each ray passes all empty cells on its way.

Limits: Cells do not follow the scene: where all detail is in one place, most of it is in few cells (the teapot in the
stadium). It cannot be refitted, and it has no SAH cost. Scenes of more than 5e17 units, or with cells that floats
cannot tell apart, are one cell. Deterministic.
"""

from __future__ import annotations

from ....base import Primitives
from ....grown_tree import Capacity, Draft
from ...grid import GridHierarchy
from ...options import GridOptions


class Grid(GridHierarchy):
    """See the module."""

    name = "grid"
    title = "Uniform grid"
    Options = GridOptions
    layout = "cells8"
    traversal_names = ("dda",)
    has_blocks = False
    registers, on_the_way = 80, 112  # with fewer blocks at a time incoherent rays take a fifth longer

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        return 2 * 8 * capacity.references + 8 * (primitive_count + 1)

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        most_cells = self.options.cells(self.name, primitives.count)
        self.choose_cells(primitives, draft, draft.counts, most_cells, self.options.references_per_primitive)
        most = (capacity.nodes, capacity.references)
        keys = self.list_in_cells(primitives, draft, draft.counts, draft.nodes, most)
        self.write_cells(keys, draft, capacity)
