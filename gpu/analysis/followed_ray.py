"""A ray of a picture, followed: its log, the nodes that it tells of with their boxes, and the pseudocode of the
traversal."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping

import numpy as np

from ..hierarchy.traversed_nodes import TraversedNodes, TreeNode
from .pseudocode import Pseudocode
from .ray_log import ENTERED, Event, RayLog

_FATE_OF = {
    Event.NODE_ENTERED: "node", Event.LEAF_ENTERED: "leaf", Event.CHILD_MISSED: "missed",
    Event.CHILD_BEYOND: "beyond", Event.CHILD_PUSHED: "waiting", Event.CHILD_DROPPED: "dropped",
}  # fmt: skip
FATES = ("node", "leaf", "missed", "beyond", "dropped", "waiting")
"""What becomes of a node whose box a ray meets."""


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

    def met(self) -> dict[str, list[TreeNode]]:
        """The nodes whose boxes the ray met, each once, by what became of it (FATES): entered as a `node` or a `leaf`,
        `missed`, `beyond` where the ray ended by then, `dropped` from the stack for a nearer hit, or still `waiting`
        there when the ray ended."""
        fate: dict[int, str] = {}
        for kind, node_id in zip(self.log.kinds.tolist(), self.log.ids.tolist(), strict=True):
            found = _FATE_OF.get(Event(kind))
            if found is not None and fate.get(node_id) not in ("node", "leaf"):
                fate[node_id] = found
        met: dict[str, list[TreeNode]] = {name: [] for name in FATES}
        for node_id, name in fate.items():
            if node_id in self.nodes:
                met[name].append(self.nodes[node_id])
        return met


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
