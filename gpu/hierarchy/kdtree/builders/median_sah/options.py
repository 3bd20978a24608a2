"""Options of median_sah."""

from __future__ import annotations

import dataclasses

from .....settings import option
from ...options import KdTreeOptions
from ...tree import MOST_DEPTH, MOST_REFERENCES

AUTO = "auto"


@dataclasses.dataclass(frozen=True)
class Ways:
    """How each step is done, by Zhou (False) or as Chang improved it (True), with the letters of his table."""

    sorts_by_atomics: bool
    scans_by_ballots: bool
    boxes_by_atomics: bool
    reduces_by_shuffles: bool
    counts_by_popc: bool
    grows_subtrees: bool

    @property
    def constants(self) -> dict[str, bool]:
        """The constants of units."""
        return {
            "SHARED_SCANS": not self.scans_by_ballots,
            "SHARED_REDUCTIONS": not self.reduces_by_shuffles,
            "MANKU": not self.counts_by_popc,
        }


@dataclasses.dataclass(frozen=True)
class MedianSahOptions(KdTreeOptions):
    """Options of the builder by medians and bits. `implementation` chooses for every step that says auto."""

    max_depth: int = option(
        0,
        f"Greatest depth; 0 takes {MOST_DEPTH}, as halves need more levels than the best splits.",
        minimum=0,
        maximum=MOST_DEPTH,
    )
    references_per_primitive: float = option(
        float(MOST_REFERENCES),
        "Memory: most references per primitive. Each node has its share of them, and becomes a leaf where a split "
        "would need more: halves of dense places need more than the best splits.",
        minimum=1.0,
        maximum=float(MOST_REFERENCES),
    )
    implementation: str = option(
        "atomics",
        "By segmented scans, reductions and rounds of small nodes, as Zhou (primitives), or by a kernel a step "
        "with atomics, ballots and shuffles.",
        choices=("atomics", "primitives"),
    )
    empty_fraction: float = option(
        0.25,
        "Empty space at a side of a large node is cut off where it is more than this part of the node's extent.",
        minimum=0.01,
        maximum=1.0,
    )
    clips_primitives: bool = option(True, "Cut primitives exactly where a large node is split; else only their boxes.")
    sorting: str = option(
        AUTO,
        "[A] References find their places by segmented scans, or by two atomics per block.",
        choices=(AUTO, "scans", "atomics"),
    )
    scans: str = option(
        AUTO,
        "[B] Scans within blocks by shared memory and barriers, or by ballots.",
        choices=(AUTO, "shared", "ballots"),
    )
    boxes: str = option(
        AUTO,
        "[C] Boxes of large nodes by six segmented reductions, or by six atomics per block.",
        choices=(AUTO, "reductions", "atomics"),
    )
    reductions: str = option(
        AUTO,
        "[D] Reductions within blocks by shared memory and barriers, or by shuffles.",
        choices=(AUTO, "shared", "shuffles"),
    )
    bit_counts: str = option(
        AUTO, "[E] Bits counted by Manku's sums, or by an instruction.", choices=(AUTO, "manku", "popc")
    )
    small_nodes: str = option(
        AUTO,
        "Small nodes in rounds, a level of all of them at a time, or each small root to its leaves by one block.",
        choices=(AUTO, "rounds", "subtrees"),
    )

    def ways(self) -> Ways:
        """How each step is done."""
        new = self.implementation == "atomics"
        chosen = (
            (self.sorting, "atomics"),
            (self.scans, "ballots"),
            (self.boxes, "atomics"),
            (self.reductions, "shuffles"),
            (self.bit_counts, "popc"),
            (self.small_nodes, "subtrees"),
        )
        return Ways(*(new if choice == AUTO else choice == improved for choice, improved in chosen))
