"""A ray of a picture, followed: its log, the nodes that it tells of with their boxes, and the pseudocode of the
traversal."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping

import numpy as np

from ..hierarchy.traversed_nodes import TraversedNodes, TreeNode
from .pseudocode import Pseudocode
from .ray_log import ENTERED, Event, RayLog


@dataclasses.dataclass(frozen=True, eq=False)
class FollowedRay:
    """See the module. `nodes` by what events call them; `names` are the titles of structure, layout and traversal,
    `key` says which tree it was, `remark` what is missing of it."""

    log: RayLog
    nodes: Mapping[int, TreeNode]
    pseudocode: Pseudocode | None
    names: tuple[str, ...]
    key: Hashable
    remark: str = ""

    def line(self, n: int) -> int | None:
        """The line of the pseudocode that event n stands for."""
        return None if self.pseudocode is None else self.pseudocode.line_of.get(self.log[n].event)

    def path(self, node_id: int) -> tuple[TreeNode, ...]:
        """The nodes from the root to one that the ray tells of; none for others."""
        found: list[TreeNode] = []
        at: int | None = node_id
        while at is not None and at in self.nodes:
            found.append(self.nodes[at])
            at = self.nodes[at].parent
        return tuple(reversed(found))


def told_nodes(nodes: TraversedNodes, log: RayLog) -> dict[int, TreeNode]:
    """The nodes that a ray's events name, and those above them: each is a child of the node that the ray is in then, or
    of one above that."""
    root = nodes.root()
    if root is None:
        return {}
    found, here = {root.id: root}, root
    for place in np.flatnonzero(log.kinds < Event.PRIMITIVE_TESTED).tolist():
        step = log[place]
        if step.id not in found:
            for above in _upwards(found, here):
                child = nodes.child(above, step.id)
                if child is not None:
                    found[step.id] = child
                    break
        if step.event in (*ENTERED, Event.CHILD_POPPED) and step.id in found:
            here = found[step.id]
    return found


def _upwards(found: Mapping[int, TreeNode], node: TreeNode) -> Iterator[TreeNode]:
    at: TreeNode | None = node
    while at is not None:
        yield at
        at = found.get(at.parent) if at.parent is not None else None
