"""Options of the boxes that are drawn over the picture: those of a structure's nodes, and the periodic one of
particles."""

from __future__ import annotations

import dataclasses

from raygrove.gpu.settings import option


@dataclasses.dataclass(frozen=True)
class BoxOptions:
    """Which boxes of the structure's nodes are drawn over the picture."""

    show: bool = option(False, "Draw the boxes of the structure's nodes over the picture, coloured by their depth.")
    source: str = option(
        "structure",
        "Whose boxes: those of the structure that is traced, or those that the file of a tree has of the frame nearest "
        "to this instant (docs/trees.md).",
        choices=("structure", "file"),
    )
    first_depth: int = option(
        0, "The first level whose boxes are drawn; where levels begin they are 0.", minimum=0, maximum=255
    )
    last_depth: int = option(8, "The last level whose boxes are drawn.", minimum=0, maximum=255)
    count_from: str = option(
        "root",
        "Where levels are counted from: the root, as trees are split from above, or the leaves, so that a node's level "
        "is its height above the deepest leaf below, as trees are joined from below.",
        choices=("root", "leaves"),
    )
    leaves_only: bool = option(False, "Draw only leaves.")
    limit: int = option(
        20000, "Boxes drawn at most; of more, those nearest to the eye.", minimum=1, maximum=1_000_000, unit="boxes"
    )
    opacity: float = option(0.8, "How much of the picture the lines hide.", minimum=0.05, maximum=1.0)
    visible_from: str = option(
        "anywhere",
        "Leave out nodes that are wholly hidden behind others, seen from where the camera stands, in all directions, "
        "or from a cell; anywhere draws all.",
        choices=("anywhere", "camera", "cell"),
    )
    of_ray: bool = option(
        False,
        "Of the ray that the panel Ray follows, draw all boxes that it met, by what became of them, and not those of "
        "one event alone.",
    )
    cell: int = option(
        0,
        "The node whose box is the cell, where visible_from is cell, by its row in the table of nodes, which the tip "
        "of a node of the path in Picked tells.",
        minimum=0,
        maximum=2**31 - 1,
    )


@dataclasses.dataclass(frozen=True)
class PeriodicBoxOptions:
    """The periodic box of a file of particles, drawn over the picture."""

    show: bool = option(
        False, "Draw the edges of the periodic box of particles, and of each copy of it (import.copies_a and on)."
    )
    opacity: float = option(0.8, "How much of the picture the lines hide.", minimum=0.05, maximum=1.0)
