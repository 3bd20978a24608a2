"""A race while it is run: what the last frames of each configuration have cost, ranked as a finished race is.

A sample is the mean of some frames in a row, the same ones for all, so that a policy which rebuilds every seventh frame
is charged for it; what is left of older frames is forgotten.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence

from ..stats import ViewStatistics
from .contestant_figures import contestant_of
from .hit_proof import HitProof
from .intervals import LEAST_SAMPLES
from .race import LETTERS, Contestant, judged

FRAMES = 96
"""Frames that count: the last so many."""
MOST_IN_SAMPLE = 8
PHASES = ("build", "refit", "trace", "shade")


class LiveRace:
    """See the module. `take` each instant's figures, of all; `standing` says who leads; `notes` are what is to be known
    of each configuration."""

    def __init__(self, configurations: Sequence[str], notes: Sequence[str] = ()) -> None:
        self.configurations = tuple(configurations)
        self._notes = tuple(notes) or ("",) * len(self.configurations)
        self._turns: collections.deque[tuple[ViewStatistics, ...]] = collections.deque(maxlen=FRAMES)
        self._proofs = tuple(HitProof() for _ in self.configurations)
        self._steps: tuple[tuple[float, float], ...] = ()
        self._size = (0, 0)

    @property
    def count(self) -> int:
        """Frames that count by now."""
        return len(self._turns)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pictures whose frames count."""
        return self._size

    @property
    def newest(self) -> tuple[ViewStatistics, ...]:
        """Of the last instant, a contestant each; none before the first."""
        return self._turns[-1] if self._turns else ()

    def take(self, views: Sequence[ViewStatistics]) -> None:
        """One instant, drawn by each contestant in their order. Another size begins anew: costs of pictures of
        different sizes say nothing beside each other. ValueError for another number of contestants."""
        if len(views) != len(self.configurations):
            raise ValueError(f"{len(self.configurations)} contestants have run, and these are figures of {len(views)}.")
        size = (views[0].width, views[0].height)
        if size != self._size:
            self._size = size
            self._turns.clear()
        self._turns.append(tuple(views))

    def prove(self, proofs: Sequence[HitProof], steps: Sequence[tuple[float, float]] = ()) -> None:
        """The hits of one instant have been compared with the first contestant's; `steps` are nodes visited and
        primitives tested by a ray of each, on average, where they were counted."""
        self._proofs = tuple(one + other for one, other in zip(self._proofs, proofs, strict=True))
        self._steps = tuple(steps)

    @property
    def proofs(self) -> tuple[HitProof, ...]:
        """What has been found of the hits, a contestant each."""
        return self._proofs

    def parts(self, place: int) -> dict[str, float]:
        """Milliseconds of each phase of a contestant that add up to the median of `standing`: means over the sample in
        the middle, or the two there. As long as nobody is ranked, over all frames; none before the first."""
        rows = self._samples() or [list(self._turns)] if self._turns else []
        ranked = sorted(([views[place] for views in row] for row in rows), key=lambda row: sum(map(_total, row)))
        frames = [one for row in ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1] for one in row]
        return {phase: sum(getattr(one, f"{phase}_ms") for one in frames) / len(frames) for phase in PHASES if frames}

    def standing(self) -> tuple[Contestant, ...]:
        """The contestants in their order, with rank and reason; none as long as there are too few frames."""
        rows = self._samples()
        return judged([self._contestant(place, rows) for place in range(len(self.configurations))]) if rows else ()

    def _samples(self) -> list[list[tuple[ViewStatistics, ...]]]:
        """The frames of each sample; none as long as there are too few."""
        length = min(max(1, len(self._turns) // LEAST_SAMPLES), MOST_IN_SAMPLE)
        count = len(self._turns) // length
        last = list(self._turns)[-count * length :]
        return [last[first : first + length] for first in range(0, len(last), length)] if count >= LEAST_SAMPLES else []

    def _contestant(self, place: int, rows: Sequence[Sequence[Sequence[ViewStatistics]]]) -> Contestant:
        text, proof, tree = self.configurations[place], self._proofs[place], self.newest[place].structure
        visits, tests = self._steps[place] if self._steps else (None, None)
        return dataclasses.replace(
            contestant_of(LETTERS[place], text, [[views[place] for views in row] for row in rows], proof),
            sah_cost=tree.sah_cost,
            depth=tree.depth,
            bytes=tree.bytes,
            mean_visits=visits,
            mean_tests=tests,
            note=self._notes[place],
        )


def _total(one: ViewStatistics) -> float:
    return sum(getattr(one, f"{phase}_ms") for phase in PHASES)
