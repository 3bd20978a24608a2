"""Leaves' triangles in rows, beside the records: what the host's packs test them by, where a traversal takes rays by
themselves (leaf_rows.cuh)."""

from __future__ import annotations

import numpy as np

from ...primitive_views import RowsOfLeaves
from ...target.base import Array, Target, UnitSource
from ...target.structs import pack_behind
from ..base import Primitives, Records
from ..primitives import KINDS, records_view, reserved
from .tree import CanonicalTree

HEADER = "gpu/device/leaf_rows.cuh"
_ROOM_BEHIND = 2
"""References' room behind the last leaf: a pack of sixteen numbers is read from any place."""


class LeafRows:
    """The rows of one tree, as many bytes as its records and a little more."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._rows: Array | None = None
        self._are_written = False

    def update(self, tree: CanonicalTree, primitives: Primitives) -> None:
        """After the tree and its records were written: the rows, where packs have more than one ray and primitives are
        tested so."""
        self._are_written = self.target.lane_count > 1 and primitives.kind == "triangle"
        if self._are_written:
            self.write(tree)

    def write(self, tree: CanonicalTree) -> Array:
        """The rows of every leaf's triangles."""
        self._rows = reserved(
            self.target,
            self._rows,
            (tree.count + _ROOM_BEHIND, KINDS["triangle"].record_floats),
            np.float32,
            "hierarchy",
        )
        constants = (("REFERENCE_BITS", tree.reference_bits),)
        unit = self.target.unit(UnitSource("gpu/hierarchy/bvh/leaf_rows.cu", constants=constants))
        self.target.launch(
            unit,
            "write_leaf_rows",
            tree.node_capacity + 1,
            nodes=tree.nodes,
            flags=tree.flags,
            root=tree.root,
            node_capacity=tree.node_capacity,
            records=tree.records,
            long_leaves=tree.long_leaves,
            rows=self._rows,
        )
        return self._rows

    def beside(self, tree: CanonicalTree, records: Records) -> Records:
        """What a Traversal intersects: `records`, with the rows where the test has a use for them."""
        if self._rows is None or not self._are_written or records.type_name != KINDS["triangle"].records_type:
            return records
        return Records(HEADER, "TrianglesInRows", pack_behind(records_view(tree.records), RowsOfLeaves(self._rows)))

    @property
    def bytes(self) -> int:
        """Reserved bytes."""
        return 0 if self._rows is None else int(self._rows.nbytes)
